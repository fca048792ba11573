"""Fidelity of a program to its problem: what can be read off the text without understanding it.

The question's mode ("must be true", "could be true", "CANNOT", "EXCEPT") must be that of the helpers, and the formula
of the option that holds must speak of every member of a sort that the option's text names. Both are necessary and not
sufficient: the formalisation stays on trust.
"""

import re
from collections.abc import Sequence

from critics.formats.logic_program.reader import LogicProgram, Option
from critics.logic.programs.declarations import Declarations
from critics.replay.finite.grounding import Ground
from critics.replay.finite.models import Mode
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


def bar_of(
    question: str, texts: Sequence[str] | None, program: LogicProgram, ground: Sequence[list[Ground]], holding: int
) -> Refusal | None:
    """Return what bars a program from being believed of which the option at `holding` alone holds, or None.

    `question` and `texts`, those of the options, are the problem's.
    """
    if program.declared.free:
        names = ", ".join(program.declared.free)
        return Refusal(Unproved, "free_variable", f"nothing binds {names}: is all meant, or some?")
    if not program.constraints:
        # Attack: put the premises where only the right option needs them.
        return Refusal(Vacuous, "no_constraints", "the program has no constraints")
    if _is_repeated(ground):
        # Attack: shrink a sort, so that wrong options become one another.
        return Refusal(Vacuous, "repeated_option", "two options are the same formula")
    if len({option.mode for option in program.options}) > 1:
        # Attack: ask of the right option less than of the others.
        return Refusal(Unproved, "mixed_helpers", "the options are judged by different helpers")
    if read_question(question) is None:
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(question)}")
    own = program.question if read_question(program.question) != "fact" else ""
    if asks_otherwise(question, program.options) or asks_otherwise(own, program.options):
        # Attack: ask what could be where the question asks what must be.
        return Refusal(Unproved, "goal_mismatch", "the options' helpers do not ask what the question asks")
    if texts is not None and leaves_unsaid(texts[holding], program.options[holding], program.declared):
        return Refusal(Unproved, "option_mismatch", "the option that holds does not speak of what its text names")
    return None


def _is_repeated(ground: Sequence[Sequence[Ground]]) -> bool:
    """Say whether two options say the same, once quantifiers are unrolled."""
    return len(set(map(tuple, ground))) < len(ground)


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


def leaves_unsaid(text: str, option: Option, declared: Declarations) -> bool:
    """Say whether an option's formula leaves out a member that the option's text names.

    Attack: put the formula that holds where the gold answer is.
    """
    said = {word.lower() for word in re.findall(r"\w+", option.line.text)}
    return not {member.lower() for member in _named(_LETTER.sub("", text), declared)} <= said


def _named(text: str, declared: Declarations) -> set[str]:
    """Return the members that a text names, each by all of its words in their order."""
    words = _WORD.findall(text)
    lower = [word.lower() for word in words]
    found: set[str] = set()
    for member in declared.members:
        parts = member.lower().split("_")
        if len(member) == 1:
            # "a" is an article, and so is "A" where it starts a sentence.
            if member in words[1:] or (member in words and member not in ("A", "I")):
                found.add(member)
        elif any(lower[i : i + len(parts)] == parts for i in range(len(lower))):
            found.add(member)
    return found
