"""`view`: a run's report, served while the run goes on."""

from pathlib import Path
from typing import Annotated

import typer

from training.reporting.server import view as serve

EXAMPLE = "certistar view checkpoints/demo --port 0"


def view(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, finished or going on.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8000,
) -> None:
    """Serve a run's report on this machine alone, made anew as the run goes on; Ctrl-C ends."""
    serve(run_folder, port)
