"""Sharding settings, as Trainer, FSDP2 and DeepSpeed want them.

What was asked for is asserted after start-up, since accelerate has ways of running something else without a word.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, get_args

from critics.errors import InputError
from training.configuration.fine_tuning import Sharding, TrainingConfig
from training.finetuning.job import TrainingFailed

SHARDINGS = get_args(Sharding)


def sharding_arguments(config: TrainingConfig) -> dict[str, Any]:
    """Return the keys of `TrainingArguments` for the sharding; raises `InputError` where a package is missing."""
    match config.sharding:
        case "none":
            return {}
        case "fsdp2":
            return {"fsdp": True, "fsdp_config": fsdp2(config)}
        case "zero2" | "zero3":
            _require_deepspeed(config.sharding)
            return {"deepspeed": deepspeed(config)}


def check_launcher(config: TrainingConfig, environment: Mapping[str, str]) -> None:
    """Raise `InputError` where a file for accelerate or DeepSpeed asks for what would not be done, or not alike."""

    def asks(variable: str) -> bool:
        return environment.get(f"ACCELERATE_USE_{variable}", "").lower() in ("true", "1")

    for variable, name in (("MEGATRON_LM", "Megatron-LM"), ("PARALLELISM_CONFIG", "a parallelism_config")):
        if asks(variable):
            raise InputError(f"accelerate's file asks for {name}, which is not for here; take it out")
    if environment.get("ACCELERATE_DEEPSPEED_CONFIG_FILE", "none") != "none":
        raise InputError(
            "accelerate's file names a deepspeed_config_file, which would not be read; take it out, and say what "
            "training.sharding and training.offload are to be"
        )
    asked = "none"
    if asks("DEEPSPEED"):
        asked = f"zero{environment.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '2')}"
    elif asks("FSDP"):
        asked = f"fsdp{environment.get('FSDP_VERSION', '1')}"
    if asked not in ("none", config.sharding):
        remedy = (
            f"set training.sharding={asked}, or take it out" if asked in SHARDINGS else "write fsdp2, zero2 or zero3"
        )
        raise InputError(f"accelerate's file asks for {asked} and training.sharding is {config.sharding}; {remedy}")
    mixed = environment.get("ACCELERATE_MIXED_PRECISION", "no")
    if mixed not in ("no", "bf16") or (mixed == "bf16" and config.precision == "float32"):
        raise InputError(
            f"accelerate's file asks for mixed_precision {mixed} and training.precision is {config.precision}; write "
            "`mixed_precision: 'no'` there, since training.precision decides"
        )


def fsdp2(config: TrainingConfig) -> dict[str, Any]:
    """Return Trainer's `fsdp_config`: weights, gradients and optimiser in parts, gathered layer by layer."""
    return {
        "version": 2,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "reshard_after_forward": True,
        "cpu_offload": config.offload,
        "state_dict_type": "FULL_STATE_DICT",
    }


def deepspeed(config: TrainingConfig) -> dict[str, Any]:
    """Return a DeepSpeed configuration; `auto` is filled in by Trainer from its own arguments."""
    stage = 2 if config.sharding == "zero2" else 3
    offloaded = ("offload_optimizer", "offload_param")[: stage - 1] if config.offload else ()
    return {
        "zero_optimization": {
            "stage": stage,
            "overlap_comm": True,
            "contiguous_gradients": True,
            **({"stage3_gather_16bit_weights_on_model_save": True} if stage == 3 else {}),
            **{what: {"device": "cpu", "pin_memory": True} for what in offloaded},
        },
        "bf16": {"enabled": "auto"},
        "gradient_clipping": "auto",
        "gradient_accumulation_steps": "auto",
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
    }


def _require_deepspeed(sharding: str) -> None:
    from importlib.util import find_spec

    if find_spec("deepspeed") is None:
        raise InputError(f"training.sharding: {sharding} needs `pip install deepspeed`; fsdp2 comes with torch")


def shard_without_accelerator(fsdp_plugin: Any, mixed_precision: str | None) -> None:
    """Let FSDP2 shard over gloo, which accelerate (1.15) only does on accelerators and otherwise drops in silence.

    Its state is shared by all instances, so that one made before the Trainer's is the Trainer's. For tests: a CPU is
    no place to train what has to be sharded.
    """
    states: Any = import_module("accelerate.state")
    utils: Any = import_module("accelerate.utils")
    state = states.AcceleratorState(
        mixed_precision=mixed_precision,
        cpu=True,
        dynamo_plugin=utils.TorchDynamoPlugin(),
        fsdp_plugin=fsdp_plugin,
        _from_accelerator=True,
    )
    states.PartialState().distributed_type = utils.DistributedType.FSDP  # each AcceleratorState copies it from there
    state.fsdp_plugin = fsdp_plugin


def assert_sharded(config: TrainingConfig, accelerator: Any, num_processes: int) -> None:
    """Raise `TrainingFailed` unless as many processes run as were asked for, sharded as they were to be."""
    if accelerator.num_processes != num_processes:
        raise TrainingFailed(f"{num_processes} training processes were asked for and {accelerator.num_processes} run")
    wanted = {"fsdp2": "FSDP", "zero2": "DEEPSPEED", "zero3": "DEEPSPEED"}.get(config.sharding)
    found = accelerator.distributed_type.value
    if wanted is not None and found != wanted:
        raise TrainingFailed(f"training.sharding {config.sharding} was asked for and accelerate runs {found}")
