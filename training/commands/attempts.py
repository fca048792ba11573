"""Attempts of a file: read, checked and judged, for every command that takes some."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from critics.errors import InputError
from critics.judge import JudgePool
from critics.plugin_certificates import recheck
from critics.problem import RecordError, is_object, read_attempt
from critics.rejudging import judge_anew, objection
from critics.verdict import VERDICTS
from rollout.published.recorded import holds_recorded, load_recorded
from training.commands.messages import say, tracked
from training.records.store import StoreError, read_lines, read_records

Rejected: TypeAlias = dict[str, str]
"""The id of a record that is not believed, and the reason."""
BAD_LINE = "bad_line"
_REPLAYED = frozenset(("guided", "english"))
"""Formats whose critics replay every certificate with the independent checker before they give it out, text included.
What they said a moment ago is not checked a second time."""


def read_attempts(path: Path, problems: Sequence[Path] | None = None) -> list[dict[str, Any]]:
    """Read attempts, traces or recorded programs, each checked to be one; errors name the file and the line."""
    return _read(path, load_recorded(path, problems) if holds_recorded(path) else read_records(path), None)


def read_attempts_that_are(path: Path) -> tuple[list[dict[str, Any]], list[Rejected]]:
    """Read as `read_attempts` does, and reject what is none: one bad line is not the end of the file."""
    rejected: list[Rejected] = []
    return _read(path, load_recorded(path) if holds_recorded(path) else read_lines(path), rejected), rejected


def _read(
    path: Path, listed: Iterable[dict[str, Any] | StoreError], rejected: list[Rejected] | None
) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(listed, 1):
        try:
            if isinstance(record, StoreError):
                raise record
            records.append(_checked(path, number, record, seen))
        except InputError as error:
            if rejected is None:
                raise
            say(str(error))
            rejected.append({"id": f"{path}: record {number}", "reason": BAD_LINE})
    return records


def _checked(path: Path, number: int, record: dict[str, Any], seen: dict[str, int]) -> dict[str, Any]:
    try:
        attempt = read_attempt(record)
    except RecordError as error:
        raise InputError(f"{path}: record {number}: {error}") from error
    if attempt.id in seen:
        raise InputError(f"{path}: record {number}: id {attempt.id!r} is record {seen[attempt.id]}'s already")
    seen[attempt.id] = number
    return record


def judged(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    """Yield verdict records in the attempts' order, with a progress bar."""
    with JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def judged_again(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    """Yield what the critics say now of attempts of an untrusted file, whatever their records say."""
    with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=judge_anew) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def with_verdicts(
    traces: list[dict[str, Any]], path: Path, verdicts: Path | None, jobs: int, timeout_s: float
) -> tuple[list[dict[str, Any]], list[Rejected]]:
    """Judge all traces; return those whose stored verdicts agree, with the critics' own, and the rejected ones.

    Attack: a true certificate beside a text that says something else, in the trace or in the file of verdicts.
    """
    given = _read_verdicts(verdicts) if verdicts else {}
    for trace in traces:
        if verdicts is not None and trace["id"] not in given:
            raise InputError(f"{verdicts}: there is no verdict for attempt {trace['id']!r} of {path}")
    judged_ones: list[dict[str, Any]] = []
    rejected: list[Rejected] = []
    for trace, fresh in zip(traces, judged_again(traces, jobs, timeout_s) if traces else (), strict=True):
        stored = given.get(trace["id"], trace.get("judgement"))
        trace["judgement"] = fresh
        reason = None if stored is None else objection(_stated(stored), fresh)
        if reason is None and trace["format"] not in _REPLAYED:
            reason = next((entry["reason"] for entry in recheck([trace])["rejected"]), None)
        if reason is None:
            judged_ones.append(trace)
        else:
            rejected.append({"id": trace["id"], "reason": reason})
    for entry in rejected:
        say(f"rejected {entry['id']}: {entry['reason']}")
    return judged_ones, rejected


def _stated(stored: object) -> Mapping[str, Any]:
    return stored if is_object(stored) else {}


def _read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(path), 1):
        if not isinstance(record.get("id"), str) or record.get("verdict") not in VERDICTS:
            raise InputError(f"{path}: record {number}: a verdict needs an id and one of {', '.join(VERDICTS)}")
        given[record["id"]] = {"reason": "", "answer": None, "feedback": "", "certificate": None, **record}
    return given
