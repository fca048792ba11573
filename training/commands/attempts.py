"""Attempts of a file: read, checked and judged, for every command that takes some."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from critics.errors import InputError
from critics.formats.format import find_format
from critics.judge import JudgePool, Judging, judge_record
from critics.problem import Attempt, RecordError, is_object, read_attempt
from critics.recheck.index import recheck_evidence
from critics.recheck.rejudging import BAD_LINE, ILL_FORMED, judge_anew, objection
from critics.verdict import VerdictRecord
from rollout.records.traces import Trace, read_judgement, read_trace
from training.commands.options import say
from training.lessons.judged_fields import NotDerivedError, judged_fields, without_stray_steps
from training.logs import tracked
from training.records.store import StoreError, read_lines, read_records
from training.records.tables import Rows

Rejected: TypeAlias = dict[str, str]
"""The id of a record that is not believed, and the reason."""


@dataclass(frozen=True, slots=True)
class GivenAttempt:
    """A well-formed attempt of a file, with its whole line, which may hold other keys."""

    record: Mapping[str, Any]
    attempt: Attempt

    @property
    def id(self) -> str:
        """The attempt's id."""
        return self.attempt.id


def read_attempts(path: Path, problems: Sequence[Path] | None = None) -> list[GivenAttempt]:
    """Read attempts, traces or recorded programs, each checked to be one; errors name the file and the line."""
    if not is_of_programs(path):
        return _read(path, read_records(path), None)
    from rollout.published.recorded import load_recorded

    return _read(path, load_recorded(path, problems), None)


def read_attempts_that_are(path: Path) -> tuple[list[GivenAttempt], list[Rejected]]:
    """Read as `read_attempts` does, but reject a bad line and go on with the next."""
    rejected: list[Rejected] = []
    if not is_of_programs(path):
        return _read(path, read_lines(path), rejected), rejected
    from rollout.published.recorded import load_recorded

    return _read(path, load_recorded(path), rejected), rejected


def is_of_programs(path: Path) -> bool:
    """Say whether a file holds recorded programs, as they were published."""
    if path.suffix in (".csv", ".tsv", ".parquet"):
        return False
    from rollout.published.recorded import holds_recorded

    return holds_recorded(path)


def attempts_that_are(source: Path, found: Iterable[Rows]) -> tuple[list[GivenAttempt], list[Rejected]]:
    """Take rows as attempts, as `read_attempts_that_are` does those of a file."""
    rejected: list[Rejected] = []
    rows = list(found)
    for bad in (bad for each in rows for bad in each.unreadable):
        say(bad.feedback)
        rejected.append({"id": bad.id, "reason": BAD_LINE})
    return _read(source, [dict(row.values) for each in rows for row in each.rows], rejected), rejected


def _read(path: Path, listed: Iterable[object], rejected: list[Rejected] | None) -> list[GivenAttempt]:
    """Read records, and where there is a list of what is rejected go on behind a bad one."""
    given: list[GivenAttempt] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(listed, 1):
        try:
            if isinstance(record, StoreError):
                raise record
            assert is_object(record), "a line is an object or an error"
            if "problem" not in record and {"context", "question"} <= set(record):
                told = "is a problem and no attempt; write attempts first, as by `certistar demonstrate` or `rollout`"
                raise RecordError(told)
            attempt = read_attempt(record)
            if attempt.id in seen and isinstance(arm := record.get("arm"), str):  # several arms of one evaluation
                attempt = replace(attempt, id=f"{arm}/{attempt.id}")
                record = {**record, "id": attempt.id}
            if attempt.id in seen:
                raise RecordError(f"id {attempt.id!r} is record {seen[attempt.id]}'s already")
            seen[attempt.id] = number
            given.append(GivenAttempt(record, attempt))
        except InputError as error:
            told = InputError(f"{path}: record {number}: {error}") if isinstance(error, RecordError) else error
            if rejected is None:
                raise told from None
            say(str(told))
            rejected.append({"id": f"{path}: record {number}", "reason": BAD_LINE})
    return given


def judging(jobs: int, timeout_s: float, *, anew: bool = False) -> Judging:
    """Return what judges in processes behind a progress bar; `anew`: what an untrusted file holds."""
    return partial(_judged, jobs, timeout_s, judge_anew if anew else judge_record)


def _judged(
    jobs: int, timeout_s: float, judge: Callable[[object], VerdictRecord], records: Iterable[object]
) -> Iterator[VerdictRecord]:
    listed = list(records)
    if listed:
        with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=judge) as pool:
            yield from tracked(pool.judge(listed), total=len(listed), what="judging")


def with_verdicts(
    given: Sequence[GivenAttempt], path: Path, verdicts: Path | None, judging: Judging, rejected: list[Rejected]
) -> Iterator[GivenAttempt]:
    """Judge all attempts; yield those whose stored verdicts agree, with the critics' own; the others are rejected.

    Attack: a true certificate beside a text that says something else, in the trace or in the file of verdicts.
    """
    anew = iter(judging(dict(each.record) for each in given))
    first = list(islice(anew, 1))  # so that the processes are at work while the stored verdicts are read
    told = _read_verdicts(verdicts) if verdicts else {}
    for each in given:
        if verdicts is not None and each.id not in told:
            raise InputError(f"{verdicts}: there is no verdict for attempt {each.id!r} of {path}")
    for each, fresh in zip(given, chain(first, anew), strict=True):
        stored = told[each.id] if each.id in told else each.record.get("judgement")
        now = replace(each, record={**each.record, "judgement": fresh})
        reason = None if stored is None else objection(stored if is_object(stored) else {}, fresh)
        if reason is None and not find_format(each.attempt.format).is_replayed:
            reason = next((entry["reason"] for entry in recheck_evidence([now.record])["rejected"]), None)
        if reason is None:
            yield now
        else:
            say(f"rejected {each.id}: {reason}")
            rejected.append({"id": each.id, "reason": reason})


def traces_that_are(found: Iterable[GivenAttempt], rejected: list[Rejected]) -> Iterator[Trace]:
    """Yield attempts as traces, without steps that nothing judged; what a rollout cannot have written is rejected."""
    for each in found:
        try:
            yield read_trace(without_stray_steps(each.record))
        except RecordError as error:
            say(str(error))
            rejected.append({"id": each.id, "reason": ILL_FORMED})


def taught(traces: Iterable[Trace], rejected: list[Rejected]) -> Iterator[Trace]:
    """Yield the traces reduced to what was judged; what is not derived from that is rejected."""
    from rollout.actor_critic.feedback import DialogReviewPool

    found = list(traces)
    with DialogReviewPool() if any(len(trace.turns) > 1 for trace in found) else nullcontext() as review:
        for trace in found:
            try:
                yield judged_fields(trace, review)
            except NotDerivedError as error:
                say(f"rejected {trace.id}: {error}")
                rejected.append({"id": trace.id, "reason": str(error)})


def _read_verdicts(path: Path) -> dict[str, Mapping[str, Any]]:
    told: dict[str, Mapping[str, Any]] = {}
    for number, record in enumerate(read_records(path), 1):
        try:
            read_judgement(record)
            told[str(record["id"])] = record
        except (KeyError, ValueError) as error:
            raise InputError(f"{path}: record {number}: a verdict needs an id and a verdict ({error})") from error
    return told
