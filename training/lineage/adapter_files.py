"""Checks of an adapter folder: weights without pickle that are those of its manifest, and numbers that are finite.

Unpickling runs code that the file brings, so a folder with such a file is refused even beside good weights: peft would
read one where the other is missing.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.errors import InputError

MANIFEST = "manifest.json"
REVOKED = "revoked.json"
"""File that marks an adapter that rests on a revoked certificate, and a run folder where something was revoked."""
_WEIGHTS = ("adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json")
_PICKLED = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")


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
    """The Merkle root of the lineage."""
    config: str | None = None
    weights: str | None = None
    seed: int | None = None
    precision: str | None = None
    examples: int | None = None
    supervised_tokens: int | None = None
    mean_loss: float | None = None

    def record(self) -> Mapping[str, object]:
        """Return the JSON form."""
        if not self.trained:
            return {"trained": False, "reason": self.reason}
        return {name: value for name, value in asdict(self).items() if name != "reason"}


def read_manifest(path: Path) -> AdapterManifest:
    """Read a manifest; raises `ValueError` or `TypeError` where it is none, or another tool's."""
    record = json.loads(path.read_text(encoding="utf-8"))
    return AdapterManifest(
        **{field.name: record[field.name] for field in fields(AdapterManifest) if field.name in record}
    )


class AdapterError(InputError):
    """An adapter must not be used; the message names its folder and says why."""


def verify_adapter(folder: Path) -> str | None:
    """Raise `AdapterError` unless the adapter can be trusted; return a note where its manifest names no weights."""
    if not folder.is_dir():
        raise AdapterError(f"adapter {folder}: there is no such folder")
    pickled = sorted(path.name for path in folder.rglob("*") if path.suffix in _PICKLED)
    if pickled:
        raise AdapterError(f"adapter {folder}: {pickled[0]} is pickled, and loading it could run anything; delete it")
    if not any((folder / name).is_file() for name in _WEIGHTS):
        raise AdapterError(f"adapter {folder}: neither {_WEIGHTS[0]} nor {_WEIGHTS[1]} is in it")
    if (folder / REVOKED).exists():
        raise AdapterError(
            f"adapter {folder}: it rests on a revoked certificate ({REVOKED} says which); train it again without, or "
            "delete that file to use it all the same"
        )
    expected = _manifest_digest(folder)
    from rollout.records.digests import adapter_weights_digest

    if expected is not None and adapter_weights_digest(folder) != expected:
        raise AdapterError(
            f"adapter {folder}: its weights are not those that {MANIFEST} names; delete the folder and train it again"
        )
    strange = not_finite(folder)
    if strange is not None:
        raise AdapterError(f"adapter {folder}: {strange} holds numbers that are not finite; train it again")
    return None if expected else f"adapter {folder}: no {MANIFEST} names its weights, so their origin is not checked"


def _manifest_digest(folder: Path) -> str | None:
    """Return the digest of the weights; None where the manifest is another project's."""
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8")).get("weights")
    except (ValueError, AttributeError) as error:
        raise AdapterError(f"{path}: is not a JSON object ({error}); train the adapter again") from error


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
