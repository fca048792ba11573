"""Traces of a run: what they cost, and the few of them that a report shows, each with its derivation as a graph.

Shown are equal shares of every (arm, round, verdict, right or wrong), in each the first by a hash of their ids: the
same traces every time, chosen by nothing that they say.

A certificate's steps are the proof itself. Where there is none, the text's blocks are replayed up to the first one that
does not follow, so that one sees how far an attempt came; that replay decides nothing.
"""

import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from typing import Literal, NamedTuple, cast

from critics.problem import Problem, is_object
from critics.replay.formula import FormulaError, Rule, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import Inference, Kernel, WorkLimitExceeded
from critics.text.blocks import BlockError, split_blocks
from rollout.records.traces import Trace, read_trace
from training.curation.outcomes import is_decided
from training.outcomes import Record
from training.records.store import is_stored, read_records

MAX_STEPS = 60
"""A larger graph is a thicket that nobody reads; its steps are listed all the same."""
WORK_LIMIT = 20_000
"""Work limit of a replay; a picture may not take as long as a critic."""
LINE_CHARS, MAX_LINES = 20, 4
CHAR_PX, LINE_PX, PADDING_PX = 6.7, 14, 8
GAP_X_PX, GAP_Y_PX = 14, 30

Role = Literal["fact", "rule", "derived", "goal"]


@dataclass(frozen=True, slots=True)
class ProofStep:
    """One statement, and the steps that it follows from: none for what is assumed."""

    statement: str
    role: Role
    because: str
    rule: int | None = None
    premises: tuple[int, ...] = ()

    @property
    def parents(self) -> tuple[int, ...]:
        """The rule, then the premises."""
        return (() if self.rule is None else (self.rule,)) + self.premises


def steps_of_evidence(evidence: object) -> list[ProofStep]:
    """Return the steps of a certificate's derivation; empty for other evidence."""
    listed = evidence.get("steps") if is_object(evidence) else None
    steps: list[ProofStep] = []
    for number, record in enumerate(cast("list[object]", listed) if isinstance(listed, list) else list[object]()):
        if not is_object(record) or "statement" not in record:
            return []
        statement, goal = str(record["statement"]), goal_of(evidence)
        match record:
            case {"by": "rule", "rule": int(rule), "premises": [*premises]} if all(
                isinstance(one, int) and 0 <= one < number for one in (rule, *premises)
            ):
                role: Role = "goal" if statement in (goal, f"(not {goal})") else "derived"
                steps.append(ProofStep(statement, role, _said(rule, premises), rule, tuple(premises)))
            case _:
                details = [f"{key} {value}" for key, value in record.items() if key not in ("statement", "by")]
                because = ", ".join([str(record["by"]), *details]) if "by" in record else ""
                steps.append(ProofStep(statement, "rule" if "->" in statement else "fact", because))
    return steps


def goal_of(evidence: object) -> object:
    """Return what a certificate's evidence decides; None where it names no goal."""
    return cast("Mapping[str, object]", evidence).get("goal") if isinstance(evidence, Mapping) else None


def _said(rule: int, premises: Sequence[int]) -> str:
    used = ", ".join(str(premise + 1) for premise in premises)
    return f"from {used} by rule {rule + 1}" if used else f"by rule {rule + 1}"


@dataclass(frozen=True, slots=True)
class Replay:
    """Steps of a text as far as its blocks can be followed, and where the first block stands that does not follow."""

    steps: tuple[ProofStep, ...] = ()
    stopped_at: int | None = None

    @property
    def num_inferences(self) -> int:
        """Number of blocks that are inferences that hold."""
        return sum(step.rule is not None for step in self.steps)


def replayed(text: str) -> Replay:
    """Play a guided text's blocks into a kernel up to the first that it refuses; nothing for a text without blocks."""
    kernel, goals, stopped_at = Kernel(work_limit=WORK_LIMIT), set[str](), None
    try:
        blocks = split_blocks(text)
    except BlockError:
        return Replay()
    for block in blocks:
        try:
            match block.action:
                case "axiom":
                    kernel.add_axiom(parse_statement(block.content))
                case "goal":
                    goal = parse_literal(block.content)
                    kernel.mention(goal)
                    goals |= {str(goal), str(goal.negated())}
                case "infer" if block.content.strip() != "nothing":
                    literal = parse_literal(block.content)
                    if literal not in kernel.known:
                        kernel.infer(literal)
                case _:
                    pass
        except (ValueError, KeyError, WorkLimitExceeded):
            stopped_at = block.start
            break
    made: list[ProofStep] = []
    for entry in kernel.entries:
        statement = str(entry.statement)
        if isinstance(entry, Inference):
            role: Role = "goal" if statement in goals else "derived"
            made.append(ProofStep(statement, role, _said(entry.rule, entry.premises), entry.rule, entry.premises))
        else:
            made.append(ProofStep(statement, "rule" if isinstance(entry.statement, Rule) else "fact", "axiom"))
    return Replay(tuple(made), stopped_at)


def used_alone(steps: Sequence[ProofStep]) -> list[ProofStep]:
    """Leave out what no inference uses, and number the rest anew."""
    used = {parent for step in steps for parent in step.parents} | {i for i, s in enumerate(steps) if s.parents}
    place = {old: new for new, old in enumerate(sorted(used))}
    kept: list[ProofStep] = []
    for step in (steps[old] for old in sorted(used)):
        if step.rule is not None:
            rule, premises = place[step.rule], tuple(place[premise] for premise in step.premises)
            step = replace(step, rule=rule, premises=premises, because=_said(rule, premises))
        kept.append(step)
    return kept


def places(steps: Sequence[ProofStep]) -> dict[str, int]:
    """Return which step says a statement, by its canonical text."""
    return {canonical(step.statement): number for number, step in reversed(list(enumerate(steps)))}


def canonical(statement: str) -> str:
    """Return one text for statements that differ in blanks and names of variables alone."""
    try:
        return canonical_statement(parse_statement(statement))
    except FormulaError:
        return " ".join(statement.split())


def drawing(steps: Sequence[ProofStep]) -> Record | None:
    """Return a layered drawing in pixels, premises above conclusions; None where there is no graph to draw.

    `nodes` has the box of each step, with its text line by line. Derived statements stand one layer below their lowest
    premise, what is assumed one above its first use (Sugiyama's layers).
    """
    if not any(step.parents for step in steps) or len(steps) > MAX_STEPS:
        return None
    nodes: list[Record] = []
    for step in steps:
        lines = wrap(step.statement, LINE_CHARS, break_on_hyphens=False) or [""]
        if len(lines) > MAX_LINES:
            lines = [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][: LINE_CHARS - 1] + "…"]
        width = round(max(map(len, lines)) * CHAR_PX + 2 * PADDING_PX, 1)
        nodes.append({"w": width, "h": float(len(lines) * LINE_PX + 2 * PADDING_PX), "lines": lines})
    layers, y = _layers(steps), 0.0
    widths = [sum(nodes[i]["w"] for i in layer) + GAP_X_PX * (len(layer) - 1) for layer in layers]
    for layer, layer_width in zip(layers, widths, strict=True):
        x = (max(widths) - layer_width) / 2
        for i in layer:
            nodes[i] |= {"x": round(x, 1), "y": y}
            x += nodes[i]["w"] + GAP_X_PX
        y += max(nodes[i]["h"] for i in layer) + GAP_Y_PX
    return {"w": round(max(widths), 1), "h": y - GAP_Y_PX, "nodes": nodes}


def _layers(steps: Sequence[ProofStep]) -> list[list[int]]:
    """Return the steps by layer, each ordered by the middle of its uses below; what is derived stands left."""
    depth, uses = [0] * len(steps), dict[int, list[int]]()
    for number, step in enumerate(steps):
        depth[number] = 1 + max((depth[parent] for parent in step.parents), default=-1)
        for parent in step.parents:
            uses.setdefault(parent, []).append(number)
    lowest = max(depth) + 1
    for number, step in enumerate(steps):
        if not step.parents:
            depth[number] = min((depth[use] for use in uses.get(number, ())), default=lowest) - 1
    position: dict[int, float] = {}

    def key(number: int) -> tuple[float, int, int]:
        below = [position[use] for use in uses.get(number, ()) if use in position]
        rank = {"goal": 0, "derived": 0, "fact": 1, "rule": 2}[steps[number].role]
        return (sum(below) / len(below) if below else 0.5, rank, number)

    made: list[list[int]] = []
    for layer in reversed(range(max(depth) + 1)):
        row = sorted((i for i, d in enumerate(depth) if d == layer), key=key)
        position |= {number: (i + 0.5) / len(row) for i, number in enumerate(row)}
        made.append(row)
    return made[::-1]


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
