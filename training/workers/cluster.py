"""One Ray cluster for all processes of a run: found by its address, or kept on this machine while the run lasts."""

import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from critics.errors import RunFailed
from training.configuration.section import ConfigError

VARIABLE = "RAY_ADDRESS"
"""Variable in which the processes of a run find the cluster that the run keeps; Ray's own commands read it too."""
STORE_BYTES = 256 * 2**20
"""Shared memory of a cluster on this machine: batches in transit, of which there are a few for each worker."""
REACHED_S = 10.0


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of a cluster that one worker takes."""

    cpus: float
    gpus: float = 0

    def __str__(self) -> str:
        return f"{self.cpus:g} CPU" + (f" and {self.gpus:g} GPU" if self.gpus else "")


def ray_module() -> Any:
    """Return Ray; raises `ConfigError` where it is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Else a cluster's processes look into the working folder first, and take a user's `training/` for ours.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        import ray
    except ImportError as error:
        raise ConfigError("workers.backend: ray is not installed; pip install 'certistar[ray]'") from error
    return ray


@contextmanager
def kept_cluster(address: str | None) -> Generator[None]:
    """Keep a cluster on this machine for the body's processes, unless one is named; raises where that has no answer."""
    ray = ray_module()
    named = address or os.environ.get(VARIABLE)
    if named is not None:
        _reach(named)
        yield
        return
    _start(ray)
    os.environ[VARIABLE] = ray.get_runtime_context().gcs_address
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        ray.shutdown()


def connected(address: str | None) -> Any:
    """Return Ray, connected to the named cluster, to the run's own, or to one that lives as long as this process."""
    ray = ray_module()
    if ray.is_initialized():
        return ray
    named = address or os.environ.get(VARIABLE)
    if named is None:
        _start(ray)
        return ray
    _reach(named)
    try:
        ray.init(address=named, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise RunFailed(
            f"workers.address: no Ray cluster answers at {named} ({error}); `ray start --head`, with the same "
            "RAY_AUTH_TOKEN as here"
        ) from error
    return ray


def num_places(ray: Any, needs: Resources) -> int:
    """Return how many workers the cluster's living machines have room for, busy room included."""
    return sum(_fits(node["Resources"], needs) for node in ray.nodes() if node["Alive"])


def inventory(ray: Any) -> str:
    """Return what the cluster has, and how much of it is free, for messages."""
    total, free = ray.cluster_resources(), ray.available_resources()
    return ", ".join(f"{free.get(kind, 0):g} of {total.get(kind, 0):g} {kind} free" for kind in ("CPU", "GPU"))


def _fits(resources: dict[str, float], needs: Resources) -> int:
    counts = [resources.get("CPU", 0) // needs.cpus] if needs.cpus else []
    counts += [resources.get("GPU", 0) // needs.gpus] if needs.gpus else []
    return int(min(counts, default=1))


def _start(ray: Any) -> None:
    ray.init(
        address="local",  # else one that somebody else started on this machine would be taken
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        object_store_memory=STORE_BYTES,
    )


def _reach(address: str) -> None:
    """Fail at once where nothing listens: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=REACHED_S).close()
    except (OSError, ValueError, OverflowError) as error:
        raise RunFailed(
            f"workers.address: nothing answers at {address} ({error}); start the cluster with `ray start --head "
            "--port 6379`, and write its HOST:PORT, or `auto` on a machine of it"
        ) from error
