"""Certificates of `logic-program` attempts, kind `program-options`: the program, and a model for all that has one.

The evidence holds, for the constraints and for each query of each option, a model or null where there is none.
"""

from typing import Any

from critics.checker import digest
from critics.problem import Problem
from critics.programs.core import OUTSIDE, Value
from critics.programs.execution import Execution, Tables
from critics.programs.logic_program import LogicProgram
from critics.programs.record import core_record, option_record
from critics.programs.z3_solver import RLIMIT, WALL_S

KIND = "program-options"
ENGINE = "certistar-logic-program/1"


def options_certificate(
    problem: Problem, text: str, program: LogicProgram, run: Execution, claim: str, repairs: list[str]
) -> dict[str, Any]:
    """Return the certificate, digest included."""
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": problem_part(problem),
        "claim": claim,
        "evidence": {
            "program": text,
            "core": core_of(program),
            "reference": "none",
            "constraints": table_rows(run.constraints.model),
            "options": [[table_rows(result.model) for result in option.queries] for option in run.options],
        },
        "formalisation": "trusted",
        "engine": ENGINE,
        "limits": {"rlimit": RLIMIT, "wall_s": int(WALL_S)},
        "repairs": repairs,
    }
    return {**certificate, "digest": digest(certificate)}


def problem_part(problem: Problem) -> dict[str, Any]:
    """Return what a certificate on trust embeds of its problem."""
    return {
        "context": problem.context,
        "question": problem.question,
        "options": None if problem.options is None else list(problem.options),
        "answer": problem.answer,
        "formal": None,
    }


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
