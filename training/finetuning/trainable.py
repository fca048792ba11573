"""The model that a fine-tuning changes: its base as stored or in four bits, and what is trained beside or in it."""

import os
from importlib import import_module
from typing import Any

from rollout.policies.policy import load_model
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.section import ConfigError
from training.finetuning.architecture import Architecture, freeze_beside_text, with_lora
from training.finetuning.job import FineTuning
from training.lineage.adapters import verify_adapter


def trainable_model(job: FineTuning, architecture: Architecture) -> Any:
    """Load the base, or the full weights to go on from, and put the adapter on it; raises `InputError`."""
    training = job.training
    if job.start is not None:
        verify_adapter(job.start)
    start_is_full = job.start is not None and not (job.start / "adapter_config.json").exists()
    name = str(job.start) if start_is_full else job.model.pinned
    dtype = "float32" if training.method == "full" else job.model.dtype  # full weights to go on from lose nothing
    model = load_model(name, dtype=dtype, **_loading(training, architecture))
    if training.layout == "packed":
        for config in (model.config, model.config.get_text_config()):
            config.use_cache = False  # with a cache, transformers does not tell the examples of a row apart
    if training.quantisation != "none":
        peft: Any = import_module("peft")
        checkpointing = training.gradient_checkpointing
        model = peft.prepare_model_for_kbit_training(model, use_gradient_checkpointing=checkpointing)
    elif training.gradient_checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    if training.method == "full":
        freeze_beside_text(model)
        return model.float()
    if job.start is not None:
        peft: Any = import_module("peft")
        return peft.PeftModel.from_pretrained(model, str(job.start), is_trainable=True)
    return with_lora(model, training, job.model.revision)


def _loading(training: TrainingConfig, architecture: Architecture) -> dict[str, Any]:
    """Return how the base is loaded beyond its name and type."""
    import torch

    options: dict[str, Any] = {}
    attention = attention_of(training)
    if attention is not None:
        options["attn_implementation"] = attention
    if training.quantisation == "nf4":
        options["quantization_config"] = _nf4(architecture.not_in_four_bits)
        if torch.cuda.is_available():
            options["device_map"] = {"": int(os.environ.get("LOCAL_RANK", "0"))}
    return options


def attention_of(training: TrainingConfig) -> str | None:
    """Return the attention to ask for; None: the loader's own. Raises `ConfigError` where it is not available."""
    import torch

    if training.attention == "auto":
        return None if torch.cuda.is_available() else "eager"
    if training.attention == "flash_attention_2":
        from transformers.utils.import_utils import is_flash_attn_2_available

        if not is_flash_attn_2_available():
            raise ConfigError(
                "training.attention: flash_attention_2 needs a CUDA GPU and `pip install flash-attn`; or write sdpa"
            )
    return training.attention


def _nf4(spared: list[str] | None) -> Any:
    """Return the quantisation of QLoRA (Dettmers et al. 2023): four-bit normal floats, their scales quantised too.

    The storage type equals the computing type, since FSDP2 shards only tensors of one type.
    """
    import torch
    from transformers import BitsAndBytesConfig

    compute = torch.bfloat16 if torch.cuda.is_available() else torch.float32
    return BitsAndBytesConfig(
        load_in_4bit=True,
        llm_int8_skip_modules=spared,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=compute,
        bnb_4bit_quant_storage=compute if torch.cuda.is_available() else torch.uint8,
    )
