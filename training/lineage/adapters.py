"""Adapters as folders that say where they come from: weights without pickle that are those of their manifest.

Unpickling runs code that the file brings, so a folder with such a file is refused even beside good weights: peft would
read one where the other is missing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.lineage.entries import LINEAGE, REVOKED, LineageEntry, LineageError, read_entries
from training.records.store import is_stored

MANIFEST = "manifest.json"
_WEIGHTS = ("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json")
_PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")


class AdapterError(InputError):
    """An adapter must not be used; the message names its folder and says why."""


@dataclass(frozen=True, slots=True)
class AdapterManifest:
    """An adapter's origin by digest: the last file of its folder. Keys that another tool does not write are None."""

    trained: bool
    reason: str | None = None
    """The reason why nothing was trained."""
    base: str | None = None
    start: str | None = None
    """The adapter that its training went on from; None: the base model, or not known."""
    dataset: str | None = None
    lineage: str | None = None
    """The digest of the lineage."""
    config: str | None = None
    weights: str | None = None
    seed: int | None = None
    precision: str | None = None
    examples: int | None = None
    supervised_tokens: int | None = None
    mean_loss: float | None = None

    def record(self) -> Mapping[str, str | int | float | None]:
        """Return the JSON form."""
        if not self.trained:
            return {"trained": False, "reason": self.reason}
        return {name: value for name, value in asdict(self).items() if name != "reason"}


def read_manifest(path: Path) -> AdapterManifest:
    """Read a manifest; raises `ValueError` or `TypeError` where it is none, or another tool's."""
    record = json.loads(path.read_text(encoding="utf-8"))
    named = [field.name for field in fields(AdapterManifest)]
    return AdapterManifest(**{name: record[name] for name in named if name in record})


def verify_adapter(folder: Path) -> str | None:
    """Raise `AdapterError` unless the adapter can be trusted; return a note where its manifest names no weights."""
    if not folder.is_dir():
        raise AdapterError(f"adapter {folder}: there is no such folder")
    if pickled := sorted(path.name for path in folder.rglob("*") if path.suffix in _PICKLED):
        raise AdapterError(f"adapter {folder}: {pickled[0]} is pickled, and loading it could run anything; delete it")
    if not any((folder / name).is_file() for name in _WEIGHTS):
        raise AdapterError(f"adapter {folder}: neither {_WEIGHTS[0]} nor {_WEIGHTS[1]} is in it")
    if (folder / REVOKED).exists():
        raise AdapterError(
            f"adapter {folder}: it rests on a revoked certificate ({REVOKED} says which); train it again without, or "
            "delete that file to use it all the same"
        )
    path, expected = folder / MANIFEST, None
    if path.exists():
        try:
            expected = json.loads(path.read_text(encoding="utf-8")).get("weights")  # None: another project's manifest
        except (ValueError, AttributeError) as error:
            raise AdapterError(f"{path}: is not a JSON object ({error}); train the adapter again") from error
    from rollout.records.digests import adapter_weights_digest

    if expected is not None and adapter_weights_digest(folder) != expected:
        raise AdapterError(
            f"adapter {folder}: its weights are not those that {MANIFEST} names; delete the folder and train it again"
        )
    if (strange := not_finite(folder)) is not None:
        raise AdapterError(f"adapter {folder}: {strange} holds numbers that are not finite; train it again")
    return None if expected else f"adapter {folder}: no {MANIFEST} names its weights, so their origin is not checked"


def not_finite(folder: Path) -> str | None:
    """Return the name of a tensor with a number that is none or infinite; None where all are finite."""
    import torch
    from safetensors import SafetensorError

    safetensors: Any = import_module("safetensors")
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safetensors.safe_open(path, "pt") as tensors:
                for name in tensors.keys():  # noqa: SIM118
                    tensor = tensors.get_tensor(name)
                    if tensor.is_floating_point() and not torch.isfinite(tensor).all():
                        return name
        except SafetensorError as error:
            raise AdapterError(f"{path}: cannot be read ({error}); train the adapter again") from error
    return None


@dataclass(frozen=True)
class AdapterFolder:
    """A trained adapter's folder."""

    path: Path
    manifest: AdapterManifest

    @property
    def weights(self) -> str | None:
        """The digest of its weights; None where another tool wrote the manifest."""
        return self.manifest.weights

    @cached_property
    def entries(self) -> list[LineageEntry] | None:
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
        for weights in sorted(waiting.pop().parents & by_weights.keys() - found.keys()):
            found[weights] = by_weights[weights]
            waiting.append(by_weights[weights])
    return sorted(found.values(), key=lambda other: other.path, reverse=True)
