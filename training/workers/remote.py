"""What runs in the processes of a cluster: a policy that is asked for batches, and attempts judged behind a time limit.

What fails there comes back as a value, after what was done before it; only a process that is lost leaves nothing.
"""

import hashlib
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import critics
from critics.errors import RunFailed
from critics.judge import JudgePool
from rollout.policy import Policy
from training.workers.adapter_parcel import Parcel, reachable
from training.workers.backend import Author, Batch, Record
from training.workers.outcome import Outcome, outcome
from training.workers.policy import quiet_policy
from training.workers.sampler import Sampler


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the work comes from: what a worker must have in common with it."""

    code: str
    folder: str
    """Relative paths of the configuration begin here."""

    @classmethod
    def here(cls) -> "Origin":
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
    """An actor: one author's policy, loaded once and asked for batch after batch."""

    def __init__(
        self,
        author: Author,
        load: Callable[[Author], Policy] | None,
        origin: Origin,
        parcel: Parcel | None = None,
    ) -> None:
        self._origin = origin
        self._sampler = Sampler(author, load or partial(_settled_policy, parcel=parcel))
        self._is_ready = False

    def attempts(self, batch: Batch) -> Outcome:
        """Return the attempts at a batch, and the policy's error after what it wrote before."""
        return outcome(self._attempts(batch))

    def _attempts(self, batch: Batch) -> Iterable[Record]:
        if not self._is_ready:
            self._origin.enter()
            self._is_ready = True
        yield from self._sampler.attempts(batch)


def judged(records: list[Record], timeout_s: float, origin: Origin) -> Outcome:
    """Return verdict records; each attempt is judged in a process that is killed at its time limit."""
    return outcome(_judged(records, timeout_s, origin))


def _judged(records: list[Record], timeout_s: float, origin: Origin) -> Iterable[Record]:
    origin.enter()
    yield from _judges(timeout_s).judge(records)


@cache
def _judges(timeout_s: float) -> JudgePool:
    """Return this process's one critic, which dies with it."""
    return JudgePool(timeout_s=timeout_s)


def _settled_policy(author: Author, parcel: Parcel | None) -> Policy:
    """Load an author's policy as quietly, and with the same sums, as a local worker does; raises `RunFailed`."""
    if author.adapter is None:
        return quiet_policy(author.config, author.arm, None)
    with reachable(author.adapter, parcel) as adapter:
        return quiet_policy(author.config, author.arm, adapter)


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
