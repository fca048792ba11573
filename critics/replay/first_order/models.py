"""Finite models, their JSON form, and an evaluator that decides whether a formula holds in one, without a solver.

A model is what refutes an entailment. Solvers find models, and this module checks them: a solver's word is not enough.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from critics.replay.certificate import Rejected, is_list
from critics.replay.first_order import syntax as fo

MAX_SIZE = 32
"""Objects; published problems are refuted by fewer than ten."""
MAX_STEPS = 500_000
"""Subformulas evaluated for one set of formulas: about a second."""
Symbol = tuple[str, int]
_KEYS = {"size", "constants", "functions", "predicates"}


@dataclass(frozen=True, slots=True)
class Model:
    """The objects 0 to size - 1, and what each symbol means among them."""

    size: int
    constants: dict[str, int]
    functions: dict[Symbol, dict[tuple[int, ...], int]]
    predicates: dict[Symbol, frozenset[tuple[int, ...]]]
    """The tuples of which a predicate holds; a proposition that holds has the empty one."""

    def record(self) -> dict[str, int | dict[str, int] | dict[str, list[list[int]]]]:
        """Return the JSON form, in one order."""
        return {
            "size": self.size,
            "constants": dict(sorted(self.constants.items())),
            "functions": {
                f"{name}/{arity}": [[*arguments, value] for arguments, value in sorted(table.items())]
                for (name, arity), table in sorted(self.functions.items())
            },
            "predicates": {
                f"{name}/{arity}": [list(arguments) for arguments in sorted(table)]
                for (name, arity), table in sorted(self.predicates.items())
            },
        }


def read_model(record: Any) -> Model:
    """Read the JSON form, rows in order and each once; raises `ValueError`, and what a wrong type raises."""
    size = record["size"]
    if record.keys() != _KEYS or type(size) is not int or not 1 <= size <= MAX_SIZE:
        raise ValueError("no model")
    functions = {_symbol(name): _rows(rows, _symbol(name)[1] + 1, size) for name, rows in record["functions"].items()}
    tables = {symbol: {row[:-1]: row[-1] for row in rows} for symbol, rows in functions.items()}
    if any(not arity or len(tables[name, arity]) != len(rows) for (name, arity), rows in functions.items()):
        raise ValueError("two values for the same arguments")
    return Model(
        size,
        {name: _rows([[value]], 1, size)[0][0] for name, value in record["constants"].items()},
        tables,
        {_symbol(name): frozenset(_rows(rows, _symbol(name)[1], size)) for name, rows in record["predicates"].items()},
    )


def _symbol(text: str) -> Symbol:
    name, _, arity = text.rpartition("/")
    return name, int(arity)


def _rows(rows: Any, length: int, size: int) -> list[tuple[int, ...]]:
    for row in rows:
        if not is_list(row) or len(row) != length or any(type(n) is not int or not 0 <= n < size for n in row):
            raise ValueError("a row of other things than objects of the model")
    found = [tuple(row) for row in rows]
    if found != sorted(set(found)):
        raise ValueError("rows out of order, or twice")
    return found


def check_model(record: Any, formulas: Iterable[fo.Formula]) -> None:
    """Raise `Rejected` unless formulas hold in the model that a record shows."""
    try:
        if not satisfies(read_model(record), formulas):
            raise Rejected("no_model")
    except fo.FormulaError as error:
        raise Rejected("too_large" if error.reason == "too_large" else "ill_formed") from error


def satisfies(model: Model, formulas: Iterable[fo.Formula]) -> bool:
    """Say whether all formulas hold in a model.

    Raises `FormulaError`: `too_large` where that would take too long, `no_meaning` for a symbol the model lacks.
    """
    evaluation = _Evaluation(model)
    return all(evaluation.holds(formula, {}) for formula in formulas)


@dataclass(slots=True)
class _Evaluation:
    model: Model
    steps: int = field(default=0)

    def holds(self, formula: fo.Formula, objects: dict[str, int]) -> bool:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise fo.FormulaError("too_large", "the model is too large to be checked")
        match formula:
            case fo.Atom(predicate, arguments):
                table = self.model.predicates.get((predicate, len(arguments)))
                if table is None:
                    raise fo.FormulaError("no_meaning", f"the model says nothing about {predicate!r}")
                return tuple(self._object(argument, objects) for argument in arguments) in table
            case fo.Equality(left, right):
                return self._object(left, objects) == self._object(right, objects)
            case fo.Not(body):
                return not self.holds(body, objects)
            case fo.Quantified(quantifier, variable, body):
                among = (self.holds(body, {**objects, variable: value}) for value in range(self.model.size))
                return all(among) if quantifier is fo.Quantifier.ALL else any(among)
            case fo.Compound(operator, operands):
                values = (self.holds(operand, objects) for operand in operands)
        match operator:
            case fo.Operator.AND:
                return all(values)
            case fo.Operator.OR:
                return any(values)
            case fo.Operator.IMPLIES:
                return not next(values) or next(values)
            case fo.Operator.IFF | fo.Operator.XOR:
                return (next(values) == next(values)) == (operator is fo.Operator.IFF)

    def _object(self, term: fo.Term, objects: dict[str, int]) -> int:
        try:
            match term:
                case fo.Variable(name):
                    return objects[name]
                case fo.Constant(name):
                    return self.model.constants[name]
                case fo.Application(function, arguments):
                    values = tuple(self._object(argument, objects) for argument in arguments)
                    return self.model.functions[function, len(arguments)][values]
        except KeyError as error:
            raise fo.FormulaError("no_meaning", f"the model gives {error} no meaning") from error


def assignments(size: int, arity: int) -> Iterable[tuple[int, ...]]:
    """Return every row of `arity` objects."""
    return product(range(size), repeat=arity)
