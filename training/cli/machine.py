"""What this machine can do."""

from typing import Annotated

import typer

from training.cli.options import Json


def bench(
    name: Annotated[
        str, typer.Argument(help="kernel, decoding, asp, programs, equivalence, pool, store or training.")
    ] = "kernel",
    as_json: Json = False,
) -> None:
    """Measure ratios against the named baseline in one run."""
    from training.bench import bench as measure

    measure(name, as_json)


def doctor(as_json: Json = False) -> None:
    """Say what this machine can run, and what is missing."""
    from training.doctor import examine

    examine(as_json)


COMMANDS = (
    bench,
    doctor,
)
