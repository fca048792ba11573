"""Certificates of entailments: premises and conclusion in canonical text, the result, and the models that show it."""

from dataclasses import dataclass

from critics.formats.fol.program import Program
from critics.logic.first_order.entailment import Denied, Entailed, Open
from critics.logic.first_order.model import Model
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import Budget, version
from critics.problem import Problem
from critics.text.reference import Reference, source_name
from critics.verdict.certificate import Certificate, certify

KIND = "fol-entailment"
ENGINE = "certistar-fol/1"
RESULTS: dict[type, str] = {Entailed: "true", Denied: "false", Open: "unknown"}


@dataclass(frozen=True, slots=True)
class EntailmentEvidence:
    """Premises and conclusion, whether the one follows from the others, and the models that a result needs."""

    program: Program
    reference: str
    entailment: Entailed | Denied | Open
    contingent: Model | None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        found = self.entailment
        models: dict[str, Model | None] = {
            "holds": None if isinstance(found, Denied) else found.holds,
            "fails": None if isinstance(found, Entailed) else found.fails,
            "contingent": self.contingent,
        }
        return {
            "premises": [canonical(premise) for premise in self.program.premises],
            "conclusion": canonical(self.program.conclusion),
            "result": RESULTS[type(found)],
            "reference": self.reference,
            "models": {name: None if model is None else model.record() for name, model in models.items()},
        }


def entailment_certificate(
    problem: Problem,
    known: Reference | None,
    program: Program,
    claim: str,
    entailment: Entailed | Denied | Open,
    contingent: Model | None,
    budget: Budget,
) -> Certificate:
    """Return the certificate, digest included; `known` is what the program was compared with, if anything."""
    return certify(
        KIND,
        problem,
        claim,
        EntailmentEvidence(program, source_name(known), entailment, contingent),
        engine=f"{ENGINE} {version()}",
        formal=None if known is None else known.formal,
        reference=source_name(known),
        limits={"rlimit": budget.rlimit, "wall_ms": budget.wall_ms},
        repairs=program.repairs,
    )
