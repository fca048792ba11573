"""`bench`: ratios against named baselines."""

from typing import Annotated

import typer

from training.bench import bench as measure
from training.commands.options import Json

EXAMPLE = "certistar bench kernel --json"


def bench(
    name: Annotated[
        str, typer.Argument(help="kernel, decoding, asp, programs, equivalence, pool, store or training.")
    ] = "kernel",
    as_json: Json = False,
) -> None:
    """Measure ratios against the named baseline in one run."""
    measure(name, as_json)
