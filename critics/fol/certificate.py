"""Certificates of entailments: premises and conclusion in canonical text, the result, and the models that show it."""

from typing import Any

from critics.checker import digest
from critics.fol.entailment import Denied, Entailed, Open
from critics.fol.model import Model
from critics.fol.printing import canonical
from critics.fol.program import Program
from critics.fol.solvers import Budget, version
from critics.problem import Problem
from critics.reference import Reference

KIND = "fol-entailment"
ENGINE = "certistar-fol/1"
RESULTS: dict[type, str] = {Entailed: "true", Denied: "false", Open: "unknown"}
MODELS = {
    "true": ("holds", "contingent"),
    "false": ("fails", "contingent"),
    "unknown": ("holds", "fails"),
}
"""The models that a result needs: of the premises and the conclusion (`holds`), of the premises without it (`fails`),
and one that shows the conclusion to be neither a tautology nor a contradiction (`contingent`)."""


def entailment_certificate(
    problem: Problem,
    reference: Reference | None,
    program: Program,
    claim: str,
    entailment: Entailed | Denied | Open,
    contingent: Model | None,
    budget: Budget,
) -> dict[str, Any]:
    """Return the certificate, digest included; `reference` is what the program was compared with, if anything."""
    models: dict[str, Model | None] = {
        "holds": None if isinstance(entailment, Denied) else entailment.holds,
        "fails": None if isinstance(entailment, Entailed) else entailment.fails,
        "contingent": contingent,
    }
    certificate: dict[str, Any] = {
        "kind": KIND,
        "problem": {
            "context": problem.context,
            "question": problem.question,
            "options": None if problem.options is None else list(problem.options),
            "answer": problem.answer,
            "formal": None if reference is None else reference.formal.record(),
        },
        "claim": claim,
        "evidence": {
            "premises": [canonical(premise) for premise in program.premises],
            "conclusion": canonical(program.conclusion),
            "result": RESULTS[type(entailment)],
            "reference": "none" if reference is None else reference.source,
            "models": {name: None if model is None else model.record() for name, model in models.items()},
        },
        "formalisation": "trusted" if reference is None else "checked",
        "engine": f"{ENGINE} {version()}",
        "limits": {"rlimit": budget.rlimit, "wall_ms": budget.wall_ms},
        "repairs": list(program.repairs),
    }
    return {**certificate, "digest": digest(certificate)}
