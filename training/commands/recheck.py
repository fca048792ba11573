"""`recheck`: certificates once more, by the independent checker, and their texts once more, by their critics."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Jobs, Json, Timeout, say
from training.records.store import StoreError, read_lines

EXAMPLE = "certistar recheck verdicts.jsonl --json"


def recheck(
    file: Annotated[Path, typer.Argument(help="Verdicts or traces as JSON lines, or the folder of a run.")],
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Re-check certificates with the independent checker, and judge again the texts that stand beside them.

    Exit status 1 if any is rejected. Verdicts without their texts are checked as evidence alone. Of a run, its training
    traces and the attempts behind its figures, held-out ones, are checked.
    """
    from critics.recheck.__main__ import told
    from critics.recheck.rejudging import recheck_texts
    from training.commands.attempts import judging
    from training.commands.traces import trace_files

    bad: list[dict[str, str]] = []
    if not (paths := trace_files([file])):
        raise InputError(f"{file}: no judged attempts lie in it; name a file, or a folder that `certistar run` wrote")
    records = (record for path in paths for record in _readable(path, bad))
    found = recheck_texts(records, judging(jobs, timeout, anew=True))
    report = found.evidence
    report.rejected += bad
    if not found.judged_again + found.without_text + report.skipped + len(report.rejected):
        raise InputError(f"{file}: there is no record in it; name a file of verdicts or traces")
    if as_json:
        print(json.dumps({**found.record(), "kinds": report.table(), "grades": report.confirmed()}))
    else:
        for line in told(report):
            say(line)
        say(found.told())
    if report.rejected:
        raise typer.Exit(1)


def _readable(file: Path, bad: list[dict[str, str]]) -> Iterator[object]:
    """Yield the records; a bad line is rejected, and reading goes on."""
    for record in read_lines(file):
        if isinstance(record, StoreError):
            say(str(record))
            bad.append({"id": str(record).partition(": ")[0], "reason": "bad_line"})
        else:
            yield record
