"""Certificates of `logic-program` attempts, kind `program-options`: the program, and a model for all that has one.

The evidence holds, for the constraints and for each query of each option, a model or null where there is none.
"""

from dataclasses import dataclass
from typing import Any

from critics.formats.logic_program.reader import LogicProgram
from critics.logic.programs.core import OUTSIDE
from critics.logic.programs.execution import Execution, Tables
from critics.logic.programs.record import core_record, option_record
from critics.logic.programs.z3_solver import RLIMIT, WALL_S
from critics.problem import Problem
from critics.replay.finite.terms import Value
from critics.verdict.certificate import Certificate, certify

KIND = "program-options"
ENGINE = "certistar-logic-program/1"


@dataclass(frozen=True, slots=True)
class OptionsEvidence:
    """A program and what the solver found of its constraints and of each query of each option."""

    text: str
    program: LogicProgram
    run: Execution

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "program": self.text,
            "core": core_of(self.program),
            "reference": "none",
            "constraints": table_rows(self.run.constraints.model),
            "options": [[table_rows(result.model) for result in option.queries] for option in self.run.options],
        }


def options_certificate(problem: Problem, claim: str, evidence: OptionsEvidence, repairs: list[str]) -> Certificate:
    """Return the certificate, digest included."""
    limits = {"rlimit": RLIMIT, "wall_s": int(WALL_S)}
    return certify(KIND, problem, claim, evidence, engine=ENGINE, limits=limits, repairs=repairs)


def table_rows(model: Tables | None) -> dict[str, list[list[Value | str]]] | None:
    """Return a model in JSON: for each function rows of arguments and value, `*` for all arguments outside."""
    if model is None:
        return None
    return {
        name: [["*", value] if point == OUTSIDE else [*point, value] for point, value in table.items()]
        for name, table in model.items()
    }


def core_of(program: LogicProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    options = [option_record(option) for option in program.options]
    return core_record(program.declared.functions, program.constraints, options)
