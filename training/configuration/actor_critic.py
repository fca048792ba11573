"""The configuration of the actor-critic dialog: how the actor is asked, and what is learnt from what it says."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from critics.errors import InputError
from critics.judge import DEFAULT_TIMEOUT_S
from rollout.actor_critic.feedback import Depth
from rollout.actor_critic.prompt import ActorPrompt
from rollout.strategies.dialog import MAX_RETRIES, DialogSettings
from training.configuration.lessons import Kind, LessonSettings, Mix
from training.configuration.section import Positive, Rate, Section


class LessonConfig(Section):
    """What is learnt from a kept dialog (docs/actor-critic.md)."""

    extent: Literal["last", "whole"] = "last"
    """last: the last rectification, as in the paper; whole: the dialog since the problem was put."""
    loss: Literal["final", "actor"] = "final"
    """final: on the mended version alone; actor: on every turn of the actor that was not refused."""
    shortcuts: bool = True
    """Whether a dialog with retries also teaches the direct way."""
    passing_only: bool = True
    """False: a compile fix counts also where tests fail after it and a later turn mends them, as in the paper."""
    shares: dict[Kind, Rate] | None = None
    """Of each kind of lesson among those trained on, 1 in all. null: as many as there are."""
    rare_below: Rate = 0.05
    """A logic class is rare where fewer of the lessons have it."""
    rare_copies: Positive = 1
    """How often a lesson with a rare class is trained on. 1: no up-sampling."""

    def settings(self) -> LessonSettings:
        """Return which lessons a dialog gives."""
        return LessonSettings(self.extent, self.loss, self.shortcuts, self.passing_only)

    def mix(self) -> Mix:
        """Return how many of each there are."""
        return Mix(self.shares, self.rare_below, self.rare_copies)


class ActorCriticConfig(Section):
    """The dialog of an actor with its critic; its keys are those of `DialogSettings` and `ActorPrompt`."""

    later = frozenset({"opinions"})
    tests: bool = True
    """Whether the actor writes tests (table 1 of LLM-ARC)."""
    guidelines: bool = True
    """Whether it reads how tests are written for each logic class (table 2)."""
    examples: Literal[0, 8, 20] = 8
    """Solved examples that the base model reads; a trained actor reads none."""
    instructions: bool = True
    """false: the actor reads the statements alone, because it was trained from scratch to do nothing else."""
    max_retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = MAX_RETRIES
    max_refusals: Annotated[int, Field(ge=0)] = 1
    """Refused turns that cost no retry. 0 where strategies are compared at the same number of turns."""
    depth: Depth = "tests"
    """How far the critic's feedback goes."""
    history: Literal["whole", "last", "none"] = "whole"
    """What the actor is shown of its dialog; none: plain resampling with the same budget."""
    portion_size: Positive | None = None
    """Statements in one portion of a long problem. null: the whole problem at once."""
    opinions: Literal["none", "failing", "all"] = "none"
    """Whether `model_critic` doubts tests and puts proofs into words. failing: of replies that the solver faults, for
    the actor to read; all: of accepted ones too, for the record. It decides nothing."""
    timeout_s: Annotated[float, Field(gt=0)] = DEFAULT_TIMEOUT_S
    """For one review."""
    lessons: LessonConfig = LessonConfig()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        try:
            self.settings(trained=False)
            self.lessons.mix()
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    def settings(self, *, trained: bool) -> DialogSettings:
        """Return the dialog of the base model, or of an actor that was trained on dialogs."""
        prompt = ActorPrompt(
            self.tests, self.guidelines, self.examples, self.portion_size is not None, self.instructions
        )
        return DialogSettings(
            prompt.trained() if trained else prompt,
            self.max_retries,
            self.max_refusals,
            self.depth,
            self.history,
            self.portion_size,
        )
