"""`pack`: the traces of a run, compressed where they lie."""

import json
from dataclasses import asdict
from pathlib import Path

from critics.errors import InputError
from training.commands.messages import say
from training.console import tracked
from training.records.shards import pack, sealed_traces
from training.rounds.loop import locked


def pack_run(folder: Path, as_json: bool) -> None:
    """Pack the sealed traces of a run folder's rounds; raises `RunError` where a run is working in it."""
    if not (folder / "config.yaml").exists():
        raise InputError(f"{folder}: is no run folder; name one that `certistar run` made")
    with locked(folder):
        paths = sealed_traces(folder)
        packed = [pack(path) for path in tracked(paths, total=len(paths), what="packing")]
    if as_json:
        print(json.dumps([{**asdict(each), "path": str(each.path)} for each in packed]))
        return
    before, after = (sum(sizes) for sizes in ([p.plain_bytes for p in packed], [p.packed_bytes for p in packed]))
    share = f", {after / before:.0%} of {before / 2**20:.1f} MiB" if before else ""
    say(f"{sum(p.num_records for p in packed)} traces in {len(packed)} files packed{share}; zcat unpacks them")
