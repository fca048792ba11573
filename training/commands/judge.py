"""`judge`: attempts in, verdicts out."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Jobs, Json, Out, Timeout, print_counts
from training.records.store import read_lines, write_records

EXAMPLE = "certistar judge attempts.jsonl --out verdicts.jsonl --jobs 2"


def judge(
    file: Annotated[Path, typer.Argument(help="Attempts or traces as JSON lines.")],
    out: Out,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
    problems: Annotated[
        list[Path] | None, typer.Option("--problems", help="Of recorded programs without theirs (repeatable).")
    ] = None,
) -> None:
    """Judge attempts: one verdict record for each, in the same order."""
    from critics.formats.format import find_format
    from critics.replay.grades import count_by_grade
    from rollout.records.traces import read_judgement
    from training.commands.attempts import judging, read_attempts
    from training.outcomes import console
    from training.reporting.programs import (
        blind_attempts,
        error_columns,
        error_table,
        program_rows,
        program_table,
        read_programs,
    )

    given, judge_all = read_attempts(file, problems), judging(jobs, timeout)
    if not given:
        raise InputError(f"{file}: there is no attempt in it; name a file with some")
    _refuse_others(out)
    verdicts = list(judge_all(dict(each.record) for each in given))
    write_records(out, verdicts)
    grades = count_by_grade(read_judgement(verdict).grade for verdict in verdicts if verdict["certificate"])
    counts = {
        **dict(sorted(Counter(verdict["verdict"] for verdict in verdicts).items())),
        **({"grades": grades} if grades else {}),
    }
    if not any(find_format(each.attempt.format).is_program for each in given):
        print_counts(counts, as_json)
        return
    programs = read_programs((each.record for each in given), verdicts)
    again = judge_all(attempt.record() for attempt in blind_attempts(programs))
    rows = program_rows(programs, {verdict["id"] for verdict in again if verdict["verdict"] == "certified"})
    columns = error_columns(programs)
    if as_json:
        print(json.dumps({**counts, "table": rows, "errors": columns}))
        return
    print_counts(counts, as_json=False)
    shown = console(stderr=True)
    for made in (program_table(rows), error_table(columns)):
        shown.print(made)


def _refuse_others(out: Path) -> None:
    """Raise `InputError` where a file stands that no `judge` wrote: it would be lost."""
    first = next(iter(read_lines(out)), {"verdict": ""}) if out.is_file() and out.stat().st_size else {"verdict": ""}
    if not isinstance(first, dict) or "verdict" not in first:
        raise InputError(f"--out {out}: is there already and holds no verdicts; name another file")
