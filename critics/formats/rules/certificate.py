"""Certificates of `rules` programs: a Horn proof or saturation, the program that it comes from, and its repairs."""

from dataclasses import dataclass

from critics.logic.formula import Literal
from critics.logic.horn import HornEvidence, horn_evidence
from critics.logic.kernel import DEFAULT_WORK_LIMIT, Entry
from critics.problem import Problem
from critics.text.reference import Reference, source_name
from critics.verdict.certificate import Certificate, certify

ENGINE = "certistar-rules/1"


@dataclass(frozen=True, slots=True)
class RulesEvidence:
    """A derivation and the program whose statements it starts from."""

    derivation: HornEvidence
    program: str

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {**self.derivation.record(), "program": self.program}


def rules_certificate(
    kind: str,
    problem: Problem,
    known: Reference | None,
    claim: str,
    goal: Literal,
    entries: list[Entry],
    program: str,
    repairs: list[str],
) -> Certificate:
    """Return the certificate, digest included; `known` is what the program was compared with (None: trusted)."""
    return certify(
        kind,
        problem,
        claim,
        RulesEvidence(horn_evidence(known, goal, entries), program),
        engine=ENGINE,
        formal=None if known is None else known.formal,
        reference=source_name(known),
        limits={"work": DEFAULT_WORK_LIMIT},
        repairs=repairs,
    )
