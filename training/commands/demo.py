"""`demo`: the main job on the embedded seed model."""

from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import Out, Overrides
from training.commands.run import run_with_progress

EXAMPLE = "certistar demo --out checkpoints/demo"


def demo(
    config: Annotated[Path | None, typer.Option("--config", help="Another run than configs/demo.yaml.")] = None,
    out: Out = Path("checkpoints/demo"),
    overrides: Overrides = None,
) -> None:
    """Run strict, guided and naive STaR on the embedded seed model, and say which one gained."""
    run_with_progress(config or Path("configs/demo.yaml"), out, overrides)
