"""Answer of a problem's text itself, where it is in a language that can be read; a script must not contradict it."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import permutations

from critics.formats.z3_python.printed import Wording
from critics.logic.programs.ordering_text import At, Claim, Ordering, read_ordering
from critics.problem import Problem
from critics.text.question import Asked, adds_condition, read_question
from critics.text.reference import text_decides

MAX_OBJECTS = 7
"""In a row; the published texts' most."""


def answer_of_text(problem: Problem, written: Wording) -> str | None:
    """Return the text's own answer, `none` where no option is the only one; None where it is in no such language."""
    if written.truths is None:
        return _answer_of_row(problem.context, written.options or (), _asked(problem.question))
    said = text_decides(problem.dataset, problem.context, problem.question)
    return None if said is None else written.truths.get(said, "none")


def _asked(question: str) -> Asked | None:
    return None if adds_condition(question) else read_question(question)


_SATISFIED: dict[Asked | None, Callable[[list[bool]], bool]] = {
    "must": all,
    "fact": all,
    "could": any,
    "cannot": lambda truths: not any(truths),
    "could_be_false": lambda truths: not all(truths),
}
"""By what is asked of an option: whether its truth in each of the orders is so."""


@lru_cache(maxsize=64)
def _answer_of_row(context: str, options: tuple[str, ...], asked: Asked | None) -> str | None:
    """Return the one option that is as asked in the orders that LogicalDeduction's sentences allow, or `none`."""
    text = read_ordering(context, options)
    if text is None or asked is None or len(text.objects) > MAX_OBJECTS or asked not in _SATISFIED:
        return None
    orders = list(_orders(text))
    found = [[_holds(claim, order) for order in orders] for claim in text.options]
    holding = [number for number, truths in enumerate(found) if _SATISFIED[asked](truths)]
    return chr(ord("A") + holding[0]) if orders and len(holding) == 1 else "none"


def _orders(text: Ordering) -> Sequence[Mapping[str, int]]:
    orders = ({thing: place for place, thing in enumerate(row)} for row in permutations(text.objects))
    return [order for order in orders if all(_holds(claim, order) for claim in text.statements)]


def _holds(claim: Claim, order: Mapping[str, int]) -> bool:
    if isinstance(claim, At):
        return order[claim.one] == claim.position
    return order[claim.one] < order[claim.other]
