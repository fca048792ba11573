"""Many models evaluated at once, as the bits of integers: truth tables, and finite models drawn at random.

In a batch of models of one size, constants and functions are the same, and each ground atom has an integer of truth
values, a bit for a model. With one object the batch is all there is, where that fits. What is found is evaluated again
by `critics.replay.first_order.models`; what is not found says nothing.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from critics.replay.first_order import syntax as fo
from critics.replay.first_order.models import Model, Symbol, assignments, satisfies

MAX_ATOMS = 16
"""65,536 assignments: an operation takes a microsecond. With more, a solver is better."""
Ground: TypeAlias = Callable[[fo.Atom | fo.Equality, Mapping[str, int]], int]
"""Returns in which models an atom holds, given the objects of its variables."""
BATCH = 512
"""Models in a batch."""
SIZES = (1, 2, 2, 2, 3, 2, 3, 2, 3)
"""Sizes of the batches, in order: published formulas that differ do so with two objects, almost always."""
MAX_EXHAUSTED = 9
"""Symbols up to which all models of one object are one batch."""
MAX_STEPS = 30_000
"""Subformulas evaluated in all batches together; then the search ends."""
MAX_TABLE = 4_096
"""Ground atoms of a batch."""


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Both mean the same, and this is how the checker can see it."""

    method: str
    """`propositional`, `prefix`, `solver` or `automaton`."""
    detail: Mapping[str, str | Sequence[int] | Sequence[Sequence[int]]]
    """Evidence of the method, in JSON."""


@dataclass(frozen=True, slots=True)
class Different:
    """Here they differ, and a separate evaluator has seen it."""

    witness: Mapping[str, Any]
    """In JSON: truth values of propositions, a finite model, or a word."""
    left_holds: bool
    """The left one holds there, or matches."""


@dataclass(frozen=True, slots=True)
class UndecidedPair:
    """The budget ran out; nothing is known."""


Outcome: TypeAlias = Equivalent | Different | UndecidedPair


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


def truth_table(formula: fo.Formula, names: Sequence[str]) -> int:
    """Return a propositional formula's table over `names`, which must have all of its propositions.

    Bit i is its value under assignment i, so that formulas that mean the same have the same number.
    """
    columns: dict[fo.Atom | fo.Equality, int] = {
        fo.Atom(name): column(number, len(names)) for number, name in enumerate(names)
    }
    return holding(formula, 1, 1 << len(names), lambda atom, _: columns[atom])


def joined(operator: fo.Operator, operands: Sequence[int], everywhere: int) -> int:
    """Return the values of a connective, given those of its operands."""
    found = operands[0]
    if operator is fo.Operator.AND:
        for operand in operands:
            found &= operand
        return found
    if operator is fo.Operator.OR:
        for operand in operands:
            found |= operand
        return found
    if operator is fo.Operator.IMPLIES:
        return (everywhere ^ found) | operands[1]
    return found ^ operands[1] ^ (everywhere if operator is fo.Operator.IFF else 0)


def num_steps(formula: fo.Formula, size: int) -> int:
    """Return how many formulas are evaluated if each quantifier tries each object."""
    if isinstance(formula, fo.Not):
        return 1 + num_steps(formula.body, size)
    if isinstance(formula, fo.Compound):
        return 1 + sum([num_steps(operand, size) for operand in formula.operands])
    return 1 + size * num_steps(formula.body, size) if isinstance(formula, fo.Quantified) else 1


def holding(formula: fo.Formula, size: int, num: int, ground: Ground) -> int:
    """Return in which of `num` models, which share the objects `0 .. size - 1`, a formula holds: a bit for each."""
    everywhere = (1 << num) - 1
    atoms = (part for part in fo.subformulas(formula) if isinstance(part, fo.Atom | fo.Equality))
    used = {name for atom in atoms for name in fo.variables_of(atom)}

    def value(part: fo.Formula, objects: Mapping[str, int]) -> int:
        # Tests of the type and no `match`: most of the time of looking for a model is spent here.
        if isinstance(part, fo.Not):
            return everywhere ^ value(part.body, objects)
        if isinstance(part, fo.Compound):
            return joined(part.operator, [value(operand, objects) for operand in part.operands], everywhere)
        if not isinstance(part, fo.Quantified):
            return ground(part, objects)
        if part.variable not in used:
            return value(part.body, objects)
        operator = fo.Operator.AND if part.quantifier is fo.Quantifier.ALL else fo.Operator.OR
        values = [value(part.body, {**objects, part.variable: number}) for number in range(size)]
        return joined(operator, values, everywhere)

    return value(formula, {})


class _TooLarge(Exception):  # noqa: N818
    pass


def sampled_difference(left: fo.Formula, right: fo.Formula) -> Different | None:
    """Return a model in which one formula holds and the other does not; None where none was drawn."""
    used = fo.signature([left, right])
    steps = 0
    try:
        for number, size in enumerate(SIZES):
            batch = _Batch.drawn(used, size, random.Random(f"batch {number} of size {size}"))
            steps += num_steps(left, size) + num_steps(right, size)
            if steps > MAX_STEPS:
                return None
            differing = batch.values(left) ^ batch.values(right)
            if differing:
                return shown_difference(left, right, batch.model(differing))
    except _TooLarge:
        pass
    return None


def shown_difference(left: fo.Formula, right: fo.Formula, model: Model) -> Different | None:
    """Return the difference if our evaluator finds that just one of two formulas holds in a model.

    Raises `critics.replay.first_order.syntax.FormulaError` where the model is too large, or lacks a symbol.
    """
    left_holds = satisfies(model, [left])
    return None if left_holds == satisfies(model, [right]) else Different(model.record(), left_holds)


@dataclass(slots=True)
class _Batch:
    size: int
    everywhere: int
    """A bit for each model."""
    constants: dict[str, int]
    functions: dict[Symbol, dict[tuple[int, ...], int]]
    tables: dict[Symbol, dict[tuple[int, ...], int]]
    """For each ground atom the models in which it holds."""

    @classmethod
    def drawn(cls, used: fo.Signature, size: int, rng: random.Random) -> "_Batch":
        symbols = [*sorted(used.predicates.items()), *((name, 0) for name in sorted(used.propositions))]
        if sum(size**arity for _, arity in symbols) + sum(size**n for n in used.functions.values()) > MAX_TABLE:
            raise _TooLarge
        constants = {name: rng.randrange(size) for name in sorted(used.constants)}
        functions = {
            (name, arity): {row: rng.randrange(size) for row in assignments(size, arity)}
            for name, arity in sorted(used.functions.items())
        }
        if size == 1 and len(symbols) <= MAX_EXHAUSTED:
            tables = {symbol: {(0,) * symbol[1]: column(place, len(symbols))} for place, symbol in enumerate(symbols)}
            return cls(size, (1 << (1 << len(symbols))) - 1, constants, functions, tables)
        tables = {symbol: dict(zip(assignments(size, symbol[1]), _draws(rng), strict=False)) for symbol in symbols}
        return cls(size, (1 << BATCH) - 1, constants, functions, tables)

    def values(self, formula: fo.Formula) -> int:
        """Return the models in which a formula holds."""
        return holding(formula, self.size, self.everywhere.bit_length(), self._ground)

    def _ground(self, atom: fo.Atom | fo.Equality, objects: Mapping[str, int]) -> int:
        if isinstance(atom, fo.Equality):
            return self.everywhere if self._object(atom.left, objects) == self._object(atom.right, objects) else 0
        row = tuple([self._object(argument, objects) for argument in atom.arguments])
        return self.tables[atom.predicate, len(row)][row]

    def _object(self, term: fo.Term, objects: Mapping[str, int]) -> int:
        match term:
            case fo.Variable(name):
                return objects[name]
            case fo.Constant(name):
                return self.constants[name]
            case fo.Application(function, arguments):
                row = tuple([self._object(argument, objects) for argument in arguments])
                return self.functions[function, len(row)][row]

    def model(self, among: int) -> Model:
        """Return the first of some models."""
        bit = among & -among
        predicates = {
            symbol: frozenset(row for row, models in table.items() if models & bit)
            for symbol, table in self.tables.items()
        }
        return Model(self.size, self.constants, self.functions, predicates)


def _draws(rng: random.Random) -> Iterator[int]:
    """Yield truth values, a bit for a model; in half of the tables few or most of them are true."""
    kind = rng.randrange(4)
    while True:
        one, other = rng.getrandbits(BATCH), rng.getrandbits(BATCH)
        yield (one & other, one | other, one, one)[kind]
