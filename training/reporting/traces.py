"""Traces of a run: what they cost, and the few of them that a report shows.

Shown are equal shares of every (arm, round, verdict, right or wrong), in each the first by a hash of their ids: the
same traces every time, chosen by nothing that they say.
"""

import hashlib
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rollout.records.traces import Trace, read_trace
from training.curation.outcomes import is_decided
from training.outcomes import Record
from training.records.store import is_stored, read_records
from training.reporting.proofs import trace_lines

MAX_TRACES, MAX_IN_STRATUM = 120, 12
COSTS = ("attempts", "turns", "tokens", "cut_off")
"""Attempts, replies (more than attempts where a critic asked for another), tokens written, and ends at the limit."""
LONGEST_TEXT = 6_000
"""Characters of one trace shown: a model that never stops must not make a page that never ends."""


class RolloutFile(NamedTuple):
    """The traces of one round of a line."""

    arm: str
    seed: int
    round: int
    path: Path


@dataclass(frozen=True, slots=True)
class Shown:
    """A trace that the report shows, and whose it is."""

    arm: str
    seed: int
    round: int
    trace: Trace

    @property
    def key(self) -> str:
        """A name for it in the page."""
        return f"{self.arm}/{self.seed}/{self.round}/{self.trace.id}"

    @property
    def is_right(self) -> bool | None:
        """True if the answer is the gold one; None where that is not known."""
        gold = self.trace.problem.answer
        return None if gold is None else str(self.trace.judged.answer).casefold() == gold.casefold()

    @property
    def is_lucky(self) -> bool:
        """True if the answer is right, and a critic that read the whole text found no proof."""
        return bool(self.is_right) and self.trace.judged.verdict == "unproved" and is_decided(self.trace)

    def view(self) -> Record:
        """Return what the page says of it; the template escapes it."""
        right = {True: "right", False: "wrong", None: "right or wrong is not known"}[self.is_right]
        lines = "\n".join(trace_lines(self.trace))
        text = lines if len(lines) <= LONGEST_TEXT else lines[:LONGEST_TEXT] + " … (cut here for display)"
        of = f"{self.arm} · seed {self.seed} · round {self.round} · {right}"
        return {"key": self.key, "verdict": self.trace.judged.verdict, "of": of, "text": text}


@dataclass(frozen=True, slots=True)
class Survey:
    """Findings of one pass over all traces."""

    num_traces: int = 0
    costs: Mapping[tuple[str, int], Record] = field(default_factory=dict[tuple[str, int], Record])
    """Sums of `COSTS` over all seeds, by arm and round, from 1."""
    shown: Sequence[Shown] = ()


def survey(rollouts: Iterable[RolloutFile]) -> Survey:
    """Read every trace once, holding no more than what may be shown; absent files are left out.

    One from each stratum is dealt in turn until there are enough; they come sorted by round, arm and id.
    """
    costs: dict[tuple[str, int], Record] = {}
    strata: dict[tuple[str, int, str, str], list[tuple[int, int, Shown]]] = {}
    num = 0
    for arm, seed, number, path in rollouts:
        for trace in map(read_trace, read_records(path) if is_stored(path) else ()):
            num += 1
            total, turns = costs.setdefault((arm, number), dict.fromkeys(COSTS, 0)), trace.turns or (trace,)
            own = (1, len(turns), sum(len(turn.completion_ids) for turn in turns), int(not trace.finished))
            for name, count in zip(COSTS, own, strict=True):
                total[name] += count
            shown = Shown(arm, seed, number, trace)
            stratum = strata.setdefault((arm, number, trace.judged.verdict, str(shown.is_right)), [])
            # The smallest hashes are kept: the heap's top is the largest of them.
            rank = -int.from_bytes(hashlib.sha256(shown.key.encode("utf-8", "replace")).digest()[:8])
            add = heapq.heappush if len(stratum) < MAX_IN_STRATUM else heapq.heappushpop
            add(stratum, (rank, num, shown))
    rows = [[shown for *_, shown in sorted(strata[key], reverse=True)] for key in sorted(strata)]
    dealt = [row[depth] for depth in range(MAX_IN_STRATUM) for row in rows if depth < len(row)]
    return Survey(num, costs, sorted(dealt[:MAX_TRACES], key=lambda s: (s.round, s.arm, s.seed, s.trace.id)))


def certified_examples(shown: Sequence[Shown], num: int) -> list[Shown]:
    """Return certified traces of the last round, of the strict arm if it has any."""
    certified = [each for each in shown if each.trace.judged.is_certified]
    of_strict = [each for each in certified if each.arm == "strict"] or certified
    return [each for each in of_strict if each.round == of_strict[-1].round][:num]
