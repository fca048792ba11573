"""`certistar.filter` and `certistar.save`: rows in, the kept ones out with their verdicts, and as a kept folder."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, TypedDict, cast, get_args

from critics.errors import InputError, RunFailed
from critics.judge import JudgePool, Judging, SlimAttempt, judge_record, slim
from critics.problem import RecordError, read_attempt
from critics.recheck.rejudging import objection
from rollout.records.traces import Trace, read_trace, with_judgement
from training.configuration.learning import CERTIFIED, KEEPS, Keep, Text
from training.curation.filters import independent, is_certified, is_strict, judged, select
from training.curation.outcomes import KeptSummary, costliest, outcomes, told
from training.exchange.rationales import Reading, as_they_stand, rationale_example, read_table, summary_of
from training.lineage.entries import origin
from training.lineage.kept import Kept, made_already, new_folder, write_kept
from training.logs import tracked
from training.records.store import read_records, write_records
from training.records.tables import Row, Rows, rows_of_dataset


class Added(TypedDict):
    """The columns that a kept row has beside its own."""

    verdict: str
    reason: str
    grade: str | None
    judgement: object
    attempt: object


ADDED = tuple(Added.__annotations__)
_RECORDS = ("judgement", "attempt")
"""Added columns that are JSON text in a Dataset, because Arrow would add keys to certificates."""


def filtered(
    given: Any,
    keep: Keep,
    jobs: int,
    columns: Mapping[str, str] | None,
    answers: Mapping[str, str] | None,
    format_: str | None,
    language: str | None,
    timeout_s: float,
    text: Text,
) -> Any:
    """Return the kept rows, a list for a list and a Dataset for a Dataset; `certistar.filter` says what is promised."""
    if keep not in KEEPS:
        raise InputError(f"keep={keep!r} is not known; write one of {', '.join(KEEPS)}")
    if text != "sampled" and (text not in get_args(Text) or keep not in CERTIFIED):
        raise InputError(f"text={text!r}: write sampled, or proved or excerpt with keep=strict or trusted")
    rows = _listed(given, "filter")
    if not rows.rows:
        return given
    taken = [name for name in ADDED if name in rows.rows[0].values]
    if taken and not {"verdict", "judgement"} <= set(rows.rows[0].values):
        # Rows that were filtered already may be filtered again; a column of the user's is not written over.
        raise InputError(f"filter: the column {taken[0]!r} is there already; rename it, because filter adds one")
    meanings = {word.lower(): answer for word, answer in (answers or {}).items()}
    reading = Reading(columns or {}, meanings, format_, language)
    attempts, taken = _attempts(rows, reading)
    judging: Judging = lambda records: _judged(list(records), jobs, timeout_s)  # noqa: E731
    traces = list(judged(attempts.values(), judging))
    if why := costliest(traces, ()):
        warnings.warn(f"{told(outcomes(traces, 0), {})}; {why}", stacklevel=3)
    if text != "sampled":
        from training.curation.derivation import derive

        traces, _ = derive(traces, judging, text)
    own, _ = independent(select(traces, keep), keep, judging)
    chosen = {trace.id for trace in own}
    kept = [(position, _added(trace)) for position, trace in zip(attempts, traces, strict=True) if trace.id in chosen]
    if isinstance(given, list):
        listed = cast("list[Any]", given) if taken is rows else [row.values for row in taken.rows]
        return [{**listed[position], **added} for position, added in kept]
    if taken is not rows:
        raise InputError("filter: these rows are parts of texts; give them as a list, which comes back joined")
    return _with_columns(given.select([position for position, _ in kept]), [added for _, added in kept])


def saved(given: Any, folder: Path, jobs: int, timeout_s: float) -> KeptSummary:
    """Write rows that `filtered` returned as a kept folder; `certistar.save` says what is promised."""
    rows = _listed(given, "save")
    found = [_own_trace(row) for row in rows.rows]
    _check_ids(dict(enumerate(found)))
    fresh = _judged([slim(trace.record()) for trace in found], jobs, timeout_s)
    traces: list[Trace] = []
    for trace, verdict in zip(found, fresh, strict=True):
        if reason := objection(trace.judged.record(trace.id), verdict):
            # Attack: a text, or a verdict, that was changed after it was judged.
            why = "its critic does not say this of its text; filter the rows again"
            raise InputError(f"save: {trace.id}: {reason}: {why}")
        traces.append(with_judgement(trace, dict(verdict)))
    made_already(folder, "")
    examples = [rationale_example(trace) for trace in traces]
    certified = all(map(is_certified, traces))
    keep = "unfiltered" if not certified else "strict" if all(map(is_strict, traces)) else "trusted"
    summary: KeptSummary = {**summary_of(traces, 0, len(traces)), "examples": len(examples), "keep": keep}
    with new_folder(folder) as made:
        if rows.table is not None:
            bare = rows.table.select([name for name in rows.table.column_names if name not in ADDED])
            replace(rows, table=bare).write(range(len(traces)), made)
        else:
            write_records(made / "rows.jsonl", filter(None, map(_own, rows.rows)))
        origins = {trace.id: origin(trace.record()) for trace in traces}
        write_kept(made, folder.name, Kept(examples, origins, traces, (), summary))
    return summary


def _listed(given: Any, whose: str) -> Rows:
    if isinstance(given, list):
        return Rows("jsonl", [Row("rows", number, row) for number, row in enumerate(cast("list[Any]", given), 1)])
    if not hasattr(given, "add_column"):
        raise InputError(f"{whose}: a list of rows or a datasets.Dataset is needed, not {type(given).__name__}")
    return rows_of_dataset(given, "rows")


def _attempts(rows: Rows, reading: Reading) -> tuple[dict[int, Trace], Rows]:
    """Return the attempts of the rows that can be read, by the rows' positions, and the rows, some of them joined."""
    if not reading.columns and isinstance(rows.rows[0].values.get("problem"), Mapping):
        found: dict[int, Trace] = {}
        for position, row in enumerate(rows.rows):
            try:
                found[position] = read_trace(_own(row))
            except RecordError as error:
                raise InputError(f"filter: row {position}: {error}") from error
        _check_ids(found)
        return found, rows
    own = [replace(row, values=_own(row)) for row in rows.rows]
    table = read_table([replace(rows, rows=own)], reading, "filter")
    attempts = as_they_stand(table)
    read_attempt(attempts[0].record())  # the format, before all rows are judged
    if table.unreadable:
        first = table.unreadable[0]
        place = int(first.id.rpartition("-")[2]) - 1
        begin = f"{len(table.unreadable)} of {len(rows.rows)} rows cannot be read and are left out; row {place}: "
        warnings.warn(begin + first.feedback, stacklevel=4)
    (source,) = table.sources
    is_joined = any(row.of for row in source.rows)
    return {table.places[attempt.id][1]: attempt for attempt in attempts}, source if is_joined else rows


def _own_trace(row: Row) -> Trace:
    """Return the attempt and judgement that `filtered` put beside a row; raises `InputError` where there are none."""
    try:
        given = (row.values[name] for name in ("attempt", "judgement"))
        attempt, judgement = (json.loads(value) if isinstance(value, str) else value for value in given)
        return with_judgement(read_trace(attempt), judgement)
    except (KeyError, TypeError, ValueError) as error:
        why = f"save: row {row.number - 1}: has no attempt and judgement that `certistar.filter` wrote ({error})"
        raise InputError(f"{why}; save what it returned") from error


def _own(row: Row) -> dict[str, Any]:
    """Return a row's columns without those that `filtered` adds."""
    return {key: value for key, value in row.values.items() if key not in ADDED}


def _check_ids(attempts: Mapping[int, Trace]) -> None:
    seen: dict[str, int] = {}
    for position, attempt in attempts.items():
        if seen.setdefault(attempt.id, position) != position:
            raise InputError(f"filter: row {position}: the id {attempt.id!r} is row {seen[attempt.id]}'s already")


def _judged(attempts: Sequence[Any], jobs: int, timeout_s: float) -> Iterator[Any]:
    """Yield the attempts' verdict records behind a progress bar; made here, or with several jobs in a process of ours.

    That is a program of its own, because processes that multiprocessing starts run the caller's script once more.
    """
    listed = [slim(attempt) for attempt in attempts]
    verdicts = map(judge_record, listed) if jobs == 1 else _served(listed, jobs, timeout_s)
    return tracked(verdicts, total=len(listed), what="judging") if listed else iter(())


def _served(attempts: Iterable[SlimAttempt], jobs: int, timeout_s: float) -> Iterator[Any]:
    code = "import sys; from training.exchange.filtering import serve; serve(*sys.argv[1:])"
    with TemporaryDirectory(prefix="certistar-") as folder, TemporaryFile() as said:
        asked = Path(folder, "attempts.jsonl")
        write_records(asked, attempts)
        words = [sys.executable, "-c", code, str(asked), str(jobs), str(timeout_s)]
        # The child finds what this process found, and no `training/` of its folder.
        path = os.pathsep.join([*filter(None, sys.path), str(Path(__file__).parents[2])])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=said) as process:
            assert process.stdout is not None
            try:
                yield from map(json.loads, process.stdout)
            except GeneratorExit:
                process.terminate()
                raise
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise RunFailed(f"judging failed: {lines[-1] if lines else f'status {process.returncode}'}")


def serve(asked: str, jobs: str, timeout_s: str) -> None:
    """Judge the attempts of a file and print each verdict as soon as it is there: the other end of `_served`."""
    with JudgePool(jobs=int(jobs), timeout_s=float(timeout_s)) as pool:
        for verdict in pool.judge(read_records(Path(asked))):
            sys.stdout.write(f"{json.dumps(verdict)}\n")
            sys.stdout.flush()


def _added(trace: Trace) -> Added:
    attempt = {key: value for key, value in trace.record().items() if key != "judgement"}
    return {
        "verdict": trace.judged.verdict,
        "reason": trace.judged.reason,
        "grade": trace.judged.grade,
        "judgement": trace.judged.record(trace.id),
        "attempt": slim(attempt),
    }


def _with_columns(dataset: Any, added: Sequence[Added]) -> Any:
    datasets: Any = import_module("datasets")
    dataset = dataset.remove_columns([name for name in ADDED if name in dataset.column_names])
    for name in ADDED:
        values: list[Any] = [json.dumps(row[name]) if name in _RECORDS else row[name] for row in added]
        dataset = dataset.add_column(name, values, feature=datasets.Value("string"))
    return dataset
