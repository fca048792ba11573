"""Truth tables as integers: bit i is a formula's value under assignment i.

The table over all propositions of a vocabulary, in one order, is the same number for formulas that mean the same.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from critics.logic.first_order.syntax import Atom, Compound, Formula, Not, Operator

MAX_ATOMS = 16
"""65,536 assignments: an operation takes a microsecond. With more, a solver is better."""


@lru_cache(maxsize=256)
def column(number: int, num_atoms: int) -> int:
    """Return the values of one proposition: bit i is bit `number` of i."""
    block = (1 << (1 << number)) - 1
    period = 1 << (number + 1)
    values, length = block << (1 << number), period
    while length < 1 << num_atoms:
        values |= values << length
        length *= 2
    return values


def columns(names: Sequence[str]) -> dict[str, int]:
    """Return the values of propositions in their order."""
    return {name: column(number, len(names)) for number, name in enumerate(names)}


def truth_table(formula: Formula, names: Sequence[str]) -> int:
    """Return a propositional formula's table over `names`, which must have all of its propositions."""
    return values(formula, columns(names), (1 << (1 << len(names))) - 1)


def values(formula: Formula, given: Mapping[str, int], everywhere: int) -> int:
    """Return a formula's values, given those of its propositions; `everywhere` has a bit for each case.

    Raises `ValueError` for what is not propositional.
    """
    # Tests of the type and no `match`: half of the time of deciding is spent here.
    if isinstance(formula, Compound):
        parts = [values(operand, given, everywhere) for operand in formula.operands]
        return joined(formula.operator, parts, everywhere)
    if isinstance(formula, Not):
        return everywhere ^ values(formula.body, given, everywhere)
    if isinstance(formula, Atom) and not formula.arguments:
        return given[formula.predicate]
    raise ValueError("not a propositional formula")


def joined(operator: Operator, operands: Sequence[int], everywhere: int) -> int:
    """Return the values of a connective, given those of its operands."""
    found = operands[0]
    if operator is Operator.AND:
        for operand in operands:
            found &= operand
        return found
    if operator is Operator.OR:
        for operand in operands:
            found |= operand
        return found
    if operator is Operator.IMPLIES:
        return (everywhere ^ found) | operands[1]
    return found ^ operands[1] ^ (everywhere if operator is Operator.IFF else 0)
