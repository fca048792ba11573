"""Derivation of an attempt as a graph that can be drawn: from its certificate, else from its text.

A certificate's steps are the proof itself. Where there is none, the text's blocks are replayed up to the first one that
does not follow, so that one sees how far an attempt came; that replay decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Literal, cast

from critics.problem import is_object
from critics.replay.formula import FormulaError, Rule, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import Inference, Kernel, WorkLimitExceeded
from critics.text.blocks import BlockError, split_blocks
from training.outcomes import Record

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
