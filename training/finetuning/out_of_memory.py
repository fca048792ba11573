"""Remedies when memory runs out: the settings that still help, the cheapest first."""

from training.configuration.fine_tuning import TrainingConfig


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory ran out, on a GPU or on the host."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("can't allocate memory" in text or "out of memory" in text)


def remedies(config: TrainingConfig, *, num_processes: int = 1, longest: int | None = None) -> list[str]:
    """Return what to change, the cheapest first; `longest` is the longest example's tokens where that is known."""
    found: list[str] = []
    if not config.gradient_checkpointing:
        found.append("training.gradient_checkpointing=true (a third more computing)")
    if config.attention == "eager":
        found.append("training.attention=sdpa (no scores kept)")
    if config.batch_size > 1:
        kept = config.global_batch_size or config.batch_size * config.gradient_accumulation * num_processes
        found.append(f"training.batch_size={config.batch_size // 2} with training.global_batch_size={kept}")
    if longest is None or config.max_tokens < 2 * longest or config.layout == "packed":
        found.append(f"training.max_tokens below {config.max_tokens}, with longer examples filtered out")
    if config.method == "full":
        found.append("training.method=lora")
    elif config.quantisation == "none":
        found.append("training.quantisation=nf4 (the base in four bits)")
    if config.optimizer == "adamw_torch" and config.method == "full":
        found.append("training.optimizer=adamw_bnb_8bit")
    if config.sharding == "none" and num_processes > 1:
        found.append("training.sharding=fsdp2")
    return found


def most_sparing(config: TrainingConfig, *, num_processes: int = 1) -> TrainingConfig:
    """Return what is left of a fine-tuning's memory when all knobs but the examples' length are turned."""
    kept = config.global_batch_size or config.batch_size * config.gradient_accumulation * num_processes
    sharding = config.sharding if config.sharding != "none" or num_processes == 1 else "fsdp2"
    four_bits = sharding in ("none", "fsdp2")
    changes = {
        "gradient_checkpointing": True,
        "batch_size": 1,
        "gradient_accumulation": 1,
        "global_batch_size": kept,
        "attention": "sdpa",
        "method": "lora" if config.method == "full" else config.method,
        "quantisation": "nf4" if four_bits else "none",
        "sharding": sharding,
    }
    return TrainingConfig.model_validate(config.model_dump() | changes)


def explanation(config: TrainingConfig, num_processes: int = 1) -> str:
    """Return one line for people."""
    return "out of memory in fine-tuning: set " + ", or ".join(remedies(config, num_processes=num_processes))
