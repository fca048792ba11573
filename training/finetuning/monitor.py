"""Monitor of a fine-tuning: its speed, its memory and its progress, in files that are no data files."""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from transformers import TrainerCallback

from training.finetuning.compute import shape_of_model, training_flops
from training.finetuning.job import FineTuning
from training.hardware import HOST, clock_of, device_here, peak_memory
from training.watchdog import OnProgress, Progress


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
