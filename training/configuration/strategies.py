"""Strategies of arms: one model for each, which is its settings and what is learnt of what it makes."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field

from critics import registry
from critics.judge import DEFAULT_TIMEOUT_S
from critics.problem import is_object
from rollout.settings import DialogSettings, ProgramSettings, RoundTripSettings
from training.configuration.lessons import LessonConfig
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
    opinions: Literal["none", "failing", "all"] = "none"
    """Doubts of `model_critic` about tests, and its words for proofs. failing: of replies that the solver faults, for
    the actor to read; all: of accepted ones too, for the record. They decide nothing."""
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
_OF_FORMAT = {"asp": "actor-critic", "program": "translate-and-refine", "equivalence": "round-trip"}


def with_strategies(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's configuration as it is read, with the whole strategy in every arm.

    An arm has what the run's section says, then what it says itself. Older files are read, too: an arm's `format` and
    its keys under `actor_critic` and `programs`, `programs.strategy`, and the curriculum among round trips.
    """
    found = dict(data)
    if isinstance(found.get("programs"), Mapping):
        found["programs"] = _renamed(found["programs"])
    trips = found.get("round_trip")
    if is_object(trips) and "curriculum" in trips:
        found["round_trip"] = {key: value for key, value in trips.items() if key != "curriculum"}
        found["star"] = {"curriculum": trips["curriculum"]} | dict(found.get("star") or {})
    arms = found.get("arms")
    if isinstance(arms, list):
        found["arms"] = [_arm(arm, found) if is_object(arm) else arm for arm in cast("list[object]", arms)]
    return found


def _arm(given: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    arm = dict(given)
    format_ = arm.pop("format", None)
    older = {key: _renamed(arm.pop(key) or {}) for key in ("actor_critic", "programs") if key in arm}
    said = arm.get("strategy")
    if said is None:
        name = _OF_FORMAT.get(str(format_), format_ or "guided")
        said = {"name": _program_strategy(run) if format_ == "program" else name}
    elif isinstance(said, str) and said in registry.names("strategies"):
        said = {"name": "plug-in", "of": said, "format": format_ or "guided"}
    elif format_ is not None:
        raise ValueError(f"arms.{arm.get('name')}.format: `strategy` says what is written; leave it out")
    own = named(said)
    if not is_object(own):
        return arm
    section = SECTIONS.get(str(own.get("name")))
    for key, keys in older.items():
        if keys and key != section:
            needed = "actor-critic" if key == "actor_critic" else "translate-and-refine` or `prototype-then-refine"
            raise ValueError(f"arms.{arm.get('name')}.{key}: is for `strategy: {needed}`")
        own = {**own, **keys}
    shared = run.get(section) if section else None
    shared = shared.model_dump() if isinstance(shared, BaseModel) else shared
    return {**arm, "strategy": {**(shared if is_object(shared) else {}), **own}}


def _program_strategy(run: Mapping[str, Any]) -> str:
    section = run.get("programs")
    name: str | None = section.get("name") if is_object(section) else getattr(section, "name", None)
    return name or ProgramsConfig().name


def _renamed(keys: Any) -> Any:
    return {("name" if key == "strategy" else key): value for key, value in keys.items()} if is_object(keys) else keys
