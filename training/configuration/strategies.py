"""Strategies of arms: one model for each, which is its settings and what is learnt of what it makes."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field

from critics import registry
from critics.problem import is_object
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.settings import DialogSettings, ProgramSettings, RoundTripSettings
from training.configuration.learning import LessonConfig
from training.configuration.model import Format
from training.configuration.section import Section

Timeout = Annotated[float, Field(gt=0)]


class SingleConfig(Section):
    """Single attempts, one completion for a problem."""

    name: Literal["guided", "cot", "answer", "fol", "fol-cot"] = "guided"
    """guided: rationales; cot: plain chain of thought, certified where its data set's English can be read; answer: no
    thought at all; fol: formulas that Z3 decides; fol-cot: formulas as a chain of thought."""

    @property
    def format(self) -> Format:
        """Format of the attempts."""
        return self.name


class ActorCriticConfig(DialogSettings):
    """Dialogs of an actor, which writes programs with tests, and the critic."""

    format: ClassVar[Format] = "asp"
    timeout_s: Timeout = DEFAULT_TIMEOUT_S
    """For one review; the same for all arms."""
    lessons: LessonConfig = LessonConfig()


class ProgramsConfig(ProgramSettings):
    """Programs for solvers, sampled, chosen and mended."""

    format: ClassVar[Format] = "program"
    timeout_s: Timeout = DEFAULT_TIMEOUT_S
    """For one run of a program."""


class RoundTripConfig(RoundTripSettings):
    """Round trips of formulas, and what kept ones teach."""

    format: ClassVar[Format] = "equivalence"
    learn: Literal["both", "informalise", "autoformalise"] = "both"
    """Directions that kept trips teach."""


class PlugInConfig(Section):
    """Strategy of another package (docs/plug-ins.md)."""

    name: Literal["plug-in"] = "plug-in"
    of: str
    """Its name in `certistar.strategies`."""
    format: Format = "guided"
    """Format of its attempts."""


def named(given: object) -> object:
    """Return a strategy as a mapping; a name alone is short for one with its defaults."""
    return {"name": given} if isinstance(given, str) else given


_AnyStrategy = Annotated[
    SingleConfig | ActorCriticConfig | RoundTripConfig | ProgramsConfig | PlugInConfig, Field(discriminator="name")
]
StrategyConfig = Annotated[_AnyStrategy, BeforeValidator(named, json_schema_input_type=_AnyStrategy | str)]
SECTIONS: Mapping[str, str] = {
    "actor-critic": "actor_critic",
    "round-trip": "round_trip",
    "translate-and-refine": "programs",
    "prototype-then-refine": "programs",
}
"""Sections of a run with what its arms have where they say nothing else, by strategy."""


def with_shared_settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's configuration in which each arm's strategy has what the run's section for it says.

    A plug-in's name alone stands for `{name: plug-in, of: NAME}`.
    """
    arms = data.get("arms")
    if not isinstance(arms, list):
        return dict(data)
    listed = cast("list[object]", arms)
    return {**data, "arms": [_arm(arm, data) if is_object(arm) else arm for arm in listed]}


def _arm(arm: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    said = arm.get("strategy", SingleConfig().name)
    if isinstance(said, str) and said in registry.names("strategies"):
        said = {"name": "plug-in", "of": said}
    own = named(said)
    if not is_object(own):
        return dict(arm)
    shared = run.get(SECTIONS.get(str(own.get("name")), ""))
    shared = shared.model_dump() if isinstance(shared, BaseModel) else shared
    return {**arm, "strategy": {**(shared if is_object(shared) else {}), **own}}
