"""Clingo behind guards: one Control per program, asked many questions, and never about an atom of the program.

`solve(assumptions=..)` is unsound on atoms that clingo simplified away: in `a. b :- a, -a, not b.` it ignores
an assumption about `b`. So every question is a constraint `:- guard, ..` under a guard, an atom that only the
critic introduces, by a choice; assumptions are about guards alone. Actors cannot spell a guard: it starts with `__`.
"""

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

SOLVE_LIMIT = 20_000
"""Conflicts of one solve; FOLIO-sized programs need none or a few, pigeonholes have no end."""
_OPTIONS = ("--warn=none", f"--solve-limit={SOLVE_LIMIT},umax")

Fragments = Mapping[str, Sequence[str]]
"""The rules that each guard switches on, guarded in their text or harmless without it."""


class BudgetExhausted(Exception):  # noqa: N818
    """The solver stopped at its limit: unknown, which is neither yes nor no."""


class CompileError(Exception):
    """Clingo refuses what the reader let pass; the text is its message."""


class GuardSolver(Protocol):
    """Says whether an answer set exists with some guards on and all others off."""

    def satisfiable(self, on: Collection[str]) -> bool:
        """Answer, or raise `BudgetExhausted`."""
        ...


def compiled(text: str, *options: str) -> Any:
    """Return a Control with a rendered program, ground; raises `CompileError`."""
    messages: list[str] = []

    def log(_: object, message: str) -> None:
        messages.append(message)

    control: Any = _clingo().Control((*_OPTIONS, *options), logger=log, message_limit=20)
    try:
        control.add("base", [], text)
        control.ground([("base", [])])
    except RuntimeError as error:
        raise CompileError("; ".join(messages) or str(error)) from error
    return control


def answer_sets(text: str, most: int) -> list[frozenset[str]]:
    """Return at most so many answer sets of a program; raises `BudgetExhausted` and `CompileError`."""
    control = compiled(text, f"--models={most}")
    with control.solve(yield_=True) as handle:
        found = [frozenset(map(str, model.symbols(atoms=True))) for model in handle]
        is_decided(handle.get())
    return found


class GuardedControl:
    """One Control that holds a program and every fragment."""

    def __init__(self, program: str, fragments: Fragments) -> None:
        lines = dict.fromkeys(line for rules in fragments.values() for line in rules)
        self.guards = tuple(fragments)
        choice = "{" + ";".join(self.guards) + "}." if self.guards else ""
        self._control = compiled("\n".join([program, choice, *lines]))
        atoms = self._control.symbolic_atoms
        self._literals = {guard: _literal(atoms, guard) for guard in self.guards}

    def satisfiable(self, on: Collection[str], free: Collection[str] = ()) -> bool:
        """Say whether there is an answer set; raises `BudgetExhausted`. `free` guards are on or off as it suits."""
        result = self._control.solve(assumptions=self._assumed(on, free))
        return is_decided(result)

    def model(self, on: Collection[str], free: Collection[str] = ()) -> frozenset[str] | None:
        """Return one answer set, guards and other names of the critic included, or None."""
        with self._control.solve(assumptions=self._assumed(on, free), yield_=True) as handle:
            for model in handle:
                return frozenset(map(str, model.symbols(atoms=True)))
            is_decided(handle.get())
        return None

    def core(self, on: Collection[str], free: Collection[str] = ()) -> frozenset[str] | None:
        """Return guards of `on` that cannot all be on, the rest as assumed; None where they can."""
        with self._control.solve(assumptions=self._assumed(on, free), yield_=True) as handle:
            if is_decided(handle.get()):
                return None
            core = set(handle.core())
        return frozenset(guard for guard in on if self._literals[guard] in core)

    def _assumed(self, on: Collection[str], free: Collection[str]) -> list[int]:
        return [
            literal if guard in on else -literal
            for guard, literal in self._literals.items()
            if guard in on or guard not in free
        ]


def _clingo() -> Any:
    """Return the solver, imported where programs are judged: other critics do without it."""
    return import_module("clingo")


def _literal(atoms: Any, guard: str) -> int:
    found = atoms[_clingo().Function(guard)]
    assert found is not None, guard
    return found.literal


def is_decided(result: Any) -> bool:
    """Say whether there is an answer set; raises `BudgetExhausted` where the solver cannot tell."""
    if result.satisfiable:
        return True
    if result.unsatisfiable:
        return False
    raise BudgetExhausted
