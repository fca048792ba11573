"""Derivation of an attempt as a graph that can be drawn: from its certificate, else from its text.

A certificate's steps are the proof itself. Where there is none, the text's blocks are replayed up to the first one that
does not follow, so that one sees how far an attempt came; that replay decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, Literal, cast

from critics.problem import is_object
from critics.replay.formula import FormulaError, Rule, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import Entry, Inference, Kernel, WorkLimitExceeded
from critics.text.blocks import Block, BlockError, split_blocks

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
    steps = evidence.get("steps") if is_object(evidence) else None
    listed = cast("list[object]", steps) if isinstance(steps, list) else list[object]()
    records = [step for step in listed if is_object(step)]
    if len(records) < len(listed) or not all("statement" in record for record in records):
        return []
    goal = goal_of(evidence)
    return [_step_of_record(record, number, goal) for number, record in enumerate(records)]


def goal_of(evidence: object) -> object:
    """Return what a certificate's evidence decides; None where it names no goal."""
    return cast("Mapping[str, object]", evidence).get("goal") if isinstance(evidence, Mapping) else None


def _step_of_record(record: Mapping[str, Any], number: int, goal: object) -> ProofStep:
    statement = str(record["statement"])
    match record:
        case {"by": "rule", "rule": int(rule), "premises": [*premises]} if all(
            isinstance(one, int) and 0 <= one < number for one in (rule, *premises)
        ):
            role: Role = "goal" if statement in (goal, f"(not {goal})") else "derived"
            return ProofStep(statement, role, _said(rule, premises), rule, tuple(premises))
        case {"by": by, **rest}:
            details = [f"{key} {value}" for key, value in rest.items() if key != "statement"]
            return ProofStep(statement, _assumed(statement), ", ".join([str(by), *details]))
        case _:
            return ProofStep(statement, _assumed(statement), "")


def _assumed(statement: str) -> Role:
    return "rule" if "->" in statement else "fact"


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
    kernel, goals = Kernel(work_limit=WORK_LIMIT), set[str]()
    try:
        blocks = split_blocks(text)
    except BlockError:
        return Replay()
    for block in blocks:
        try:
            _play(block, kernel, goals)
        except (ValueError, KeyError, WorkLimitExceeded):
            return Replay(_steps(kernel.entries, goals), block.start)
    return Replay(_steps(kernel.entries, goals))


def _play(block: Block, kernel: Kernel, goals: set[str]) -> None:
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


def _steps(entries: Sequence[Entry], goals: set[str]) -> tuple[ProofStep, ...]:
    made: list[ProofStep] = []
    for entry in entries:
        statement = str(entry.statement)
        if isinstance(entry, Inference):
            role: Role = "goal" if statement in goals else "derived"
            made.append(ProofStep(statement, role, _said(entry.rule, entry.premises), entry.rule, entry.premises))
        else:
            made.append(ProofStep(statement, "rule" if isinstance(entry.statement, Rule) else "fact", "axiom"))
    return tuple(made)


def used_alone(steps: Sequence[ProofStep]) -> list[ProofStep]:
    """Leave out what no inference uses, and number the rest anew."""
    used = {parent for step in steps for parent in step.parents} | {i for i, s in enumerate(steps) if s.parents}
    place = {old: new for new, old in enumerate(sorted(used))}
    return [_renumbered(steps[old], place) for old in sorted(used)]


def _renumbered(step: ProofStep, place: Mapping[int, int]) -> ProofStep:
    if step.rule is None:
        return step
    rule, premises = place[step.rule], tuple(place[premise] for premise in step.premises)
    return replace(step, rule=rule, premises=premises, because=_said(rule, premises))


def places(steps: Sequence[ProofStep]) -> dict[str, int]:
    """Return which step says a statement, by its canonical text."""
    return {canonical(step.statement): number for number, step in reversed(list(enumerate(steps)))}


def canonical(statement: str) -> str:
    """Return one text for statements that differ in blanks and names of variables alone."""
    try:
        return canonical_statement(parse_statement(statement))
    except FormulaError:
        return " ".join(statement.split())


# -- where the nodes stand


@dataclass(frozen=True, slots=True)
class Node:
    """A statement's box, in pixels, and its text line by line."""

    x: float
    y: float
    w: float
    h: float
    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph's size in pixels, and the node of each step."""

    w: float
    h: float
    nodes: Sequence[Node]


def drawing(steps: Sequence[ProofStep]) -> Drawing | None:
    """Return a layered drawing, premises above conclusions; None where there is no graph to draw.

    Derived statements stand one layer below their lowest premise, what is assumed one above its first use
    (Sugiyama's layers), ordered within a layer by where their uses stand below.
    """
    if not any(step.parents for step in steps) or len(steps) > MAX_STEPS:
        return None
    boxes = [_box(step.statement) for step in steps]
    layers = _ordered(_layers(steps), steps)
    widths = [sum(boxes[i][0] for i in layer) + GAP_X_PX * (len(layer) - 1) for layer in layers]
    width, y = max(widths), 0.0
    nodes: dict[int, Node] = {}
    for layer, layer_width in zip(layers, widths, strict=True):
        x, height = (width - layer_width) / 2, max(boxes[i][1] for i in layer)
        for i in layer:
            box_width, box_height, lines = boxes[i]
            nodes[i] = Node(round(x, 1), y, box_width, box_height, lines)
            x += box_width + GAP_X_PX
        y += height + GAP_Y_PX
    return Drawing(round(width, 1), y - GAP_Y_PX, [nodes[i] for i in range(len(steps))])


def _box(statement: str) -> tuple[float, float, list[str]]:
    lines = wrap(statement, LINE_CHARS, break_on_hyphens=False) or [""]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], lines[MAX_LINES - 1][: LINE_CHARS - 1] + "…"]
    width = round(max(map(len, lines)) * CHAR_PX + 2 * PADDING_PX, 1)
    return width, float(len(lines) * LINE_PX + 2 * PADDING_PX), lines


def _layers(steps: Sequence[ProofStep]) -> list[list[int]]:
    depth = [0] * len(steps)
    for number, step in enumerate(steps):
        if step.parents:
            depth[number] = 1 + max(depth[parent] for parent in step.parents)
    uses: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        for parent in step.parents:
            uses.setdefault(parent, []).append(depth[number])
    for number, step in enumerate(steps):
        if not step.parents:
            depth[number] = min(uses.get(number, [max(depth) + 1])) - 1
    return [[i for i, d in enumerate(depth) if d == layer] for layer in range(max(depth) + 1)]


def _ordered(layers: list[list[int]], steps: Sequence[ProofStep]) -> list[list[int]]:
    """Order each layer by the middle of its uses in the layers below; what is derived stands left of what is not."""
    position: dict[int, float] = {}
    children: dict[int, list[int]] = {}
    for number, step in enumerate(steps):
        for parent in step.parents:
            children.setdefault(parent, []).append(number)

    def key(number: int) -> tuple[float, int, int]:
        below = [position[child] for child in children.get(number, ()) if child in position]
        rank = {"goal": 0, "derived": 0, "fact": 1, "rule": 2}[steps[number].role]
        return (sum(below) / len(below) if below else 0.5, rank, number)

    made: list[list[int]] = []
    for layer in reversed(layers):
        row = sorted(layer, key=key)
        position |= {number: (i + 0.5) / len(row) for i, number in enumerate(row)}
        made.append(row)
    return made[::-1]
