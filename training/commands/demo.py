"""`demo`: the main job on an embedded base model."""

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
    """Run STaR on certified proofs and on right answers from the embedded base, and say what each taught."""
    run_with_progress(config or Path("configs/demo.yaml"), out, overrides)
