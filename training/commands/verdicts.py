"""`judge` and `recheck`: attempts in, verdicts out; certificates once more."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from critics.problem import RecordError, read_attempt
from critics.recheck import recheck
from training.commands.messages import print_counts, say
from training.store import read_records, write_records


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Read attempts or traces, each checked to be one; errors name the file and the line."""
    records: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for number, record in enumerate(read_records(path), 1):
        try:
            attempt = read_attempt(record)
        except RecordError as error:
            raise InputError(f"{path}: record {number}: {error}") from error
        if attempt.id in seen:
            raise InputError(f"{path}: record {number}: id {attempt.id!r} is record {seen[attempt.id]}'s already")
        seen[attempt.id] = number
        records.append(record)
    return records


def judge_file(path: Path, out: Path, jobs: int, timeout_s: float, as_json: bool) -> None:
    """Judge attempts into verdict records."""
    verdicts = list(judged(read_attempts(path), jobs, timeout_s))
    write_records(out, verdicts)
    print_counts(tally(verdict["verdict"] for verdict in verdicts), as_json)


def judged(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    """Yield verdict records in the attempts' order, with a progress bar."""
    from training.console import tracked

    with JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def tally(words: Iterable[str]) -> dict[str, int]:
    """Count words."""
    return dict(sorted(Counter(words).items()))


def recheck_file(path: Path, as_json: bool) -> int:
    """Re-check and print; return how many certificates were rejected."""
    result = recheck(read_records(path))
    if as_json:
        print(json.dumps(result))
    else:
        say(
            f"{result['accepted']} of {result['checked']} certificates hold; {result['skipped']} records skipped; "
            f"{result['second_opinion']} references translated a second time"
        )
        for rejection in result["rejected"]:
            say(f"rejected {rejection['id']}: {rejection['reason']}")
    return len(result["rejected"])
