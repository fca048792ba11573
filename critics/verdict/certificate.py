"""Certificates: the evidence behind `certified`, with its problem, so that it can be re-checked alone.

The checker (`critics.replay`) reads certificates as plain JSON and uses nothing of this module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from critics.problem import Formal, Problem, ProblemText, RecordError, object_of, read_problem_text, text_of, texts_of
from critics.replay.certificate import KEYS, digest
from critics.replay.grades import GRADES, Grade, grade_of_reference


class Evidence(Protocol):
    """Evidence of one kind, enough to replay it: a frozen dataclass beside the critic that makes it."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedEvidence:
    """Evidence in JSON already, of a critic or as a file holds it."""

    fields: Mapping[str, object]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return dict(self.fields)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of a claim about a problem (docs/certificates.md); `certify` makes it."""

    kind: str
    problem: ProblemText
    """With what the attempt's formalisation was compared with as `formal`."""
    claim: str
    """The answer, in the problem's own terms."""
    evidence: Evidence
    formalisation: Grade
    """On whose word the formulas say what the text says."""
    engine: str
    """Name and version of the evidence's format; the version of a solver may follow."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    repairs: tuple[str, ...] = ()
    """A word for each thing that was mended to read the attempt."""
    digest: str = ""
    """SHA-256 of the rest as canonical JSON."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form, keys in the order of the design."""
        lists = {"limits": dict(self.limits), "repairs": list(self.repairs)}
        nested = {"problem": self.problem.record(), "evidence": self.evidence.record(), **lists}
        return {key: nested[key] if key in nested else getattr(self, key) for key in KEYS}


@dataclass(frozen=True, slots=True)
class Reference:
    """A formalisation and where it comes from: the translator that gets it from the text, or `given`."""

    formal: Formal
    source: str
    """`given`, or the data set whose translator got it from the text."""


def source_name(known: Reference | None) -> str:
    """Return what a certificate says of where its reference comes from: `none` without one."""
    return "none" if known is None else known.source


def certify(
    kind: str,
    problem: Problem,
    claim: str,
    evidence: Evidence | Mapping[str, object],
    *,
    engine: str,
    formal: Formal | None = None,
    limits: Mapping[str, int] | None = None,
    repairs: Sequence[str] = (),
    grade: Grade | None = None,
) -> Certificate:
    """Return the certificate of a claim, digest included; its evidence holds no floats.

    `formal` is the reference that the attempt's formalisation was compared with; without a `grade`, the evidence's
    `reference`, its source, gives it.
    """
    if isinstance(evidence, Mapping):
        evidence = RecordedEvidence(evidence)
    grade = grade or grade_of_reference(str(evidence.record().get("reference", "none")))
    made = Certificate(kind, problem.text(formal), claim, evidence, grade, engine, limits or {}, tuple(repairs))
    return sealed(made)


def regraded(certificate: Certificate, grade: Grade) -> Certificate:
    """Return a certificate with another grade."""
    return sealed(replace(certificate, formalisation=grade))


def sealed(certificate: Certificate) -> Certificate:
    """Return a certificate with the digest that it should have."""
    return replace(certificate, digest=digest(certificate.record()))


_GRADES: Mapping[object, Grade] = {grade: grade for grade in GRADES}


def read_certificate(record: object) -> Certificate:
    """Build a `Certificate` from its JSON form, evidence and digest as they stand; raises `RecordError`.

    Nothing is checked but the form: that is for `critics.recheck`.
    """
    data = object_of(record, "certificate")
    if set(data) != set(KEYS):
        raise RecordError(f"certificate: the keys are {sorted(data)}, not {sorted(KEYS)}")
    grade = _GRADES.get(data["formalisation"])
    if grade is None:
        raise RecordError(f"certificate.formalisation: {data['formalisation']!r} is not one of {list(GRADES)}")
    given = object_of(data["limits"], "certificate.limits")
    limits = {name: limit for name, limit in given.items() if type(limit) is int}
    if len(limits) < len(given):
        raise RecordError("certificate.limits: whole numbers are needed")
    return Certificate(
        kind=text_of(data, "kind", "certificate"),
        problem=read_problem_text(data["problem"], "certificate.problem"),
        claim=text_of(data, "claim", "certificate"),
        evidence=RecordedEvidence(object_of(data["evidence"], "certificate.evidence")),
        formalisation=grade,
        engine=text_of(data, "engine", "certificate"),
        limits=limits,
        repairs=texts_of(data["repairs"], "certificate.repairs"),
        digest=text_of(data, "digest", "certificate"),
    )
