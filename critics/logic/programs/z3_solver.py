"""Z3 on ground expressions: a context of its own per program, numbered names, budgets, no text that is not ours.

Nothing of a program reaches Z3 but the shape of its formulas, in SMT-LIB that `critics.logic.programs.smtlib` writes:
read in one go that is several times quicker than Z3's Python terms. Every formula stands behind a switch, so that one
solver decides all queries. `rlimit` makes verdicts reproducible; a limit of time is the second fence.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.logic.programs.grounding import Ground
from critics.logic.programs.smtlib import declarations, written
from critics.replay.finite.terms import Function, Value
from critics.workers.own_time import own_time, z3_check

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
class OutOfBudget:
    """The budget ran out."""


Outcome = Satisfiable | Unsatisfiable | OutOfBudget


class Z3Solver:
    """Decides which of its queries can hold, together with the constraints or without them."""

    def __init__(
        self,
        unknowns: Sequence[Function],
        constraints: Sequence[Ground],
        queries: Sequence[Ground] = (),
        *,
        rlimit: int = RLIMIT,
    ) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3, context = z3, z3.Context()
        self._deadline = own_time() + WALL_S
        self._solver: Any = z3.Solver(ctx=context)
        self._solver.set("rlimit", rlimit)
        self._unknowns = unknowns
        self._solver.from_string(_script(unknowns, constraints, queries))
        self._constraints = z3.Bool("all", context)
        self._queries = [z3.Bool(f"q{number}", context) for number in range(len(queries))]

    def check(self, query: int | None = None, *, constrained: bool = True, negated: bool = False) -> Outcome:
        """Say whether a query by number (None: no query), or its negation, can hold."""
        left = self._deadline - own_time()
        if left <= 0:
            return OutOfBudget()
        switches = [self._constraints] if constrained else []
        if query is not None:
            switches.append(self._z3.Not(self._queries[query]) if negated else self._queries[query])
        result = z3_check(self._solver, switches, left)
        if result == self._z3.sat:
            return self._model(self._solver.model())
        return Unsatisfiable() if result == self._z3.unsat else OutOfBudget()

    def _model(self, model: Any) -> Outcome:
        values: dict[int, Value] = {}
        for declaration in model.decls():
            name, value = declaration.name(), model[declaration]
            if name[0] == "c":
                is_boolean = self._unknowns[int(name[1:])].is_boolean
                values[int(name[1:])] = self._z3.is_true(value) if is_boolean else value.as_long()
        return Satisfiable(values)


def _script(unknowns: Sequence[Function], constraints: Sequence[Ground], queries: Sequence[Ground]) -> str:
    """Return all declarations and formulas; `all` switches the constraints on, and each `q` is its query."""
    lines = [*declarations(unknowns), "(declare-const all Bool)"]
    lines += [f"(assert (=> all {written(constraint, cardinality=True)}))" for constraint in constraints]
    for number, query in enumerate(queries):
        lines.append(f"(declare-const q{number} Bool)")
        lines.append(f"(assert (= q{number} {written(query, cardinality=True)}))")
    return "\n".join(lines)
