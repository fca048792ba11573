"""Smallest sets of statements that cannot hold together, by Z3's cores and deletion."""

import importlib
from collections.abc import Sequence
from typing import Any

from critics.logic.cores import smallest
from critics.logic.programs.grounding import Ground
from critics.logic.programs.smtlib import declarations, written
from critics.replay.finite.terms import Function
from critics.workers.own_time import own_time, z3_check

RLIMIT = 3_000_000
"""Z3's resource units for one check."""
WALL_S = 2.0
"""For all checks about one program; then cores may be larger than they need be."""


class Clashes:
    """Statements of one program, each behind a switch of its own."""

    def __init__(self, unknowns: Sequence[Function], statements: Sequence[Ground]) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3, context = z3, z3.Context()
        self._deadline = own_time() + WALL_S
        self._solver: Any = z3.Solver(ctx=context)
        self._solver.set("rlimit", RLIMIT)
        self._solver.from_string(_script(unknowns, statements))
        self._switches = [z3.Bool(f"k{number}", context) for number in range(len(statements))]

    def among(self, numbers: Sequence[int]) -> list[int] | None:
        """Return a smallest part of the statements that has no model; None where they have one, or nobody knows."""
        first = self._core(numbers)
        return None if first is None else smallest(first, self._core)

    def _core(self, numbers: Sequence[int]) -> list[int] | None:
        left = self._deadline - own_time()
        if left <= 0:
            return None
        switches = [self._switches[number] for number in numbers]
        if z3_check(self._solver, switches, left) != self._z3.unsat:
            return None
        kept = {int(str(switch)[1:]) for switch in self._solver.unsat_core()}
        return [number for number in numbers if number in kept]


def _script(unknowns: Sequence[Function], statements: Sequence[Ground]) -> str:
    lines = declarations(unknowns)
    for number, statement in enumerate(statements):
        lines.append(f"(declare-const k{number} Bool)")
        lines.append(f"(assert (=> k{number} {written(statement, cardinality=True)}))")
    return "\n".join(lines)
