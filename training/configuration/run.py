"""Configuration: frozen models over sparse YAML; unknown keys are errors that suggest the nearest key."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from critics import registry
from critics.errors import InputError
from critics.problem import is_list, is_object
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.guides.catalogue import known_guides
from rollout.problems.catalogue import LANGUAGES, Split
from rollout.records.sampling import Decoding
from rollout.settings import DialogSettings, ProgramSettings, RoundTripSettings
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.learning import CERTIFIED, CurriculumConfig, Keep, LessonConfig, Text
from training.configuration.model import Format, ModelConfig, SamplingConfig
from training.configuration.problems import ProblemsConfig
from training.configuration.section import Positive, Rate, Section, nearest, read_yaml, validated

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


def _with_shared_settings(arm: Any, run: Any) -> Any:
    """Return an arm whose strategy has what the run's section for it says.

    A plug-in's name alone stands for `{name: plug-in, of: NAME}`.
    """
    if not is_object(arm):
        return arm
    said = arm.get("strategy", SingleConfig().name)
    if isinstance(said, str) and said in registry.names("strategies"):
        said = {"name": "plug-in", "of": said}
    own = named(said)
    if not is_object(own):
        return arm
    shared = run.get(SECTIONS.get(str(own.get("name")), ""))
    shared = shared.model_dump() if isinstance(shared, BaseModel) else shared
    return {**arm, "strategy": {**(shared if is_object(shared) else {}), **own}}


class ArmConfig(Section):
    """One filter's line of rounds."""

    name: str
    keep: Keep
    decoding: Decoding
    strategy: StrategyConfig = SingleConfig()
    """The way to put problems to the model, with its settings; a name alone is short for its defaults, and what
    is not said is as the run's section for it has it."""
    guide: str = "logic"
    """Guide of the sampling where `decoding` is guided: logic, memory, quote (from the problem's context), algebra,
    parity, english (a whole chain of thought; what `strategy: cot` has unless another is named), or a plug-in's."""
    match: str | None = None
    """Keep at most as many traces as this arm kept in the same round and seed: a control for amount."""
    matched: Literal["random", "likeliest"] = "random"
    """The traces that stay where `match` leaves fewer: any, or those that the model found likeliest, by mean
    log-probability of a token (`sampling.log_probabilities`): a filter that needs no critic but its number."""
    gold: bool = True
    """The arm sees the gold answers of its training problems; false: its critic or its samples decide alone."""
    balance: bool = False
    """Keep equally many of each answer: of the others as many as the rarest has, chosen by a hash."""
    false_positives: Rate = 0.0
    """With `keep: strict`, a share of the lucky traces kept all the same: what a critic that errs so often would do."""
    flaw: str | None = None
    """Reason of the lucky traces that are kept first, so that false positives have a pattern. null: at random."""
    taught_by: Literal["itself", "references", "proofs", "nobody"] = "itself"
    """itself: traces of its own. references: gold answers, or annotated formulas, as baselines are fine-tuned.
    proofs: what `demonstrate --format english` writes of its problems, a ceiling. nobody: it samples no training
    problem and learns nothing, and is only measured."""
    text: Text | None = None
    """The text of what is kept, where it is another than `training.text`."""

    @property
    def format(self) -> Format:
        """Format of what the arm's attempts are written in."""
        return self.strategy.format

    @model_validator(mode="before")
    @classmethod
    def _cot_is_english(cls, data: Any) -> Any:
        """Give guided chains of thought the guide that is made for them."""
        if not is_object(data) or data.get("decoding") != "guided":
            return data
        said = data.get("strategy")
        name = said.get("name") if is_object(said) else getattr(said, "name", said)
        return {"guide": "english", **data} if name == "cot" else data

    @property
    def is_squared(self) -> bool:
        """True where the arm's attempts can be written under its guide and freely."""
        return self.format == "guided" or self.guide == "english"

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        if self.text in ("proved", "excerpt") and self.keep not in CERTIFIED:
            raise ValueError(f"text: {self.text} needs `keep: strict` (or `trusted`), because what is cut is judged")
        if self.taught_by == "references" and not isinstance(self.strategy, SingleConfig):
            raise ValueError(
                f"taught_by: there are no references for `strategy: {self.strategy.name}`; write answer, cot, fol or "
                "fol-cot"
            )
        if self.taught_by == "references" and self.keep in CERTIFIED and self.format == "cot":
            raise ValueError("taught_by: references are bare answers here, which `keep` refuses; write `proofs`")
        if self.taught_by == "proofs" and self.strategy.name != "cot":
            raise ValueError("taught_by: proofs are chains of thought; write `strategy: cot`")
        if self.taught_by in ("references", "proofs") and not self.gold:
            raise ValueError(
                f"taught_by: {self.taught_by} hold the gold answers that `gold: false` hides; leave one out"
            )
        if self.format not in ("guided", "cot") and self.decoding == "guided":
            name = self.strategy.name
            raise ValueError(f"decoding: write `free` with `strategy: {name}`; no guide is for what it writes")
        if self.guide not in known_guides():
            raise ValueError(f"guide: {self.guide!r} is not known; {nearest(self.guide, known_guides())}")
        if (self.guide == "english") > (self.format == "cot"):
            raise ValueError("guide: english writes chains of thought; write `strategy: cot`, too")
        if self.guide not in ("logic", "english") and (
            self.decoding == "free" or isinstance(self.strategy, PlugInConfig)
        ):
            raise ValueError(f"guide: {self.guide!r} watches what is written with `decoding: guided`; write that, too")
        if self.format != "asp" and self.keep == "tests":
            raise ValueError("keep: tests is for `strategy: actor-critic`")
        if not self.gold and self.keep not in (*CERTIFIED, "majority", "unfiltered"):
            raise ValueError(f"gold: `keep: {self.keep}` needs gold answers; write strict, majority or unfiltered")
        if self.false_positives and (self.keep != "strict" or not self.gold):
            raise ValueError("false_positives: needs `keep: strict` and the gold answers, which say what is lucky")
        if self.keep == "proved" and (self.format != "guided" or self.decoding != "guided"):
            raise ValueError("keep: proved is for `strategy: guided` with `decoding: guided`, as in LogicGuide's paper")
        if self.format == "equivalence" and self.keep == "guided":
            raise ValueError(f"keep: {self.keep} says nothing of round trips; write strict, naive or unfiltered")
        return self


class StarConfig(Section):
    """The outer loop."""

    rounds: Positive = 2
    problems_per_round: Positive = 200
    start: Literal["base", "last"] = "base"
    """base: every round fine-tunes the base model on all kept traces so far, as STaR does. last: goes on from
    the last adapter with the new traces alone."""
    rationalise: bool = False
    """Retry a failed problem with its answer as a hint; kept attempts are trained on without the hint."""
    curriculum: CurriculumConfig | None = None
    """Order in which rounds come to the data set's categories of formulas. null: each draws from all of them."""


class PromotionConfig(Section):
    """Guard against a broken adapter, never a choice between good ones: the next round starts from the one before."""

    enabled: bool = True
    min_answered: Rate = 0.01
    """Share of the held-out problems that must get any answer at all."""
    chance_p: Annotated[float, Field(ge=0, lt=1)] = 1e-6
    """Refused where guessing would do as badly, or worse, less often than this: far below what bad luck explains."""


class EvaluationConfig(Section):
    """Held-out measurement: sampled at T = 1 after every round, more at the ends."""

    num_problems: Positive = 300
    split: Split = "test"
    batch_size: Positive = 150
    greedy: Literal["ends", "every", "never"] = "ends"
    """Greedy decoding, measured beside sampling at round 0 and the last round, in every round, or never."""
    square: Literal["never", "sampled", "both"] = "both"
    """Measure each arm's first and last model under the other decoding too, freely or under the guide, so that decoding
    and training are told apart: sampled, or both sampled and greedily where `greedy` asks for that."""
    primary: Literal["accuracy", "gain", "certified"] | None = None
    """The metric that the run is about, declared before it; the others are secondary. null: none was declared."""
    temperature: Annotated[float, Field(ge=0)] = 1.0
    """Temperature of sampled measurements of `run`, and of benchmarks (`evaluate`: `sampling.temperature`)."""
    resampled: bool = False
    """Measure dialogs also with plain resampling in the place of feedback, before the first round and after the last:
    the control without which nothing may be claimed for feedback."""


class WorkersConfig(Section):
    """Processes that sample and judge; they change no result, so that a run can go on with other workers."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: those of a Ray cluster (extra `ray`, docs/scaling.md)."""
    address: str | None = None
    """Address of the Ray cluster: HOST:PORT, or auto on a machine of it. null: RAY_ADDRESS, else one kept here for the
    run."""
    gpus: Annotated[float, Field(ge=0)] | None = None
    """GPUs of each policy under ray, a fraction where several share one. null: one where the cluster has any, else
    none."""
    samplers: Annotated[int, Field(ge=0)] = 0
    """Policies of a line of rounds, each in a process; 0: one a GPU; without GPUs one a core, as memory allows."""
    critics: Annotated[int, Field(ge=0)] = 0
    """Processes that judge for a line of rounds; 0: its share of the cores. Under ray any CPU judges."""

    @model_validator(mode="after")
    def _names_a_cluster(self) -> Self:
        if self.backend != "ray" and (self.address is not None or self.gpus is not None):
            raise ValueError(f"{'gpus' if self.address is None else 'address'}: is for `backend: ray`")
        if self.address not in (None, "auto") and not re.fullmatch(r"[^/\s]+:\d+", self.address or ""):
            raise ValueError(
                f"address: {self.address!r} is neither auto nor HOST:PORT; Ray Client (ray://) does not do"
            )
        return self


class RunConfig(Section):
    """A run of `certistar run`: rounds of one arm, or of several that are compared."""

    name: str
    model: ModelConfig
    actor_critic: ActorCriticConfig = ActorCriticConfig()
    """Settings of arms with `strategy: actor-critic` where they say nothing else."""
    programs: ProgramsConfig = ProgramsConfig()
    """The same for arms with `strategy: translate-and-refine` or `prototype-then-refine`."""
    round_trip: RoundTripConfig = RoundTripConfig()
    """The same for arms with `strategy: round-trip`, and for benchmarks of round trips."""
    problems: ProblemsConfig = ProblemsConfig()
    held_out: ProblemsConfig | None = None
    """Problems for evaluation; by default like `problems`, from another split."""
    train_split: Split = "train"
    arms: Annotated[list[ArmConfig], Field(min_length=1)] = [ArmConfig(name="strict", keep="strict", decoding="guided")]
    seeds: Annotated[list[int], Field(min_length=1)] = [0]
    star: StarConfig = StarConfig()
    sampling: SamplingConfig = SamplingConfig()
    training: TrainingConfig = TrainingConfig()
    promotion: PromotionConfig = PromotionConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    jobs: int = 0
    """Lines of rounds worked on at once; 0: one a core, or one where there is a GPU."""
    workers: WorkersConfig = WorkersConfig()

    @model_validator(mode="before")
    @classmethod
    def _arms_have_their_settings(cls, data: Any) -> Any:
        if not is_object(data) or not is_list(arms := data.get("arms")):
            return data
        return {**data, "arms": [_with_shared_settings(arm, data) for arm in arms]}

    @model_validator(mode="after")
    def _arms_fit(self) -> Self:
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError(f"arms: two arms have the same name ({names})")
        for arm in self.arms:
            if arm.keep == "majority" and self.sampling.samples_per_problem < 3:
                raise ValueError(f"arms.{arm.name}.keep: a majority needs sampling.samples_per_problem of 3 or more")
            if arm.match is not None and arm.match not in names[: names.index(arm.name)]:
                raise ValueError(f"arms.{arm.name}.match: {arm.match!r} must name an arm listed before it")
            if arm.matched == "likeliest" and (arm.match is None or not self.sampling.log_probabilities):
                raise ValueError(
                    f"arms.{arm.name}.matched: likeliest needs `match` and sampling.log_probabilities: true"
                )
        self._engine_does()
        has_guided = any(arm.decoding == "guided" for arm in self.arms)
        if has_guided and self.model.thinking == "stripped" and self.model.thinking_budget is None:
            raise ValueError("model.thinking_budget: guided arms need it, to know where the guide begins to watch")
        if self.sampling.conclusion == "decided" and any(arm.guide != "logic" for arm in self.arms):
            raise ValueError("sampling.conclusion: `decided` is for the guide `logic`, which alone decides a goal")
        if self.sampling.max_sentences is not None and all(arm.guide != "english" for arm in self.arms):
            raise ValueError("sampling.max_sentences: is for the guide `english`, which counts them; leave it out")
        if self.evaluation.split == self.train_split and self.problems.source is None:
            raise ValueError("evaluation.split: held-out problems need another split than train_split")
        if self.star.rationalise and any(arm.format in ("asp", "program") for arm in self.arms):
            raise ValueError(
                "star.rationalise: is not for dialogs and programs, where feedback takes the place of a hint"
            )
        for arm in self.arms:
            if not isinstance(arm.strategy, ActorCriticConfig):
                continue
            if arm.strategy.timeout_s != self.actor_critic.timeout_s:
                raise ValueError(
                    f"arms.{arm.name}.strategy.timeout_s: is one for all arms; write it under actor_critic"
                )
        return self

    @model_validator(mode="after")
    def _round_trips_fit(self) -> Self:
        trips = [arm for arm in self.arms if arm.format == "equivalence"]
        if trips and self.star.rationalise:
            raise ValueError("star.rationalise: a round trip has no answer that could be a hint")
        for key, source in (("problems", self.problems), ("held_out", self.held_out)):
            if trips and source is not None and source.source is None and source.dataset not in LANGUAGES:
                raise ValueError(
                    f"{key}.dataset: {source.dataset!r} has no formulas; with `strategy: round-trip` write one of "
                    f"{', '.join(LANGUAGES)}"
                )
        if self.star.curriculum is not None:
            try:
                self.star.curriculum.of_round(0, self.problems.categories(), self.star.rounds, seed=0)
            except InputError as error:
                raise ValueError(f"star.curriculum.{error}") from error
        return self

    def asks_as_usual(self, arm: ArmConfig) -> bool:
        """Say whether an arm asks like any other of its format: with the settings of the run's section."""
        section = SECTIONS.get(arm.strategy.name)
        if section is None:
            return isinstance(arm.strategy, SingleConfig) and arm.guide in ("logic", "english")
        return arm.strategy.model_dump(exclude={"name"}) == getattr(self, section).model_dump(exclude={"name"})

    def arms_named(self, names: Sequence[str]) -> list[ArmConfig]:
        """Return the arms that `--arm` names; the first one where none is named."""
        known = {arm.name: arm for arm in self.arms}
        for name in names:
            if name not in known:
                raise InputError(f"--arm {name!r}: the configuration has {', '.join(known)}")
        return [known[name] for name in names] or self.arms[:1]

    def _engine_does(self) -> None:
        """Raise `ValueError` for what vLLM cannot do, before any work."""
        if self.model.engine == "own":
            return
        for switch in ("jump_forward", "gathered_head"):
            if getattr(self.sampling, switch):
                raise ValueError(f"sampling.{switch}: is for the own loop; leave it out, or write model.engine: own")
        if self.training.method == "dora":
            raise ValueError("training.method: vLLM has no DoRA; write lora, or model.engine: own")

    def digest(self) -> str:
        """Return the SHA-256 of the resolved configuration without what changes no result: memory, speed, addresses."""
        model = {"vllm": True, "server": {"base_url", "key_variable", "parallel", "retries", "timeout_s"}}
        unimportant: Any = {"jobs": True, "workers": True, "model": model, "sampling": {"num_seats"}}
        record = self.model_dump(mode="json", exclude=unimportant)
        record["training"] = self.training.digested_json()
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def load_run(path: Path, overrides: list[str] | None = None) -> RunConfig:
    """Read a run's configuration, with `--set key.sub=value` overrides applied before it is checked."""
    return validated(RunConfig, read_yaml(path), overrides or [], path)
