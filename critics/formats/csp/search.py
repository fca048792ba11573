"""All solutions of a finite-domain program by backtracking: each constraint is tried once its variables are set.

Constraints are compiled to closures here; certificates are checked by `critics.replay.finite`, which compiles nothing.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from critics.formats.csp.reader import variables_of
from critics.logic.programs.core import TooLarge, apply_operator
from critics.replay.finite.terms import Application, Constant, Function, Operator, Term, Value

MAX_NODES = 60_000
"""Assignments tried; seven objects in a row have under 14,000."""
Solution = Mapping[str, int]
Compiled = Callable[[Solution], Value]
_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "sub": operator.sub, "add": operator.add,
}  # fmt: skip


def solutions(functions: Mapping[str, Function], constraints: Sequence[Term]) -> Iterator[Solution]:
    """Yield every assignment that meets the constraints; raises `TooLarge` beyond the budget, and `Undefined`."""
    order = list(functions)
    due: list[list[Compiled]] = [[] for _ in [*order, None]]
    for constraint in (part for whole in constraints for part in _pairwise(whole)):
        places = [order.index(name) + 1 for name in variables_of(constraint)]
        due[max(places, default=0)].append(compiled(constraint))
    left = [MAX_NODES]
    if all(constraint({}) for constraint in due[0]):
        yield from _extended(functions, order, due, {}, left)


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
        case Operator(name, (one, other)) if name in _BINARY:
            combine, left, right = _BINARY[name], compiled(one), compiled(other)
            return lambda values: combine(left(values), right(values))
        case Operator(name, operands):
            parts = [compiled(operand) for operand in operands]
            return lambda values: apply_operator(name, [part(values) for part in parts])
        case _:
            raise AssertionError(term)


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
