"""Z3 on ground expressions: a context of its own per program, numbered names, budgets, no text that is not ours.

Nothing of a program reaches Z3 but the shape of its formulas, in SMT-LIB that `critics.replay.finite.grounding` writes:
read in one go that is several times quicker than Z3's Python terms. Every formula stands behind a switch, so that one
solver decides all queries. `rlimit` makes verdicts reproducible; a limit of time is the second fence.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.logic.cores import smallest
from critics.replay.finite.grounding import Ground, declarations, written
from critics.replay.finite.terms import Function, Value
from critics.workers.own_time import own_time, z3_check

RLIMIT = 6_000_000
"""Z3's resource units for one check: about a second."""
WALL_S = 4.0
"""For all checks of a program."""
CLASH_RLIMIT, CLASH_WALL_S = 3_000_000, 2.0
"""For a check of what clashes, and for all of them about one program; then cores may be larger than they need be."""


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """Answer to whether something can hold: a model, that there is none, or that the budget ran out."""

    values: Mapping[int, Value] | None
    """The values of the unknowns by number, those left out that do not matter; None without a model."""
    decided: bool = True


class Z3Solver:
    """Decides in a context of its own which queries can hold, with the constraints or without; finds what clashes."""

    def __init__(
        self,
        unknowns: Sequence[Function],
        constraints: Sequence[Ground],
        queries: Sequence[Ground] = (),
        *,
        rlimit: int = RLIMIT,
        wall_s: float = WALL_S,
    ) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3, self._context, self._unknowns = z3, z3.Context(), unknowns
        self._deadline = own_time() + wall_s
        self._solver: Any = z3.Solver(ctx=self._context)
        self._solver.set("rlimit", rlimit)
        lines = [*declarations(unknowns), "(declare-const all Bool)"]
        lines += [f"(assert (=> all {written(constraint, cardinality=True)}))" for constraint in constraints]
        for number, query in enumerate(queries):
            lines.append(f"(declare-const q{number} Bool)")
            lines.append(f"(assert (= q{number} {written(query, cardinality=True)}))")
        self._solver.from_string("\n".join(lines))

    def _switch(self, name: str) -> Any:
        return self._z3.Bool(name, self._context)

    def _asked(self, switches: Sequence[Any]) -> Any:
        """Return what Z3 says of the formulas behind some switches; None where no time is left."""
        left = self._deadline - own_time()
        return None if left <= 0 else z3_check(self._solver, switches, left)

    def check(self, query: int | None = None, *, constrained: bool = True, negated: bool = False) -> SolverAnswer:
        """Say whether a query by number (None: no query), or its negation, can hold."""
        switches = [self._switch("all")] if constrained else []
        if query is not None:
            switch = self._switch(f"q{query}")
            switches.append(self._z3.Not(switch) if negated else switch)
        result = self._asked(switches)
        if result != self._z3.sat:
            return SolverAnswer(None, decided=result == self._z3.unsat)
        values: dict[int, Value] = {}
        model = self._solver.model()
        for declaration in model.decls():
            name, value = declaration.name(), model[declaration]
            if name[0] == "c":
                is_boolean = self._unknowns[int(name[1:])].is_boolean
                values[int(name[1:])] = self._z3.is_true(value) if is_boolean else value.as_long()
        return SolverAnswer(values)

    def clash(self, numbers: Sequence[int]) -> list[int] | None:
        """Return a smallest part of some queries that has no model; None where they have one, or nobody knows."""
        first = self._core(numbers)
        return None if first is None else smallest(first, self._core)

    def _core(self, numbers: Sequence[int]) -> list[int] | None:
        if self._asked([self._switch(f"q{number}") for number in numbers]) != self._z3.unsat:
            return None
        kept = {int(str(switch)[1:]) for switch in self._solver.unsat_core()}
        return [number for number in numbers if number in kept]


MAX_SHOWN = 40
"""Values of one situation."""


def described(situations: Sequence[tuple[str, Mapping[str, str]]]) -> Iterator[str]:
    """Yield a line for each situation under its heading: the first whole, the others by what is different.

    A situation is the value of each expression such as `works(Ann)`.
    """
    first: Mapping[str, str] | None = None
    for heading, here in situations:
        if first is None:
            yield f"{heading}: {_listed(here)}"
            first = here
            continue
        changed = {name: value for name, value in here.items() if first.get(name) != value}
        yield f"{heading}: {'the same as before, but ' + _listed(changed) if changed else 'the same'}"


def _listed(values: Mapping[str, str]) -> str:
    shown = [f"{name} = {value}" for name, value in list(values.items())[:MAX_SHOWN]]
    return ", ".join([*shown, *([".."] if len(values) > MAX_SHOWN else [])])
