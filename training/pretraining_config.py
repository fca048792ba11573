"""The configuration of a seed model: its shape, and the curriculum that it is trained on from scratch."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from training.section import Positive, Rate, Section, read_yaml, validated


class MixtureConfig(Section):
    """Problems of one more data set in a phase of the curriculum."""

    dataset: str
    num_examples: Positive
    family: dict[str, Any] = Field(default_factory=dict)
    """The keys of its generator, as its dataclass names them."""


class PhaseConfig(Section):
    """One phase of the seed model's curriculum."""

    later = frozenset({"mixture"})
    num_examples: Positive
    hops: list[int]
    extra_kinds: tuple[int, int] = (0, 1)
    property_rate: Rate = 1.0
    guess_rate: Rate = 0.0
    """The share of demonstrations that stop before the proof ends and answer by chance."""
    misformalise_rate: Rate = 0.0
    """The share of demonstrations in which one rule has the wrong sign."""
    mixture: list[MixtureConfig] = Field(default_factory=list)
    """Problems of other data sets, mixed in."""


class SizeConfig(Section):
    """The shape of the seed model."""

    hidden: Positive = 128
    layers: Positive = 3
    heads: Positive = 4
    mlp: Positive = 384


class PretrainingConfig(Section):
    """What `certistar pretrain` makes."""

    name: str
    seed: int
    start: str | None = None
    """A model folder to go on from, with its tokenizer; None: from scratch."""
    model: SizeConfig = SizeConfig()
    batch_size: Positive = 32
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    phases: Annotated[list[PhaseConfig], Field(min_length=1)]


def load_pretraining(path: Path, overrides: list[str] | None = None) -> PretrainingConfig:
    """Read a seed model's configuration."""
    return validated(PretrainingConfig, read_yaml(path), overrides or [], path)


def is_pretraining(path: Path) -> bool:
    """Say whether the file configures a seed model rather than a run."""
    return "phases" in read_yaml(path)
