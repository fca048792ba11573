"""Faithfulness of a certified trace to its question: the findings, check by check, and what they come to.

A formalisation that was compared with something (`checked`, `given`) is believed outright. One on trust is believed,
and its certificate says `aligned`, where every check that applies passes, and one at least applies.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Literal

from critics.faithfulness.agreement import Opinion, Opinions, cross_agreement, round_trip
from critics.faithfulness.beside import TEXT_CHECKS, beside
from critics.faithfulness.finding import Failed, Finding, Passed
from critics.faithfulness.formalisation import formalisation
from critics.problem import Attempt, Problem, is_object, read_attempt

ALL_CHECKS = (*TEXT_CHECKS, "cross_agreement", "round_trip")
Outcome = Literal["checked", "passed", "failed", "nothing_applies", "not_certified"]


TraceRecord = Mapping[str, object]
"""The JSON form of an attempt with its judgement."""


def findings(trace: TraceRecord, opinions: Opinions | None = None) -> dict[str, Finding]:
    """Return what every check finds in a certified trace; `opinions` are other certified attempts, by problem."""
    return beside_text(trace) | _agreement(trace, opinions or {})


def is_disputed(trace: TraceRecord, opinions: Opinions) -> bool:
    """Say whether another certified attempt at the same problem answers or formalises otherwise."""
    return any(isinstance(found, Failed) for found in _agreement(trace, opinions).values())


def _agreement(trace: TraceRecord, opinions: Opinions) -> dict[str, Finding]:
    own, others = _opinion(trace), opinions.get(problem_key(read_attempt(trace).problem), ())
    return {"cross_agreement": cross_agreement(own, others), "round_trip": round_trip(own, others)}


def beside_text(trace: TraceRecord) -> dict[str, Finding]:
    """Return what the checks find that need nothing but the attempt and its problem's text."""
    return beside(read_attempt(trace), _answer(trace))


def is_aligned(attempt: Attempt, answer: str) -> bool:
    """Say whether the text of its problem bears out what an attempt formalises on trust, and answers with."""
    return concluded(beside(attempt, answer))[0] == "passed"


def gather(traces: Iterable[TraceRecord]) -> dict[str, list[Opinion]]:
    """Return the certified attempts by problem, to be given to `findings`; what the text contradicts is no opinion."""
    found: dict[str, list[Opinion]] = {}
    for trace in traces:
        grade = _grade(trace)
        if grade in ("checked", "given") or (grade is not None and concluded(beside_text(trace))[0] != "failed"):
            found.setdefault(problem_key(read_attempt(trace).problem), []).append(_opinion(trace))
    return found


def outcome(trace: TraceRecord, opinions: Opinions | None = None) -> tuple[Outcome, tuple[str, ...]]:
    """Return why a trace is believed or not, and the names of the checks that fail."""
    match _grade(trace):
        case None:
            return "not_certified", ()
        case "checked" | "given":
            return "checked", ()
        case _:
            return concluded(findings(trace, opinions))


def concluded(found: Mapping[str, Finding]) -> tuple[Outcome, tuple[str, ...]]:
    """Conclude from the findings alone: not applicable is never a pass."""
    failed = tuple(name for name, finding in found.items() if isinstance(finding, Failed))
    if failed:
        return "failed", failed
    return ("passed" if any(isinstance(f, Passed) for f in found.values()) else "nothing_applies"), ()


def is_faithful(trace: TraceRecord, opinions: Opinions | None = None) -> bool:
    """Say whether a trace is certified and believed to be about its question."""
    return outcome(trace, opinions)[0] in ("checked", "passed")


def problem_key(problem: Problem) -> str:
    """Return what two attempts at one problem share, whatever the problem is called."""
    return json.dumps([problem.context, problem.question, problem.options])


def _opinion(trace: TraceRecord) -> Opinion:
    attempt = read_attempt(trace)
    return Opinion(attempt.id, attempt.format, str(_answer(trace)), attempt.completion, formalisation(attempt))


def _answer(trace: TraceRecord) -> str | None:
    judgement = trace.get("judgement")
    answer = judgement.get("answer") if is_object(judgement) else None
    return answer if isinstance(answer, str) else None


def _grade(trace: TraceRecord) -> str | None:
    """Return a certificate's word for its formalisation; None where the trace is not certified."""
    judgement = trace.get("judgement")
    if not is_object(judgement) or judgement.get("verdict") != "certified":
        return None
    certificate = judgement.get("certificate")
    return str(certificate.get("formalisation")) if is_object(certificate) else None
