"""The section that says how adapters are trained."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from training.configuration.section import ConfigError, Positive, Rate, Section

Tracker = Literal["none", "trackio", "wandb", "tensorboard"]


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
    batch_size: Positive = 2
    """Rows a process computes at once; a row is an example, or a pack of them under `layout: packed`."""
    gradient_accumulation: Positive = 1
    global_batch_size: Positive | None = None
    """Rows an optimiser step learns from on all processes together: accumulation is computed from it, so that a run
    on other GPUs takes the same steps. null: batch_size x gradient_accumulation x processes."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-5
    scheduler: Literal["constant", "linear", "cosine"] = "linear"
    warmup_ratio: Rate = 0.0
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
    gradient_checkpointing: bool = False
    sharding: Literal["none", "fsdp2", "zero2", "zero3"] = "none"
    """Parts of a model that are spread. none: no part (DDP). zero2 and zero3 need the package deepspeed."""
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
        if self.global_batch_size is not None and self.gradient_accumulation != 1:
            raise ValueError("gradient_accumulation: is computed from global_batch_size; write one of the two")
        if self.offload and self.sharding == "none":
            raise ValueError("offload: is for what is sharded; write `sharding: fsdp2`, `zero2` or `zero3`")
        if self.quantisation != "none" and self.sharding in ("zero2", "zero3"):
            raise ValueError("sharding: four-bit weights go with `none` or `fsdp2`")
        return self

    def accumulation(self, num_processes: int) -> int:
        """Return how many batches of each process make an optimiser step; raises `ConfigError`."""
        if self.global_batch_size is None:
            return self.gradient_accumulation
        at_once = self.batch_size * num_processes
        if self.global_batch_size % at_once:
            raise ConfigError(
                f"training.global_batch_size: {self.global_batch_size} is no multiple of batch_size {self.batch_size} "
                f"x {num_processes} processes; change one of the three"
            )
        return self.global_batch_size // at_once

    def digested_json(self) -> str:
        """Return the JSON text whose digest is in an adapter's manifest; trackers change no result and are left out."""
        return self.model_dump_json(exclude={"trackers"})
