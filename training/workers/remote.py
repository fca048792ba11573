"""Work in the processes of a cluster: a policy that is asked for batches, and attempts judged behind a time limit.

What fails there comes back as a value, after what was done before it; only a process that is lost leaves nothing.
"""

import hashlib
import os
import socket
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import critics
from critics.errors import RunFailed
from critics.judge import JudgePool
from rollout.policies.policy import Policy
from rollout.records.digests import adapter_weights_digest
from rollout.records.traces import Trace
from training.workers.local import Sampler
from training.workers.requests import ArmPolicy, RolloutRequest, WorkerResult, result_of
from training.workers.strategies import quiet_policy

LARGEST = 2**30
"""Bytes that are sent: LoRA of the largest models; full weights are for a file system that the machines share."""


@dataclass(frozen=True, slots=True)
class AdapterCopy:
    """The files of an adapter, as the run has them."""

    digest: str
    """Digest of the weights."""
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


@dataclass(frozen=True, slots=True)
class Checkout:
    """The code and folder of the run, which a worker must have in common with it."""

    code: str
    folder: str
    """Relative paths of the configuration begin here."""

    @classmethod
    def here(cls) -> "Checkout":
        """Return this process's."""
        return cls(code_digest(), str(Path.cwd()))

    def enter(self) -> None:
        """Raise `RunFailed` where this process runs other code; go to the folder, if this machine has it."""
        if self.code != code_digest():
            raise RunFailed(
                f"{socket.gethostname()}: this machine of the cluster has another certistar than the run, and might "
                "judge otherwise; install the same one on all"
            )
        with suppress(OSError):
            os.chdir(self.folder)


class RemoteSampler:
    """An actor: an arm's policy, loaded once and asked for batch after batch."""

    def __init__(
        self,
        arm_policy: ArmPolicy,
        load: Callable[[ArmPolicy], Policy] | None,
        checkout: Checkout,
        copy: AdapterCopy | None = None,
    ) -> None:
        self._checkout = checkout
        self._sampler = Sampler(arm_policy, load or partial(_settled_policy, copy=copy))
        self._is_ready = False

    def attempts(self, request: RolloutRequest) -> WorkerResult[Trace]:
        """Return the attempts, and the policy's error after what it wrote before."""
        return result_of(self._attempts(request))

    def _attempts(self, request: RolloutRequest) -> Iterable[Trace]:
        if not self._is_ready:
            self._checkout.enter()
            self._is_ready = True
        yield from self._sampler.attempts(request)


def judged(records: list[dict[str, Any]], timeout_s: float, checkout: Checkout) -> WorkerResult[dict[str, Any]]:
    """Return verdict records; each attempt is judged in a process that is killed at its time limit."""
    return result_of(_judged(records, timeout_s, checkout))


def _judged(records: Iterable[dict[str, Any]], timeout_s: float, checkout: Checkout) -> Iterable[dict[str, Any]]:
    checkout.enter()
    yield from _judges(timeout_s).judge(records)


@cache
def _judges(timeout_s: float) -> JudgePool:
    """Return this process's one critic, which dies with it."""
    return JudgePool(timeout_s=timeout_s)


def _settled_policy(arm_policy: ArmPolicy, copy: AdapterCopy | None) -> Policy:
    """Load an arm's policy as quietly, and with the same sums, as a local worker does; raises `RunFailed`."""
    if arm_policy.adapter is None:
        return quiet_policy(arm_policy.config, arm_policy.arm, None)
    with reachable(arm_policy.adapter, copy) as adapter:
        return quiet_policy(arm_policy.config, arm_policy.arm, adapter)


@cache
def code_digest() -> str:
    """Return the SHA-256 of the three packages' source."""
    total = hashlib.sha256()
    root = Path(critics.__file__).parents[1]
    for package in ("critics", "rollout", "training"):
        for path in sorted((root / package).rglob("*.py")):
            total.update(f"{path.relative_to(root).as_posix()}\n".encode())
            total.update(path.read_bytes())
    return total.hexdigest()
