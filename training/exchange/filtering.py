"""`certistar.filter`: rows of a list or of a `datasets.Dataset` in, the kept ones out, with their verdicts."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from critics.errors import InputError, RunFailed
from critics.judge import judge_record, slim
from critics.problem import RecordError, read_attempt
from critics.verdict import read_verdict
from rollout.traces import Trace, read_trace, with_judgement
from training.configuration.section import nearest
from training.curation.filters import KEEPS, Keep, select
from training.curation.independence import independent
from training.exchange.columns import RowError, named_columns, read_columns, read_rationale
from training.exchange.rationales import as_they_stand
from training.records.store import read_records, write_records

Row = Mapping[str, Any]
ADDED = ("verdict", "reason", "grade", "judgement")
"""The columns that a kept row has beside its own."""


def filtered(
    given: Any, keep: Keep, jobs: int, columns: Mapping[str, str] | None, format_: str, language: str, timeout_s: float
) -> Any:
    """Return the kept rows, a list for a list and a Dataset for a Dataset; `certistar.filter` says what is promised."""
    if keep not in KEEPS:
        raise InputError(f"keep={keep!r} is not known; {nearest(keep, KEEPS)}")
    listed = _listed(given)
    if not listed:
        return given
    _check_free(listed[0])
    attempts = _attempts(listed, columns, format_, language)
    verdicts = _judged([attempt.record() for attempt in attempts.values()], jobs, timeout_s)
    traces = [with_judgement(attempt, verdict) for attempt, verdict in zip(attempts.values(), verdicts, strict=True)]
    own, _ = independent(select(traces, keep), keep, lambda records: _judged(list(records), jobs, timeout_s))
    chosen = {trace.id for trace in own}
    kept = {number: v for number, trace, v in zip(attempts, traces, verdicts, strict=True) if trace.id in chosen}
    if isinstance(given, list):
        return [{**listed[number], **_added(verdict)} for number, verdict in kept.items()]
    return _with_columns(given.select(list(kept)), [_added(verdict) for verdict in kept.values()])


def _listed(given: Any) -> list[Row]:
    if isinstance(given, list):
        return cast("list[Row]", given)
    if not hasattr(given, "add_column"):
        raise InputError(f"filter: a list of rows or a datasets.Dataset is needed, not {type(given).__name__}")
    return list(given.with_format(None))


def _check_free(row: Row) -> None:
    """A row that was filtered already may be filtered again; a column of the user's is not written over."""
    taken = [name for name in ADDED if name in row]
    if taken and "judgement" not in row:
        raise InputError(f"filter: the column {taken[0]!r} is there already; rename it, because filter adds one")


def _attempts(rows: Sequence[Row], columns: Mapping[str, str] | None, format_: str, language: str) -> dict[int, Trace]:
    """Return the attempts of the rows that can be read, by the rows' positions."""
    if columns is None and isinstance(rows[0].get("problem"), Mapping):
        found = dict(enumerate(map(_own_attempt, rows, range(len(rows)))))
        _check_ids(found)
        return found
    names = named_columns(
        read_columns([f"{part}={column}" for part, column in (columns or {}).items()]), rows[0], "filter"
    )
    found: dict[int, Trace] = {}
    unreadable: list[str] = []
    for position, row in enumerate(rows):
        try:
            rationale = read_rationale(row, names, number=position + 1, name="rows", dataset=language)
            (found[position],) = as_they_stand([rationale], format_)
        except RowError as error:
            unreadable.append(f"row {position}: {error}")
    if not found:
        raise InputError(f"filter: no row can be read; {unreadable[0]}")
    read_attempt(next(iter(found.values())).record())  # the format, before all rows are judged
    if unreadable:
        said = f"{len(unreadable)} of {len(rows)} rows cannot be read and are left out; {unreadable[0]}"
        warnings.warn(said, stacklevel=4)
    _check_ids(found)
    return found


def _own_attempt(row: Row, position: int) -> Trace:
    try:
        return read_trace({key: value for key, value in row.items() if key != "judgement"})
    except RecordError as error:
        raise InputError(f"filter: row {position}: {error}") from error


def _check_ids(attempts: Mapping[int, Trace]) -> None:
    seen: dict[str, int] = {}
    for position, attempt in attempts.items():
        if seen.setdefault(attempt.id, position) != position:
            raise InputError(f"filter: row {position}: the id {attempt.id!r} is row {seen[attempt.id]}'s already")


def _judged(attempts: list[Any], jobs: int, timeout_s: float) -> list[Any]:
    """Return the attempts' verdict records: made here, or with several jobs by `certistar judge`.

    That is a program of its own, because processes that multiprocessing starts run the caller's script once more.
    """
    if jobs == 1:
        return [judge_record(slim(attempt)) for attempt in attempts]
    with TemporaryDirectory(prefix="certistar-") as folder:
        asked, told = Path(folder, "attempts.jsonl"), Path(folder, "verdicts.jsonl")
        write_records(asked, map(slim, attempts))
        words = ["judge", str(asked), "--out", str(told), "--jobs", str(jobs), "--timeout", str(timeout_s)]
        done = subprocess.run(
            [sys.executable, "-m", "training", *words], env=_environment(), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise RunFailed(f"filter: judging failed: {said[-1] if said else f'status {done.returncode}'}")
        return list(read_records(told))


def _environment() -> dict[str, str]:
    """Return an environment in which the child finds what this process found, and no `training/` of its folder."""
    path = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[2])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def _added(judgement: Mapping[str, Any]) -> dict[str, Any]:
    grade = read_verdict(judgement).grade
    return {"verdict": judgement["verdict"], "reason": judgement["reason"], "grade": grade, "judgement": judgement}


def _with_columns(dataset: Any, added: Sequence[Mapping[str, object]]) -> Any:
    """Return a Dataset with the columns; judgements become text, because Arrow would add keys to certificates."""
    datasets: Any = import_module("datasets")
    dataset = dataset.remove_columns([name for name in ADDED if name in dataset.column_names])
    for name in ADDED:
        values = [row[name] for row in added]
        texts = [json.dumps(value, ensure_ascii=False) for value in values] if name == "judgement" else values
        dataset = dataset.add_column(name, texts, feature=datasets.Value("string"))
    return dataset
