"""`report`: the tables and figures of a finished run, or served while one goes on."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "certistar report checkpoints/demo"
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, finished or going on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="With --serve; 0: any that is free.")]


def report(
    run_folder: RunFolder,
    partial: Annotated[
        bool, typer.Option(help="Of an unfinished run, report the seeds that all arms finished.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on this machine alone, made anew as the run goes on.")
    ] = False,
    port: Port = 8000,
) -> None:
    """Write report.json and report.html of a finished run, or serve a run's report; Ctrl-C ends."""
    if serve:
        view(run_folder, port)
        return
    from training.reporting.comparison import write_report
    from training.reporting.costs import time_lines
    from training.reporting.sentences import verdict_sentence

    found = write_report(run_folder, partial=partial)
    for sentence in verdict_sentence(found):
        print(sentence)
    for line in time_lines(found["times"]) if "times" in found else ():
        print(line)
    print(run_folder / "report.html")


def view(run_folder: RunFolder, port: Port = 8000) -> None:
    """Serve a run's report on this machine alone, made anew as the run goes on; Ctrl-C ends."""
    from training.reporting.server import view as serve

    serve(run_folder, port)
