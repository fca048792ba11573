"""The model that a fine-tuning changes: whether it can be, before any weight is loaded, and the model loaded for it."""

import os
import re
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from critics.errors import InputError
from rollout.policies.models import empty_model
from rollout.policies.policy import load_model
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.section import ConfigError
from training.finetuning.compute import ModelShape, shape_of_model
from training.finetuning.job import FineTuning
from training.lineage.adapters import verify_adapter

KEEPS_APART = frozenset(
    {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text", "phi"}
    | {"phi3", "gpt2", "gpt_neox", "starcoder2", "olmo2", "olmo3", "cohere", "cohere2", "granite", "smollm3"}
    | {"deepseek_v2", "deepseek_v3", "glm", "glm4", "olmo", "exaone4", "seed_oss", "hunyuan_v1_dense", "ernie4_5"}
    | {"nemotron", "stablelm", "persimmon"}
)
"""Types of text models of which a packed example was seen not to depend on its neighbours (docs/architectures.md)."""
_APART = 1e-2
"""Share of the spread of a model's logits by which those of a packed example may move, for bfloat16's rounding."""

_PARTS = ("x_proj", "dt_proj", "out_proj")


@dataclass(frozen=True, slots=True)
class Architecture:
    """Facts about a model that need none of its weights."""

    shape: ModelShape | None
    """None: its costs are not known."""
    not_in_four_bits: list[str] | None
    """Layers that four bits would break, the output head among them; None: none but what is usual."""


def require_suited(model: ModelConfig, training: TrainingConfig) -> Architecture:
    """Return a model's architecture, or raise `InputError` where it cannot be trained as asked.

    Reads no weight and draws nothing.
    """
    named = training.attention in ("eager", "sdpa")
    try:
        built = empty_model(model.pinned, **({"attn_implementation": training.attention} if named else {}))
    except InputError as error:
        if named and "attention implementation" in str(error):
            raise ConfigError(f"training.attention: {model.name} has no {training.attention}; write auto") from error
        raise
    if training.layout == "packed" and _kind(built) not in KEEPS_APART:
        raise leaks(built)
    read = _read_by_kernels(built)
    head = built.get_output_embeddings()
    found = Architecture(
        shape_of_model(built),
        [*read, *(name for name, module in built.named_modules() if module is head)] if read else None,
    )
    if training.method != "full":
        torch: Any = import_module("torch")
        with torch.random.fork_rng(devices=[]):  # or the adapter that is trained would begin with other draws
            with_lora(built, training)
    return found


def with_lora(model: Any, training: TrainingConfig, revision: str | None = None) -> Any:
    """Put a new adapter on a model's linear layers; raises `ConfigError` where peft has none for a layer."""
    peft: Any = import_module("peft")
    beside = [rf"{re.escape(name)}\..+|{re.escape(name)}" for name in _beside_text(model)]
    config = peft.LoraConfig(
        r=training.lora_rank,
        lora_alpha=training.lora_alpha,
        lora_dropout=training.lora_dropout,
        use_dora=training.method == "dora",
        target_modules="all-linear",
        exclude_modules="|".join([*beside, *map(re.escape, _read_by_kernels(model))]) or None,
        task_type="CAUSAL_LM",
        revision=revision,
    )
    try:
        return peft.get_peft_model(model, config)
    except ValueError as error:  # by which peft refuses a layer that it has no such adapter for
        remedy = f"write {'lora' if training.method == 'dora' else 'full'}"
        if "lora_dropout" in str(error):
            remedy = "set training.lora_dropout=0"
        raise ConfigError(
            f"training.method: peft puts no {training.method} adapter on a {_kind(model)} ({error}); {remedy}"
        ) from error


def freeze_beside_text(model: Any) -> None:
    """Leave out of a training of all weights what reads no text: it would get no gradient, which processes wait for."""
    for name in _beside_text(model):
        model.get_submodule(name).requires_grad_(False)


def assert_kept_apart(model: Any) -> None:
    """Raise `ConfigError` where a packed example's logits change with the example before it.

    One pass over a row whose first example is another one, the second the same: whatever leaks, through attention, a
    recurrent state or a convolution, shows in its logits.
    """
    torch: Any = import_module("torch")

    plain = getattr(model, "module", model)  # beside which data parallelism and DeepSpeed put themselves
    ids = torch.arange(32, device=plain.device)[None] % 7 + 11
    changed = torch.cat([ids[:, :16].flip(1) + 1, ids[:, 16:]], dim=1)
    positions = (torch.arange(32, device=plain.device) % 16)[None]
    model.train()  # where a model evaluates on a CPU, bitsandbytes repacks its weights for good
    seen: list[Any] = []
    for each in (ids, changed):
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(0)
            seen.append(model(input_ids=each, position_ids=positions).logits[0, 16:].float())
    one, other = seen
    if float((one - other).abs().max()) > _APART * float(one.std()):
        raise leaks(plain)


def leaks(model: Any) -> ConfigError:
    """Return the refusal of packs."""
    return ConfigError(
        f"training.layout: packed examples of a {_kind(model)} may see each other (docs/architectures.md); write "
        "`grouped`, which pads little"
    )


def _kind(model: Any) -> str:
    return model.config.get_text_config().model_type


def _beside_text(model: Any) -> list[str]:
    """Return the outermost modules that lie beside the text decoder and the output head, such as a vision tower."""
    parts = [model.get_decoder(), model.get_output_embeddings()]
    inside = {id(module) for part in parts if part is not None for module in part.modules()}
    found: list[str] = []
    for name, module in model.named_modules():
        holds = any(id(each) in inside for each in module.modules())
        if not holds and not any(name.startswith(f"{other}.") for other in found):
            found.append(name)
    return found


def _read_by_kernels(model: Any) -> list[str]:
    """Return the linear layers of Mamba's mixers whose weight is read as it is, past an adapter or four bits."""
    mixers = {name: m for name, m in model.named_modules() if hasattr(m, "A_log") and hasattr(m, "D")}
    return [f"{name}.{part}" for name, mixer in mixers.items() for part in _PARTS if hasattr(mixer, part)]


def trainable_model(job: FineTuning, architecture: Architecture) -> Any:
    """Load the base, or the full weights to go on from, and put the adapter on it; raises `InputError`."""
    training = job.training
    if job.start is not None:
        verify_adapter(job.start)
    start_is_full = job.start is not None and not (job.start / "adapter_config.json").exists()
    name = str(job.start) if start_is_full else job.model.pinned
    dtype = "float32" if training.method == "full" else job.model.dtype  # full weights to go on from lose nothing
    import torch

    load = partial(load_model, name, dtype=dtype)
    attention = attention_of(training)
    if attention is not None:
        load = partial(load, attn_implementation=attention)
    if training.quantisation == "nf4":
        load = partial(load, quantization_config=_nf4(architecture.not_in_four_bits))
        if torch.cuda.is_available():
            load = partial(load, device_map={"": int(os.environ.get("LOCAL_RANK", "0"))})
    model = load()
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
