"""Z3 on ground expressions: a context of its own per program, numbered names, budgets, no text that is not ours.

Nothing of a program reaches Z3 but the shape of its formulas: unknowns are called c0, c1, .. and everything is built
through the API. `rlimit` makes verdicts reproducible; the wall clock is the second fence.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from critics.programs.core import Function, Value
from critics.programs.grounding import Ground

RLIMIT = 6_000_000
"""Z3's resource units for one check: about a second."""
WALL_S = 4.0
"""For all checks of a program."""


@dataclass(frozen=True, slots=True)
class Satisfiable:
    """There is a model: the values of the unknowns by number, those left out that do not matter."""

    values: Mapping[int, Value]


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """There is none."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The budget ran out."""


Outcome = Satisfiable | Unsatisfiable | Undecided


class Z3Solver:
    """Holds a program's constraints, and checks further formulas against them one set at a time."""

    def __init__(self, unknowns: Sequence[Function], constraints: Sequence[Ground], *, rlimit: int = RLIMIT) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3, self._context = z3, z3.Context()
        self._deadline = monotonic() + WALL_S
        self._solver: Any = z3.Solver(ctx=self._context)
        self._solver.set("rlimit", rlimit)
        self._cells = [self._unknown(number, function) for number, function in enumerate(unknowns)]
        self._solver.add(*map(self._built, constraints))

    def check(self, formulas: Sequence[Ground]) -> Outcome:
        """Say whether the constraints and the formulas hold together."""
        left = self._deadline - monotonic()
        if left <= 0:
            return Undecided()
        self._solver.set("timeout", max(1, int(left * 1000)))
        self._solver.push()
        try:
            self._solver.add(*map(self._built, formulas))
            result = self._solver.check()
            if result == self._z3.sat:
                return self._model(self._solver.model())
            return Unsatisfiable() if result == self._z3.unsat else Undecided()
        finally:
            self._solver.pop()

    def _model(self, model: Any) -> Outcome:
        values: dict[int, Value] = {}
        for number, cell in enumerate(self._cells):
            value = model.eval(cell)
            if self._z3.is_int_value(value):
                values[number] = value.as_long()
            elif self._z3.is_true(value) or self._z3.is_false(value):
                values[number] = self._z3.is_true(value)
        return Satisfiable(values)

    def _unknown(self, number: int, function: Function) -> Any:
        """Make an unknown, within its bounds for good."""
        if function.is_boolean:
            return self._z3.Bool(f"c{number}", self._context)
        cell = self._z3.Int(f"c{number}", self._context)
        values = function.values
        if values is not None:
            self._solver.add(cell >= min(values), cell <= max(values))
            self._solver.add(*(cell != v for v in range(min(values), max(values)) if v not in values))
        return cell

    def _built(self, ground: Ground) -> Any:
        z3 = self._z3
        match ground:
            case bool():
                return z3.BoolVal(ground, self._context)
            case int():
                return z3.IntVal(ground, self._context)
            case ("cell", int(number)):
                return self._cells[number]
            case (("eq" | "ne" | "lt" | "le" | "gt" | "ge") as name, ("count", *parts), int(bound)):
                return self._bounded_count(name, parts, bound)
            case (str(name), *parts):
                return self._operated(name, [self._built(part) for part in parts])  # type: ignore[arg-type]
            case _:
                raise AssertionError(ground)

    def _bounded_count(self, name: str, parts: Sequence[Any], bound: int) -> Any:
        """A count against a number is a cardinality constraint, which Z3 propagates; a sum of cases it does not."""
        z3 = self._z3
        weighted = [(self._built(part), 1) for part in parts]
        match name:
            case "eq":
                return z3.PbEq(weighted, bound, self._context)
            case "ne":
                return z3.Not(z3.PbEq(weighted, bound, self._context))
            case "le" | "lt":
                return z3.PbLe(weighted, bound if name == "le" else bound - 1)
            case _:
                return z3.PbGe(weighted, bound if name == "ge" else bound + 1)

    def _operated(self, name: str, parts: list[Any]) -> Any:
        z3 = self._z3
        match name:
            case "and":
                return z3.And(parts)
            case "or":
                return z3.Or(parts)
            case "not":
                return z3.Not(parts[0])
            case "xor":
                return z3.Xor(parts[0], parts[1])
            case "if":
                return z3.If(parts[0], parts[1], parts[2])
            case "iff" | "eq":
                return parts[0] == parts[1]
            case "ne":
                return parts[0] != parts[1]
            case "distinct":
                return z3.Distinct(parts)
            case "count":
                one, none = z3.IntVal(1, self._context), z3.IntVal(0, self._context)
                return z3.Sum([z3.If(part, one, none) for part in parts])
            case _:
                return self._calculated(name, parts)

    def _calculated(self, name: str, parts: list[Any]) -> Any:
        z3 = self._z3
        first, *rest = parts
        match name:
            case "add":
                return z3.Sum(parts)
            case "sub":
                return first - rest[0]
            case "mul":
                return first * rest[0]
            case "div":
                return first / rest[0]
            case "mod":
                return first % rest[0]
            case "abs":
                return z3.If(first >= 0, first, -first)
            case "lt":
                return first < rest[0]
            case "le":
                return first <= rest[0]
            case "gt":
                return first > rest[0]
            case "ge":
                return first >= rest[0]
            case "min" | "max":
                result = first
                for other in rest:
                    result = z3.If(other < result if name == "min" else other > result, other, result)
                return result
            case _:
                raise AssertionError(name)
