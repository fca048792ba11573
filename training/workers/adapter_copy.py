"""An adapter on its way to the machines of a cluster that cannot read the run folder, or have another in its place."""

import socket
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from critics.errors import RunFailed
from rollout.policies.policy import adapter_weights_digest

LARGEST = 2**30
"""Bytes that are sent: LoRA of the largest models; full weights are for a file system that the machines share."""


@dataclass(frozen=True, slots=True)
class AdapterCopy:
    """The files of an adapter, as the run has them."""

    digest: str
    """Of the weights."""
    files: Mapping[str, bytes] | None
    """None: too large to be sent."""


def copy_of(adapter: Path) -> AdapterCopy:
    """Read an adapter's folder."""
    paths = sorted(path for path in adapter.iterdir() if path.is_file())
    fits = sum(path.stat().st_size for path in paths) <= LARGEST
    return AdapterCopy(
        adapter_weights_digest(adapter), {path.name: path.read_bytes() for path in paths} if fits else None
    )


@contextmanager
def reachable(adapter: Path, copy: AdapterCopy | None) -> Generator[Path]:
    """Yield a folder of this machine with the adapter for as long as the body takes; raises `RunFailed` without one.

    A folder of the same name may be another run's, left on a machine that shares no file system with this run's: what
    is in it counts only where its weights are the run's.
    """
    is_here = adapter.is_dir()
    if is_here and (copy is None or adapter_weights_digest(adapter) == copy.digest):
        yield adapter
    elif copy is not None and copy.files is not None:
        with TemporaryDirectory(prefix="certistar-adapter-") as folder:
            for name, content in copy.files.items():
                (Path(folder) / name).write_bytes(content)
            yield Path(folder)
    else:
        found = f"has other weights at {adapter} than the run" if is_here else f"cannot read {adapter}"
        raise RunFailed(
            f"{socket.gethostname()}: this machine of the cluster {found}, and they are too many to be sent; put the "
            "run folder (--out) on a file system that all of them share"
        )
