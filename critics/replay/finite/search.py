"""All solutions of a program without arguments by backtracking: each constraint is tried once its variables are set.

Variables get their values one after the other, in the program's order. Work is the assignments tried, not time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from critics.replay.certificate import Rejected, TooLarge
from critics.replay.finite.terms import Application, Constant, Function, Operator, Term, Value, called, operated

MAX_NODES = 60_000
"""Assignments that a critic tries; seven objects in a row have under 14,000."""
MAX_TRIED = 100_000
"""Assignments that the checker tries."""
Solution = Mapping[str, int]
Compiled = Callable[[Solution], Value]


def solutions(
    functions: Mapping[str, Function], constraints: Sequence[Term], limit: int = MAX_NODES
) -> Iterator[Solution]:
    """Yield every assignment that meets the constraints; raises `TooLarge` beyond the limit, and `Undefined`."""
    if any(function.domains or function.values is None for function in functions.values()):
        raise Rejected("ill_formed")
    order = list(functions)
    due: list[list[Compiled]] = [[] for _ in [*order, None]]
    for constraint in (part for whole in constraints for part in _pairwise(whole)):
        places = [order.index(name) + 1 for name in called(constraint)]
        due[max(places, default=0)].append(compiled(constraint))
    left = [limit]
    if all(constraint({}) for constraint in due[0]):
        yield from _extended(functions, order, due, {}, left)


def has_solution(functions: Mapping[str, Function], constraints: Sequence[Term]) -> bool:
    """Say whether some values of all variables meet the constraints; raises `Rejected`."""
    return next(solutions(functions, constraints, MAX_TRIED), None) is not None


def _extended(
    functions: Mapping[str, Function],
    order: Sequence[str],
    due: Sequence[Sequence[Compiled]],
    chosen: dict[str, int],
    left: list[int],
) -> Iterator[Solution]:
    if len(chosen) == len(order):
        yield dict(chosen)
        return
    name, constraints = order[len(chosen)], due[len(chosen) + 1]
    for value in functions[name].values or ():
        left[0] -= 1
        if left[0] < 0:
            raise TooLarge("the search")
        chosen[name] = value
        if all(constraint(chosen) for constraint in constraints):
            yield from _extended(functions, order, due, chosen, left)
        del chosen[name]


def compiled(term: Term) -> Compiled:
    """Return a function from values for all variables to a term's value; it may raise `Undefined`."""
    match term:
        case Constant(value):
            return lambda _: value
        case Application(name, _):
            return lambda values: values[name]
        case Operator("and", operands):
            parts = [compiled(operand) for operand in operands]
            return lambda values: all(part(values) for part in parts)
        case Operator("or", operands):
            parts = [compiled(operand) for operand in operands]
            return lambda values: any(part(values) for part in parts)
        case Operator(name, operands):
            parts = [compiled(operand) for operand in operands]
            return lambda values: operated(name, [part(values) for part in parts])
        case _:
            raise Rejected("ill_formed")


def _pairwise(constraint: Term) -> Iterator[Term]:
    """Take conjunctions and `distinct` apart, so that they prune early."""
    if isinstance(constraint, Operator) and constraint.name == "and":
        for part in constraint.operands:
            yield from _pairwise(part)
    elif isinstance(constraint, Operator) and constraint.name == "distinct":
        for pair in combinations(constraint.operands, 2):
            yield Operator("ne", pair)
    else:
        yield constraint
