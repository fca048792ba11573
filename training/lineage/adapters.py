"""Adapters as folders that say where they come from, found below run folders or wherever they were put."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from training.lineage.adapter_files import MANIFEST
from training.lineage.entries import LINEAGE, LineageError, lines_of_dataset, merkle_root
from training.records.store import is_stored, read_records

Record = dict[str, Any]


@dataclass(frozen=True)
class AdapterFolder:
    """A trained adapter's folder."""

    path: Path
    manifest: Record

    @property
    def weights(self) -> str | None:
        """The digest of its weights; None in manifests that are older than the key."""
        return self.manifest.get("weights")

    @property
    def start(self) -> str | None:
        """The digest of the adapter that its training went on from; None: the base model, or not known."""
        return self.manifest.get("start")

    @property
    def dataset(self) -> Path:
        """Where a round keeps what the adapter was trained on."""
        return self.path.parent / "dataset"

    @cached_property
    def lines(self) -> list[Record] | None:
        """Its lineage; None where it has none and stands in no round that would show it."""
        if is_stored(self.path / LINEAGE):
            return list(read_records(self.path / LINEAGE))
        if not is_stored(self.dataset / "examples.jsonl"):
            return None
        try:
            return list(lines_of_dataset(self.dataset))
        except LineageError:
            return None

    @cached_property
    def root(self) -> str | None:
        """The root of the lineage: the manifest's, or of an older adapter that of what its round shows."""
        if self.manifest.get("lineage") is not None:
            return self.manifest["lineage"]
        return None if self.lines is None else merkle_root(self.lines)

    @property
    def samplers(self) -> set[str]:
        """The digests of the adapters that sampled what it was trained on."""
        policies = [line["policy"] for line in self.lines or () if line["policy"] is not None]
        return {policy["adapter"] for policy in policies if policy["adapter"] is not None}


def read_adapter(folder: Path) -> AdapterFolder:
    """Read an adapter's manifest; raises `LineageError` where there is no trained adapter."""
    path = folder / MANIFEST
    if not path.exists():
        raise LineageError(f"{folder}: there is no {MANIFEST}; name a folder that `train` or a round of a run wrote")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        trained = manifest["trained"]
    except (ValueError, TypeError, KeyError) as error:
        raise LineageError(f"{path}: is no manifest of an adapter ({error})") from error
    if not trained:
        raise LineageError(f"{folder}: nothing was trained in this round ({manifest.get('reason')})")
    return AdapterFolder(folder, manifest)


def find_adapters(folders: Iterable[Path]) -> Iterator[AdapterFolder]:
    """Yield the trained adapters below folders, each once, by path."""
    paths = {path.parent.resolve(): path.parent for folder in folders for path in sorted(folder.rglob(MANIFEST))}
    for folder in sorted(paths.values()):
        try:
            yield read_adapter(folder)
        except LineageError:
            continue  # a round that kept nothing, or another tool's file of this name


def ancestors(adapter: AdapterFolder, among: Iterable[AdapterFolder]) -> list[AdapterFolder]:
    """Return the adapters that an adapter goes back to, last by path first; those not found are left out."""
    by_weights = {other.weights: other for other in among if other.weights is not None}
    found: dict[str, AdapterFolder] = {}
    waiting = [adapter]
    while waiting:
        young = waiting.pop(0)
        for weights in sorted(young.samplers | ({young.start} if young.start else set())):
            if weights in by_weights and weights not in found:
                found[weights] = by_weights[weights]
                waiting.append(by_weights[weights])
    return sorted(found.values(), key=lambda other: other.path, reverse=True)
