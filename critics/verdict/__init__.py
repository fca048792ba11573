"""Verdicts: a critic says exactly one of seven things about an attempt, and gives a certificate where it certifies.

A certified verdict without a certificate cannot be constructed. `answer` is what the attempt answers, in
the problem's own terms, whatever the verdict; `reason` is one short machine-readable word; `feedback` is
what an actor may be told.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from critics.problem import RecordError, object_of, text_of
from critics.replay.grades import Grade
from critics.verdict.certificate import Certificate, CertificateRecord, read_certificate
from critics.verdict.reading import BadStep, ReadingRecord, Span, TextReading, read_reading, verdict_html


class _Accounting:
    """Properties that every verdict has of its critic's reading of the text; empty where the critic reads none."""

    __slots__ = ()
    reading: TextReading | None

    @property
    def coverage(self) -> float | None:
        """Share of the completion's characters that something stands behind; None where the critic reads no text."""
        return None if self.reading is None else self.reading.coverage

    @property
    def spans(self) -> tuple[Span, ...]:
        """Pieces of the completion, each with what stands behind it."""
        return () if self.reading is None else self.reading.spans

    @property
    def first_bad_step(self) -> BadStep | None:
        """The first sentence that does not hold."""
        return None if self.reading is None else self.reading.first_bad_step

    def _shown(self, verdict: str, reason: str, said: str, certificate: Certificate | None) -> str:
        """Return the verdict as HTML, with the proof where it has one."""
        proof = [f"{entry} ({how})" for entry, how in (certificate.entries() if certificate else ())]
        return verdict_html(verdict, reason, said, certificate and certificate.formalisation, self.reading, proof)


@dataclass(frozen=True, slots=True)
class Certified(_Accounting):
    """The attempt proves its answer, which is the gold one where that is known: here is the proof."""

    answer: str
    certificate: Certificate
    reading: TextReading | None = None
    verdict: ClassVar[str] = "certified"
    reason: ClassVar[str] = "proved"
    feedback: ClassVar[str] = "the proof holds"

    @property
    def grade(self) -> Grade:
        """On whose word the formulas say what the text says."""
        return self.certificate.formalisation

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the proof."""
        return self._shown(self.verdict, self.reason, f"{self.feedback}; the answer is {self.answer}", self.certificate)


@dataclass(frozen=True, slots=True)
class NotCertified(_Accounting):
    """The fields of the six verdicts that have no certificate."""

    reason: str
    answer: str | None
    feedback: str
    reading: TextReading | None = None
    verdict: ClassVar[str]
    certificate: ClassVar[None] = None
    grade: ClassVar[None] = None

    def _repr_html_(self) -> str:
        """Return what a notebook shows: where the text fails."""
        return self._shown(self.verdict, self.reason, self.feedback, None)


class Refuted(NotCertified):
    """The attempt's answer is proved wrong, or contradicts the gold answer."""

    verdict = "refuted"


class Unproved(NotCertified):
    """Neither proved nor refuted; with the right answer this is a lucky guess."""

    verdict = "unproved"


class Vacuous(NotCertified):
    """Formally fine and worthless: the goal was assumed, or the assumptions contradict each other."""

    verdict = "vacuous"


class Malformed(NotCertified):
    """The attempt does not parse."""

    verdict = "malformed"


class TimedOut(NotCertified):
    """The budget ran out: unknown, not wrong."""

    verdict = "timeout"


class CriticError(NotCertified):
    """The critic failed; this never counts for or against the model."""

    verdict = "error"


Verdict: TypeAlias = Certified | Refuted | Unproved | Vacuous | Malformed | TimedOut | CriticError
Refusing: TypeAlias = Refuted | Unproved | Vacuous | Malformed | TimedOut | CriticError
"""Every verdict but `certified`."""
_REFUSING: tuple[type[Refusing], ...] = (Refuted, Unproved, Vacuous, Malformed, TimedOut, CriticError)
_KINDS = {kind.verdict: kind for kind in _REFUSING}
VERDICTS = (Certified.verdict, *_KINDS)


class VerdictRecord(ReadingRecord):
    """A verdict in JSON."""

    id: str
    verdict: str
    reason: str
    answer: str | None
    feedback: str
    certificate: CertificateRecord | None


def verdict_record(attempt_id: str, verdict: Verdict) -> VerdictRecord:
    """Return the JSON form of a verdict, keys as in the design."""
    reading: ReadingRecord = {} if verdict.reading is None else verdict.reading.record()
    return {
        "id": attempt_id,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "answer": verdict.answer,
        "feedback": verdict.feedback,
        "certificate": None if verdict.certificate is None else verdict.certificate.record(),
        **reading,
    }


def read_verdict(record: object) -> Verdict:
    """Build a `Verdict` from its JSON form; raises `RecordError` naming the key. Certificates are not checked here."""
    data = object_of(record, "verdict")
    try:
        reading = read_reading(data)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"verdict.spans: {error!r}") from error
    if data.get("verdict") == "certified":
        return Certified(text_of(data, "answer", "verdict"), read_certificate(data.get("certificate")), reading)
    kind = _KINDS.get(str(data.get("verdict")))
    if kind is None:
        raise RecordError(f"verdict: {data.get('verdict')!r} is not one of {list(VERDICTS)}")
    answer = None if data.get("answer") is None else text_of(data, "answer", "verdict")
    return kind(text_of(data, "reason", "verdict"), answer, text_of(data, "feedback", "verdict"), reading)
