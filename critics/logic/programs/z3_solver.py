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
from critics.replay.finite.grounding import Ground, Point, declarations, written
from critics.replay.finite.terms import Function, Value
from critics.workers.own_time import own_time, z3_check

RLIMIT = 6_000_000
"""Z3's resource units for one check: about a second."""
WALL_S = 4.0
"""For all checks of a program."""
CLASH_RLIMIT, CLASH_WALL_S = 3_000_000, 2.0
"""For a check of what clashes, and for all of them about one program; then cores may be larger than they need be."""


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


class Clashes:
    """Statements of one program, each behind a switch of its own."""

    def __init__(self, unknowns: Sequence[Function], statements: Sequence[Ground]) -> None:
        z3: Any = importlib.import_module("z3")
        self._z3, context = z3, z3.Context()
        self._deadline = own_time() + CLASH_WALL_S
        self._solver: Any = z3.Solver(ctx=context)
        self._solver.set("rlimit", CLASH_RLIMIT)
        self._solver.from_string(_switched(unknowns, statements))
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


def _switched(unknowns: Sequence[Function], statements: Sequence[Ground]) -> str:
    lines = declarations(unknowns)
    for number, statement in enumerate(statements):
        lines.append(f"(declare-const k{number} Bool)")
        lines.append(f"(assert (=> k{number} {written(statement, cardinality=True)}))")
    return "\n".join(lines)


MAX_SHOWN = 40
"""Values of one situation."""
_NUMBERS: Mapping[int, str] = {}
Situation = Mapping[str, str]
"""The value of each expression such as `works(Ann)`, in order."""


def situation(
    functions: Mapping[str, Function],
    tables: Mapping[str, Mapping[Point, Value]],
    arguments: Mapping[str, Sequence[Mapping[int, str]]],
    results: Mapping[str, Mapping[int, str]],
) -> dict[str, str]:
    """Return a model in words; `arguments` and `results` name the members of each function's sorts by number.

    What is not declared, and has no names, is shown by its numbers.
    """
    found: dict[str, str] = {}
    for name, function in functions.items():
        for point in function.points():
            value = tables[name].get(point)
            if value is None:
                continue
            members = arguments.get(name, [_NUMBERS] * len(point))
            words = [names.get(number, str(number)) for number, names in zip(point, members, strict=True)]
            shown = str(value) if isinstance(value, bool) else results.get(name, _NUMBERS).get(value, str(value))
            found[f"{name}({', '.join(words)})" if words else name] = shown
    return found


def described(situations: Sequence[tuple[str, Situation]]) -> Iterator[str]:
    """Yield a line for each situation under its heading: the first whole, the others by what is different."""
    first: Situation | None = None
    for heading, here in situations:
        if first is None:
            yield f"{heading}: {_listed(here)}"
            first = here
            continue
        changed = {name: value for name, value in here.items() if first.get(name) != value}
        yield f"{heading}: {'the same as before, but ' + _listed(changed) if changed else 'the same'}"


def _listed(values: Situation) -> str:
    shown = [f"{name} = {value}" for name, value in list(values.items())[:MAX_SHOWN]]
    return ", ".join([*shown, *([".."] if len(values) > MAX_SHOWN else [])])
