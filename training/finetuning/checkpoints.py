"""Checkpoints of a fine-tuning: one counts when its mark, which is written last, fits its files.

A process that is killed while it saves leaves half a checkpoint. The Trainer would take the newest folder by its name
and fail on it at every start; here it is deleted and the one before it is taken.
"""

import json
import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from critics.errors import InputError
from critics.problem import is_object
from training.preemption import is_asked
from training.records.store import write_json

MARK = "whole.json"
"""File with the size of every other file of a checkpoint, in bytes, and the digest of what it is a checkpoint of."""
PATTERN = "checkpoint-*"


def mark(folder: Path, of: str) -> None:
    """Say that a checkpoint is whole, once its files are on the disk, and `of` what fine-tuning by its digest."""
    for path in _files(folder):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    write_json(folder / MARK, {"files": _sizes(folder), "of": of})


def is_whole(folder: Path) -> bool:
    """Say whether a checkpoint has its mark and every file that the mark names, in its size."""
    record = _mark(folder)
    return is_object(record) and record.get("files", record) == _sizes(folder)  # marks were once the sizes alone


def check_goes_on(checkpoint: Path, of: str) -> None:
    """Raise `InputError` where a checkpoint is another fine-tuning's: of other examples, or settings that matter."""
    record = _mark(checkpoint)
    if is_object(record) and record.get("of", of) != of:
        raise InputError(
            f"{checkpoint} is of a fine-tuning with another base, other examples or other settings; delete "
            f"{checkpoint.parent} to begin anew, or name another --out"
        )


def _mark(folder: Path) -> object:
    try:
        return json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def newest_whole(work: Path) -> Path | None:
    """Return the whole checkpoint of the most steps; None where a fine-tuning begins."""
    whole = [folder for folder in work.glob(PATTERN) if is_whole(folder)]
    return max(whole, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)


def delete_broken(work: Path) -> None:
    """Delete what is not whole: the Trainer, which keeps the newest few, would delete whole ones for it."""
    for folder in work.glob(PATTERN):
        if not is_whole(folder):
            shutil.rmtree(folder)


def wait_for_all() -> None:
    """Wait until every process of the fine-tuning is here."""
    distributed: Any = import_module("torch.distributed")
    if distributed.is_available() and distributed.is_initialized():
        distributed.barrier()


class CheckpointOnRequest(TrainerCallback):
    """Saves and ends the training after the step in which this process, or another one of it, got SIGTERM."""

    def __init__(self, accelerator: Any, on_begin: Callable[[], None]) -> None:
        self._accelerator = accelerator
        self._on_begin = on_begin
        self.stopped_at: int | None = None
        """The step after which the training was ended, with steps left."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Tell that the Trainer has set its counters."""
        self._on_begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Ask the others, since all must save after the same step."""
        if is_asked():
            self._accelerator.set_trigger()
        several = self._accelerator.num_processes > 1
        asked = self._accelerator.check_trigger() if several else is_asked()
        if asked and state.global_step < state.max_steps:
            control.should_save = control.should_training_stop = True
            self.stopped_at = state.global_step


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != MARK]


def _sizes(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in _files(folder)}
