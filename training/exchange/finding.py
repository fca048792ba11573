"""Finding what a named folder holds: a run, a round, a dataset or an adapter; and which of a run's is meant."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from critics.errors import InputError
from rollout.records.digests import file_digest
from training.configuration.section import nearest
from training.lineage.adapters import MANIFEST
from training.lineage.kept import EXAMPLES
from training.records.run_folder import REFUSED, RunLine, filters, read_run


@dataclass(frozen=True, slots=True)
class Found:
    """Things to give away: an adapter, the dataset that it learnt from, and the line that both are of."""

    adapter: Path | None
    dataset: Path | None
    line: RunLine | None

    @property
    def round_number(self) -> int | None:
        """Return the number of the round that made it; None outside a run."""
        made = self.adapter or self.dataset
        return int(made.parent.name[-3:]) if self.line is not None and made is not None else None


def find(folder: Path, arm: str | None = None, seed: int | None = None) -> Found:
    """Return what a folder holds and nothing beside it; raises `InputError` where it is none that can be given away.

    A dataset is shared alone. An adapter is shared with the dataset that its manifest names, if that is beside it, and
    a round or a run with both. Of a run it is the last promoted adapter, of the named arm or else of the first strict
    one.
    """
    if (folder / "lines.json").is_file():
        line = _chosen(folder, arm, seed)
        for made in sorted(line.path.glob("round-*"), reverse=True):
            if _is_trained(made / "adapter") and not (made / REFUSED).exists():
                return Found(made / "adapter", made / "dataset", line)
        raise InputError(f"{line.path}: no round has a trained adapter yet; run `certistar run` again to go on")
    if (folder / EXAMPLES).is_file():
        return Found(None, folder, _line_of(folder.parent))
    if (folder / "dataset" / EXAMPLES).is_file():
        adapter, dataset = folder / "adapter", folder / "dataset"
        if not _is_trained(adapter):
            return Found(None, dataset, _line_of(folder))
        if not is_trained_on(adapter, dataset):
            # Attack: an adapter that lies there by chance, given away under the dataset's name.
            raise InputError(f"{folder}: its adapter/ was not trained on its dataset/; name the one that you mean")
        return Found(adapter, dataset, _line_of(folder))
    if (folder / MANIFEST).is_file():
        dataset = folder.with_name("dataset")
        return Found(folder, dataset if is_trained_on(folder, dataset) else None, _line_of(folder.parent))
    raise InputError(
        f"{folder}: is no run folder, no round, no dataset ({EXAMPLES}) and no adapter ({MANIFEST}); name one of these"
    )


def find_dataset(folder: Path, arm: str | None = None, seed: int | None = None) -> Path:
    """Return the dataset that a folder is or holds; of a run, that of the last round."""
    found = find(folder, arm, seed)
    if found.dataset is None:
        raise InputError(f"{folder}: has no dataset beside it; name a folder that holds {EXAMPLES}")
    return found.dataset


def read_json(path: Path) -> dict[str, Any]:
    """Read a small file; raises `InputError`."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}: a JSON object is needed")
    return cast("dict[str, Any]", record)


def _chosen(run: Path, arm: str | None, seed: int | None) -> RunLine:
    lines = read_run(run).lines
    arms = list(dict.fromkeys(line.arm for line in lines))
    if arm is None:
        kept = filters(run)
        arm = next((name for name in arms if kept.get(name) == "strict"), arms[0])
    if arm not in arms:
        raise InputError(f"--arm {arm!r}: is none of {run}; {nearest(arm, arms)}")
    seeds = [line.seed for line in lines if line.arm == arm]
    if seed is not None and seed not in seeds:
        raise InputError(f"--seed {seed}: arm {arm} of {run} has {', '.join(map(str, seeds))}")
    wanted = seeds[0] if seed is None else seed
    return next(line for line in lines if (line.arm, line.seed) == (arm, wanted))


def dataset_summary(found: Found) -> dict[str, Any]:
    """Return the dataset's own counts, and what of its run decides what they mean."""
    assert found.dataset is not None
    path, line = found.dataset / "summary.json", found.line
    summary = read_json(path) if path.is_file() else {}
    if line is None:
        return {"keep": "strict", **summary}
    return {"keep": filters(line.run).get(line.arm, "strict"), **summary, "arm": line.arm, "seed": line.seed}


def is_trained_on(adapter: Path, dataset: Path) -> bool:
    """Say whether an adapter's manifest names exactly the dataset's examples."""
    examples = dataset / EXAMPLES
    named = read_json(adapter / MANIFEST).get("dataset")
    return examples.is_file() and named == file_digest(examples)


def _is_trained(adapter: Path) -> bool:
    return (adapter / MANIFEST).is_file() and bool(read_json(adapter / MANIFEST).get("trained"))


def _line_of(round_folder: Path) -> RunLine | None:
    for run in list(round_folder.resolve().parents)[:3]:
        if (run / "lines.json").is_file():
            return next((e for e in read_run(run).lines if e.path.resolve() == round_folder.resolve().parent), None)
    return None
