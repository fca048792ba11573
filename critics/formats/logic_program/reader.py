"""Reads `logic-program` texts (Logic-LM's language for AR-LSAT): Declarations, Constraints, Options.

The result is typed and finite (`critics.logic.programs.core`); no Python is generated, and nothing is executed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from critics.logic.programs.declarations import Declarations, read_declarations
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import Call, Expression, read_expression, unlisted
from critics.logic.programs.sections import MAX_OPTIONS, Line, ProgramError, Repairs, split_sections
from critics.replay.finite.models import ClaimedOption, Mode
from critics.replay.finite.terms import Operator, Term

TITLES = {
    "declarations": ("Declarations", "Declaration"),
    "constraints": ("Constraints", "Constraint"),
    "options": ("Options", "Option"),
}
MAX_LINES = 400
"""Lines of the whole program."""


_HELPERS: dict[str, Mode] = {
    "is_valid": "valid", "is_true": "valid", "is_always_true": "valid", "is_necessary": "valid",
    "is_must_be_true": "valid", "must_be_true": "valid",
    "is_sat": "sat", "is_satisfiable": "sat", "is_possible": "sat", "could_be_true": "sat", "is_could_be_true": "sat",
    "is_unsat": "unsat", "is_unsatisfiable": "unsat", "is_false": "unsat", "is_impossible": "unsat",
    "is_must_be_false": "unsat", "must_be_false": "unsat", "cannot_be_true": "unsat",
    "is_invalid": "not_valid", "is_not_valid": "not_valid", "could_be_false": "not_valid",
}  # fmt: skip
_OWN = ("is_valid", "is_sat", "is_unsat")
_OPPOSITE: dict[Mode, Mode] = {"valid": "not_valid", "not_valid": "valid", "sat": "unsat", "unsat": "sat"}
_LETTER = re.compile(r"\(?([A-Za-z])\)?[).:]?(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Option(ClaimedOption):
    """One option, and where it stands."""

    line: Line


def read_options(lines: Sequence[Line], declared: Declarations, repairs: Repairs) -> tuple[str, list[Option]]:
    """Return the question as the program repeats it, and the options by position.

    Labels such as `(B)` order the options where every option has another one. Raises `ProgramError`.
    """
    question, options = "", list[Option]()
    for line in lines:
        if re.match(r"question\b", line.text, re.IGNORECASE):
            question = line.comment or line.text[len("question") :].strip(" :")
        elif line.text:
            options.append(_option(line, declared, repairs))
    if not 0 < len(options) <= MAX_OPTIONS:
        raise ProgramError("no_options", f"{len(options)} options where 1 to {MAX_OPTIONS} are needed")
    return question, _by_label(options)


def _by_label(options: list[Option]) -> list[Option]:
    labels = [match[1].upper() if (match := _LETTER.match(option.line.comment)) else "" for option in options]
    if not any(labels):
        return options
    wanted = [chr(ord("A") + i) for i in range(len(options))]
    if sorted(labels) != wanted:
        raise ProgramError("labels", f"the options are labelled {', '.join(label or 'nothing' for label in labels)}")
    return [options[labels.index(label)] for label in wanted]


def _option(line: Line, declared: Declarations, repairs: Repairs) -> Option:
    read = read_expression(line, repairs)
    if not isinstance(read, Call) or not _is_helper(read.name):
        raise line.error("no_helper", "an option is a helper such as is_valid(..) around a formula")
    elaborator = Elaborator(declared, line, repairs)
    name = read.name.lower()
    if name == "is_exception":
        return _exception(line, read, elaborator, repairs)
    if name == "is_accurate_list":
        return _accurate_list(line, read, elaborator)
    if name in ("is_min", "is_minimum", "is_max", "is_maximum"):
        return _extreme(line, read, elaborator)
    return Option(_mode(line, name, repairs), (_formula(line, read.arguments, elaborator, repairs),), line)


def _is_helper(name: str) -> bool:
    return name.lower().startswith("is_") or name.lower() in _HELPERS


def _mode(line: Line, name: str, repairs: Repairs) -> Mode:
    if name not in _HELPERS:
        raise line.error("unknown_helper", f"{name[:40]} is no helper that has a meaning")
    if name not in _OWN:
        repairs.note("helper_synonym")
    return _HELPERS[name]


def _formula(line: Line, arguments: Sequence[Expression], elaborator: Elaborator, repairs: Repairs) -> Term:
    parts = unlisted(arguments)
    if not parts:
        raise line.error("arity", "a helper needs a formula")
    formulas = tuple(elaborator.formula(part) for part in parts)
    if len(formulas) > 1:
        repairs.note("arguments_conjoined")
    return formulas[0] if len(formulas) == 1 else Operator("and", formulas)


def _exception(line: Line, read: Call, elaborator: Elaborator, repairs: Repairs) -> Option:
    """Turn the helper inside round."""
    if len(read.arguments) != 1 or not isinstance(inner := read.arguments[0], Call) or not _is_helper(inner.name):
        raise line.error("no_helper", "is_exception needs a helper such as is_sat(..) inside")
    mode = _mode(line, inner.name.lower(), repairs)
    return Option(_OPPOSITE[mode], (_formula(line, inner.arguments, elaborator, repairs),), line)


def _accurate_list(line: Line, read: Call, elaborator: Elaborator) -> Option:
    parts = unlisted(read.arguments)
    if not parts:
        raise line.error("arity", "is_accurate_list needs formulas")
    return Option("accurate_list", tuple(elaborator.formula(part) for part in parts), line)


def _extreme(line: Line, read: Call, elaborator: Elaborator) -> Option:
    """`is_min(T, N)`: T can be N and nothing smaller."""
    if len(read.arguments) != 2:
        raise line.error("arity", f"{read.name[:40]} takes what is measured, and a number")
    least = read.name.lower().startswith("is_min")
    term, bound = (elaborator.number(argument) for argument in read.arguments)
    return Option("least" if least else "greatest", (Operator("eq", (term, bound)),), line)


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
