"""Consequences of Horn statements by forward chaining: from a contradiction every goal would follow as well."""

from collections.abc import Iterable

from critics.replay.certificate import Rejected
from critics.replay.formula import Literal, Statement
from critics.replay.kernel import ArityError, Kernel, WorkLimitExceeded

MAX_WORK = 400_000
"""Matches tried, also in vain; large terms count more."""


def is_contradictory(statements: Iterable[Statement], goal: Literal) -> bool:
    """Say whether a fact and its negation follow; objects of the goal count as objects.

    Raises `Rejected`: `too_large` where that would take too long or has no end, `ill_formed` where a predicate or a
    function has two numbers of arguments.
    """
    return _saturated(statements, goal).contradiction() is not None


def answer(statements: Iterable[Statement], goal: Literal) -> str | None:
    """Return whether a goal follows (`true`), its negation (`false`) or neither; None from what is contradictory.

    Raises `Rejected` like `is_contradictory`.
    """
    kernel = _saturated(statements, goal)
    if kernel.contradiction() is not None:
        return None
    return "true" if goal in kernel.known else "false" if goal.negated() in kernel.known else "unknown"


def _saturated(statements: Iterable[Statement], goal: Literal) -> Kernel:
    """Return all that follows, or all up to the first contradiction."""
    kernel = Kernel(work_limit=MAX_WORK)
    try:
        for statement in statements:
            kernel.add_axiom(statement)
        kernel.mention(goal)
        while kernel.offers and kernel.contradiction() is None:
            for literal in list(kernel.offers):
                kernel.infer(literal)
                if literal.negated() in kernel.known:
                    break
    except ArityError as error:
        raise Rejected("ill_formed") from error
    except WorkLimitExceeded as error:
        raise Rejected("too_large") from error
    if kernel.truncated and kernel.contradiction() is None:
        raise Rejected("too_large")
    return kernel
