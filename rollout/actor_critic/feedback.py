"""Feedback on an actor's reply: whether it can be read, whether it compiles, and which tests fail and why.

The one place where a rollout asks a critic, because the actor-critic dialog cannot go on without its feedback. Nothing
here has seen the gold answer, so that no feedback can give it away. Untrusted programs run in processes that can be
killed; what could not be checked is `unknown` or `error`, and never `clean`.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from critics.formats.asp.control import SOLVE_LIMIT, BudgetExhausted, CompileError, FailedTest, ill_posed
from critics.formats.asp.critic import feedback_of, source_of
from critics.formats.asp.examination import Inspection, Prepared, ProgramRun, prepare, run, told_in_full
from critics.formats.asp.premises import Source, missing_premise
from critics.problem import Problem, is_list, is_object
from critics.replay.answer_sets.language import AspError
from critics.replay.answer_sets.submission import read_query, submission_of
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from critics.workers.pool import CallOutcome, Died, KillablePool, OverTime, Raised, Returned
from rollout.records.steps import DialogReview, ReplyContent, ReviewKind
from rollout.settings import FeedbackDepth

_NAMED_TEST = re.compile(r"test (\d+)[:,]")
_LONGEST_TOLD = 4_000
"""Characters of one feedback: an explanation with hundreds of ground instances would push the problem out of sight."""
_CUT_OFF = "the reply was cut off by the length limit before its JSON object was complete; write a shorter one"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of an actor, and what it is to be held to."""

    text: str
    finished: bool
    depth: FeedbackDepth
    wants_query: bool
    source: Source
    in_full: bool = True
    """True if all failing tests are told, and the program's own answer sets; False: three tests, and nothing else."""

    @classmethod
    def to(
        cls,
        problem: Problem,
        text: str,
        *,
        finished: bool,
        depth: FeedbackDepth,
        wants_query: bool = True,
        in_full: bool = True,
    ) -> "Reply":
        """Return a reply to a whole problem; its premises count only where a query is wanted as well."""
        source = source_of(problem)
        known = source if wants_query else replace(source, num_premises=None)
        return cls(text, finished, depth, wants_query, known, in_full)


Reviewing: TypeAlias = Callable[[Sequence[Reply]], list[DialogReview]]
"""Reviews replies in their order."""


def mends(before: DialogReview, after: DialogReview) -> bool:
    """Say whether a reply changes anything that could mend what was wrong with the one before.

    Where tests failed, that is the program, the query, or one of these tests, written anew: a test that passed is not
    what was wrong, and leaving a failing test out mends nothing.
    """
    old, new = before.written, after.written
    if (old.program, old.query) != (new.program, new.query):
        return True
    if not before.failing:
        return sorted(old.tests) != sorted(new.tests)
    gone = {old.tests[position] for position in before.failing} - set(new.tests)
    # Attack: the shortest way to a suite that passes is to drop what fails.
    return bool(gone) and bool(set(new.tests) - set(old.tests))


def review(reply: Reply) -> DialogReview:
    """Review one reply. Needs a killable worker: grounding cannot be interrupted."""
    try:
        prepared = prepare(reply.text)
    except AspError as error:
        return _unreadable(reply, error)
    written = _written(prepared)
    try:
        outcome = run(prepared)
        if reply.wants_query and prepared.query is None:
            told = "there is no Query, and the question must be asked in one"
            return _fault("reply", "no_query", told, "the query", written)
        if not outcome.consistent:
            told = feedback_of(reply.text) or "the program contradicts itself"
            return _fault("contradiction", "base_inconsistent", told, "the program", written)
        if reply.depth == "compile":
            return DialogReview("clean", "", "", "", written=written)
        found = _failing(reply, prepared, outcome)
        if found is None and reply.depth == "strict":
            found = _beyond_passing(reply, prepared, outcome)
    except (CompileError, AspError) as error:
        return _fault("compile", "compile", str(error), "the program", written)
    except BudgetExhausted:
        told = f"a question about the program takes more than {SOLVE_LIMIT} conflicts; write a simpler one"
        return _fault("unknown", "solver_limit", told, "the program", written)
    except MemoryError:
        told = "the program takes more memory than is allowed; write a simpler one"
        return _fault("unknown", "memory_limit", told, "the program", written)
    return found or DialogReview("clean", "", "", "", len(written.tests), written=written)


def _failing(reply: Reply, prepared: Prepared, outcome: ProgramRun) -> DialogReview | None:
    """Return the review of a program whose tests fail, or are none; None where all is well with them."""
    told = feedback_of(reply.text)
    if told is None:
        return None
    tests, program = prepared.submission.tests, prepared.submission.program
    posed = [ill_posed(position, test, program) for position, test in enumerate(tests)]
    failures = [*(failure for failure in posed if failure is not None), *outcome.failures]
    if reply.in_full and failures:
        told = told_in_full(prepared, failures, _LONGEST_TOLD)
    failing, unmet = (tuple(sorted({f.test for f in some})) for some in (failures, outcome.failures))
    part = "the program" if told.startswith("nothing can make") else "the tests"
    found = _fault("tests", failures[0].reason if failures else "suite", told, part, _written(prepared), failing)
    return found if unmet == failing else replace(found, unmet=unmet)


def _beyond_passing(reply: Reply, prepared: Prepared, outcome: ProgramRun) -> DialogReview | None:
    """Return what bars a certificate although all tests pass; None where nothing is found without the answer."""
    written = _written(prepared)
    if (missing := missing_premise(prepared.submission.program, reply.source)) is not None:
        return _fault("tests", "coverage", missing, "the program", written)
    if outcome.finding is not None and outcome.finding.flags:
        told = "the hypothesis of the query contradicts the program"
        return _fault("tests", outcome.finding.flags[0], told, "the query", written)
    idle = tuple(i for i, killed in enumerate(Inspection(prepared).kills()) if not killed)
    if not idle:
        return None
    told = "\n".join(str(FailedTest(position, "kills_no_mutant")) for position in idle)
    return replace(_fault("tests", "kills_no_mutant", told, "", written, idle), unmet=())


def _fault(
    kind: ReviewKind, reason: str, told: str, part: str, written: ReplyContent, failing: tuple[int, ...] = ()
) -> DialogReview:
    """Return a review that finds fault with a part of the reply, or with the tests at some positions."""
    told = told if len(told) <= _LONGEST_TOLD else f"{told[:_LONGEST_TOLD]} .."
    part = ", ".join(f"test {position + 1}" for position in failing) or part
    return DialogReview(kind, reason, part, told, len(written.tests), failing, written=written)


def _unreadable(reply: Reply, error: AspError) -> DialogReview:
    """Return the review of what cannot be run: no JSON, or JSON whose program, tests or query cannot be read."""
    data = _replied(reply.text)
    if not is_object(data):
        written = ReplyContent(re.sub(r"\s+", " ", reply.text).strip(), (), "")
        if not reply.finished:
            return _fault("reply", "cut_off", _CUT_OFF, "the reply", written)
        return _fault("reply", error.reason, str(error), "the reply", written)
    kind = "reply" if error.reason in ("json", "schema") else "compile"
    # What an unreadable object says, by key and up to blanks.
    said = {key.strip().lower(): value for key, value in data.items()}
    tests, query = said.pop("tests", []), said.pop("query", "")
    written = ReplyContent(_flat(said), tuple(map(_flat, tests if is_list(tests) else [tests])), _flat(query))
    return _fault(kind, error.reason, str(error), _part_at_fault(reply.text, error), written)


def _part_at_fault(text: str, error: AspError) -> str:
    named = _NAMED_TEST.match(str(error))
    if named is not None:
        return f"test {named[1]}"
    if error.reason in ("json", "schema"):
        return "the reply"
    try:
        query = submission_of(text).query
    except AspError:
        return "the program"
    try:
        read_query(query)
    except AspError:
        return "the query"
    return "the program"


def _replied(text: str) -> object:
    """Return the JSON of a reply, fenced or not; None where there is none."""
    try:
        return json.loads(text.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
    except (ValueError, RecursionError):
        return None


def _flat(value: object) -> str:
    return re.sub(r"(\s|\\n|\\t)+", "", json.dumps(value, sort_keys=True))


def _written(prepared: Prepared) -> ReplyContent:
    """Return what a reply says: its rules in an order of their own, each under its number, which tests refer to."""
    submission = prepared.submission
    program = submission.program
    rules: list[str] = []
    for position, rule in enumerate(program.rules):
        block = program.block_of(position)
        rules.append(f"{rule}" if block is None or block.number is None else f"R{block.number}: {rule}")
    tests: list[str] = []
    for test in submission.tests:
        groups = (test.facts, test.infer_all, test.infer_any, test.infer_none, test.rules)
        tests.append(json.dumps([*(sorted(map(str, group)) for group in groups), test.contradiction]))
    return ReplyContent("\n".join(sorted(rules)), tuple(tests), re.sub(r"\s+", "", "\n".join(submission.query)))


class DialogReviewPool(KillablePool[DialogReview]):
    """Reviews replies in a process that can be killed, each within `timeout_s` seconds; a context manager."""

    def __init__(self, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        super().__init__(review, jobs=1, timeout_s=timeout_s)

    def __call__(self, replies: Sequence[Reply]) -> list[DialogReview]:
        """Review replies in their order."""
        outcomes = self.outcomes(replies)
        return [_review(reply, outcome) for reply, outcome in zip(replies, outcomes, strict=True)]


def _review(reply: Reply, outcome: CallOutcome[DialogReview]) -> DialogReview:
    written = ReplyContent(reply.text, (), "")
    match outcome:
        case Returned(found):
            return found
        case OverTime():
            told = "running the program takes longer than is allowed; write a simpler one"
            return _fault("unknown", "time_limit", told, "the program", written)
        case Raised(error):
            return _fault("error", "critic_failed", f"{type(error).__name__}: {error}", "", written)
        case Died(reason):
            return _fault("error", "critic_failed", reason, "", written)
