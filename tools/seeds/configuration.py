"""The configuration of a seed model: its shape, and the curriculum that it is trained on from scratch."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from rollout.problems.prontoqa import Form
from training.configuration.section import Positive, Rate, Section, read_yaml, validated


class MixtureConfig(Section):
    """Problems of one more data set in a phase of the curriculum."""

    dataset: str
    num_examples: Positive
    family: dict[str, Any] = Field(default_factory=dict)
    """The keys of its generator, as its dataclass names them."""


class PhaseConfig(Section):
    """One phase of the seed model's curriculum."""

    lesson: Literal["solve", "repeat", "quote", "walk"] = "solve"
    """repeat: the context is said again from one of its sentences on, and round to it. quote: in any order, without
    numbers. walk: what follows, rule by rule, of names that the problem does not have. They teach to look things up."""
    num_examples: Positive
    hops: list[int]
    extra_kinds: tuple[int, int] = (0, 1)
    forks: tuple[int, int] = (0, 0)
    property_rate: Rate = 1.0
    forms: Annotated[tuple[Form, ...], Field(min_length=1)] = ("Every", "Each", "plural")
    guess_rate: Rate = 0.0
    """The share of demonstrations that stop before the proof ends and answer by chance."""
    misformalise_rate: Rate = 0.0
    """The share of demonstrations in which one rule has the wrong sign."""
    mixture: list[MixtureConfig] = Field(default_factory=list[MixtureConfig])
    """Problems of other data sets, mixed in."""


class SizeConfig(Section):
    """The shape of the seed model."""

    hidden: Positive = 128
    layers: Positive = 3
    heads: Positive = 4
    mlp: Positive = 384
    rope_theta: Annotated[float, Field(gt=1)] = 10_000.0
    """Base of the rotary positions; a smaller one tells near places apart more sharply."""


class PretrainingConfig(Section):
    """A seed model of `python -m tools.seeds`."""

    name: str
    seed: int
    start: str | None = None
    """A model folder to go on from, with its tokenizer; None: from scratch."""
    format: Literal["guided", "cot"] = "guided"
    """guided: formal blocks. cot: what is given, then each inference, as English sentences."""
    model: SizeConfig = SizeConfig()
    batch_size: Positive = 32
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    matrix_rate: Annotated[float, Field(gt=0)] | None = None
    """Muon's step for matrices, AdamW for the rest; None: AdamW for all."""
    shared_words: bool = False
    """Tokens begin as the sums of their words' vectors, so that `Every cat` and ` is a cat` have one in common."""
    phases: Annotated[list[PhaseConfig], Field(min_length=1)]

    @model_validator(mode="after")
    def _writes_what_it_can(self) -> Self:
        for number, phase in enumerate(self.phases):
            if self.format == "cot" and (phase.misformalise_rate or phase.mixture):
                key = "mixture" if phase.mixture else "misformalise_rate"
                raise ValueError(f"phases.{number}.{key}: is for `format: guided`; leave it out")
        return self


class FlawsConfig(Section):
    """Rates at which parts of a seed actor's lessons are wrong on purpose."""

    test: Rate = 0.0
    """Share of tests that fail, because they demand the opposite, the converse, or that nothing follows."""
    idle_test: Rate = 0.0
    """Share of tests that pass whatever happens: hardly any damage to a rule would make them fail."""
    rule: Rate = 0.0
    """Share of premises whose rule says the opposite, goes the wrong way round, or is missing."""
    syntax: Rate = 0.0
    """Share of premises whose rule cannot be compiled."""
    query: Rate = 0.0
    """Share of replies that ask the opposite of the question."""
    word: Rate = 0.0
    """Share of premises with one adjective copied wrongly, into the comment and the rules."""


class LessonPhaseConfig(Section):
    """One phase of the seed actor's curriculum: direct replies, and replies that mend what the critic found wrong."""

    num_examples: Positive
    family: dict[str, Any] = Field(default_factory=dict)
    """The keys of the problems' generator."""
    mended: Rate = 0.0
    """The share of examples that go on from a reply that was found wrong and from what the critic said."""
    flaws: FlawsConfig = FlawsConfig()
    """Flaws of direct replies, which are learnt with them."""
    mended_flaws: FlawsConfig = FlawsConfig()
    """Flaws of mended replies."""
    first_flaws: FlawsConfig = FlawsConfig(test=0.4, rule=0.1, syntax=0.05, word=0.2)
    """Flaws of replies that are to be found wrong, which are read and not learnt."""


class ActorPretrainingConfig(Section):
    """A seed actor of `python -m tools.seeds` for the dialog with the critic."""

    name: str
    seed: int
    actor: Literal["controlled-english"]
    """The data set that the actor is for."""
    model: SizeConfig = SizeConfig()
    batch_size: Positive = 32
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    phases: Annotated[list[LessonPhaseConfig], Field(min_length=1)]


class FormulaPhaseConfig(Section):
    """One phase of a seed model of round trips: formulas, each with a lesson into words and one back."""

    num_formulas: Positive
    times: Positive = 1
    """Draws of so many formulas, each time from another seed: without duplicates the smallest categories run
    out, and a model that is no longer shown short formulas forgets them."""
    family: dict[str, Any] = Field(default_factory=dict)
    """The keys of the formulas' generator."""
    error_rate: Rate = 0.0
    """The share of lessons, of either direction, in which one word says something else."""
    unreadable_rate: Rate = 0.0
    """The share of written formulas that lack a bracket."""


class RoundTripPretrainingConfig(Section):
    """A seed model of `python -m tools.seeds` for round trips."""

    name: str
    seed: int
    round_trips: str
    """The data set whose formulas are put into words and back."""
    model: SizeConfig = SizeConfig()
    batch_size: Positive = 32
    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    phases: Annotated[list[FormulaPhaseConfig], Field(min_length=1)]


AnyPretrainingConfig: TypeAlias = PretrainingConfig | ActorPretrainingConfig | RoundTripPretrainingConfig


def load_pretraining(path: Path, overrides: list[str] | None = None) -> AnyPretrainingConfig:
    """Read a seed model's configuration: `actor` is a key of those for dialogs, `round_trips` of those for formulas."""
    data = read_yaml(path)
    kinds: dict[str, type[Any]] = {"actor": ActorPretrainingConfig, "round_trips": RoundTripPretrainingConfig}
    kind = next((kinds[key] for key in kinds if key in data), PretrainingConfig)
    return validated(kind, data, overrides or [], path)
