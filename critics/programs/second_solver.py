"""A second opinion on what has no model: cvc5 where it is installed, else Z3 once more on its own."""

import importlib
from collections.abc import Sequence
from typing import Any

from critics.programs.core import Function
from critics.programs.grounding import Ground
from critics.programs.smtlib import script
from critics.programs.z3_solver import Satisfiable, Undecided, Z3Solver

LIMIT_MS = 10_000
"""For one check."""


def has_model(unknowns: Sequence[Function], formulas: Sequence[Ground]) -> tuple[bool | None, bool]:
    """Say whether the formulas hold together (None: undecided), and whether another solver than Z3 says so."""
    try:
        cvc5: Any = importlib.import_module("cvc5")
    except ImportError:
        outcome = Z3Solver(unknowns, formulas).check()
        return (None if isinstance(outcome, Undecided) else isinstance(outcome, Satisfiable)), False
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(LIMIT_MS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script(unknowns, formulas), "check")
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said = str(command.invoke(solver, symbols)).strip() or said
    return {"sat": True, "unsat": False}.get(said), True
