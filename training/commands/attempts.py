"""Attempts of a file: read, checked and judged, for every command that takes some."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from critics.plugin_certificates import recheck
from critics.problem import RecordError, read_attempt
from critics.verdict import VERDICTS
from rollout.published.recorded import holds_recorded, load_recorded
from training.commands.messages import tracked
from training.records.store import read_records


def read_attempts(path: Path, problems: Sequence[Path] | None = None) -> list[dict[str, Any]]:
    """Read attempts, traces or recorded programs, each checked to be one; errors name the file and the line."""
    records: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    listed = load_recorded(path, problems) if holds_recorded(path) else read_records(path)
    for number, record in enumerate(listed, 1):
        try:
            attempt = read_attempt(record)
        except RecordError as error:
            raise InputError(f"{path}: record {number}: {error}") from error
        if attempt.id in seen:
            raise InputError(f"{path}: record {number}: id {attempt.id!r} is record {seen[attempt.id]}'s already")
        seen[attempt.id] = number
        records.append(record)
    return records


def judged(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    """Yield verdict records in the attempts' order, with a progress bar."""
    with JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def with_verdicts(
    traces: list[dict[str, Any]], path: Path, verdicts: Path | None, jobs: int, timeout_s: float
) -> list[dict[str, Any]]:
    """Attach verdicts: from the file, else the trace's own, else judged now."""
    given = _read_verdicts(verdicts) if verdicts else {}
    for trace in traces:
        if trace["id"] in given:
            trace["judgement"] = given[trace["id"]]
        elif verdicts is not None:
            raise InputError(f"{verdicts}: there is no verdict for attempt {trace['id']!r} of {path}")
    unjudged = [trace for trace in traces if "judgement" not in trace]
    for trace, verdict in zip(unjudged, judged(unjudged, jobs, timeout_s) if unjudged else (), strict=True):
        trace["judgement"] = verdict
    _refuse_false_certificates(traces)
    return traces


def _read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(path), 1):
        if not isinstance(record.get("id"), str) or record.get("verdict") not in VERDICTS:
            raise InputError(f"{path}: record {number}: a verdict needs an id and one of {', '.join(VERDICTS)}")
        given[record["id"]] = {"reason": "", "answer": None, "feedback": "", "certificate": None, **record}
    return given


def _refuse_false_certificates(traces: list[dict[str, Any]]) -> None:
    """A verdict from a file is believed only as far as its certificate holds and is about this very problem."""
    for trace in traces:
        rejected = recheck([trace])["rejected"]
        if rejected:
            raise InputError(
                f"attempt {trace['id']!r} is said to be certified and its certificate does not hold "
                f"({rejected[0]['reason']}); judge it again"
            )
