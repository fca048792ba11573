"""`push`: an adapter and its dataset, given away with certificates and cards."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from training.commands.messages import say
from training.commands.options import Json, OfArm, OfSeed
from training.exchange.finding import find
from training.exchange.hub import PARTS, place_to_push

EXAMPLE = "certistar push checkpoints/smoke file:///data/pushed"


def push(
    folder: Annotated[Path, typer.Argument(metavar="RUN|ADAPTER|DATASET", help="What to give away.")],
    to: Annotated[str, typer.Argument(metavar="REPO|file:///FOLDER", help="owner/name of the Hub, or a folder.")],
    private: Annotated[bool, typer.Option("--private", help="Make new repositories private.")] = False,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Push an adapter and the dataset behind it, with certificates and cards, to the Hub or a folder."""
    from training.exchange.parcels import pack_adapter, pack_dataset

    place = place_to_push(to)
    found = find(folder, arm, seed)
    with tempfile.TemporaryDirectory() as beside:
        parcels = Path(beside)
        if found.adapter is not None:
            pack_adapter(found, parcels / "adapter", place.name)
        if found.dataset is not None:
            pack_dataset(found, parcels / "dataset", place.name)
        sent = {part: place.send(parcels / part, part, private=private) for part in PARTS if (parcels / part).is_dir()}
    of = (
        ""
        if found.line is None
        else f" of arm {found.line.arm}, seed {found.line.seed}, after round {(found.round_number or 0) + 1}"
    )
    if as_json:
        print(json.dumps(sent))
        return
    for part, where in sent.items():
        say(f"{part}{of}: {where}")
