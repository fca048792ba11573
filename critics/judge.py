"""Judging: `judge(problem, attempt) -> Verdict` for one attempt, and many attempts in killable workers.

A critic that raises is the critic's failure: the attempt gets the verdict `error`. A worker that exceeds the
time limit is killed, and the attempt gets `timeout`; neither ever becomes anything better.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypedDict, cast

from critics import registry
from critics.formats.format import Format, Judge, find_format, judge_by
from critics.problem import Attempt, Problem, RecordError, object_of, read_attempt
from critics.registry import PluginError
from critics.replay.replies import around, thinking_end, unmarked
from critics.text.english.passage import num_characters
from critics.text.reference import formalisation_trusted
from critics.verdict import (
    Certified,
    CriticError,
    Malformed,
    TimedOut,
    Unproved,
    Verdict,
    VerdictRecord,
    verdict_record,
)
from critics.verdict.certificate import regraded
from critics.verdict.conclusion import brief
from critics.verdict.reading import Span, TextReading
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from critics.workers.pool import Died, KillablePool, OverTime, Raised, Returned

Judging = Callable[[Iterable[object]], Iterable[VerdictRecord]]
"""Attempts in JSON in, verdict records out, in the same order: `JudgePool.judge`, or what stands in for it."""


class SlimAttempt(TypedDict, total=False):
    """Keys of an attempt in JSON that critics read; nothing of them is checked yet."""

    id: object
    problem: object
    format: object
    completion: object
    messages: object


MAX_BATCH = 32
BATCHES_PER_JOB = 8


def judge(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt by its format's critic."""
    if attempt.format in registry.formats():
        format_ = find_format(attempt.format)
        answer = format_.answered(attempt)
        verdict = format_.judge(problem, answer)
        if format_.is_held_to_text and isinstance(verdict, Certified):
            verdict = _held_to_text(format_, problem, answer, verdict)
        return verdict if answer is attempt else _in_reply(format_, problem, attempt, verdict)
    if attempt.format not in registry.names("critics"):
        return CriticError("no_critic", None, f"no critic for format {attempt.format!r} is built yet")
    return judge_by(find_format(attempt.format), problem, attempt)


def _held_to_text(format_: Format, problem: Problem, attempt: Attempt, verdict: Certified) -> Verdict:
    """Compare what is certified with the problem's text.

    An attempt on trust is refused where its words are about something else, and graded `aligned` where the text bears
    it out.
    """
    from critics.text.faithfulness.alignment import is_aligned
    from critics.text.trust.bars import hidden_character, is_foreign

    hidden = hidden_character(attempt.completion, is_prose=format_.is_text)
    if hidden is not None:
        # Attack: words that a tokenizer sees, and neither a reader nor a person.
        return Malformed("hidden_character", verdict.answer, f"the text has {hidden}", verdict.reading)
    if verdict.grade == "given" and problem.formal is not None and is_foreign(problem, problem.formal):
        return Unproved("formal_not_in_text", verdict.answer, "the problem's `formal` is about something else")
    if verdict.grade != "trusted":
        return _beside_comments(format_, attempt, verdict)
    aligned = is_aligned(format_, replace(attempt, problem=problem), verdict.answer)
    bar = format_.bar(problem, attempt, verdict.certificate, aligned=aligned)
    if bar is not None:
        return bar.verdict(verdict.answer)
    if not aligned:
        return verdict
    return _beside_comments(format_, attempt, replace(verdict, certificate=regraded(verdict.certificate, "aligned")))


def _beside_comments(format_: Format, attempt: Attempt, verdict: Certified) -> Verdict:
    """Return the verdict of a program whose comments were read as well, where `strict` would keep it."""
    comments = format_.comments(attempt.completion)
    if comments is None:
        return verdict
    from critics.text.trust.comments import read_comments

    read = read_comments(comments, attempt, verdict.answer)
    if read is None or read.first_bad_step is None:
        return verdict if read is None else replace(verdict, reading=read)
    # Attack: a proof, and beside its formulas sentences that say something else.
    bad = read.first_bad_step
    return Unproved("unsupported_sentence", verdict.answer, brief(f"{bad.text!r}: {bad.reason}"), read)


def _in_reply(format_: Format, problem: Problem, attempt: Attempt, verdict: Verdict) -> Verdict:
    """Return a verdict on an answer as one on the reply: its places are the reply's, and what stands around is unread.

    What a program is on trust of, no one keeps for its text, so that its surroundings are not read.
    """
    from critics.text.trust.comments import comment_in, read_comments

    text = attempt.completion
    start, end = place = format_.place(text)
    within, total = num_characters(text[start:end]), num_characters(text)
    reading = verdict.reading
    if not isinstance(verdict, Certified) or (format_.is_held_to_text and verdict.grade == "trusted"):
        spans, held = (), 0 if reading is None else reading.coverage * within
    else:
        thought_end = thinking_end(text[:start])
        comments = (comment_in(text[at:to], 0, at, "", "") for at, to in around(text, place))
        beside = read_comments(comments, replace(attempt, problem=problem), verdict.answer)
        if beside is not None and beside.first_bad_step is not None:
            # Attack: a proof, and behind it a sentence that says something else.
            bad = beside.first_bad_step
            return Unproved("unsupported_sentence", verdict.answer, brief(f"{bad.text!r}: {bad.reason}"), beside)
        spans = () if beside is None else beside.spans
        if unmarked(text[:thought_end]):
            spans = (Span(0, thought_end, "unread"), *spans)
        held = within * (1.0 if reading is None else reading.coverage)
    if reading is None and not spans:
        return verdict
    inner = () if reading is None else reading.spans
    moved = [*(replace(span, start=span.start + start, end=span.end + start) for span in inner), *spans]
    whole = TextReading(1.0) if reading is None else reading
    shown = replace(whole, coverage=held / total, spans=tuple(sorted(moved, key=lambda span: span.start)))
    return replace(verdict, reading=shown)


def judge_safely(attempt: Attempt, critic: Judge = judge) -> Verdict:
    """Judge one attempt; whatever a critic raises is its own failure, and the verdict `error`."""
    try:
        return critic(attempt.problem, attempt)
    except (RecordError, PluginError):
        raise
    except Exception as error:  # noqa: BLE001
        return CriticError("critic_failed", None, f"{type(error).__name__}: {error}")


def judge_record(record: object) -> VerdictRecord:
    """Judge an attempt's JSON form into the verdict's; raises `RecordError` for a bad record."""
    attempt = read_attempt(record)
    return verdict_record(attempt.id, judge_safely(attempt))


def judge_on_trust(record: object) -> VerdictRecord:
    """Judge an attempt as where no translator and no reference is: its formalisation is taken on trust."""
    data = object_of(record, "attempt")
    problem = object_of(data.get("problem"), "problem")
    with formalisation_trusted():
        return judge_record({**data, "problem": {**problem, "formal": None}})


class JudgePool(KillablePool[VerdictRecord]):
    """Judges attempts in `jobs` processes that can be killed; made once, used for many batches.

    Every attempt has `timeout_s` seconds. `judging` stands in for our critics where another one is audited. Use it as
    a context manager, or call `stop`.
    """

    def __init__(
        self,
        *,
        jobs: int = 1,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        judging: Callable[[object], VerdictRecord] | None = None,
    ) -> None:
        super().__init__(judging or judge_record, jobs=jobs, timeout_s=timeout_s)

    def judge(self, records: Iterable[object]) -> Iterator[VerdictRecord]:
        """Yield verdict records in the attempts' order; raises `RecordError` at what is no attempt."""
        listed = [slim(record) for record in records]
        for record, outcome in zip(listed, self.outcomes_of_batches(_batches(listed, self._jobs)), strict=True):
            match outcome:
                case Returned(verdict):
                    yield verdict
                case Raised(error):
                    raise error
                case OverTime():
                    yield verdict_record(str(record.get("id")), TimedOut("time_limit", None, "the time limit ran out"))
                case Died(reason):
                    yield verdict_record(str(record.get("id")), CriticError("worker_died", None, reason))


def _batches(records: list[SlimAttempt], jobs: int) -> Iterator[list[SlimAttempt]]:
    """Yield neighbours of quick formats together, as many as leave every process several batches."""
    most = max(1, min(MAX_BATCH, len(records) // (BATCHES_PER_JOB * jobs)))
    batch: list[SlimAttempt] = []
    for record in records:
        name = str(record.get("format"))
        is_quick = name in registry.formats() and find_format(name).is_quick
        if batch and (not is_quick or len(batch) == most):
            yield batch
            batch = []
        if is_quick:
            batch.append(record)
        else:
            yield [record]
    if batch:
        yield batch


def slim(record: object) -> SlimAttempt:
    """Leave behind what no critic reads, such as token ids."""
    data = object_of(record, "attempt")
    return cast("SlimAttempt", {key: data[key] for key in SlimAttempt.__optional_keys__ if key in data})
