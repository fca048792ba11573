"""Callbacks of a fine-tuning: its checkpoints, its speed and memory, and its progress.

A checkpoint counts when its mark, which is written last, fits its files.
A process that is killed while it saves leaves half a checkpoint. The Trainer would take the newest folder by its name
and fail on it at every start; here it is deleted and the one before it is taken.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from transformers import TrainerCallback

from critics.errors import InputError
from critics.problem import is_object
from training.finetuning.compute import shape_of_model, training_flops
from training.finetuning.job import FineTuning
from training.hardware import HOST, clock_of, device_here, peak_memory
from training.preemption import is_asked
from training.records.store import write_json
from training.watchdog import OnProgress, Progress

MARK = "whole.json"
"""File with the size of every other file of a checkpoint, in bytes, and the digest of what it is a checkpoint of."""
PATTERN = "checkpoint-*"


def mark(folder: Path, of: str) -> None:
    """Say that a checkpoint is whole, once its files are on the disk, and `of` what fine-tuning by its digest."""
    sizes = _sizes(folder)
    for name in sizes:
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())
    write_json(folder / MARK, {"files": sizes, "of": of})


def is_whole(folder: Path) -> bool:
    """Say whether a checkpoint has its mark and every file that the mark names, in its size."""
    record = _mark(folder)
    return is_object(record) and record.get("files") == _sizes(folder)


def check_goes_on(checkpoint: Path, of: str) -> None:
    """Raise `InputError` where a checkpoint is another fine-tuning's: of other examples, or settings that matter."""
    record = _mark(checkpoint)
    if is_object(record) and record.get("of") != of:
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


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != MARK)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


class Monitor(TrainerCallback):
    """Appends a line a logging step: loss, tokens a second, padding, peak memory and model FLOP utilisation.

    Speed is of all processes, taken as alike: the first one counts its own. Utilisation is that of the PaLM paper
    (appendix B): the model's operations as a share of the device's peak, recomputed ones left out; None where they are
    not known.
    """

    def __init__(self, job: FineTuning, log: Path, model: Any, dtype: str) -> None:
        self._log = log
        self._what = f"{job.out.parent.name}/{job.out.name}"
        self._config = job.training
        self._num_processes = job.num_processes
        self._tells = job.progress and not sys.stderr.isatty()
        """Where there is no terminal for a bar, each line of the log is told on stderr in short."""
        self._shape = shape_of_model(model.get_base_model() if hasattr(model, "get_base_model") else model)
        self._device = device_here(dtype)
        self._clock = clock_of("cpu" if self._device.name == HOST else "cuda")
        self._began, self._worked = perf_counter(), self._clock()
        self._rows = self._tokens = self._padded = 0

    def count(self, inputs: Any) -> None:
        """Count a batch before it is computed."""
        ids = inputs["input_ids"]
        mask = inputs.get("attention_mask")
        self._rows += ids.shape[0]
        self._padded += ids.numel()
        self._tokens += ids.numel() if mask is None else int(mask.sum())

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
        """Write what was seen since the last line."""
        if not logs or "loss" not in logs or not self._tokens:
            return
        seconds = perf_counter() - self._began
        per_second = self._tokens / seconds
        mfu = None
        if self._shape is not None:
            flops = training_flops(self._shape, self._config, self._tokens / self._rows) * self._tokens
            mfu = round(flops / (self._clock() - self._worked) / self._device.flops, 4)
        record = {
            "fine-tuning": self._what,
            "step": state.global_step,
            "loss": logs["loss"],
            "gradient_norm": logs.get("grad_norm"),
            "tokens_per_s": round(per_second * self._num_processes, 1),
            "padding": round(1 - self._tokens / self._padded, 4),
            "peak_memory_bytes": peak_memory(),
            "mfu": mfu,
            "device": self._device.name,
            "peak_measured": self._device.measured,
            "processes": self._num_processes,
        }
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self._tells:
            left = seconds / args.logging_steps * (state.max_steps - state.global_step) / 60
            said = f"step {state.global_step} of {state.max_steps}, loss {logs['loss']:.3g}, {per_second:.0f} tokens/s"
            print(f"{said}, about {left:.0f} min left", file=sys.stderr, flush=True)
        self._began, self._worked = perf_counter(), self._clock()
        self._rows = self._tokens = self._padded = 0


class StepBeats(TrainerCallback):
    """Tells each step, and each batch that is a part of one, so that a fine-tuning that hangs is found out."""

    def __init__(self, tell: OnProgress, out: Path) -> None:
        self._tell = tell
        self._what = f"a step of {out.parent.name}/{out.name}"

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Tell that the model is there, that a step is done, or a batch whose gradient is kept for the step."""
        self._tell(Progress("training", self._what, state.global_step, state.max_steps))

    on_train_begin = on_substep_end = on_step_end
