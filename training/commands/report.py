"""`report`: the tables and figures of a run."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "certistar report checkpoints/demo"
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, finished or going on.")]


def report(
    run_folder: RunFolder,
    partial: Annotated[
        bool, typer.Option(help="Of an unfinished run, report the seeds that all arms finished.")
    ] = False,
) -> None:
    """Write report.json and report.html of a finished run."""
    from training.reporting.comparison import write_report
    from training.reporting.runs import time_lines
    from training.reporting.sentences import verdict_sentence

    found = write_report(run_folder, partial=partial)
    for sentence in verdict_sentence(found):
        print(sentence)
    for line in time_lines(run_folder):
        print(line)
    print(run_folder / "report.html")
