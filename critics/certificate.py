"""Certificates: the evidence behind `certified`, with its problem, so that it can be re-checked alone."""

from typing import Any

from critics.checker import HORN_ENGINE, digest
from critics.formula import Literal
from critics.kernel import Axiom, Entry
from critics.problem import Problem
from critics.reference import Reference


def horn_certificate(
    kind: str,
    problem: Problem,
    reference: Reference | None,
    claim: str,
    goal: Literal,
    entries: list[Entry],
    limits: dict[str, int],
) -> dict[str, Any]:
    """Return the certificate of a proof of `goal` or its negation (`horn-proof`), or of neither, digest included.

    `entries` are the proof's, or everything that follows where neither does (`horn-saturation`).
    `reference` is what the attempt's formalisation was compared with; None: it was trusted.
    """
    certificate: dict[str, Any] = {
        "kind": kind,
        "problem": {
            "context": problem.context,
            "question": problem.question,
            "options": None if problem.options is None else list(problem.options),
            "answer": problem.answer,
            "formal": None if reference is None else reference.formal.record(),
        },
        "claim": claim,
        "evidence": {
            "goal": str(goal),
            "reference": "none" if reference is None else reference.source,
            "steps": [_step(entry) for entry in entries],
        },
        "formalisation": "trusted" if reference is None else "checked",
        "engine": HORN_ENGINE,
        "limits": limits,
        "repairs": [],
    }
    return {**certificate, "digest": digest(certificate)}


def _step(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Axiom):
        return {"statement": str(entry.statement), "by": "axiom"}
    return {
        "statement": str(entry.statement),
        "by": "rule",
        "rule": entry.rule,
        "premises": list(entry.premises),
    }
