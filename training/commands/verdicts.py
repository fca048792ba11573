"""`judge` and `recheck`: attempts in, verdicts out; certificates once more."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from critics.plugin_certificates import examine
from critics.problem import RecordError, read_attempt
from critics.recheck.__main__ import told
from rollout.published.recorded import holds_recorded, load_recorded
from training.commands.messages import print_counts, say
from training.records.store import read_records, write_records
from training.reporting.error_tables import error_columns, error_table
from training.reporting.program_tables import blind_attempts, program_rows, program_table

_PROGRAM_FORMATS = frozenset(("rules", "csp", "logic-program", "fol", "z3-python"))


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


def judge_file(
    path: Path, out: Path, jobs: int, timeout_s: float, as_json: bool, problems: Sequence[Path] | None = None
) -> None:
    """Judge attempts into verdict records; of programs for solvers, print rates and errors by data set and model.

    `problems` are those of recorded programs that do not carry theirs; None: the files beside are searched.
    """
    records = read_attempts(path, problems)
    verdicts = list(judged(records, jobs, timeout_s))
    write_records(out, verdicts)
    counts = tally(verdict["verdict"] for verdict in verdicts)
    if not any(record["format"] in _PROGRAM_FORMATS for record in records):
        print_counts(counts, as_json)
        return
    hidden = blind_attempts(records, verdicts)
    rows = program_rows(records, verdicts, judged(hidden, jobs, timeout_s) if hidden else ())
    columns = error_columns(records, verdicts)
    if as_json:
        print(json.dumps({**counts, "table": [r.record() for r in rows], "errors": [c.record() for c in columns]}))
        return
    print_counts(counts, as_json=False)
    _show(program_table(rows), *((error_table(columns),) if columns else ()))


def _show(*tables: Any) -> None:
    from rich.console import Console

    for shown in tables:
        Console(stderr=True).print(shown)


def judged(records: list[dict[str, Any]], jobs: int, timeout_s: float) -> Iterator[dict[str, Any]]:
    """Yield verdict records in the attempts' order, with a progress bar."""
    from training.console import tracked

    with JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        yield from tracked(pool.judge(records), total=len(records), what="judging")


def tally(words: Iterable[str]) -> dict[str, int]:
    """Count words."""
    return dict(sorted(Counter(words).items()))


def leave_the_jail() -> None:
    """Let this process, and those it starts, interpret scripts with what layers of the jail there are."""
    from critics.scripts.jail_examination import FRIGHTENING

    os.environ[FRIGHTENING] = "yes"
    say("no jail is asked for: scripts of unknown authors are interpreted with what protection is left")


def recheck_file(path: Path, as_json: bool) -> int:
    """Re-check and print; return how many certificates were rejected."""
    report = examine(read_records(path))
    if as_json:
        print(json.dumps({**report.record(), "kinds": report.table()}))
    else:
        for line in told(report):
            say(line)
    return len(report.rejected)
