"""Finite models drawn at random, hundreds evaluated at once: the quickest way to a counter-model where there is one.

In a batch of models of one size, constants and functions are the same, and each ground atom has an integer of truth
values, a bit for a model. With one object the batch is all there is, where that fits. What is found is evaluated again
by `critics.logic.first_order.model`; what is not found says nothing.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from critics.formats.equivalence.lifting import holding, num_steps
from critics.formats.equivalence.outcome import Different
from critics.formats.equivalence.table import column
from critics.logic.first_order.model import Model, Symbol, assignments, satisfies
from critics.logic.first_order.syntax import (
    Application,
    Atom,
    Constant,
    Equality,
    Formula,
    Signature,
    Term,
    Variable,
    signature,
)

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


class _TooLarge(Exception):  # noqa: N818
    pass


def sampled_difference(left: Formula, right: Formula) -> Different | None:
    """Return a model in which one formula holds and the other does not; None where none was drawn."""
    used = signature([left, right])
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


def shown_difference(left: Formula, right: Formula, model: Model) -> Different | None:
    """Return the difference if our evaluator finds that just one of two formulas holds in a model.

    Raises `critics.logic.first_order.syntax.FormulaError` where the model is too large, or lacks a symbol.
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
    def drawn(cls, used: Signature, size: int, rng: random.Random) -> "_Batch":
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

    def values(self, formula: Formula) -> int:
        """Return the models in which a formula holds."""
        return holding(formula, self.size, self.everywhere.bit_length(), self._ground)

    def _ground(self, atom: Atom | Equality, objects: Mapping[str, int]) -> int:
        if isinstance(atom, Equality):
            return self.everywhere if self._object(atom.left, objects) == self._object(atom.right, objects) else 0
        row = tuple([self._object(argument, objects) for argument in atom.arguments])
        return self.tables[atom.predicate, len(row)][row]

    def _object(self, term: Term, objects: Mapping[str, int]) -> int:
        match term:
            case Variable(name):
                return objects[name]
            case Constant(name):
                return self.constants[name]
            case Application(function, arguments):
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
