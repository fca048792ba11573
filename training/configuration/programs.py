"""The configuration of strategies that write programs for solvers: how they are asked for, chosen and mended."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from critics.errors import InputError
from critics.judge import DEFAULT_TIMEOUT_S
from rollout.programs.draft import Depth
from rollout.strategies.programs import Name, ProgramSettings
from training.configuration.section import Positive, Section


class ProgramsConfig(Section):
    """What arms with `format: program` do; its keys are those of `ProgramSettings` (docs/programs-strategies.md)."""

    strategy: Name = "translate-and-refine"
    language: Literal["rules", "csp", "logic-program", "fol", "z3-python"] | None = None
    """null: that of the problem's data set."""
    examples: Annotated[int, Field(ge=0)] = 2
    """Solved examples that the base model reads; a trained translator reads none."""
    samples: Positive = 1
    """Programs sampled before one is chosen; ten in paper 001."""
    prototypers: list[str] = []
    """Asked in their order until one chooses: majority, coder-reviewer, random."""
    refiners: list[str] = ["error-feedback"]
    """Applied in their order: implicit, consistency, error-feedback, semantic, self-check."""
    max_rounds: Annotated[int, Field(ge=0)] = 4
    """Of a refiner that goes on while it has something to say."""
    backup: Literal["llm", "random", "none"] = "none"
    """The answer where no program gives one: recorded apart, and never the program's."""
    depth: Depth = "execution"
    """How far feedback goes: to a program that runs, or to one that a certificate could be had for."""
    constrained: bool = False
    """Write under the language's grammar, so that no program fails to parse."""
    timeout_s: Annotated[float, Field(gt=0)] = DEFAULT_TIMEOUT_S
    """For one run of a program."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        try:
            self.settings(trained=False)
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    def settings(self, *, trained: bool) -> ProgramSettings:
        """Return the strategy of the base model, or of a translator that was trained on its own programs."""
        return ProgramSettings(
            self.strategy,
            self.language,
            0 if trained else self.examples,
            self.samples,
            tuple(self.prototypers),
            tuple(self.refiners),
            self.max_rounds,
            self.backup,
            self.depth,
            self.constrained,
        )
