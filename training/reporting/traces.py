"""Traces of a run: what they cost, the few of them that a report shows, and how each of these is shown.

Shown are equal shares of every (arm, round, verdict, right or wrong), in each the first by a hash of their ids: the
same traces every time, chosen by nothing that they say.
"""

import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from critics.problem import Problem
from rollout.records.traces import Trace, read_trace
from training.curation.outcomes import is_decided
from training.outcomes import Record
from training.records.store import is_stored, read_records
from training.reporting.derivations import (
    Replay,
    canonical,
    drawing,
    goal_of,
    places,
    replayed,
    steps_of_evidence,
    used_alone,
)

LONGEST_TEXT = 6_000
"""Characters of one text shown: a model that never stops must not make a page that never ends."""
_BLOCK = re.compile(r"(\[\[.*?\]\])", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])(\s+)")

Segment = tuple[str, int | None]
"""A piece of a text, with the number of the step that it says; -1: a block that is no step, None: words."""
MAX_TRACES = 240
MAX_BYTES = 1_500_000
"""Size limit of the shown traces as JSON: a phone opens the page."""
MAX_IN_STRATUM = 24
COSTS = ("attempts", "turns", "tokens", "cut_off")
"""Attempts, replies (more than attempts where a critic asked for another), tokens written, and ends at the limit."""


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
            stratum = strata.setdefault((arm, number, trace.judged.verdict, str(is_right(trace))), [])
            # The smallest hashes are kept: the heap's top is the largest of them.
            rank = -int.from_bytes(hashlib.sha256(shown.key.encode("utf-8", "replace")).digest()[:8])
            add = heapq.heappush if len(stratum) < MAX_IN_STRATUM else heapq.heappushpop
            add(stratum, (rank, num, shown))
    rows = [[shown for *_, shown in sorted(strata[key], reverse=True)] for key in sorted(strata)]
    chosen: list[Shown] = []
    room = MAX_BYTES
    for shown in (row[depth] for depth in range(MAX_IN_STRATUM) for row in rows if depth < len(row)):
        trace = shown.trace
        written = "\n\n".join(f"{m.get('role')}: {m.get('content')}" for m in trace.messages) or trace.completion
        room -= len(json.dumps(trace.problem.record())) + len(written)
        if len(chosen) == MAX_TRACES or room < 0:
            break
        chosen.append(shown)
    return Survey(num, costs, sorted(chosen, key=lambda s: (s.round, s.arm, s.seed, s.trace.id)))


def is_right(trace: Trace) -> bool | None:
    """Say whether the answer is the gold one; None where that is not known."""
    gold = trace.problem.answer
    return None if gold is None else str(trace.judged.answer).casefold() == gold.casefold()


# -- the view of one of them


def view(shown: Shown) -> Record:
    """Return what is shown of a trace: plain data, escaped by the template and by the page's script alike.

    `text` is what the model wrote, None for a dialog, which has `turns`; `lucky`: right, and a critic that read the
    whole text found no proof; `inferences` is how many steps are some; `evidence` is that of a certificate which holds
    no derivation, to be read; `digest` is the certificate's, None without one. A step of a proof, the block of the text
    that says it and the sentence that it formalises share the step's number.
    """
    trace, problem, judgement = shown.trace, shown.trace.problem, shown.trace.judged
    certificate = judgement.certificate or {}
    evidence = certificate.get("evidence")
    completion = None if trace.messages else _cut(trace.completion)
    steps = steps_of_evidence(evidence)
    replay = replayed(completion) if evidence is None and completion is not None else Replay()
    if not steps and replay.num_inferences:  # axioms alone are the text once more
        steps = used_alone(replay.steps)
    known = places(steps)
    is_unread = judgement.verdict != "unproved" or not is_decided(trace)
    return {
        "key": shown.key,
        "arm": shown.arm,
        "seed": shown.seed,
        "round": shown.round,
        "id": trace.id,
        "dataset": problem.dataset,
        "hops": problem.meta.get("hops"),
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "feedback": judgement.feedback,
        "right": is_right(trace),
        "lucky": bool(is_right(trace)) and not is_unread,
        "gold": problem.answer,
        "answer": judgement.answer,
        "context": _context(problem, known),
        "question": problem.question,
        "options": problem.options or (),
        "text": None if completion is None else _segments(completion, known, replay.stopped_at),
        "turns": [] if completion is not None else _turns(trace),
        "goal": goal_of(evidence),
        "steps": [{"says": s.statement, "role": s.role, "because": s.because, "from": s.parents} for s in steps],
        "graph": drawing(steps),
        "inferences": sum(step.rule is not None for step in steps),
        "evidence": None if steps or evidence is None else _cut(json.dumps(evidence, indent=1, ensure_ascii=False)),
        "formalisation": certificate.get("formalisation"),
        "digest": certificate.get("digest"),
    }


def _segments(text: str, known: Mapping[str, int], stopped_at: int | None) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    for part in _BLOCK.split(text):
        if part.startswith("[["):
            step = known.get(canonical(part[2:-2].partition(":")[2]), -1)
            segments.append((part, -2 if at == stopped_at else step))
        elif part:
            segments.append((part, None))
        at += len(part)
    return segments


def _context(problem: Problem, known: Mapping[str, int]) -> list[Segment]:
    """Return the context; its sentences carry their steps where there are as many as reference axioms."""
    text = _cut(problem.context)
    axioms = () if problem.formal is None else problem.formal.axioms
    parts = _SENTENCE_END.split(text)
    if len(parts[::2]) != len(axioms):
        return [(text, None)]
    steps = [known.get(canonical(axiom)) for axiom in axioms]
    return [(part, None if number % 2 else steps[number // 2]) for number, part in enumerate(parts)]


def _turns(trace: Trace) -> list[Record]:
    """Return a dialog's turns; after the first reply, what is not the actor's is the critic's."""
    turns: list[Record] = []
    replied = False
    for message in trace.messages:
        role, content = str(message.get("role")), str(message.get("content"))
        if not content:
            continue
        speaker = "actor" if role == "assistant" else "critic" if replied and role == "user" else role
        replied = replied or role == "assistant"
        turns.append({"speaker": speaker, "text": _cut(_unfolded(content))})
    return turns


def _unfolded(text: str) -> str:
    """Return a JSON object with an item of its lists a line, so that a program can be read; other text as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict):
        return text
    fields: list[str] = []
    for key, item in cast("dict[str, object]", value).items():
        said = json.dumps(item, ensure_ascii=False)
        if isinstance(item, list) and item:
            lines = (json.dumps(each, ensure_ascii=False) for each in cast("list[object]", item))
            said = "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n ]"
        fields.append(f" {json.dumps(key, ensure_ascii=False)}: {said}")
    return "{\n" + ",\n".join(fields) + "\n}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " … (cut here for display)"


# -- the few that stand open in the page


def certified_examples(views: Sequence[Record], num: int) -> list[Record]:
    """Return certified traces of the last round, of the strict arm if it has any, with proofs of middling length."""
    certified = [v for v in views if v["verdict"] == "certified"]
    if not certified:
        return []
    arm = "strict" if any(v["arm"] == "strict" for v in certified) else certified[0]["arm"]
    last = max(v["round"] for v in certified if v["arm"] == arm)
    own = sorted((v for v in certified if v["arm"] == arm and v["round"] == last), key=lambda v: v["inferences"])
    middle = len(own) // 2
    return own[max(0, middle - num + 1) : middle + 1]


def pairs(views: Sequence[Record], num: int) -> list[tuple[Record, Record | None]]:
    """Return lucky guesses, each beside a near miss where there is one.

    Lucky: right and unproved, on the fewest inferences that hold. A near miss: wrong, on the most. Of as many hops in
    the same data set where there are such.
    """

    def simplest(v: Record) -> tuple[int, int]:
        return v["inferences"], -v["hops"] if isinstance(v["hops"], int) else 0

    lucky = sorted((v for v in views if v["lucky"]), key=simplest)
    near = sorted((v for v in views if v["right"] is False and v["inferences"]), key=lambda v: -v["inferences"])
    made: list[tuple[Record, Record | None]] = []
    for guess in lucky[:num]:
        taken = {miss["key"] for _, miss in made if miss}
        free = [miss for miss in near if miss["key"] not in taken]
        alike = [miss for miss in free if (miss["dataset"], miss["hops"]) == (guess["dataset"], guess["hops"])]
        made.append((guess, next(iter(alike or free), None)))
    return made
