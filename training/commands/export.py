"""`export`: a dataset in another trainer's shape."""

from pathlib import Path
from typing import Annotated

import typer

from training.commands.messages import print_counts
from training.commands.options import Json, OfArm, OfSeed, Out
from training.exchange.exports import export as exported
from training.exchange.finding import find_dataset

EXAMPLE = "certistar export kept --to messages --out messages.jsonl"


def export(
    folder: Annotated[Path, typer.Argument(metavar="DATASET|RUN", help="A dataset folder, a round or a run.")],
    to: Annotated[str, typer.Option("--to", help="messages, prompt-completion, sharegpt, atif or parquet.")],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate."""
    num = exported(find_dataset(folder, arm, seed), to, out)
    print_counts({"examples": num, "to": to, "out": str(out)}, as_json)
