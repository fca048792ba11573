"""Adapters as folders that say where they come from, found below run folders or wherever they were put."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from training.lineage.adapter_files import MANIFEST, AdapterManifest, read_manifest
from training.lineage.entries import LINEAGE, Entry, LineageError, read_entries
from training.records.store import is_stored


@dataclass(frozen=True)
class AdapterFolder:
    """A trained adapter's folder."""

    path: Path
    manifest: AdapterManifest

    @property
    def weights(self) -> str | None:
        """The digest of its weights; None where another tool wrote the manifest."""
        return self.manifest.weights

    @property
    def dataset(self) -> Path:
        """Folder in which a round keeps what the adapter was trained on."""
        return self.path.parent / "dataset"

    @cached_property
    def entries(self) -> list[Entry] | None:
        """Its lineage; None where it has none."""
        return list(read_entries(self.path / LINEAGE)) if is_stored(self.path / LINEAGE) else None

    @property
    def samplers(self) -> set[str]:
        """The digests of the adapters that sampled what it was trained on."""
        samplers = {entry.origin.sampler for entry in self.entries or ()}
        return {weights for weights in samplers if weights is not None}

    @property
    def parents(self) -> set[str]:
        """The digests of the adapters that it goes back to: the one it started from, and its samplers."""
        return self.samplers | ({self.manifest.start} if self.manifest.start else set())


def read_adapter(folder: Path) -> AdapterFolder:
    """Read an adapter's manifest; raises `LineageError` where there is no trained adapter."""
    path = folder / MANIFEST
    if not path.exists():
        raise LineageError(f"{folder}: there is no {MANIFEST}; name a folder that `train` or a round of a run wrote")
    try:
        manifest = read_manifest(path)
    except (ValueError, TypeError) as error:
        raise LineageError(f"{path}: is no manifest of an adapter ({error})") from error
    if not manifest.trained:
        raise LineageError(f"{folder}: nothing was trained in this round ({manifest.reason})")
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
        for weights in sorted(young.parents):
            if weights in by_weights and weights not in found:
                found[weights] = by_weights[weights]
                waiting.append(by_weights[weights])
    return sorted(found.values(), key=lambda other: other.path, reverse=True)
