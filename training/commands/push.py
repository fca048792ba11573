"""`push`: an adapter and its dataset, given away with certificates and cards."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from training.commands.options import Json, OfArm, OfSeed, say_or_print

EXAMPLE = "certistar push checkpoints/smoke file://$PWD/pushed"


def push(
    folder: Annotated[Path, typer.Argument(metavar="RUN|ADAPTER|DATASET", help="What to give away.")],
    to: Annotated[str, typer.Argument(metavar="REPO|file:///FOLDER", help="owner/name of the Hub, or a folder.")],
    private: Annotated[bool, typer.Option("--private", help="Make new repositories private.")] = False,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Push an adapter and the dataset behind it, with certificates and cards, to the Hub or a folder."""
    from training.exchange.hub import PARTS, place_to_push
    from training.exchange.parcels import find, pack_adapter, pack_dataset

    place, found = place_to_push(to), find(folder, arm, seed)
    with TemporaryDirectory() as beside:
        parcels = Path(beside)
        if found.adapter is not None:
            pack_adapter(found, parcels / "adapter", place.name)
        if found.dataset is not None:
            pack_dataset(found, parcels / "dataset", place.name)
        sent = {part: place.send(parcels / part, part, private=private) for part in PARTS if (parcels / part).is_dir()}
    line, number = found.line, (found.round_number or 0) + 1
    of = "" if line is None else f" of arm {line.arm}, seed {line.seed}, after round {number}"
    say_or_print("\n".join(f"{part}{of}: {where}" for part, where in sent.items()), sent, as_json)
