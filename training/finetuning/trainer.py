"""transformers' Trainer with what it leaves open: collators by layout, one order of rows, and a stop at a lost loss."""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Sampler
from transformers import PrinterCallback, Trainer, TrainingArguments

from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.architecture import assert_kept_apart
from training.finetuning.callbacks import CheckpointOnRequest, Monitor, StepBeats, mark, wait_for_all
from training.finetuning.examples import Collator, Example, Row, length
from training.finetuning.job import FineTuning, TrainingFailed
from training.finetuning.torchrun import assert_sharded, shard_without_accelerator, sharding_arguments
from training.finetuning.trackers import settle
from training.records.store import write_json
from training.watchdog import Heartbeat

LOSSES = ("_tr_loss", "_total_loss_scalar")
_GROUP = 50
"""Steps whose rows are sorted by length together: enough to pad little, few enough to stay random."""


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
        order: list[int] = torch.randperm(len(self.lengths), generator=generator).tolist()
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

    def _build_accelerator_args(self, **options: Any) -> dict[str, Any]:
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
        dtype = "bfloat16" if uses_bfloat16(config) else "float32"
        trainer.monitor = Monitor(job, job.log, trainer.model, dtype)
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
        gradient_accumulation_steps=config.gradient_accumulation,
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
        logging_steps=10,
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
    at_once = rows_a_step // job.training.gradient_accumulation
    return RowOrder(lengths, seed=job.seed, at_once=at_once, rows_a_step=rows_a_step, grouped=grouped)
