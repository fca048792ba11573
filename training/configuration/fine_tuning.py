"""The section that says how adapters are trained."""

import json
from collections.abc import Callable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from training.configuration.learning import Text
from training.configuration.section import ConfigError, Positive, Rate, Section

Tracker = Literal["none", "trackio", "wandb", "tensorboard"]


USUAL_ROWS = 2
"""Rows that a process computes at once where nothing says how many."""
SAME_RESULT = {
    *("batch_size", "gradient_checkpointing", "attention", "sharding", "offload", "checkpoint_steps", "trackers"),
}
"""Keys that decide memory, speed and what is told on the way: equal but for floating-point error."""
Sharding = Literal["none", "fsdp2"]
LossOn = Literal["completion", "covered"]


class TrainingConfig(Section):
    """Fine-tuning with transformers' Trainer: LoRA by default."""

    method: Literal["lora", "dora", "full"] = "lora"
    """dora: LoRA whose columns keep a magnitude of their own, which learns more at small ranks and runs slower."""
    quantisation: Literal["none", "nf4"] = "none"
    """nf4: the frozen base in four bits (QLoRA). Rollouts read the base as `model.dtype` says all the same."""
    lora_rank: Positive = 8
    lora_alpha: Positive = 16
    lora_dropout: Rate = 0.0
    epochs: Positive = 1
    max_steps: Annotated[int, Field(ge=0)] = 0
    """At most so many optimiser steps, whatever the epochs ask for: an equal budget for arms that keep more.
    0: no limit."""
    global_batch_size: Positive = 8
    """Rows that an optimiser step learns from, on all processes together, so that any number of GPUs takes the same
    steps. A row is an example, or a pack of them under `layout: packed`."""
    batch_size: Positive | None = None
    """Rows that a process computes at once: at most so many of its share of global_batch_size. null: as many as fit."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-5
    scheduler: Literal["constant", "linear", "cosine"] = "linear"
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    """Optimiser steps over which the learning rate rises, but never more than half of all."""
    weight_decay: float = 0.0
    optimizer: Literal["adamw_torch", "adamw_bnb_8bit"] = "adamw_torch"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """auto: mixed bfloat16 on a GPU and on CPUs that multiply it natively, where it was measured more than twice
    as fast; else float32."""
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2"] = "auto"
    """auto: sdpa on a GPU and eager on a CPU. flash_attention_2 needs the package flash-attn."""
    layout: Literal["padded", "grouped", "packed"] = "padded"
    """grouped: rows of like length in a batch, so that little is padded. packed: several examples in a row of
    max_tokens, none of which sees another."""
    max_tokens: Positive = 2048
    loss_on: LossOn = "completion"
    """covered: not on tokens of what the critic could not read, as `unread` of an example says; what no critic reads
    (dialogs, programs) is learnt as before."""
    text: Text = "sampled"
    """Text of the examples that a run's arms make of certified attempts (docs/filtering.md); `certistar train` learns
    examples as they stand. sampled, because the paper trains on the whole."""
    gradient_checkpointing: bool = False
    sharding: Sharding = "none"
    """Parts of a model that are spread over the processes. none: no part (DDP)."""
    offload: bool = False
    """Keep what is sharded in the host's memory: slower, and room for models that fit no other way."""
    checkpoint_steps: int = 0
    """Steps between resumable checkpoints within a fine-tuning; 0: none, a killed one starts over."""
    trackers: list[Tracker] = []
    """Services that Trainer reports to, with the rates of each round. No result and no digest depends on them."""

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        if self.quantisation != "none" and self.method == "full":
            raise ValueError("quantisation: four-bit weights cannot be trained; write `method: lora` or `dora`")
        if self.optimizer == "adamw_bnb_8bit" and self.sharding == "fsdp2":
            raise ValueError(
                "optimizer: adamw_bnb_8bit knows no tensors in parts, as fsdp2 makes them; write adamw_torch, whose "
                "moments fsdp2 shares out among the GPUs"
            )
        if self.offload and self.sharding == "none":
            raise ValueError("offload: is for what is sharded; write `sharding: fsdp2`")
        return self

    @property
    def rows_at_once(self) -> int:
        """Rows that a process computes at once, where it is settled how many."""
        return self.batch_size or USUAL_ROWS

    def rows_a_step(self, num_processes: int) -> int:
        """Return how many rows an optimiser step learns from; raises `ConfigError` where they cannot be shared."""
        if self.global_batch_size % num_processes:
            raise ConfigError(f"training.global_batch_size: {_indivisible(self.global_batch_size, num_processes)}")
        return self.global_batch_size

    def on(self, num_processes: int, fits: Callable[[int], bool] = lambda _: True) -> Self:
        """Return the same with the rows that each process computes at once.

        They are the largest divisor of a process's share that `batch_size` allows, or of which `fits` says so. Raises
        `ConfigError` where rows cannot be shared.
        """
        share = self.rows_a_step(num_processes) // num_processes
        allowed = fits if self.batch_size is None else range(1, self.batch_size + 1).__contains__
        rows = next((n for n in range(share, 1, -1) if share % n == 0 and allowed(n)), 1)
        return self.model_copy(update={"batch_size": rows})

    def accumulated(self, num_processes: int) -> int:
        """Return how many batches each process computes for a step."""
        return self.rows_a_step(num_processes) // num_processes // self.rows_at_once

    def num_steps(self, num_rows: int, num_processes: int) -> int:
        """Return the optimiser steps of all epochs, up to `max_steps`."""
        steps = self.epochs * -(-num_rows // self.rows_a_step(num_processes))
        return min(steps, self.max_steps) if self.max_steps else steps

    def num_warmup(self, steps: int) -> int:
        """Return over how many of a training's steps the learning rate rises."""
        return min(self.warmup_steps, steps // 2)

    def digested_json(self) -> str:
        """Return the JSON text whose digest is in an adapter's manifest, without what changes no result."""
        return json.dumps(self.model_dump(mode="json", exclude=SAME_RESULT), sort_keys=True)


def _indivisible(rows: int, processes: int) -> str:
    """Say what else would do, in rows and in processes."""
    near = [str(n) for n in (rows - rows % processes, rows - rows % processes + processes) if n]
    fewer = max(n for n in range(1, processes) if rows % n == 0)
    more = [n for n in range(processes + 1, rows + 1) if rows % n == 0][:1]
    return (
        f"{rows} rows a step cannot be shared evenly by {processes} processes; write {' or '.join(near)}, or train on "
        f"{' or '.join(map(str, [fewer, *more]))}"
    )
