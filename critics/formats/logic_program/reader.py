"""Reads `logic-program` texts (Logic-LM's language for AR-LSAT): Declarations, Constraints, Options.

The result is typed and finite (`critics.replay.finite.terms`); no Python is generated, and nothing is executed.
"""

import re
from collections.abc import Sequence

from critics.logic.programs.declarations import Declarations, read_declarations
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import read_expression, unlisted
from critics.logic.programs.options import Option, OptionProgram
from critics.logic.programs.sections import MAX_OPTIONS, ProgramError, ProgramLine, Repairs, split_sections
from critics.replay.finite.models import Mode
from critics.replay.finite.terms import Application, Operator

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


def read_options(lines: Sequence[ProgramLine], declared: Declarations, repairs: Repairs) -> tuple[str, list[Option]]:
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


def _option(line: ProgramLine, declared: Declarations, repairs: Repairs) -> Option:
    read = read_expression(line, repairs)
    if not isinstance(read, Application) or not _is_helper(read):
        raise line.error("no_helper", "an option is a helper such as is_valid(..) around a formula")
    elaborator = Elaborator(declared, line, repairs)
    name, arguments, is_exception = read.function.lower(), read.arguments, False
    if name in ("is_min", "is_minimum", "is_max", "is_maximum"):
        # `is_min(T, N)`: T can be N and nothing smaller.
        if len(arguments) != 2:
            raise line.error("arity", f"{read.function[:40]} takes what is measured, and a number")
        term, bound = map(elaborator.number, arguments)
        return Option("least" if name.startswith("is_min") else "greatest", (Operator("eq", (term, bound)),), line)
    if name == "is_exception":
        # It turns the helper inside round.
        if len(arguments) != 1 or not isinstance(inner := arguments[0], Application) or not _is_helper(inner):
            raise line.error("no_helper", "is_exception needs a helper such as is_sat(..) inside")
        name, arguments, is_exception = inner.function.lower(), inner.arguments, True
    if name not in _HELPERS and (is_exception or name != "is_accurate_list"):
        raise line.error("unknown_helper", f"{name[:40]} is no helper that has a meaning")
    if name in _HELPERS and name not in _OWN:
        repairs.note("helper_synonym")
    parts = unlisted(arguments)
    if not parts:
        raise line.error("arity", "a helper needs a formula" if name in _HELPERS else f"{name} needs formulas")
    formulas = tuple(elaborator.formula(part) for part in parts)
    if name == "is_accurate_list":
        return Option("accurate_list", formulas, line)
    if len(formulas) > 1:
        repairs.note("arguments_conjoined")
    mode = _OPPOSITE[_HELPERS[name]] if is_exception else _HELPERS[name]
    return Option(mode, (formulas[0] if len(formulas) == 1 else Operator("and", formulas),), line)


def _is_helper(call: Application) -> bool:
    return call.function.lower().startswith("is_") or call.function.lower() in _HELPERS


def read_logic_program(text: str, repairs: Repairs) -> OptionProgram:
    """Read a program, noting every repair; raises `ProgramError` naming the line."""
    sections = split_sections(text, TITLES, repairs)
    if sum(map(len, sections.values())) > MAX_LINES:
        raise ProgramError("too_long", f"more than {MAX_LINES} lines")
    lines = {name: _joined(sections.get(name, []), repairs) for name in TITLES}
    declared = read_declarations(lines["declarations"], repairs)
    terms = tuple(
        Elaborator(declared, line, repairs).formula(read_expression(line, repairs, conjoin=True))
        for line in (*declared.constraints, *lines["constraints"])
        if line.text
    )
    question, options = read_options(lines["options"], declared, repairs)
    return OptionProgram(declared, terms, tuple(options), question)


def _joined(lines: Sequence[ProgramLine], repairs: Repairs) -> list[ProgramLine]:
    """Put together what is broken across lines: brackets are open, and no comment has ended the statement."""
    joined: list[ProgramLine] = []
    for line in lines:
        before = joined[-1] if joined else None
        opened = 0 if before is None else sum((c in "([") - (c in ")]") for c in before.text)
        if before is not None and not before.comment and opened > 0:
            repairs.note("lines_joined")
            joined[-1] = ProgramLine(before.number, f"{before.text} {line.text}", line.comment)
        else:
            joined.append(line)
    return joined
