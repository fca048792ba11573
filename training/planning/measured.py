"""Speeds that `certistar bench gpu` measured on a machine, carried over to the model and settings of a run.

What was measured of the nearest model stands for the run's: each speed is multiplied by how much more, or less, the
data sheet's estimate says the run's model takes than the measured one.
"""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace

from critics.errors import InputError
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.run import RunConfig
from training.finetuning.compute import Shape
from training.hardware import Device
from training.planning.lengths import Lengths
from training.planning.speed import Speed, stated_speed

BYTES = 2
"""Bytes of a weight: all is measured in bfloat16."""


@dataclass(frozen=True, slots=True)
class DecodingSpeed:
    """Decoding of one model by one engine."""

    shape: Shape
    engine: str
    guided: bool
    prompt: int
    written: int
    steps: Mapping[int, float]
    """Seconds of a step, by rows."""


@dataclass(frozen=True, slots=True)
class TrainingSpeed:
    """Fine-tuning of one model in one way."""

    shape: Shape
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


def with_measured(stated: Speed, machine: MachineSpeeds, shape: Shape, device: Device, config: RunConfig) -> Speed:
    """Return the stated speed of a run's model with what was measured in the place of what is assumed."""

    def assumed(of: Shape, training: TrainingConfig, prompt: int, written: int) -> Speed:
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


def _size(shape: Shape) -> str:
    return f"{shape.num_params / 1e9:.1f} billion parameters"


def _apart(some: Shape, other: Shape) -> float:
    return abs(math.log(some.num_params / other.num_params))


def _unlike(some: TrainingConfig, other: TrainingConfig) -> int:
    """Return in how many ways two fine-tunings compute otherwise."""
    keys = ("method", "quantisation", "gradient_checkpointing", "layout")
    return sum(getattr(some, key) != getattr(other, key) for key in keys)
