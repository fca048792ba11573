"""Certificates: the evidence behind `certified`, with its problem, so that it can be re-checked alone.

The checker (`critics.replay`) reads certificates as plain JSON and uses nothing of this module.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from critics.problem import Formal, Problem, ProblemText, RecordError, object_of, read_problem_text, text_of, texts_of
from critics.replay.certificate import KEYS, ProblemRecord, digest
from critics.replay.grades import GRADES, Grade, grade_of_reference


class CertificateRecord(TypedDict):
    """A certificate in JSON (docs/certificates.md)."""

    kind: str
    problem: ProblemRecord
    claim: str
    evidence: Mapping[str, Any]
    formalisation: Grade
    engine: str
    limits: dict[str, int]
    repairs: list[str]
    digest: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of a claim about a problem (docs/certificates.md); `certify` makes it."""

    kind: str
    problem: ProblemText
    """With what the attempt's formalisation was compared with as `formal`."""
    claim: str
    """The answer, in the problem's own terms."""
    evidence: Mapping[str, Any]
    """In JSON, with the keys of its kind's form (`critics.replay.certificate.FORMS`): enough to replay it."""
    formalisation: Grade
    """On whose word the formulas say what the text says."""
    engine: str
    """Name and version of the evidence's format; the version of a solver may follow."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    repairs: tuple[str, ...] = ()
    """A word for each thing that was mended to read the attempt."""
    digest: str = ""
    """SHA-256 of the rest as canonical JSON."""

    def record(self) -> CertificateRecord:
        """Return the JSON form, keys in the order of the design."""
        return {
            "kind": self.kind,
            "problem": self.problem.record(),
            "claim": self.claim,
            "evidence": dict(self.evidence),
            "formalisation": self.formalisation,
            "engine": self.engine,
            "limits": dict(self.limits),
            "repairs": list(self.repairs),
            "digest": self.digest,
        }

    def entries(self) -> list[tuple[str, str]]:
        """Return what each entry of the evidence says, and how it was established; none where it has no entries."""
        entries = [(entry["says"], entry["how"]) for entry in self.evidence.get("entries", ())]
        return entries + [(step["statement"], step["by"]) for step in self.evidence.get("steps", ()) if "by" in step]


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
    evidence: Mapping[str, object],
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
    grade = grade or grade_of_reference(str(evidence.get("reference", "none")))
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
        evidence=object_of(data["evidence"], "certificate.evidence"),
        formalisation=grade,
        engine=text_of(data, "engine", "certificate"),
        limits=limits,
        repairs=texts_of(data["repairs"], "certificate.repairs"),
        digest=text_of(data, "digest", "certificate"),
    )
