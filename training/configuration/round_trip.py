"""The configuration of round trips: how they are asked for, what is learnt of them, and which formulas come first."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from critics.errors import InputError
from rollout.formulas.prompt import Kind
from rollout.strategies.round_trip import MAX_ROUNDS, RoundTripSettings
from training.configuration.curriculum import Curriculum
from training.configuration.section import Positive, Section


class CurriculumConfig(Section):
    """Which of the data set's categories a round of training draws its formulas from: the easiest first."""

    first: Positive = 3
    """How many categories the first round draws from; the last one draws from all of them."""
    rehearsed: Annotated[float, Field(ge=0, lt=1)] = 0.25
    """The share of a later round's categories that are easier than its newest ones."""

    def of(self, categories: tuple[int, ...], num_rounds: int) -> Curriculum:
        """Return the curriculum over a data set's categories; raises `InputError` where it has too few."""
        return Curriculum(categories, num_rounds, self.first, self.rehearsed)


class RoundTripConfig(Section):
    """What arms with `format: equivalence` do: a formula into words, and from the words alone into a formula."""

    prompt: Kind = "zero-shot"
    """bare: for models that were trained on both directions; few-shot: two solved examples a language."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 1
    """The n of (A o I)^n. Only trips of one round teach: more are for `certistar evaluate`."""
    leaks: Literal["end", "count"] = "end"
    """end: a description that copies the formula ends its trip. count: it goes on, to measure what leaks are worth."""
    learn: Literal["both", "informalise", "autoformalise"] = "both"
    """Which directions kept trips teach."""
    curriculum: CurriculumConfig | None = None
    """null: every round draws from all categories."""

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        try:
            self.settings()
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    def settings(self) -> RoundTripSettings:
        """Return how trips are made."""
        return RoundTripSettings(self.prompt, self.rounds, self.leaks)
