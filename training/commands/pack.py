"""`pack`: the traces of a run, compressed where they lie."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Json, say
from training.logs import tracked
from training.records.run_folder import locked
from training.records.store import pack as packed_file
from training.records.store import sealed_traces

EXAMPLE = "certistar pack checkpoints/demo"


def pack(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")], as_json: Json = False
) -> None:
    """Compress the traces of a run's finished rounds in their place; zcat gives them back."""
    if not (run_folder / "config.yaml").exists():
        raise InputError(f"{run_folder}: is no run folder; name one that `certistar run` made")
    with locked(run_folder):
        paths = sealed_traces(run_folder)
        packed = [packed_file(path) for path in tracked(paths, total=len(paths), what="packing")]
    if as_json:
        print(json.dumps([{**asdict(each), "path": str(each.path)} for each in packed]))
        return
    before, after = (sum(sizes) for sizes in ([p.plain_bytes for p in packed], [p.packed_bytes for p in packed]))
    share = f", {after / before:.0%} of {before / 2**20:.1f} MiB" if before else ""
    say(f"{sum(p.num_records for p in packed)} traces in {len(packed)} files packed{share}; zcat unpacks them")
