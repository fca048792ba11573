"""Faithfulness of a certified attempt to its question: the findings, check by check, and what they come to.

A formalisation that was compared with something (`checked`, `given`) is believed outright. One on trust is believed,
and its certificate says `aligned`, where every check that applies passes, and one at least applies.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from critics.audit.agreement import Opinion, Opinions, cross_agreement, round_trip
from critics.formats.format import find_format
from critics.problem import Attempt, Problem, is_object, read_attempt
from critics.text.faithfulness.beside import TEXT_CHECKS, beside, concluded
from critics.text.faithfulness.finding import Failed, Finding

ALL_CHECKS = (*TEXT_CHECKS, "cross_agreement", "round_trip")
Outcome = Literal["checked", "passed", "failed", "nothing_applies", "not_certified"]


@dataclass(frozen=True, slots=True)
class JudgedAttempt:
    """An attempt, and its judgement as far as faithfulness asks for it."""

    attempt: Attempt
    answer: str | None
    grade: str | None
    """A certificate's word for its formalisation; None where the attempt is not certified."""


def read_judged(trace: Mapping[str, object]) -> JudgedAttempt:
    """Read an attempt's JSON form, with its judgement where there is one."""
    attempt, judgement = read_attempt(trace), trace.get("judgement")
    if not is_object(judgement):
        return JudgedAttempt(attempt, None, None)
    answer, certificate = judgement.get("answer"), judgement.get("certificate")
    grade = None
    if judgement.get("verdict") == "certified" and is_object(certificate):
        grade = str(certificate.get("formalisation"))
    return JudgedAttempt(attempt, answer if isinstance(answer, str) else None, grade)


def findings(judged: JudgedAttempt, opinions: Opinions | None = None) -> dict[str, Finding]:
    """Return what every check finds in a certified attempt; `opinions` are other certified ones, by problem."""
    return text_findings(judged.attempt, judged.answer) | _agreement(judged, opinions or {})


def text_findings(attempt: Attempt, answer: str | None) -> dict[str, Finding]:
    """Return what every check finds that needs nothing but the attempt, what it answers and its problem's text."""
    return beside(find_format(attempt.format), attempt, answer)


def is_disputed(judged: JudgedAttempt, opinions: Opinions) -> bool:
    """Say whether another certified attempt at the same problem answers or formalises otherwise."""
    return any(isinstance(found, Failed) for found in _agreement(judged, opinions).values())


def _agreement(judged: JudgedAttempt, opinions: Opinions) -> dict[str, Finding]:
    own, others = _opinion(judged), opinions.get(problem_key(judged.attempt.problem), ())
    return {"cross_agreement": cross_agreement(own, others), "round_trip": round_trip(own, others)}


def gather(attempts: Iterable[JudgedAttempt]) -> dict[str, list[Opinion]]:
    """Return the certified attempts by problem, to be given to `findings`; what the text contradicts is no opinion."""
    found: dict[str, list[Opinion]] = {}
    for judged in attempts:
        is_compared = judged.grade in ("checked", "given")
        if is_compared or (judged.grade and concluded(text_findings(judged.attempt, judged.answer))[0] != "failed"):
            found.setdefault(problem_key(judged.attempt.problem), []).append(_opinion(judged))
    return found


def outcome(judged: JudgedAttempt, opinions: Opinions | None = None) -> tuple[Outcome, tuple[str, ...]]:
    """Return why an attempt is believed or not, and the names of the checks that fail."""
    match judged.grade:
        case None:
            return "not_certified", ()
        case "checked" | "given":
            return "checked", ()
        case _:
            return concluded(findings(judged, opinions))


def problem_key(problem: Problem) -> str:
    """Return what two attempts at one problem share, whatever the problem is called."""
    return json.dumps([problem.context, problem.question, problem.options])


def _opinion(judged: JudgedAttempt) -> Opinion:
    attempt = judged.attempt
    formalised = find_format(attempt.format).theory(attempt)
    return Opinion(attempt.id, attempt.format, str(judged.answer), attempt.completion, formalised)
