"""Evidence of Horn derivations, kinds `horn-` and `rules-proof`, `horn-` and `rules-saturation`: every step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from critics.problem import Problem
from critics.replay.derivations import HORN_ENGINE
from critics.replay.formula import Literal
from critics.replay.kernel import Axiom, Entry
from critics.verdict.certificate import Certificate, Reference, certify, source_name

RULES_ENGINE = "certistar-rules/1"


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
    """Source of the reference; `none` without one."""
    steps: tuple[HornStep, ...]
    program: str | None = None
    """The program whose statements it starts from, in the format `rules`."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        program = {} if self.program is None else {"program": self.program}
        steps = [step.record() for step in self.steps]
        return {"goal": self.goal, "reference": self.reference, "steps": steps, **program}


def horn_evidence(
    known: Reference | None, goal: Literal, entries: Iterable[Entry], program: str | None = None
) -> HornEvidence:
    """Return the evidence of a kernel's entries."""
    return HornEvidence(str(goal), source_name(known), tuple(map(_step, entries)), program)


def horn_certificate(
    kind: str,
    problem: Problem,
    reference: Reference | None,
    claim: str,
    goal: Literal,
    entries: Iterable[Entry],
    limits: dict[str, int],
    program: tuple[str, Sequence[str]] | None = None,
) -> Certificate:
    """Return the certificate of a proof of `goal` or its negation (`horn-proof`), or of neither (`horn-saturation`).

    `entries` are the proof's, or everything that follows where neither does.
    `reference` is what the attempt's formalisation was compared with; None: it was trusted. `program` is the text of
    one in the format `rules`, and what was put right in it.
    """
    text, repairs = program or (None, ())
    formal = None if reference is None else reference.formal
    return certify(
        kind,
        problem,
        claim,
        horn_evidence(reference, goal, entries, text),
        engine=HORN_ENGINE if text is None else RULES_ENGINE,
        formal=formal,
        reference=source_name(reference),
        limits=limits,
        repairs=repairs,
    )


def _step(entry: Entry) -> HornStep:
    if isinstance(entry, Axiom):
        return HornStep(str(entry.statement))
    return HornStep(str(entry.statement), entry.rule, entry.premises)
