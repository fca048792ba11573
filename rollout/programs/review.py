"""Reviews of programs by running them: whether it can be read, whether it answers, and why not.

The one place where these strategies ask a critic. It never sees the gold answer, nor an annotator's formalisation, so
that no feedback can give them away. Programs run in processes that can be killed; what could not be checked is
`unknown` or `error`, and never an answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from critics import registry
from critics.errors import InputError
from critics.formats.format import find_format
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.text.reference import TRANSLATORS, ReferenceMismatch, reference
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Vacuous, Verdict
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from critics.workers.pool import CallOutcome, Died, KillablePool, OverTime, Raised, Returned
from rollout.records.steps import RunKind, RunReview

KINDS: tuple[RunKind, ...] = ("answered", "undecided", "unknown", "unreadable", "error")
"""From the best to the worst."""
_LONGEST_TOLD = 2_000
"""Characters of one feedback or explanation."""
_CUT_OFF = "it was cut off by the length limit; write a shorter one"


@dataclass(frozen=True, slots=True)
class ProgramSubmission:
    """A program to be run, for a problem `without_gold`."""

    problem: Problem
    format: str
    program: str
    finished: bool = True
    """False where the token limit cut it off."""


Reviewing: TypeAlias = Callable[[Sequence[ProgramSubmission]], list[RunReview]]
"""Reviews programs in their order."""


def without_gold(problem: Problem) -> Problem:
    """Return the problem without its answer, and without a formalisation that is not read off its text.

    Where the text of a data set with a translator cannot be translated, nothing is compared: the data set's name goes.
    """
    bare = replace(problem, answer=None, formal=None)
    if problem.dataset not in TRANSLATORS:
        return bare
    try:
        reference(bare)
    except ReferenceMismatch:
        return replace(bare, dataset=f"{problem.dataset}, untranslated")
    return bare


def require_critic(format_: str) -> None:
    """Raise `InputError` where there is no critic that could run such programs."""
    if format_ not in registry.formats():
        raise InputError(f"format: no critic runs {format_!r} programs; known here: {', '.join(registry.formats())}")


def review(submission: ProgramSubmission) -> RunReview:
    """Run and review one program. Needs a killable worker: not every solver keeps to its budget."""
    attempt = Attempt("draft", submission.problem, submission.format, submission.program)
    verdict = judge(submission.problem, attempt)
    kind = _kind(verdict)
    if isinstance(verdict, Certified):
        return RunReview(kind, "proved", "", verdict.answer)
    told = verdict.feedback if submission.finished or kind != "unreadable" else _CUT_OFF
    answer = verdict.answer if kind == "answered" else None
    format_ = find_format(attempt.format)
    shown = format_.explain(format_.answered(attempt)) if kind == "undecided" else None
    return RunReview(kind, verdict.reason, _shortened(told), answer, _shortened(shown or ""))


def _kind(verdict: Verdict) -> RunKind:
    match verdict:
        case CriticError():
            return "error"
        case Malformed():
            return "unreadable"
        case TimedOut(answer=None):
            return "unknown"
        case Vacuous(reason) if reason.startswith("inconsistent"):
            # What contradicts itself says nothing, whatever a closed world makes of it.
            return "undecided"
        case _:
            return "undecided" if verdict.answer is None else "answered"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TOLD else f"{text[:_LONGEST_TOLD]} .."


class RunReviewPool(KillablePool[RunReview]):
    """Reviews programs in a process that can be killed, each within `timeout_s` seconds; a context manager."""

    def __init__(self, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        super().__init__(review, jobs=1, timeout_s=timeout_s)

    def __call__(self, submissions: Sequence[ProgramSubmission]) -> list[RunReview]:
        """Review programs in their order."""
        return list(map(_review, self.outcomes(submissions)))


def _review(outcome: CallOutcome[RunReview]) -> RunReview:
    match outcome:
        case Returned(found):
            return found
        case OverTime():
            return RunReview("unknown", "time_limit", "running it takes longer than is allowed; write a simpler one")
        case Raised(error):
            reason = f"{type(error).__name__}: {error}"
        case Died(reason):
            pass
    return RunReview("error", "critic_failed", reason)
