"""The critic of `logic-program` attempts: Z3 decides, and the option that holds is the question's.

What the text means is not known here, and a certificate says `trusted`: the question's mode ("must be true", "could be
true", "CANNOT", "EXCEPT") must be that of the helpers, and the formula of the option that holds must speak of every
member of a sort that the option's text names. Both are necessary and not sufficient.
"""

import re
from collections.abc import Sequence

from critics.formats.logic_program.reader import TITLES, read_logic_program
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
from critics.logic.programs.z3_solver import RLIMIT, WALL_S
from critics.problem import Problem
from critics.replay.finite.models import KIND, Mode
from critics.replay.finite.terms import Operator
from critics.text.question import Asked, read_question
from critics.verdict import Unproved, Vacuous
from critics.verdict.conclusion import Refusal, brief

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
_LETTER = re.compile(r"^\(?[A-Za-z]\)\s*")
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
    words = _WORD.findall(_LETTER.sub("", text))
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
