"""View of one trace in a page: plain data, escaped by the template and by the page's script alike.

A step of a proof, the block of the text that says it and the sentence that it formalises share the step's number.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

from critics.problem import Problem
from rollout.records.traces import Trace
from training.curation.outcomes import is_decided
from training.outcomes import Record
from training.reporting.derivations import (
    ProofStep,
    Replay,
    canonical,
    drawing,
    goal_of,
    places,
    replayed,
    steps_of_evidence,
    used_alone,
)
from training.reporting.trace_sample import Shown, is_right

LONGEST_TEXT = 6_000
"""Characters of one text shown: a model that never stops must not make a page that never ends."""
_BLOCK = re.compile(r"(\[\[.*?\]\])", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])(\s+)")

Segment = tuple[str, int | None]
"""A piece of a text, with the number of the step that it says; -1: a block that is no step, None: words."""


def view(shown: Shown) -> Record:
    """Return what is shown of a trace.

    `text` is what the model wrote, None for a dialog, which has `turns`; `lucky`: right, and a critic that read the
    whole text found no proof; `inferences` is how many steps are some; `evidence` is that of a certificate which holds
    no derivation, to be read; `digest` is the certificate's, None without one.
    """
    trace, problem, judgement = shown.trace, shown.trace.problem, shown.trace.judged
    certificate = judgement.certificate or {}
    evidence = certificate.get("evidence")
    completion = None if trace.messages else _cut(trace.completion)
    steps, num_inferences, stopped_at = _derivation(evidence, completion)
    known, graph = places(steps), drawing(steps)
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
        "text": None if completion is None else _segments(completion, known, stopped_at),
        "turns": [] if completion is not None else _turns(trace),
        "goal": goal_of(evidence),
        "steps": [{"says": s.statement, "role": s.role, "because": s.because, "from": s.parents} for s in steps],
        "graph": None if graph is None else asdict(graph),
        "inferences": num_inferences,
        "evidence": None if steps or evidence is None else pretty(evidence),
        "formalisation": certificate.get("formalisation"),
        "digest": certificate.get("digest"),
    }


def _derivation(evidence: object, completion: str | None) -> tuple[list[ProofStep], int, int | None]:
    """Return the steps, how many of them are inferences, and where the text's first block is that does not follow."""
    proof = steps_of_evidence(evidence)
    if proof:
        return proof, sum(step.rule is not None for step in proof), None
    replay = replayed(completion) if evidence is None and completion is not None else Replay()
    steps = used_alone(replay.steps) if replay.num_inferences else []  # axioms alone are the text once more
    return steps, replay.num_inferences, replay.stopped_at


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
    segments: list[Segment] = []
    for number, part in enumerate(parts):
        step = None if number % 2 else known.get(canonical(axioms[number // 2]))
        segments.append((part, step))
    return segments


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
    fields = [f" {_line(key)}: {_items(item)}" for key, item in cast("dict[str, object]", value).items()]
    return "{\n" + ",\n".join(fields) + "\n}"


def _items(value: object) -> str:
    items = cast("list[object]", value) if isinstance(value, list) else list[object]()
    if not items:
        return _line(cast("object", value))
    return "[\n" + ",\n".join(f"  {_line(item)}" for item in items) + "\n ]"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " … (cut here for display)"


def pretty(value: object) -> str:
    """Return a value as JSON that people can read."""
    return _cut(json.dumps(value, indent=1, ensure_ascii=False, default=str))


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
    lucky = sorted((v for v in views if v["lucky"]), key=lambda v: (v["inferences"], -_num_hops(v)))
    near = sorted((v for v in views if v["right"] is False and v["inferences"]), key=lambda v: -v["inferences"])
    made: list[tuple[Record, Record | None]] = []
    for guess in lucky[:num]:
        taken = {miss["key"] for _, miss in made if miss}
        free = [miss for miss in near if miss["key"] not in taken]
        alike = [miss for miss in free if (miss["dataset"], miss["hops"]) == (guess["dataset"], guess["hops"])]
        made.append((guess, next(iter(alike or free), None)))
    return made


def _num_hops(shown: Record) -> int:
    return shown["hops"] if isinstance(shown["hops"], int) else 0
