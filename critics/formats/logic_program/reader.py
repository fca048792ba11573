"""Reads `logic-program` texts (Logic-LM's language for AR-LSAT): Declarations, Constraints, Options.

The result is typed and finite (`critics.logic.programs.core`); no Python is generated, and nothing is executed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.formats.logic_program.option import Option, read_options
from critics.logic.programs.declarations import Declarations, read_declarations
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import read_expression
from critics.logic.programs.sections import Line, ProgramError, Repairs, split_sections
from critics.replay.finite.terms import Term

TITLES = {
    "declarations": ("Declarations", "Declaration"),
    "constraints": ("Constraints", "Constraint"),
    "options": ("Options", "Option"),
}
MAX_LINES = 400
"""Of the whole program."""


@dataclass(frozen=True, slots=True)
class LogicProgram:
    """A program as read: what it declares, what must hold, the question as it repeats it, and its options."""

    declared: Declarations
    constraints: tuple[Term, ...]
    question: str
    options: tuple[Option, ...]


def read_logic_program(text: str, repairs: Repairs) -> LogicProgram:
    """Read a program, noting every repair; raises `ProgramError` naming the line."""
    sections = split_sections(text, TITLES, repairs)
    if sum(map(len, sections.values())) > MAX_LINES:
        raise ProgramError("too_long", f"more than {MAX_LINES} lines")
    lines = {name: _joined(sections.get(name, []), repairs) for name in TITLES}
    declared = read_declarations(lines["declarations"], repairs)
    constraints = [*declared.constraints, *lines["constraints"]]
    terms = tuple(_constraint(line, declared, repairs) for line in constraints if line.text)
    question, options = read_options(lines["options"], declared, repairs)
    return LogicProgram(declared, terms, question, tuple(options))


def _constraint(line: Line, declared: Declarations, repairs: Repairs) -> Term:
    return Elaborator(declared, line, repairs).formula(read_expression(line, repairs, conjoin=True))


def _joined(lines: Sequence[Line], repairs: Repairs) -> list[Line]:
    """Put together what is broken across lines: brackets are open, and no comment has ended the statement."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if before is not None and not before.comment and _num_open(before.text) > 0:
            repairs.note("lines_joined")
            joined[-1] = Line(before.number, f"{before.text} {line.text}", line.comment)
        else:
            joined.append(line)
    return joined


def _num_open(text: str) -> int:
    return sum(text.count(c) for c in "([") - sum(text.count(c) for c in ")]")
