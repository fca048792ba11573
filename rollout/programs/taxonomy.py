"""Errors of solver programs, as far as execution tells: the categories of Elezabi and Akoush (section 3.1).

Their nine categories are the outcomes of a runner that pastes a program into Python. Here nothing is pasted: a category
is read off the critic's verdict, and stands for what that runner would have stumbled over. What our reader puts right
has no category. Two outcomes are kept apart that theirs counted as successes: all options hold, or some of several do.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from critics.formats.logic_program.language import read_logic_program
from critics.formats.names import LOGIC_PROGRAM
from critics.logic.programs.options import Cause, cause_of, solved
from critics.logic.programs.sections import ProgramError, Repairs
from critics.problem import Attempt
from critics.replay.certificate import TooLarge
from critics.replay.finite.terms import Undefined
from rollout.records.traces import Judgement


class Category(StrEnum):
    """Outcome of executing a program; the first nine are the paper's, in its order."""

    UNDERCONSTRAINED = "underconstrained"
    OVERCONSTRAINED = "overconstrained"
    TYPE_ERROR = "type_error"
    SYNTAX_ERROR = "syntax_error"
    NAME_ERROR = "name_error"
    ATTRIBUTE_ERROR = "attribute_error"
    PARSING_ERROR = "parsing_error"
    Z3_EXCEPTION = "z3_exception"
    NO_OUTPUT = "no_output"
    ALL_TRUE = "all_true"
    """Every option holds: the paper's bug, which the runner took for a success."""
    SEVERAL_TRUE = "several_true"
    """More than one option holds and not all: the runner takes the first."""
    OTHER_ERROR = "other_error"
    """A script ends in an exception of another kind: a division by zero, a false assertion."""
    REFUSED = "refused"
    """A script uses what our interpreter does not run and Python might: another module, `try`, a class."""
    ANSWERED = "answered"
    """One answer comes out; whether it is right, and means what the text says, is not for execution to tell."""
    CRITIC_ERROR = "critic_error"
    """The critic failed; nothing is known of the program."""


ERRORS = tuple(Category)[:9]
"""The paper's categories."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """An attempt's category, and the cause where options hold that should not, as far as their helpers tell it."""

    category: Category
    cause: Cause | None = None


_BY_REASON: Mapping[str, Category] = {
    **dict.fromkeys(
        ("sections", "no_options", "no_rules", "no_query", "no_premises", "conclusion", "labels", "option_count",
         "multiple_queries", "variables", "too_long", "too_many_premises", "depth", "too_deep", "empty"),
        Category.PARSING_ERROR,
    ),
    **dict.fromkeys(("syntax", "character"), Category.SYNTAX_ERROR),
    **dict.fromkeys(
        ("undeclared_name", "undeclared_function", "undeclared_sort", "unknown_helper", "name", "shadow",
         "free_variable", "unbound_head_var", "unbound"),
        Category.NAME_ERROR,
    ),
    **dict.fromkeys(("type", "arity", "role", "quantifier", "nested_helper", "unbounded_domain"), Category.TYPE_ERROR),
    # Of scripts: what Python, or the package z3, would have raised.
    "unknown_name": Category.NAME_ERROR,
    "attribute": Category.ATTRIBUTE_ERROR,
    **dict.fromkeys(("operator", "not_a_function"), Category.TYPE_ERROR),
    **dict.fromkeys(("no_formula", "no_model", "pop", "symbolic_truth"), Category.Z3_EXCEPTION),
    **dict.fromkeys(("arithmetic", "assertion"), Category.OTHER_ERROR),
    **dict.fromkeys(("import", "not_allowed", "not_supported", "rebinding", "name_reused"), Category.REFUSED),
    **dict.fromkeys(
        ("no_helper", "redeclaration", "overlapping_sorts", "sort", "undefined", "too_large"), Category.Z3_EXCEPTION
    ),
}  # fmt: skip
"""By the reason of a malformed program."""
_ATTRIBUTE = re.compile(r"unexpected character '\.'")
_REFUSED_BY_Z3 = re.compile(r"is given where|a formula is needed, not a value|\d+ arguments where")
"""Faults that Z3 itself refuses: a value of another sort, a value for a formula, more or fewer arguments. Operations on
values that have none, such as `<` between truth values, Python refuses before."""
_HOLDING = re.compile(r"options ((?:[A-Z], )+[A-Z]) ")


def prints_an_option(judgement: Judgement) -> bool:
    """Say whether exactly one answer comes out of a program: the paper's executable rate counts these.

    What contradicts itself says nothing, whatever a closed world makes of it.
    """
    return (
        judgement.answer is not None
        and judgement.verdict not in ("malformed", "error")
        and not judgement.reason.startswith("inconsistent")
    )


def printed_by_logic_lm(attempt: Attempt, judgement: Judgement) -> str | None:
    """Return the option that Logic-LM's own runner prints first, though others or all hold as well; None for none.

    Nothing is put right for it, and it drops what else stands among the declarations. Of other languages this is ours.
    """
    if attempt.format != LOGIC_PROGRAM:
        return judgement.answer if prints_an_option(judgement) else None
    head, mark, rest = attempt.completion.partition("# Constraints")
    declared = [line for line in head.splitlines() if line.startswith("#") or "Sort" in line or "Function" in line]
    repairs = Repairs()
    try:
        holding = solved(read_logic_program("\n".join([*declared, mark + rest]), repairs)).holding()
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None
    return ascii_uppercase[holding[0]] if holding and not repairs.words() else None


def diagnose(attempt: Attempt, judgement: Judgement) -> Diagnosis:
    """Return what came of executing an attempt, by its verdict; deterministic, and blind to the gold answer.

    An attempt of `logic-program` format that has no answer is executed again, because its verdict does not say which
    helpers its options use.
    """
    if judgement.verdict == "error":
        return Diagnosis(Category.CRITIC_ERROR)
    if judgement.verdict == "malformed":
        reason, feedback = judgement.reason, judgement.feedback
        if attempt.format == LOGIC_PROGRAM and reason == "syntax" and _ATTRIBUTE.search(feedback):
            return Diagnosis(Category.ATTRIBUTE_ERROR)
        if reason in ("type", "arity") and _REFUSED_BY_Z3.search(feedback):
            return Diagnosis(Category.Z3_EXCEPTION)
        return Diagnosis(_BY_REASON.get(reason, Category.PARSING_ERROR))
    if prints_an_option(judgement):
        return Diagnosis(Category.ANSWERED)
    if attempt.format == LOGIC_PROGRAM and judgement.verdict != "timeout":
        try:
            program = read_logic_program(attempt.completion, Repairs())
            run = solved(program)
        except (ProgramError, TooLarge, Undefined, RecursionError):
            return Diagnosis(Category.NO_OUTPUT)
        num = len(run.holding())
        if not run.decided() or num == 1:
            # One option that holds only because everything does is none.
            return Diagnosis(Category.NO_OUTPUT if not run.decided() else Category.OVERCONSTRAINED)
        # Contradictory constraints are overconstrained whatever the helpers.
        inconsistent = run.constraints.model is None
        cause = "overconstrained" if inconsistent else cause_of(program.options, too_many=num > 0)
        if num == 0:
            return Diagnosis(Category(cause) if cause else Category.NO_OUTPUT, cause)
        return Diagnosis(Category.ALL_TRUE if num == len(run.options) else Category.SEVERAL_TRUE, cause)
    # Diagnose what ran in another language: there an option, or a query, must hold in all solutions.
    num_options = len(attempt.problem.options or ())
    match judgement.reason:
        case "inconsistent_constraints" | "inconsistent_context" | "inconsistent_premises":
            return Diagnosis(Category.OVERCONSTRAINED, "overconstrained")
        case "no_option_holds":
            return Diagnosis(Category.UNDERCONSTRAINED, "underconstrained")
        case "several_options_hold":
            named = _HOLDING.search(judgement.feedback)
            is_all = named is not None and len(named[1].split(", ")) == num_options
            return Diagnosis(Category.ALL_TRUE if is_all else Category.SEVERAL_TRUE)
        case _:
            return Diagnosis(Category.NO_OUTPUT)
