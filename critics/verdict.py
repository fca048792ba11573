"""What a critic says about one attempt: exactly one of seven verdicts, and the evidence where it certifies.

A certified verdict without a certificate cannot be constructed. `answer` is what the attempt answers, in
the problem's own terms, whatever the verdict; `reason` is one short machine-readable word; `feedback` is
what an actor may be told.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

VERDICTS = ("certified", "refuted", "unproved", "vacuous", "malformed", "timeout", "error")


@dataclass(frozen=True, slots=True)
class Certified:
    """The attempt proves its answer, which is the gold one where that is known, and here is the proof."""

    answer: str
    certificate: Mapping[str, Any]


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
NAMES: dict[type, str] = {
    Certified: "certified",
    Refuted: "refuted",
    Unproved: "unproved",
    Vacuous: "vacuous",
    Malformed: "malformed",
    TimedOut: "timeout",
    CriticError: "error",
}


def verdict_record(attempt_id: str, verdict: Verdict) -> dict[str, Any]:
    """Return the JSON form of a verdict, keys as in the design."""
    if isinstance(verdict, Certified):
        reason, feedback, certificate = "proved", "the proof holds", dict(verdict.certificate)
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
