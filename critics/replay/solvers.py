"""Second opinions of solvers on what has no model, and on nothing else: cvc5, or Z3 once more.

They are asked in SMT-LIB text of ours. A certificate that rests on one is *seconded* where cvc5 had its say, *solved
again* where the critic's own solver had, alone, and never *checked*. With neither installed nothing is known.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from critics.replay.certificate import Rejected, Unchecked


class Trust(Enum):
    """The ground that an accepted certificate rests on."""

    CHECKED = "checked"
    """All of its evidence was replayed here, by the standard library alone."""
    SECONDED = "second opinion"
    """Some of it is another solver's word against the critic's solver's."""
    SOLVED_AGAIN = "solved again"
    """Some of it is the word of the critic's own solver, asked once more."""
    FOREIGN = "checked by its package"
    """The kind is another package's, and so is what checked it (`critics.recheck.foreign`)."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one question: milliseconds of cvc5, work of Z3 (the same on every machine)."""

    cvc5_ms: int = 10_000
    rlimit: int = 8_000_000
    finite_models: bool = False
    """Let cvc5 look for small models of quantified formulas."""


def decide(script: str, budget: Budget, proved_by: str = "z3") -> tuple[bool | None, Trust]:
    """Say whether a script's assertions hold together (None: both gave up), and on whose word.

    The solver that did not prove it for the critic is asked first. Raises `Unchecked` where none is installed.
    """
    asked = 0
    solvers = {"cvc5": ask_cvc5, "z3": ask_z3}
    for name in sorted(solvers, key=lambda name: name == proved_by):
        answer = solvers[name](script, budget)
        asked += answer != "absent"
        if answer in ("sat", "unsat"):
            return answer == "sat", Trust.SOLVED_AGAIN if name == proved_by else Trust.SECONDED
    if not asked:
        raise Unchecked("needs_cvc5")
    return None, Trust.SOLVED_AGAIN


def refute(script: str, budget: Budget, proved_by: str = "z3") -> Trust:
    """Raise `Rejected` unless a solver says that a script's assertions have no model; return on whose word."""
    found, trust = decide(script, budget, proved_by)
    if found is None:
        raise Rejected("not_confirmed")
    if found:
        raise Rejected("has_a_model")
    return trust


def weakest(*trusts: Trust) -> Trust:
    """Return the least of what several parts of a certificate rest on."""
    return max(trusts, key=list(Trust).index, default=Trust.CHECKED)


def installed(solver: Literal["cvc5", "z3"]) -> Any:
    """Return a solver's module; None where it cannot be imported."""
    try:
        return importlib.import_module(solver)
    except ImportError:
        return None


def ask_cvc5(script: str, budget: Budget) -> str:
    """Return `sat`, `unsat`, `unknown`, or `absent` where cvc5 is not installed."""
    cvc5 = installed("cvc5")
    if cvc5 is None:
        return "absent"
    options = {"tlimit-per": str(budget.cvc5_ms), "finite-model-find": str(budget.finite_models).lower()}
    try:
        return run_cvc5(cvc5, script, options)[0]
    except RuntimeError:
        # What cvc5 cannot do, too deep a recursion for one, is left undecided.
        return "unknown"


def run_cvc5(cvc5: Any, script: str, options: Mapping[str, str]) -> tuple[str, Any, Any]:
    """Return what cvc5 says of a script, with its solver and the symbols declared; raises `RuntimeError`."""
    solver = cvc5.Solver(cvc5.TermManager())
    for option, value in options.items():
        solver.setOption(option, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "check")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, parser.getSymbolManager())).strip() or said
    return said, solver, parser.getSymbolManager()


def ask_z3(script: str, budget: Budget) -> str:
    """Return `sat`, `unsat`, `unknown`, or `absent` where Z3 is not installed."""
    z3 = installed("z3")
    if z3 is None:
        return "absent"
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", budget.rlimit)
    solver.set("timeout", 4 * budget.cvc5_ms)
    try:
        solver.from_string(script)
        return str(solver.check())
    except z3.Z3Exception:
        return "unknown"
