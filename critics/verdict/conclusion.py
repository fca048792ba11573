"""Ends of a judgement: a refusal with its verdict, or a certificate that the checker accepts as well."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from critics.problem import Problem
from critics.replay.certificate import Rejected
from critics.verdict import Certified, CriticError, Malformed, Refusing, Refuted, TimedOut, Unproved, Verdict
from critics.verdict.certificate import Certificate, CertificateRecord
from critics.verdict.reading import BadStep

MAX_FEEDBACK = 300
"""Characters; a statement may be as long as the attempt, and an actor is told what was wrong with it."""
MAX_QUOTED = 160
"""Characters of a sentence that a refusal quotes."""


class Refusal(Exception):  # noqa: N818
    """The reason why an attempt cannot be certified, with the kind of verdict."""

    def __init__(
        self, kind: type[Refusing], reason: str, feedback: str, *, max_feedback: int | None = MAX_FEEDBACK
    ) -> None:
        super().__init__(reason)
        self.kind, self.reason = kind, reason
        self.feedback = feedback if max_feedback is None else brief(feedback)

    def verdict(self, answer: str | None) -> Verdict:
        """Return the verdict on an attempt that answers `answer`."""
        return self.kind(self.reason, answer, self.feedback)


class BadSentence(Refusal):
    """The refusal of a sentence, which it quotes."""

    def __init__(self, kind: type[Refusing], reason: str, why: str, bad: BadStep | None) -> None:
        quoted = "" if bad is None else f"{brief(bad.text)[:MAX_QUOTED]!r}: "
        super().__init__(kind, reason, f"{quoted}{why}")
        self.bad = bad


def brief(text: str) -> str:
    """Return a text cut to what an actor is told."""
    return text if len(text) <= MAX_FEEDBACK else f"{text[: MAX_FEEDBACK - 3]}..."


def refused(refusal: Refusal, problem: Problem, answer: str | None) -> Verdict:
    """Return a refusal's verdict; an attempt that can be read and has the wrong answer is refuted in any case."""
    if is_wrong(answer, problem) and refusal.kind is not Malformed:
        # Attack: hide a wrong answer behind something that counts against nobody, such as too much work.
        return Refuted("wrong_answer", answer, f"the answer is not {answer}; {refusal.feedback}")
    return refusal.verdict(answer)


def is_wrong(answer: str | None, problem: Problem) -> bool:
    """Say whether an answer contradicts the gold one."""
    return answer is not None and problem.answer is not None and answer != problem.answer


def wrong_answer(answer: str | None) -> Verdict:
    """Return the verdict on an answer that contradicts the gold one."""
    return Refuted("wrong_answer", answer, f"the answer is not {answer}")


def no_reference(error: Exception, answer: str | None = None) -> Verdict:
    """Return the verdict where the problem's own formalisation cannot be read, or contradicts its text."""
    return CriticError("no_reference", answer, brief(f"the problem's own formalisation cannot be used: {error}"))


_UNDECIDED: Mapping[str, Refusal] = {
    "not_decidable": Refusal(Unproved, "undecidable", "universal facts speak of more terms than there are objects"),
    "too_large": Refusal(TimedOut, "work_limit", "checking the certificate takes more work than is allowed"),
}


def certified(
    certificate: Certificate,
    check: Callable[[CertificateRecord], object],
    refusals: Mapping[str, Refusal] = MappingProxyType({}),
) -> Verdict:
    """Certify what the independent checker accepts as well; disagreement is the critic's failure.

    What the checker cannot decide is not certified. `refusals` are further reasons of the checker's that are no
    disagreement.
    """
    try:
        check(certificate.record())
    except Rejected as rejection:
        known = {**_UNDECIDED, **refusals}.get(str(rejection))
        if known is not None:
            return known.verdict(certificate.claim)
        return CriticError("checker_disagrees", certificate.claim, f"the independent checker says {rejection}")
    return Certified(certificate.claim, certificate)
