"""transformers' Trainer with what it leaves open: collators by layout, one order of rows, and a stop at a lost loss.

A checkpoint counts when its mark, which is written last, fits its files.
A process that is killed while it saves leaves half a checkpoint. The Trainer would take the newest folder by its name
and fail on it at every start; here it is deleted and the one before it is taken.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from critics.errors import InputError
from critics.problem import is_object
from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.architecture import assert_kept_apart
from training.finetuning.compute import shape_of_model, training_flops
from training.finetuning.examples import Collator, Example, Row, length
from training.finetuning.job import FineTuning, TrainingFailed, settle
from training.finetuning.torchrun import assert_sharded, shard_without_accelerator, sharding_arguments
from training.hardware import device_here, peak_memory
from training.preemption import is_asked
from training.records.store import write_json
from training.watchdog import Heartbeat, OnProgress, Progress

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


def leave_group() -> None:
    """End the group of processes, with its threads: one that outlives Python has aborted a process that was done."""
    distributed: Any = import_module("torch.distributed")
    if distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


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

    def __init__(self, job: FineTuning, log: Path, model: Any) -> None:
        self._log = log
        self._what = f"{job.out.parent.name}/{job.out.name}"
        self._config = job.training
        self._num_processes = job.num_processes
        self._tells = job.progress and not sys.stderr.isatty()
        """True where no terminal shows a bar: each line of the log is told on stderr in short."""
        self._shape = shape_of_model(model.get_base_model() if hasattr(model, "get_base_model") else model)
        self._device = device_here()
        self._began = perf_counter()
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
        if self._shape is not None and self._device.flops:
            flops = training_flops(self._shape, self._config, self._tokens / self._rows) * self._tokens
            mfu = round(flops / seconds / self._device.flops, 4)
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
            "processes": self._num_processes,
        }
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self._tells:
            left = seconds / args.logging_steps * (state.max_steps - state.global_step) / 60
            said = f"step {state.global_step} of {state.max_steps}, loss {logs['loss']:.3g}, {per_second:.0f} tokens/s"
            print(f"{said}, about {left:.0f} min left", file=sys.stderr, flush=True)
        self._began = perf_counter()
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


LOSSES = ("_tr_loss", "_total_loss_scalar")
_GROUP = 50
"""Steps whose rows are sorted by length together: enough to pad little, few enough to stay random."""
_LOGGED = 10
"""Steps between two lines of the log; a fine-tuning of fewer has one line, at its end."""


class RowOrder(Sampler[int]):
    """Order in which rows are learnt: a permutation for each epoch, the same on one process and on many.

    Yields row numbers; from `len(lengths)` on they are blank rows, which the data set must hold. Without
    them accelerate would start the epoch again to fill the last batch, and learn its first rows twice.
    """

    def __init__(self, lengths: Sequence[int], *, seed: int, at_once: int, rows_a_step: int, grouped: bool):
        self.lengths = lengths
        self.seed = seed
        self.epoch = 0
        self.at_once = at_once
        """Rows that all processes together compute at once."""
        self.rows_a_step = rows_a_step
        self.grouped = grouped

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch is next."""
        self.epoch = epoch

    @property
    def num_blank(self) -> int:
        """Number of blank rows that fill the last batch of all processes."""
        return -len(self.lengths) % self.at_once

    def __len__(self) -> int:
        return len(self.lengths) + self.num_blank

    def __iter__(self) -> Iterator[int]:
        """Yield the epoch's order, which is that of accelerate's own sampler where rows are not grouped."""
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        drawn: Any = torch.randperm(len(self.lengths), generator=generator)
        order: list[int] = drawn.tolist()
        if self.grouped:
            size = _GROUP * self.rows_a_step  # of which there are as many on any number of processes
            starts = range(0, len(order), size)
            order = [r for at in starts for r in sorted(order[at : at + size], key=lambda row: -self.lengths[row])]
        yield from order
        yield from range(len(self.lengths), len(self))
        self.epoch += 1


class CheckedTrainer(Trainer):
    """A Trainer that ends at the first loss that is no number: what follows it would be no model."""

    row_order: RowOrder | None = None
    monitor: Monitor | None = None
    on_request: CheckpointOnRequest
    steps_an_epoch: int
    of: str = ""
    """The digest of what is trained on what, which checkpoints tell."""
    goes_on_from: Path | None = None
    """The checkpoint that the training goes on from."""
    model: Any
    is_known_apart = True
    """True once packed examples were seen not to depend on each other, on this device and by these kernels."""
    model_accepts_loss_kwargs: bool
    compute_loss_func: Any

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
        """Take a step of one batch; raises `TrainingFailed` where its loss is not finite."""
        if not self.is_known_apart:
            assert_kept_apart(model)
            self.is_known_apart = True
        if self.monitor is not None:
            self.monitor.count(inputs)
        loss = super().training_step(model, inputs, num_items_in_batch)
        if not torch.isfinite(loss).all():
            raise TrainingFailed(
                f"the loss is {float(loss)} at step {self.state.global_step + 1}, so nothing was saved; lower "
                "training.learning_rate, or set training.precision to float32"
            )
        return loss

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        parent: Any = super()
        parent._save_checkpoint(model, trial)
        folder = Path(self.args.output_dir or "") / f"checkpoint-{self.state.global_step}"
        losses = {name: float(getattr(self, name)) for name in LOSSES}
        write_json(self._losses_file(folder), losses | {"_globalstep_last_logged": self._globalstep_last_logged})
        wait_for_all()
        if self.is_world_process_zero():
            mark(folder, self.of)

    def restore(self) -> None:
        """Go on with the order of rows and the sums of losses of the checkpoint, which the Trainer begins anew."""
        if self.goes_on_from is None:
            return
        if self.row_order is not None:
            self.row_order.set_epoch(self.state.global_step // self.steps_an_epoch)
        stored = sorted(self.goes_on_from.glob("losses-*.json"))
        if len(stored) == self.accelerator.num_processes:
            stored = [self._losses_file(self.goes_on_from)]
        # Begun by another number of processes: each goes on from their mean, whose mean is what is logged.
        records = [json.loads(path.read_text(encoding="utf-8")) for path in stored]
        for name in LOSSES:
            mean = sum(record[name] for record in records) / len(records)
            setattr(self, name, torch.full_like(self._tr_loss, mean) if name == "_tr_loss" else mean)
        self._globalstep_last_logged = records[0]["_globalstep_last_logged"]
        self._initial_global_step = 0

    def _losses_file(self, folder: Path) -> Path:
        return folder / f"losses-{self.accelerator.process_index}.json"

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        parent: Any = super()
        return parent._get_train_sampler(train_dataset) if self.row_order is None else self.row_order

    def _build_accelerator_args(self, **options: Any) -> Any:
        parent: Any = super()
        built = parent._build_accelerator_args(**options)
        if built.get("fsdp_plugin") is not None and self.args.use_cpu:
            shard_without_accelerator(built["fsdp_plugin"], built.get("mixed_precision"))
        return built


def build_trainer(job: FineTuning, model: Any, tokenizer: Any, rows: Sequence[Row], work: Path, max_steps: int) -> Any:
    """Return the Trainer of a job; raises `TrainingFailed` where not what was asked for would run."""
    config = job.training
    arguments = _arguments(job, len(rows), work, max_steps)
    order = _order(job, rows)
    blank: list[Row] = [(Example("", (tokenizer.eos_token_id,), (False,)),)] * (order.num_blank if order else 0)
    trainer = CheckedTrainer(
        model,
        arguments,
        train_dataset=[*rows, *blank],  # type: ignore[arg-type]
        data_collator=Collator(tokenizer.pad_token_id, config.layout == "packed"),  # type: ignore[arg-type]
    )
    if not trainer.model_accepts_loss_kwargs:
        trainer.compute_loss_func = token_loss
    trainer.row_order = order
    trainer.is_known_apart = config.layout != "packed"
    trainer.of = job.digest()
    trainer.steps_an_epoch = -(-len(rows) // config.rows_a_step(job.num_processes))
    assert_sharded(config, trainer.accelerator, job.num_processes)
    # GPUs of several kinds may hold different numbers of rows, and some would wait for ever.
    mine = torch.tensor([config.rows_at_once], device=trainer.accelerator.device)
    accelerator: Any = trainer.accelerator
    if len(found := sorted(set(accelerator.gather(mine).tolist()))) > 1:
        raise TrainingFailed(f"the processes hold {found} rows at once; set training.batch_size={found[0]} for all")
    # Exchanges over gloo are to end too: transformers (5) hands `ddp_timeout` on for accelerators alone.
    from torch.distributed import is_available, is_initialized

    if is_available() and is_initialized() and not torch.cuda.is_available():
        c10d: Any = import_module("torch.distributed.distributed_c10d")
        c10d._set_pg_timeout(timedelta(seconds=job.answer_s))
    trainer.remove_callback(PrinterCallback)
    trainer.on_request = CheckpointOnRequest(trainer.accelerator, trainer.restore)
    trainer.add_callback(trainer.on_request)
    if job.log is not None and trainer.is_world_process_zero():
        trainer.monitor = Monitor(job, job.log, trainer.model)
        trainer.add_callback(trainer.monitor)
    if job.heartbeat is not None and trainer.is_world_process_zero():
        trainer.add_callback(StepBeats(Heartbeat.at(job.heartbeat).beat, job.out))
    return trainer


def token_loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
    """Return a batch's part of the mean over all tokens of a step, for models that would return the batch's own mean.

    A mean of means would let a token of a short batch count for more (Gemma 3n and 4 of transformers 5.23).
    """
    losses: Any = import_module("transformers.loss.loss_utils")
    logits = outputs["logits"]
    return losses.ForCausalLMLoss(logits, labels, logits.shape[-1], num_items_in_batch=num_items_in_batch)


def _arguments(job: FineTuning, num_rows: int, work: Path, max_steps: int) -> TrainingArguments:
    config = job.training
    gpu = torch.cuda.is_available()
    steps = config.num_steps(num_rows, job.num_processes)
    return TrainingArguments(
        output_dir=str(work),
        num_train_epochs=config.epochs,
        max_steps=max_steps,
        per_device_train_batch_size=config.rows_at_once,
        gradient_accumulation_steps=config.accumulated(job.num_processes),
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.scheduler,
        warmup_steps=config.num_warmup(steps),
        weight_decay=config.weight_decay,
        optim=config.optimizer,
        bf16=uses_bfloat16(config),
        use_cpu=not gpu,
        save_strategy="steps" if config.checkpoint_steps else "no",
        save_steps=config.checkpoint_steps or 500,
        save_total_limit=2,
        logging_steps=max(1, min(_LOGGED, steps)),
        logging_nan_inf_filter=False,
        report_to=settle(job.tracking, part=job.out.parent.name),
        run_name=job.tracking.run_name,
        project=job.tracking.project,
        disable_tqdm=not (job.progress and sys.stderr.isatty()),
        remove_unused_columns=False,
        seed=job.seed,
        data_seed=job.seed,
        dataloader_pin_memory=gpu,
        ddp_timeout=int(job.answer_s),
        **sharding_arguments(config),
    )


def uses_bfloat16(config: TrainingConfig) -> bool:
    """Say whether a fine-tuning here runs in mixed bfloat16."""
    if config.precision != "auto":
        return config.precision == "bfloat16"
    native = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return torch.cuda.is_available() or native()


def _order(job: FineTuning, rows: Sequence[Row]) -> RowOrder | None:
    """Return an order of our own where the Trainer's would learn rows twice, or pad more than was asked for."""
    grouped = job.training.layout == "grouped"
    if job.num_processes == 1 and not grouped:
        return None
    lengths = list(map(length, rows))
    rows_a_step = job.training.rows_a_step(job.num_processes)
    at_once = rows_a_step // job.training.accumulated(job.num_processes)
    return RowOrder(lengths, seed=job.seed, at_once=at_once, rows_a_step=rows_a_step, grouped=grouped)
