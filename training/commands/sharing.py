"""`export`, `push` and `pull`: datasets and adapters to other tools and people, and back with everything rechecked."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.commands.messages import print_counts, say
from training.commands.verdicts import judged
from training.exchange.exports import export
from training.exchange.finding import find, find_dataset
from training.exchange.hub import PARTS, Place, place_to_pull, place_to_push
from training.exchange.verification import check_adapter, check_dataset, check_pair


def export_dataset(folder: Path, shape: str, out: Path, arm: str | None, seed: int | None, as_json: bool) -> None:
    """Write a dataset in another tool's shape."""
    num = export(find_dataset(folder, arm, seed), shape, out)
    print_counts({"examples": num, "to": shape, "out": str(out)}, as_json)


def push(folder: Path, to: str, private: bool, arm: str | None, seed: int | None, as_json: bool) -> None:
    """Send an adapter and the dataset beside it, each with its card; a dataset alone goes alone."""
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


def pull(source: str, out: Path, jobs: int, timeout_s: float, as_json: bool) -> int:
    """Fetch, check and only then put in place; return how much was rejected, and leave nothing if anything was."""
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: is there already; choose another place, or delete it")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as beside:
        staged = Path(beside) / "pulled"
        result = _fetched_and_checked(place_to_pull(source), source, staged, jobs, timeout_s)
        rejected = result["rejected"]
        if not rejected:
            if out.exists():
                out.rmdir()
            shutil.move(staged, out)
    if as_json:
        print(json.dumps(result))
    else:
        print_counts({key: value for key, value in result.items() if key != "rejected"}, as_json=False)
        for rejection in rejected:
            say(f"rejected {rejection['id']}: {rejection['reason']}")
        say(f"nothing was left in {out}" if rejected else f"everything holds; it is in {out}")
    return len(rejected)


def _fetched_and_checked(place: Place, source: str, staged: Path, jobs: int, timeout_s: float) -> dict[str, Any]:
    staged.mkdir()
    there = [part for part in PARTS if place.fetch(part, staged / part)]
    if not there:
        raise InputError(f"{source}: holds neither an adapter nor a dataset that `certistar push` wrote")
    result: dict[str, Any] = {"pulled": there, "rejected": []}
    adapter, dataset = (staged / part for part in PARTS)
    if "adapter" in there:
        result["rejected"] += check_adapter(adapter)
    if "dataset" in there:
        checked = check_dataset(dataset, lambda records: judged(records, jobs, timeout_s))
        result |= {**checked, "rejected": [*result["rejected"], *checked["rejected"]]}
    if there == list(PARTS):
        result["rejected"] += check_pair(adapter, dataset)
    return result
