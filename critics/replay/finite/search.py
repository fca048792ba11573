"""Exhaustive search for a solution of a program without arguments in which an option fails.

Variables get their values one after the other, in the program's order; a constraint is tried once all its variables
have one. Solutions are counted by the assignments tried, not timed.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

from critics.replay.certificate import Rejected
from critics.replay.finite.terms import Application, Evaluation, Function, Operator, Quantified, Term, Value

MAX_TRIED = 100_000
"""Assignments; the critic gives up earlier, and seven objects in a row have under 14,000."""


def has_solution(functions: Mapping[str, Function], constraints: Sequence[Term]) -> bool:
    """Say whether some values of all variables meet the constraints; raises `Rejected`."""
    names = list(functions)
    due: list[list[Term]] = [[] for _ in range(len(names) + 1)]
    for constraint in (part for whole in constraints for part in _parts(whole)):
        due[max((names.index(name) + 1 for name in called(constraint)), default=0)].append(constraint)
    tables: dict[str, dict[tuple[int, ...], Value]] = {}
    evaluation = Evaluation(functions, tables)
    left = [MAX_TRIED]

    def extends(num: int) -> bool:
        if not all(map(evaluation.holds, due[num])):
            return False
        if num == len(names):
            return True
        for value in functions[names[num]].values or ():
            left[0] -= 1
            if left[0] < 0:
                raise Rejected("too_large")
            tables[names[num]] = {(): value}
            if extends(num + 1):
                return True
        return False

    if any(function.domains or function.values is None for function in functions.values()):
        raise Rejected("ill_formed")
    return extends(0)


def called(term: Term) -> set[str]:
    """Return the functions that a term calls."""
    match term:
        case Application(name, parts):
            return {name}.union(*map(called, parts))
        case Operator(_, parts):
            return set[str]().union(*map(called, parts))
        case Quantified(_, _, body):
            return called(body)
        case _:
            return set()


def _parts(term: Term) -> list[Term]:
    """Take conjunctions and `distinct` apart, so that they are tried early."""
    match term:
        case Operator("and", operands):
            return [part for operand in operands for part in _parts(operand)]
        case Operator("distinct", operands):
            return [Operator("ne", pair) for pair in combinations(operands, 2)]
        case _:
            return [term]
