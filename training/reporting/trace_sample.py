"""One pass over the traces of a run: what they cost, and the few of them that a report shows.

Shown are equal shares of every (arm, round, verdict, right or wrong), in each the first by a hash of their ids: the
same traces every time, chosen by nothing that they say.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rollout.records.traces import Trace, read_trace
from training.outcomes import Record
from training.records.store import is_stored, read_records

MAX_TRACES = 240
MAX_BYTES = 1_500_000
"""Size limit of the shown traces as JSON: a phone opens the page."""
MAX_IN_STRATUM = 24
COSTS = ("attempts", "turns", "tokens", "cut_off")
"""Attempts, replies (more than attempts where a critic asked for another), tokens written, and ends at the limit."""


class Rollout(NamedTuple):
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


@dataclass(frozen=True, slots=True)
class Survey:
    """Findings of one pass over all traces."""

    num_traces: int = 0
    costs: Mapping[tuple[str, int], Record] = field(default_factory=dict[tuple[str, int], Record])
    """Sums of `COSTS` over all seeds, by arm and round, from 1."""
    shown: Sequence[Shown] = ()


def survey(rollouts: Iterable[Rollout]) -> Survey:
    """Read every trace once, holding no more than what may be shown; absent files are left out."""
    costs: dict[tuple[str, int], Record] = {}
    strata: dict[tuple[str, int, str, str], list[tuple[int, int, Shown]]] = {}
    num = 0
    for rollout in rollouts:
        for trace in map(read_trace, read_records(rollout.path) if is_stored(rollout.path) else ()):
            num += 1
            total = costs.setdefault((rollout.arm, rollout.round), dict.fromkeys(COSTS, 0))
            for name, own in zip(COSTS, _cost(trace), strict=True):
                total[name] += own
            shown = Shown(rollout.arm, rollout.seed, rollout.round, trace)
            stratum = strata.setdefault((rollout.arm, rollout.round, trace.judged.verdict, str(is_right(trace))), [])
            _offer(stratum, shown, num)
    return Survey(num, costs, _shares(strata))


def _cost(trace: Trace) -> tuple[int, int, int, int]:
    turns = trace.turns or (trace,)
    return 1, len(turns), sum(len(turn.completion_ids) for turn in turns), int(not trace.finished)


def _offer(stratum: list[tuple[int, int, Shown]], shown: Shown, num: int) -> None:
    """Keep the smallest hashes; the heap's top is the largest of them."""
    rank = -int.from_bytes(hashlib.sha256(shown.key.encode("utf-8", "replace")).digest()[:8])
    if len(stratum) < MAX_IN_STRATUM:
        heapq.heappush(stratum, (rank, num, shown))
    elif rank > stratum[0][0]:
        heapq.heapreplace(stratum, (rank, num, shown))


def _shares(strata: Mapping[tuple[str, int, str, str], list[tuple[int, int, Shown]]]) -> list[Shown]:
    """Deal one from each stratum in turn until there are enough; sorted by round, arm and id."""
    rows = [[shown for *_, shown in sorted(strata[key], reverse=True)] for key in sorted(strata)]
    chosen: list[Shown] = []
    room = MAX_BYTES
    for shown in _dealt(rows):
        room -= len(json.dumps(shown.trace.problem.record())) + len(written(shown.trace))
        if len(chosen) == MAX_TRACES or room < 0:
            break
        chosen.append(shown)
    return sorted(chosen, key=lambda s: (s.round, s.arm, s.seed, s.trace.id))


def _dealt(rows: Sequence[Sequence[Shown]]) -> Iterator[Shown]:
    for depth in range(max(map(len, rows), default=0)):
        yield from (row[depth] for row in rows if depth < len(row))


def is_right(trace: Trace) -> bool | None:
    """Say whether the answer is the gold one; None where that is not known."""
    gold = trace.problem.answer
    return None if gold is None else str(trace.judged.answer).casefold() == gold.casefold()


def written(trace: Trace) -> str:
    """Return all that the model wrote and read in an attempt, as one text."""
    return "\n\n".join(f"{m.get('role')}: {m.get('content')}" for m in trace.messages) or trace.completion
