"""Evaluation of a formula in many models of one domain: for all models, and all objects, in one integer.

A value has a block of bits, one bit for each model, for every choice of objects for the variables in scope; the
innermost variable is the highest digit of a block's number. So a connective is one operation on integers, and a
quantifier joins the blocks of its variable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from critics.formats.equivalence.table import joined
from critics.logic.first_order.syntax import (
    Atom,
    Compound,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    subformulas,
    variables_of,
)

Ground: TypeAlias = Callable[[Atom | Equality, Mapping[str, int]], int]
"""Returns in which models an atom holds, given the objects of its variables."""


MAX_BLOCKS = 1_024
"""Of one value; the objects of variables further inside are tried one by one."""


def num_steps(formula: Formula, size: int) -> int:
    """Return how many formulas are evaluated if each quantifier tries each object: a bound on the blocks of bits."""
    if isinstance(formula, Not):
        return 1 + num_steps(formula.body, size)
    if isinstance(formula, Compound):
        return 1 + sum([num_steps(operand, size) for operand in formula.operands])
    return 1 + size * num_steps(formula.body, size) if isinstance(formula, Quantified) else 1


def holding(formula: Formula, size: int, num: int, ground: Ground) -> int:
    """Return in which of `num` models, which share the objects `0 .. size - 1`, a formula holds: a bit for each."""
    used = {name for part in subformulas(formula) if isinstance(part, Atom | Equality) for name in variables_of(part)}
    return _Evaluation(size, num, ground, frozenset(used)).value(formula, (), {})


@dataclass(frozen=True, slots=True)
class _Evaluation:
    size: int
    num: int
    ground: Ground
    used: frozenset[str]
    """Variables that stand in some atom: quantifiers of others, of which there may be many, are passed over."""

    def value(self, formula: Formula, scope: tuple[str, ...], objects: Mapping[str, int]) -> int:
        """Return a block for each choice of objects for the variables in scope; `objects` are those of inner ones."""
        # Tests of the type and no `match`: most of the time of looking for a model is spent here.
        if isinstance(formula, Not):
            return self._everywhere(scope) ^ self.value(formula.body, scope, objects)
        if isinstance(formula, Compound):
            values = [self.value(operand, scope, objects) for operand in formula.operands]
            return joined(formula.operator, values, self._everywhere(scope))
        if isinstance(formula, Quantified):
            return self._over_all(formula, scope, objects)
        return self._spread(formula, scope, frozenset(variables_of(formula)) - objects.keys(), objects)

    def _everywhere(self, scope: tuple[str, ...]) -> int:
        return _ones(self.num * self.size ** len(scope))

    def _over_all(self, formula: Quantified, scope: tuple[str, ...], objects: Mapping[str, int]) -> int:
        body, variable = formula.body, formula.variable
        if variable not in self.used:
            return self.value(body, scope, objects)
        if self.size ** (len(scope) + 1) > MAX_BLOCKS:
            values = [self.value(body, scope, {**objects, variable: number}) for number in range(self.size)]
        else:
            width, value = self.num * self.size ** len(scope), self.value(body, (*scope, variable), objects)
            values = [value >> width * number & _ones(width) for number in range(self.size)]
        operator = Operator.AND if formula.quantifier is Quantifier.ALL else Operator.OR
        return joined(operator, values, self._everywhere(scope))

    def _spread(
        self, atom: Atom | Equality, scope: tuple[str, ...], free: frozenset[str], objects: Mapping[str, int]
    ) -> int:
        """Return an atom's blocks; a variable that it has not, or that an inner one hides, changes none."""
        if not scope or not free:
            return self.ground(atom, objects) * _repeated(self.num, self.size ** len(scope))
        outer, variable = scope[:-1], scope[-1]
        width, value = self.num * self.size ** len(outer), 0
        if variable not in free:
            return self._spread(atom, outer, free, objects) * _repeated(width, self.size)
        for number in reversed(range(self.size)):
            block = self._spread(atom, outer, free - {variable}, {**objects, variable: number})
            value = value << width | block
        return value


@lru_cache(maxsize=256)
def _ones(num: int) -> int:
    return (1 << num) - 1


@lru_cache(maxsize=256)
def _repeated(width: int, times: int) -> int:
    """Return what a block is to be multiplied with to stand so many times."""
    return _ones(width * times) // _ones(width)
