"""What a critic says about one attempt: exactly one of seven verdicts, and the evidence where it certifies.

A certified verdict without a certificate cannot be constructed. `answer` is what the attempt answers, in
the problem's own terms, whatever the verdict; `reason` is one short machine-readable word; `feedback` is
what an actor may be told.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from critics.certificate import Certificate, read_certificate
from critics.problem import RecordError, object_of, text_of


@dataclass(frozen=True, slots=True)
class Certified:
    """The attempt proves its answer, which is the gold one where that is known, and here is the proof."""

    answer: str
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Refuted:
    """The attempt's answer is proved wrong, or contradicts the gold answer."""

    reason: str
    answer: str | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Unproved:
    """Neither proved nor refuted; with the right answer this is a lucky guess."""

    reason: str
    answer: str | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Vacuous:
    """Formally fine and worthless: the goal was assumed, or the assumptions contradict each other."""

    reason: str
    answer: str | None
    feedback: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """The attempt does not parse."""

    reason: str
    answer: str | None
    feedback: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The budget ran out: unknown, not wrong."""

    reason: str
    answer: str | None
    feedback: str


@dataclass(frozen=True, slots=True)
class CriticError:
    """The critic failed; this never counts for or against the model."""

    reason: str
    answer: str | None
    feedback: str


Verdict: TypeAlias = Certified | Refuted | Unproved | Vacuous | Malformed | TimedOut | CriticError
Refusing: TypeAlias = Refuted | Unproved | Vacuous | Malformed | TimedOut | CriticError
"""Every verdict but `certified`."""
_KINDS: dict[str, type[Refusing]] = {
    "refuted": Refuted,
    "unproved": Unproved,
    "vacuous": Vacuous,
    "malformed": Malformed,
    "timeout": TimedOut,
    "error": CriticError,
}
VERDICTS = ("certified", *_KINDS)
NAMES: dict[type[Verdict], str] = {Certified: "certified"} | {kind: name for name, kind in _KINDS.items()}


def verdict_record(attempt_id: str, verdict: Verdict) -> dict[str, Any]:
    """Return the JSON form of a verdict, keys as in the design."""
    if isinstance(verdict, Certified):
        reason, feedback, certificate = "proved", "the proof holds", verdict.certificate.record()
    else:
        reason, feedback, certificate = verdict.reason, verdict.feedback, None
    return {
        "id": attempt_id,
        "verdict": NAMES[type(verdict)],
        "reason": reason,
        "answer": verdict.answer,
        "feedback": feedback,
        "certificate": certificate,
    }


def read_verdict(record: object) -> Verdict:
    """Build a `Verdict` from its JSON form; raises `RecordError` naming the key. Certificates are not checked here."""
    data = object_of(record, "verdict")
    if data.get("verdict") == "certified":
        return Certified(text_of(data, "answer", "verdict"), read_certificate(data.get("certificate")))
    kind = _KINDS.get(str(data.get("verdict")))
    if kind is None:
        raise RecordError(f"verdict: {data.get('verdict')!r} is not one of {list(VERDICTS)}")
    answer = None if data.get("answer") is None else text_of(data, "answer", "verdict")
    return kind(text_of(data, "reason", "verdict"), answer, text_of(data, "feedback", "verdict"))
