"""`prefer`: the critics' verdicts as preferences."""

from pathlib import Path
from typing import Annotated, cast

import typer

from training.commands.attempts import judging, read_attempts_that_are, taught, traces_that_are, with_verdicts
from training.commands.messages import print_counts
from training.commands.options import Jobs, Json, Out, Timeout
from training.records.store import write_records
from training.rewards.certified import Credit
from training.rewards.preferences import preferences

EXAMPLE = "certistar prefer traces.jsonl --to dpo --out pairs.jsonl"


def prefer(
    traces: Annotated[Path, typer.Argument(help="Traces or attempts as JSON lines.", show_default=False)],
    to: Annotated[str, typer.Option("--to", help="dpo (pairs) or kto (labels), as TRL reads them.")],
    out: Out,
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="What `judge` wrote; else judged now.")] = None,
    credit: Annotated[
        str, typer.Option("--credit", help="attempt, or first_bad_step: what stands before it is not punished.")
    ] = "attempt",
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Write preferences: certified attempts against refuted ones at the same problem."""
    blamed = cast("Credit", credit)
    preferences([], to, blamed)
    records, rejected = read_attempts_that_are(traces)
    found = list(with_verdicts(records, traces, verdicts, judging(jobs, timeout, anew=True), rejected))
    rows = list(preferences(taught(traces_that_are(found, rejected), rejected), to, blamed))
    write_records(out, rows)
    counts = {"traces": len(found), "pairs" if to == "dpo" else "labelled": len(rows)}
    print_counts(counts | ({"rejected": len(rejected)} if rejected else {}), as_json)
