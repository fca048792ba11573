"""The conformance kit: what every critic promises, checked on attempts that its author gives.

    from tools.critic_kit import violations

    def test_my_critic_keeps_its_promises():
        assert violations(critic, honest_attempts) == []

Each `Violation` names the promise that was broken and the attempt. Beside the honest attempts the kit judges its own:
empty, garbled and endless texts, other gold answers, cut-off attempts, and certificates that are forged or lent.
"""

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from critics.audit.audit import judge_record_by
from critics.audit.catalogue_file import trace_record
from critics.errors import InputError
from critics.formats.format import CertificateError, Format, judge_by
from critics.judge import JudgePool
from critics.problem import TRUTH_VALUES, Attempt, Problem
from critics.recheck.foreign import check_by
from critics.recheck.index import examine
from critics.replay.certificate import FORMS, Rejected
from critics.verdict import Certified, CriticError, Verdict, verdict_record
from critics.verdict.certificate import Certificate, sealed

PROMISES: Mapping[str, str] = {
    "honest": "an honest attempt is certified, with its problem's gold answer",
    "no_exception": "whatever a policy writes gets a verdict; a critic that raises has failed",
    "verdict_shape": "a verdict is one of the seven, with a reason of one word, and feedback where it is not certified",
    "determinism": "the same attempt gets the same verdict, whatever was judged in between",
    "gold_answer": "what contradicts the gold answer is not certified",
    "nothing_for_nothing": "empty and garbled texts are not certified, and are no error of the critic",
    "certificate_shape": "a certificate has the keys of the format, its digest, the attempt's problem and the answer",
    "recheck": "a certificate is accepted by its checker, alone and as JSON",
    "forgery": "a certificate with another claim, or without its evidence, is rejected",
    "lent_certificate": "a certificate does not hold for another problem",
    "budget": "an attempt that hangs is a timeout, and the next one is judged all the same",
}
GRACE_S = 5.0
"""Seconds that a killed worker may take beyond the limit on a busy machine."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken."""

    promise: str
    attempt: str
    """The id of the attempt, or what the kit made of it."""
    said: str


def violations(critic: Format, honest: Sequence[Attempt], *, seed: int = 0) -> list[Violation]:
    """Return every promise that a critic breaks; `honest` must be certified, each about a problem with a gold answer.

    Certificates of kinds that are built in are re-checked by `critics.recheck`, others by the critic's own checker.
    Raises `InputError` where there are no honest attempts, or one has no gold answer.
    """
    if not honest or any(attempt.problem.answer is None for attempt in honest):
        raise InputError("conformance: give honest attempts at problems with a gold answer")
    return [*_of_honest(critic, honest), *_of_garbage(critic, honest, random.Random(seed))]


def budget_violations(entry: str, hanging: Attempt, honest: Attempt, *, timeout_s: float = 2.0) -> list[Violation]:
    """Return whether a critic named as `module:function` leaves the killable pool its budget.

    `hanging` is an attempt on which the critic takes as long as it can; `honest` is judged after it.
    """
    start = time.monotonic()
    with JudgePool(timeout_s=timeout_s, judging=partial(judge_record_by, entry)) as pool:
        hung, judged = pool.judge([hanging.record(), honest.record()])
    took_s = time.monotonic() - start
    if hung["verdict"] == "certified":
        return [Violation("budget", hanging.id, "certified")]
    if took_s > 2 * timeout_s + GRACE_S + _START_S:
        return [Violation("budget", hanging.id, f"both took {took_s:.1f} s with {timeout_s} s each")]
    if judged["verdict"] != "certified":
        return [Violation("budget", honest.id, f"{judged['verdict']} after one that hung")]
    return []


_START_S = 30.0
"""For the pool's first process to import the critic."""


def _of_honest(critic: Format, honest: Sequence[Attempt]) -> Iterator[Violation]:
    first = [_judged(critic, attempt) for attempt in honest]
    again = [_judged(critic, attempt) for attempt in reversed(honest)][::-1]
    for attempt, found, repeated in zip(honest, first, again, strict=True):
        if isinstance(found, Violation):
            yield found
            continue
        yield from _about_verdict(attempt, found)
        if not isinstance(repeated, Violation) and _shown(found) != _shown(repeated):
            yield Violation("determinism", attempt.id, "judged twice with two results")
        if not isinstance(found, Certified) or found.answer != attempt.problem.answer:
            why = found.answer if isinstance(found, Certified) else found.reason
            yield Violation("honest", attempt.id, f"{found.verdict}: {why}")
        yield from _about_gold(critic, attempt)
        if isinstance(found, Certified):
            yield from _about_certificate(critic, attempt, found)


def _judged(critic: Format, attempt: Attempt) -> Verdict | Violation:
    """Return the verdict, or the promise that is broken by what was raised in its place."""
    try:
        return judge_by(critic, attempt.problem, attempt)
    except CertificateError as error:
        return Violation("certificate_shape", attempt.id, str(error))
    except Exception as error:  # noqa: BLE001 - whatever a critic raises is what the kit is there to report
        return Violation("no_exception", attempt.id, f"{type(error).__name__}: {error}")


def _shown(verdict: Verdict) -> str:
    return json.dumps(verdict_record("a", verdict), sort_keys=True, default=repr)


def _about_verdict(attempt: Attempt, found: Verdict) -> Iterator[Violation]:
    told: list[object] = [found.reason, found.feedback]
    if not all(isinstance(text, str) for text in told) or not found.reason.isidentifier():
        yield Violation("verdict_shape", attempt.id, f"reason {found.reason!r}")
    elif not found.feedback:
        yield Violation("verdict_shape", attempt.id, "no feedback")
    if found.answer is not None and found.answer not in _answers(attempt.problem):
        yield Violation("verdict_shape", attempt.id, f"answer {found.answer!r} is none of the problem's")


def _answers(problem: Problem) -> list[str]:
    if problem.options is None:
        return list(TRUTH_VALUES)
    return [chr(ord("A") + place) for place in range(len(problem.options))]


def _about_gold(critic: Format, attempt: Attempt) -> Iterator[Violation]:
    for answer in _answers(attempt.problem):
        if answer == attempt.problem.answer:
            continue
        other = replace(attempt, problem=replace(attempt.problem, answer=answer))
        try:
            # Not through `judge_by`, which would hold the critic to the gold answer for it.
            found = critic.judge(other.problem, other)
        except Exception as error:  # noqa: BLE001 - as above
            yield Violation("no_exception", attempt.id, f"{type(error).__name__}: {error}")
            continue
        if isinstance(found, Certified):
            yield Violation("gold_answer", attempt.id, f"certified {found.answer} against the gold answer {answer}")


def _about_certificate(critic: Format, attempt: Attempt, found: Certified) -> Iterator[Violation]:
    certificate = found.certificate
    # A critic that compared with a reference of its own puts it where the problem had none.
    same = certificate.problem == attempt.problem.text(certificate.problem.formal)
    try:
        is_json = json.loads(json.dumps(certificate.record())) == certificate.record()
        is_shaped = is_json and sealed(certificate).digest == certificate.digest
    except (TypeError, ValueError) as error:
        yield Violation("certificate_shape", attempt.id, f"{type(error).__name__}: {error}")
        return
    if not is_shaped or not same or certificate.claim != found.answer:
        yield Violation("certificate_shape", attempt.id, "keys, digest, problem or claim are not the attempt's")
        return
    if reason := _rejection(critic, attempt, certificate):
        yield Violation("recheck", attempt.id, reason)
        return
    for name, forged in _forgeries(attempt, certificate):
        if not _rejection(critic, attempt, sealed(forged)):
            yield Violation("forgery", attempt.id, f"{name} is accepted")
    other = replace(attempt.problem, question=f"{attempt.problem.question} Is it not?")
    if not _rejection(critic, replace(attempt, problem=other), certificate):
        yield Violation("lent_certificate", attempt.id, "accepted for another question")


def _forgeries(attempt: Attempt, certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    """Yield certificates that prove nothing; the gold answer is taken out, as it tells."""
    blind = replace(certificate, problem=replace(certificate.problem, answer=None))
    for answer in _answers(attempt.problem):
        if answer != certificate.claim:
            yield f"the claim {answer}", replace(blind, claim=answer)
    kept = {key: value for key, value in certificate.evidence.items() if key == "completion"}
    yield "no evidence", replace(certificate, evidence=kept)


def _rejection(critic: Format, attempt: Attempt, certificate: Certificate) -> str | None:
    """Return why an attempt's certificate is rejected; None where it is accepted."""
    trace = trace_record(attempt, Certified(certificate.claim, certificate))
    if certificate.kind in FORMS:
        rejected = examine([trace]).rejected
        return rejected[0]["reason"] if rejected else None
    try:
        check_by(critic, trace)
    except Rejected as rejection:
        return str(rejection)
    return None


def _of_garbage(critic: Format, honest: Sequence[Attempt], rng: random.Random) -> Iterator[Violation]:
    for model in honest[:3]:
        for name, text in _garbage(model.completion, rng):
            attempt = replace(model, id=f"{model.id}: {name}", completion=text)
            found = _judged(critic, attempt)
            if isinstance(found, Violation):
                yield found
                continue
            yield from _about_verdict(attempt, found)
            if isinstance(found, Certified | CriticError):
                yield Violation("nothing_for_nothing", attempt.id, found.verdict)


def _garbage(text: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield texts that say nothing, whatever the format."""
    yield from (
        ("empty", ""),
        ("blanks", " \n\t "),
        ("NUL", "\0"),
        ("one letter", "x"),
        ("prose", "I am sure. Answer: true"),
    )
    yield from (("brackets", "(" * 5_000), ("braces", "{" * 5_000), ("quotes", '"' * 5_000), ("lines", "\n" * 20_000))
    yield from (("JSON null", "null"), ("JSON list", "[]"), ("JSON object", "{}"), ("half a surrogate", "\ud800"))
    yield "a verdict", '{"verdict": "certified", "reason": "proved", "answer": "true", "certificate": {}}'
    yield "the first half", text[: len(text) // 4]
    for number in range(5):
        letters = list(text)
        rng.shuffle(letters)
        yield f"shuffled {number + 1}", "".join(letters)
    alphabet = "".join(sorted(set(text))) + "\0é∀\u2028"
    for number in range(5):
        yield f"random {number + 1}", "".join(rng.choice(alphabet) for _ in range(200))
