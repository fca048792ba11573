"""Evidence of Horn derivations, kinds `horn-proof` and `horn-saturation`: every step, to be replayed."""

from collections.abc import Iterable
from dataclasses import dataclass

from critics.problem import Problem
from critics.replay.derivations import HORN_ENGINE
from critics.replay.formula import Literal
from critics.replay.kernel import Axiom, Entry
from critics.text.reference import Reference, source_name
from critics.verdict.certificate import Certificate, certify


@dataclass(frozen=True, slots=True)
class HornStep:
    """A statement that is an axiom, or that a rule gives from premises, both indices of earlier steps."""

    statement: str
    rule: int | None = None
    """None for an axiom."""
    premises: tuple[int, ...] = ()

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        if self.rule is None:
            return {"statement": self.statement, "by": "axiom"}
        return {"statement": self.statement, "by": "rule", "rule": self.rule, "premises": list(self.premises)}


@dataclass(frozen=True, slots=True)
class HornEvidence:
    """A derivation of the goal or its negation, or everything that follows where neither does."""

    goal: str
    reference: str
    """Where the reference comes from; `none` without one."""
    steps: tuple[HornStep, ...]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"goal": self.goal, "reference": self.reference, "steps": [step.record() for step in self.steps]}


def horn_evidence(known: Reference | None, goal: Literal, entries: Iterable[Entry]) -> HornEvidence:
    """Return the evidence of a kernel's entries."""
    return HornEvidence(str(goal), source_name(known), tuple(map(_step, entries)))


def horn_certificate(
    kind: str,
    problem: Problem,
    reference: Reference | None,
    claim: str,
    goal: Literal,
    entries: Iterable[Entry],
    limits: dict[str, int],
) -> Certificate:
    """Return the certificate of a proof of `goal` or its negation (`horn-proof`), or of neither (`horn-saturation`).

    `entries` are the proof's, or everything that follows where neither does.
    `reference` is what the attempt's formalisation was compared with; None: it was trusted.
    """
    formal = None if reference is None else reference.formal
    evidence, source = horn_evidence(reference, goal, entries), source_name(reference)
    return certify(kind, problem, claim, evidence, engine=HORN_ENGINE, formal=formal, reference=source, limits=limits)


def _step(entry: Entry) -> HornStep:
    if isinstance(entry, Axiom):
        return HornStep(str(entry.statement))
    return HornStep(str(entry.statement), entry.rule, entry.premises)
