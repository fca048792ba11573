"""The language of `logic-program` texts (Logic-LM's for AR-LSAT): Declarations, Constraints, Options.

The result is typed and finite (`critics.replay.finite.terms`); no Python is generated, and nothing is executed.

What the text means is not known here, and a certificate says `trusted`: the question's mode ("must be true", "could be
true", "CANNOT", "EXCEPT") must be that of the helpers, and the formula of the option that holds must speak of every
member of a sort that the option's text names. Both are necessary and not sufficient.
"""

import re
from collections.abc import Sequence

from critics.logic.programs.declarations import Declarations, read_declarations
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import read_expression, unlisted
from critics.logic.programs.options import (
    NO_CONSTRAINTS,
    REPEATED,
    Execution,
    Option,
    OptionLanguage,
    OptionProgram,
    are_repeated,
    solved,
)
from critics.logic.programs.sections import MAX_OPTIONS, ProgramError, ProgramLine, Repairs, split_sections
from critics.logic.programs.z3_solver import RLIMIT, WALL_S
from critics.problem import Problem
from critics.replay.finite.models import KIND, Mode
from critics.replay.finite.terms import Application, Operator, Term
from critics.text.question import Asked, read_question
from critics.verdict import Unproved, Vacuous
from critics.verdict.conclusion import Refusal, brief

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


def _is_helper(call: Application[Term]) -> bool:
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


_MODES: dict[Asked, frozenset[Mode]] = {
    "must": frozenset({"valid"}),
    "could": frozenset({"sat"}),
    "cannot": frozenset({"unsat"}),
    "could_be_false": frozenset({"not_valid"}),
    "list": frozenset({"accurate_list"}),
    "extreme": frozenset({"least", "greatest"}),
    "equivalence": frozenset(),
    "fact": frozenset({"valid", "sat"}),
}
_NEGATED: dict[Mode, Mode] = {"valid": "unsat", "unsat": "valid", "sat": "not_valid", "not_valid": "sat"}
"""Claim of each helper about a negation, as a claim about what is negated."""
_LETTERED = re.compile(r"^\(?[A-Za-z]\)\s*")
_WORD = re.compile(r"[^\W_]+")


def _bar(program: OptionProgram, run: Execution, problem: Problem, _difference: str | None) -> Refusal | None:
    """Return what bars a program from being believed of which one option holds, whatever the gold answer."""
    if any(option.trivial for option in run.options):
        # Attack: replace the right option by a tautology, or the wrong ones by contradictions.
        return Refusal(Vacuous, "trivial_option", "an option says nothing")
    if program.declared.free:
        names = ", ".join(program.declared.free)
        return Refusal(Unproved, "free_variable", f"nothing binds {names}: is all meant, or some?")
    if not program.constraints:
        return NO_CONSTRAINTS
    if are_repeated(run):
        return REPEATED
    if len({option.mode for option in program.options}) > 1:
        # Attack: ask of the right option less than of the others.
        return Refusal(Unproved, "mixed_helpers", "the options are judged by different helpers")
    if read_question(problem.question) is None:
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(problem.question)}")
    own = program.question if read_question(program.question) != "fact" else ""
    if asks_otherwise(problem.question, program.options) or asks_otherwise(own, program.options):
        # Attack: ask what could be where the question asks what must be.
        return Refusal(Unproved, "goal_mismatch", "the options' helpers do not ask what the question asks")
    holding = run.holding()[0]
    if problem.options is not None and _leaves_unsaid(problem.options[holding], program.options[holding], program):
        return Refusal(Unproved, "option_mismatch", "the option that holds does not speak of what its text names")
    return None


def asks_otherwise(question: str, options: Sequence[Option]) -> bool:
    """Say whether the question, where it can be read, asks for another mode than the options have."""
    asked = read_question(question)
    if asked is None or asked == "unsaid":
        return False
    return any(not _modes(option) & _MODES[asked] for option in options)


def _modes(option: Option) -> set[Mode]:
    """Return what an option's helper may be read as: of a negation, it says the opposite of what is negated."""
    modes: set[Mode] = {option.mode}
    first = option.formulas[0]
    if option.mode in _NEGATED and isinstance(first, Operator) and first.name == "not":
        modes.add(_NEGATED[option.mode])
    return modes


def _leaves_unsaid(text: str, option: Option, program: OptionProgram) -> bool:
    """Say whether an option's formula leaves out a member that the option's text names, by all of its words in order.

    Attack: put the formula that holds where the gold answer is.
    """
    said = {word.lower() for word in re.findall(r"\w+", option.line.text)}
    words = _WORD.findall(_LETTERED.sub("", text))
    lower = [word.lower() for word in words]
    for member in program.declared.members:
        parts = member.lower().split("_")
        if len(member) == 1:
            # "a" is an article, and so is "A" where it starts a sentence.
            is_named = member in words[1:] or (member in words and member not in ("A", "I"))
        else:
            is_named = any(lower[i : i + len(parts)] == parts for i in range(len(lower)))
        if is_named and member.lower() not in said:
            return True
    return False


LANGUAGE = OptionLanguage(
    KIND,
    "certistar-logic-program/1",
    {"rlimit": RLIMIT, "wall_s": int(WALL_S)},
    TITLES,
    read_logic_program,
    solved,
    _bar,
)
