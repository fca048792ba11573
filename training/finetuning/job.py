"""A fine-tuning as a value, and as the file that torchrun's processes read."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from critics.errors import RunFailed
from rollout.records.digests import adapter_weights_digest, file_digest
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.finetuning.trackers import Tracking, tracking
from training.records.store import write_json

ANSWER_S = 600.0
"""Seconds that processes wait for one another: until machines have met, and in each exchange. NCCL's own default."""


_READ = {"dtype", "prompt", "thinking"}
"""Keys of a model's section that decide what is trained, beside its weights."""


class TrainingFailed(RunFailed):
    """A fine-tuning ended with an error; the message says which, and what to change."""


class PeerLost(TrainingFailed):
    """Another process of the fine-tuning ended or answers no more; it may have said why."""


@dataclass(frozen=True, slots=True)
class FineTuning:
    """One fine-tuning: what to train, on what, from where and to where."""

    model: ModelConfig
    training: TrainingConfig
    data: Path
    out: Path
    seed: int
    start: Path | None = None
    """The adapter to go on from; None: the base model."""
    base_digest: str = ""
    nproc: int = 1
    """Processes on this machine."""
    progress: bool = False
    """Show the Trainer's own bar; several at once would garble a terminal."""
    log: Path | None = None
    """A JSON-lines file that gets speed, memory and loss at each logging step; never among the data files."""
    tracked_as: str = ""
    """The run name in trackers; empty: the adapter's folder name."""
    heartbeat: Path | None = None
    """The file of `training.watchdog` in which each step is told."""
    nnodes: int = 1
    """Machines, each of which runs this same command on a shared file system."""
    rendezvous: str = ""
    """HOST:PORT of one of several machines, where their processes meet."""
    answer_s: float = ANSWER_S

    @property
    def tracking(self) -> Tracking:
        """Folder that trackers write to: beside the log, or beside the adapter where there is none."""
        log = self.out.parent / "log" if self.log is None else self.log.parent
        return tracking(self.training.trackers, self.tracked_as or self.out.name, log)

    def origin(self) -> dict[str, Any]:
        """Return what is trained from where on what, by digest: keys of an adapter's manifest.

        `config` is of the training settings and of how the model reads a prompt, without how it is computed.
        """
        asked = self.model.model_dump_json(include=_READ)
        return {
            "base": self.base_digest,
            "start": None if self.start is None else adapter_weights_digest(self.start),
            "dataset": file_digest(self.data / "examples.jsonl"),
            "config": sha256(f"{self.training.digested_json()}{asked}".encode()).hexdigest(),
            "seed": self.seed,
        }

    def digest(self) -> str:
        """Return the SHA-256 of the origin."""
        return sha256(json.dumps(self.origin()).encode()).hexdigest()

    @property
    def num_processes(self) -> int:
        """All processes of all machines."""
        return self.nproc * self.nnodes


_JOB = TypeAdapter(FineTuning)


def write_job(job: FineTuning, path: Path) -> None:
    """Write what a process needs to know."""
    write_json(path, _JOB.dump_python(job, mode="json"))


def read_job(path: Path) -> FineTuning:
    """Read what `write_job` wrote."""
    return _JOB.validate_json(path.read_bytes())
