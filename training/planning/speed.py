"""Speed of a run: by its device's data sheet, or by what the processor here was measured to compute and copy.

Speeds that `certistar bench gpu` measured of the nearest model are carried over to the run's: each is multiplied by how
much more, or less, the data sheet's estimate says the run's model takes than the measured one.
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from critics.errors import InputError
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.run import RunConfig
from training.finetuning.compute import ModelShape, cache_bytes, forward_flops, recomputed_flops, training_flops
from training.hardware import HOST, Device
from training.planning.lengths import Lengths

TRAINING_SHARE, DECODING_SHARE = 0.4, 0.5
"""Shares of a device's published speed that fine-tuning and decoding usually get; assumed, not measured."""
LAYER_S = 0.75e-3
"""Seconds a layer in a step of the own loop on a GPU: some 60 operations of a layer, launched one after the other; as
others report 25 to 35 ms a step for 36 layers, whatever the batch."""
GPU_START_S, HOST_START_S = 15.0, 0.7
"""Seconds to start a stage's process: with a GPU it imports torch itself, else it is forked from one that has; the
first is assumed, the second was measured."""
LOAD_BYTES_S = 2e9
"""Bytes a second of weights that are read from a local disk; assumed."""
CRITIC_S = 0.02
"""Seconds of a verdict; assumed."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed of this machine at this run; batches cost `step_s + row_s x rows` for each token."""

    step_s: float
    row_s: float
    training_token_s: float
    start_s: float = 0.0
    """Seconds of a stage's process until it begins."""
    load_s: float = 0.0
    """Seconds to load a model."""
    source: str = ""
    """Source of the numbers, for people."""


def stated_speed(shape: ModelShape, device: Device, config: RunConfig, lengths: Lengths, size: int) -> Speed:
    """Return what a device's published figures, discounted, come to.

    Decoding reads all weights for each token of a batch and computes each row; the own loop takes no less than the
    launch of each layer's operations. Training computes.
    """
    context = lengths.prompt + lengths.completion
    step = size * shape.num_params / (DECODING_SHARE * device.bandwidth)
    is_launched = device.name != HOST and config.model.engine == "own"
    step = max(step, LAYER_S * shape.layers) if is_launched else step
    row = forward_flops(shape, context) / (TRAINING_SHARE * device.flops)
    row += context * cache_bytes(shape, size) / (DECODING_SHARE * device.bandwidth)
    work = training_flops(shape, config.training, context) + recomputed_flops(shape, config.training, context)
    launches = f", {1e3 * LAYER_S:g} ms a layer and step for launches" if is_launched else ""
    told = "measured matrix products and copies" if device.measured else "data sheet"
    return Speed(
        step,
        row,
        work / (TRAINING_SHARE * device.flops),
        start_s=GPU_START_S if device.name != HOST else HOST_START_S,
        load_s=size * shape.num_params / LOAD_BYTES_S,
        source=f"estimated from the {told} of {device.name.removesuffix(' (data sheet)')} ({TRAINING_SHARE:.0%} of its "
        f"operations and {DECODING_SHARE:.0%} of its bandwidth{launches}), not measured",
    )


BYTES = 2
"""Bytes of a weight: all is measured in bfloat16."""


@dataclass(frozen=True, slots=True)
class DecodingSpeed:
    """Decoding of one model by one engine."""

    shape: ModelShape
    engine: str
    guided: bool
    prompt: int
    written: int
    steps: Mapping[int, float]
    """Seconds of a step, by rows."""


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """Fine-tuning of one model in one way."""

    shape: ModelShape
    config: TrainingConfig
    tokens: int
    """Tokens of a row."""
    token_s: float


@dataclass(frozen=True, slots=True)
class MachineSpeeds:
    """Everything that was measured of a machine's GPU."""

    device: str
    decoding: tuple[DecodingSpeed, ...]
    training: tuple[TrainingSpeed, ...]

    def must_be_of(self, device: Device) -> None:
        """Raise `InputError` where a plan is for another device."""
        planned = device.name.removesuffix(" (data sheet)")
        if planned not in self.device:
            raise InputError(f"--measured is of {self.device}, and the plan is for {planned}; name its GPU with --on")


def with_measured(stated: Speed, machine: MachineSpeeds, shape: ModelShape, device: Device, config: RunConfig) -> Speed:
    """Return the stated speed of a run's model with what was measured in the place of what is assumed."""

    def assumed(of: ModelShape, training: TrainingConfig, prompt: int, written: int) -> Speed:
        lengths = Lengths(prompt, written, written, known=True)
        return stated_speed(of, device, config.model_copy(update={"training": training}), lengths, BYTES)

    is_guided = any(arm.decoding == "guided" for arm in config.arms)
    ways = [way for way in machine.decoding if way.engine == config.model.engine and config.model.server is None]
    told: list[str] = []
    if ways:
        way = min(ways, key=lambda way: (way.guided != is_guided, _apart(way.shape, shape)))
        model = assumed(way.shape, config.training, way.prompt, way.written)
        step, row = _line(way.steps, model)
        stated = replace(stated, step_s=stated.step_s * step / model.step_s, row_s=stated.row_s * row / model.row_s)
        told.append(f"decoding of {_size(way.shape)} in batches of {', '.join(map(str, sorted(way.steps)))}")
    if machine.training:
        case = min(machine.training, key=lambda one: (_unlike(one.config, config.training), _apart(one.shape, shape)))
        model = assumed(case.shape, case.config, case.tokens, 0)
        stated = replace(stated, training_token_s=stated.training_token_s * case.token_s / model.training_token_s)
        told.append(f"fine-tuning ({case.config.method}) of {_size(case.shape)}")
    said = f"carried over from what `certistar bench gpu` measured on {machine.device}: {', and '.join(told)}"
    return replace(stated, source=said) if told else stated


def _line(steps: Mapping[int, float], assumed: Speed) -> tuple[float, float]:
    """Return the seconds of a step and of each of its rows; of one batch alone, both are in the assumed proportion."""
    if len(steps) > 1:
        row, step = statistics.linear_regression(list(steps), list(steps.values()))
        if row > 0 and step > 0:
            return step, row
    ratios = [seconds / (assumed.step_s + rows * assumed.row_s) for rows, seconds in steps.items()]
    ratio = statistics.geometric_mean(ratios)
    return ratio * assumed.step_s, ratio * assumed.row_s


def _size(shape: ModelShape) -> str:
    return f"{shape.num_params / 1e9:.1f} billion parameters"


def _apart(some: ModelShape, other: ModelShape) -> float:
    return abs(math.log(some.num_params / other.num_params))


def _unlike(some: TrainingConfig, other: TrainingConfig) -> int:
    """Return in how many ways two fine-tunings compute otherwise."""
    keys = ("method", "quantisation", "gradient_checkpointing", "layout")
    return sum(getattr(some, key) != getattr(other, key) for key in keys)
