"""Finite models as certificates hold them, and whether formulas hold in one."""

from collections.abc import Iterable
from typing import Any

from critics.replay.certificate import Rejected, is_list
from critics.replay.first_order.reader import Formula

MAX_SIZE = 32
MAX_STEPS = 500_000
"""Subformulas evaluated for one set of formulas."""
_KEYS = {"size", "constants", "functions", "predicates"}


class Model:
    """The objects 0 to size - 1, and what each symbol means among them; raises `ValueError` for what is none."""

    def __init__(self, record: Any) -> None:
        self.size: int = record["size"]
        if record.keys() != _KEYS or type(self.size) is not int or not 1 <= self.size <= MAX_SIZE:
            raise ValueError("no model")
        self._values: dict[tuple[str, int], dict[tuple[int, ...], int]] = {}
        self._true: dict[tuple[str, int], set[tuple[int, ...]]] = {}
        for name, value in record["constants"].items():
            self._values[name, 0] = {(): self._objects([value], 1)[0]}
        for symbol, rows in record["functions"].items():
            name, _, arity = symbol.rpartition("/")
            table = [self._objects(row, int(arity) + 1) for row in rows]
            self._values[name, int(arity)] = {row[:-1]: row[-1] for row in table}
            if not int(arity) or len(self._values[name, int(arity)]) != len(table):
                raise ValueError("two values for the same arguments")
        for symbol, rows in record["predicates"].items():
            name, _, arity = symbol.rpartition("/")
            self._true[name, int(arity)] = {self._objects(row, int(arity)) for row in rows}
        tables = [*record["functions"].values(), *record["predicates"].values()]
        if any(rows != sorted(rows) or len({*map(tuple, rows)}) < len(rows) for rows in tables):
            raise ValueError("rows out of order, or twice")
        self._left = MAX_STEPS

    def satisfies(self, formulas: Iterable[Formula]) -> bool:
        """Say whether all formulas hold; raises `Rejected`, and `KeyError` for a symbol that has no meaning."""
        self._left = MAX_STEPS
        return all(self._holds(formula, {}) for formula in formulas)

    def _objects(self, row: Any, length: int) -> tuple[int, ...]:
        if not is_list(row) or len(row) != length:
            raise ValueError("a row of another length")
        if any(type(value) is not int or not 0 <= value < self.size for value in row):
            raise ValueError("no object of the model")
        return tuple(row)

    def _holds(self, formula: Formula, env: dict[str, int]) -> bool:
        self._left -= 1
        if self._left < 0:
            raise Rejected("too_large")
        kind, *rest = formula
        match kind:
            case "@":
                values = tuple(self._object(term, env) for term in rest[1])
                return values[0] == values[1] if rest[0] == "=" else values in self._true[rest[0], len(values)]
            case "¬":
                return not self._holds(rest[0], env)
            case "∀":
                return all(self._holds(rest[1], {**env, rest[0]: value}) for value in range(self.size))
            case "∃":
                return any(self._holds(rest[1], {**env, rest[0]: value}) for value in range(self.size))
            case "∧":
                return all(self._holds(part, env) for part in rest[0])
            case "∨":
                return any(self._holds(part, env) for part in rest[0])
            case _:
                one, other = (self._holds(part, env) for part in rest[0])
                return not one or other if kind == "→" else (one == other) == (kind == "↔")

    def _object(self, term: Any, env: dict[str, int]) -> int:
        if term[0] == "var":
            return env[term[1]]
        return self._values[term[1], len(term[2])][tuple(self._object(argument, env) for argument in term[2])]
