"""A fine-tuning as a value, and as the file that torchrun's processes read; the trackers that show its curves.

What trackers keep stays on this machine unless the environment says otherwise (WANDB_MODE, TRACKIO_SPACE_ID), and goes
to the run's `log/`, never among data files: a run is byte-equal with trackers and without.
"""

import hashlib
import importlib.util
import json
import logging
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from pydantic import TypeAdapter

from critics.errors import InputError, RunFailed
from rollout.records.digests import adapter_weights_digest, file_digest
from training.configuration.fine_tuning import Tracker, TrainingConfig
from training.configuration.model import ModelConfig
from training.records.store import write_json

PROJECT = "certistar"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Tracking:
    """Trackers that a line of rounds, or a fine-tuning, writes to, and the name it writes under."""

    names: tuple[str, ...]
    run_name: str
    folder: Path
    """In the run's `log/`."""

    @property
    def project(self) -> str:
        """The project that runs are put under, unless the environment names another."""
        return os.environ.get("TRACKIO_PROJECT_NAME") or os.environ.get("WANDB_PROJECT") or PROJECT


def tracking(wanted: Sequence[Tracker], run_name: str, log: Path) -> Tracking:
    """Return what to write to; `none` beside others changes nothing."""
    return Tracking(tuple(name for name in dict.fromkeys(wanted) if name != "none"), run_name, log / "trackers")


def check_installed(names: Sequence[str]) -> None:
    """Raise `InputError` for the first tracker that is not installed."""
    for name in names:
        # A folder of that name, such as the one wandb writes, is a module without a file.
        if name != "none" and getattr(importlib.util.find_spec(name), "origin", None) is None:
            raise InputError(
                f"training.trackers: {name} is not installed; run `pip install {name}`, or take it out of the list"
            )


def settle(tracked: Tracking, part: str = "") -> list[str]:
    """Tell the trackers by their environment where to write; return Trainer's `report_to`.

    TensorBoard overlays what shares a folder, so each round's fine-tuning has one of its own: `part`.
    """
    if not tracked.names:
        return []
    folder = tracked.folder.resolve()
    os.environ["TENSORBOARD_LOGGING_DIR"] = str(folder / "tensorboard" / tracked.run_name / part)
    os.environ["WANDB_NAME"] = tracked.run_name
    os.environ["WANDB_RUN_ID"] = hashlib.sha256(f"{folder}/{tracked.run_name}".encode()).hexdigest()[:16]
    for name, value in {
        "WANDB_RESUME": "allow",
        "WANDB_MODE": "offline",
        "WANDB_PROJECT": PROJECT,
        "WANDB_DIR": str(folder),
        "TRACKIO_DIR": str(folder / "trackio"),
    }.items():
        os.environ.setdefault(name, value)
    return list(tracked.names)


@contextmanager
def quiet(tracked: Tracking) -> Generator[None]:
    """Send what trackers print to standard error: standard output is for results."""
    if not tracked.names:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def track(tracked: Tracking, metrics: Mapping[str, float], step: int) -> None:
    """Write one point of each metric to every tracker; a tracker that fails does not end the run."""
    settle(tracked)
    with quiet(tracked):
        for name in tracked.names:
            try:
                _WRITERS[name](tracked, dict(metrics), step)
            except Exception as error:  # noqa: BLE001 - a tracker raises what it likes, and decides nothing
                log.warning("tracker %s was not told of step %s: %s", name, step, error)


def _tensorboard(tracked: Tracking, metrics: dict[str, float], step: int) -> None:
    tensorboard: Any = import_module("torch.utils.tensorboard")
    with tensorboard.SummaryWriter(log_dir=os.environ["TENSORBOARD_LOGGING_DIR"]) as writer:
        for name, value in metrics.items():
            writer.add_scalar(name, value, step)


def _trackio(tracked: Tracking, metrics: dict[str, float], step: int) -> None:
    trackio: Any = import_module("trackio")
    trackio.init(
        tracked.project, name=tracked.run_name, resume="allow", embed=False, auto_log_gpu=False, auto_log_cpu=False
    )
    trackio.log({**metrics, "round": step})
    trackio.finish()


def _wandb(tracked: Tracking, metrics: dict[str, float], step: int) -> None:
    wandb: Any = import_module("wandb")
    run = wandb.init(project=tracked.project, name=tracked.run_name, id=os.environ["WANDB_RUN_ID"], resume="allow")
    run.log({**metrics, "round": step})
    run.finish()


_WRITERS: Mapping[str, Callable[[Tracking, dict[str, float], int], None]] = {
    "tensorboard": _tensorboard,
    "trackio": _trackio,
    "wandb": _wandb,
}


ANSWER_S = 600.0
"""Seconds that processes wait for one another: until machines have met, and in each exchange. NCCL's own default."""


_READ = {"dtype", "prompt", "thinking"}
"""Keys of a model's section that decide what is trained, beside its weights."""


class TrainingFailed(RunFailed):
    """A fine-tuning ended with an error; the message says which, and what to change."""


class PeerLost(TrainingFailed):
    """Another process of the fine-tuning ended or answers no more; it may have said why."""


class TrainedFrom(TypedDict):
    """Origin of an adapter by digest, keys of its manifest: what is trained from where on what."""

    base: str
    start: str | None
    dataset: str
    config: str
    seed: int


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

    def origin(self) -> TrainedFrom:
        """Return what is trained.

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
