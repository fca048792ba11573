"""Certificates of `csp` attempts, kind `csp-model`: a solution, and for every other option one in which it fails.

`reference: text` says that the program was compared with the problem's text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from critics.formats.csp.reader import CspProgram
from critics.formats.csp.search import MAX_NODES, Solution
from critics.logic.programs.record import core_record, term_record
from critics.problem import Problem
from critics.verdict.certificate import Certificate, certify

KIND = "csp-model"
ENGINE = "certistar-csp/1"


@dataclass(frozen=True, slots=True)
class SolutionEvidence:
    """A program with a solution, and for each option one in which it fails: None for the option that is claimed."""

    text: str
    program: CspProgram
    reference: str
    """`text` where it was compared with the problem's, else `none`."""
    solution: Solution
    failing: Sequence[Solution | None]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "program": self.text,
            "core": core_of(self.program),
            "reference": self.reference,
            "solution": dict(self.solution),
            "failing": [None if found is None else dict(found) for found in self.failing],
        }


def csp_certificate(problem: Problem, claim: str, evidence: SolutionEvidence, repairs: Sequence[str]) -> Certificate:
    """Return the certificate, digest included."""
    limits, reference = {"nodes": MAX_NODES}, evidence.reference
    return certify(KIND, problem, claim, evidence, engine=ENGINE, reference=reference, limits=limits, repairs=repairs)


def core_of(program: CspProgram) -> dict[str, Any]:
    """Return a program in JSON."""
    return core_record(program.functions, program.constraints, [term_record(option) for option in program.options])
