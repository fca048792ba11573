"""Certificates of `csp` attempts, kind `csp-model`: a solution, and for every other option one in which it fails.

`reference: text` says that the program was compared with the problem's text.
"""

from collections.abc import Sequence
from typing import Any

from critics.checker import digest
from critics.problem import Problem
from critics.programs.csp_reader import CspProgram
from critics.programs.csp_search import MAX_NODES, Solution
from critics.programs.options_certificate import problem_part
from critics.programs.record import core_record, term_record

KIND = "csp-model"
ENGINE = "certistar-csp/1"


def csp_certificate(
    problem: Problem,
    text: str,
    program: CspProgram,
    claim: str,
    solution: Solution,
    failing: Sequence[Solution | None],
    *,
    compared: bool,
    repairs: list[str],
) -> dict[str, Any]:
    """Return the certificate, digest included; `failing` has None for the option that is claimed."""
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": problem_part(problem),
        "claim": claim,
        "evidence": {
            "program": text,
            "core": core_of(program),
            "reference": "text" if compared else "none",
            "solution": dict(solution),
            "failing": [None if found is None else dict(found) for found in failing],
        },
        "formalisation": "checked" if compared else "trusted",
        "engine": ENGINE,
        "limits": {"nodes": MAX_NODES},
        "repairs": repairs,
    }
    return {**certificate, "digest": digest(certificate)}


def core_of(program: CspProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    return core_record(program.functions, program.constraints, [term_record(option) for option in program.options])
