"""Configuration: frozen models over sparse YAML; unknown keys are errors that suggest the nearest key."""

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from critics.errors import InputError
from rollout.guides.catalogue import known_guides
from rollout.problems.catalogue import LANGUAGES
from rollout.splits import Split
from rollout.traces import Decoding
from training.configuration.actor_critic import ActorCriticConfig
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import Format, ModelConfig, SamplingConfig
from training.configuration.problems import ProblemsConfig
from training.configuration.programs import ProgramsConfig
from training.configuration.round_trip import RoundTripConfig
from training.configuration.section import Positive, Rate, Section, explained, nearest, read_yaml, validated
from training.curation.filters import Keep


class ArmConfig(Section):
    """One filter's line of rounds."""

    later = frozenset({"strategy", "guide", "prune", "hindsight", "actor_critic", "programs"})
    name: str
    keep: Keep
    decoding: Decoding
    format: Format = "guided"
    """cot: plain chain of thought, which no critic can certify, and answer: no thought at all; fol: formulas that Z3
    decides, and fol-cot: formulas as a chain of thought; asp: programs with tests, in a dialog with the critic;
    program: programs for solvers (section `programs`); equivalence: round trips (section `round_trip`)."""
    actor_critic: dict[str, Any] = {}
    """Keys of the section `actor_critic` that this arm has otherwise: prompts, feedback or history compared."""
    programs: dict[str, Any] = {}
    """Keys of the section `programs` that this arm has otherwise."""
    strategy: str | None = None
    """A strategy of another package, by its name in `certistar.strategies` (docs/plug-ins.md), which asks in the place
    of the format's own. null: ours."""
    guide: str = "logic"
    """What guides the sampling where `decoding` is guided: logic, compatible (the original engine, bugs included),
    memory, quote (from the problem's context), algebra, parity, or a plug-in's."""
    match: str | None = None
    """Keep at most as many traces as this arm kept in the same round and seed: a control for amount."""
    prune: bool = False
    """Rewrite what strict keeps to the inferences that its proof uses; off, because the paper trains on the whole."""
    hindsight: bool = False
    """Relabel a failed trace as an attempt at another goal that it proves; off, because the paper drops it."""

    @model_validator(mode="after")
    def _derives_from_proofs(self) -> Self:
        wanted = [name for name in ("prune", "hindsight") if getattr(self, name)]
        if wanted and (self.keep != "strict" or self.format != "guided"):
            raise ValueError(
                f"{wanted[0]}: needs `keep: strict` and `format: guided`, because what it makes is judged by its proof"
            )
        return self

    @model_validator(mode="after")
    def _asks_in_one_way(self) -> Self:
        if self.format not in ("guided", "cot") and self.decoding == "guided":
            raise ValueError(f"decoding: write `free` with `format: {self.format}`; no guide is for what it writes")
        if self.guide not in known_guides():
            raise ValueError(f"guide: {self.guide!r} is not known; {nearest(self.guide, known_guides())}")
        if self.guide != "logic" and (self.decoding == "free" or self.strategy is not None):
            raise ValueError(f"guide: {self.guide!r} watches what is written with `decoding: guided`; write that, too")
        if self.format != "asp" and (self.actor_critic or self.keep == "tests"):
            key = "actor_critic" if self.actor_critic else "keep: tests"
            raise ValueError(f"{key}: is for `format: asp`")
        if self.format != "program" and self.programs:
            raise ValueError("programs: is for `format: program`")
        if self.format == "equivalence" and self.keep in ("guided", "tests"):
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


class PromotionConfig(Section):
    """When a round's adapter is not gone on with: guards against a broken one, never a choice between good ones."""

    enabled: bool = True
    min_answered: Rate = 0.01
    """Share of the held-out problems that must get any answer at all."""
    chance_p: Annotated[float, Field(ge=0, lt=1)] = 1e-6
    """Refused where guessing would do as badly, or worse, less often than this: far below what bad luck explains."""


class EvaluationConfig(Section):
    """Held-out measurement: sampled at T = 1 after every round, more at the ends."""

    later = frozenset({"temperature", "resampled"})
    num_problems: Positive = 300
    split: Split = "test"
    batch_size: Positive = 150
    greedy: Literal["ends", "every", "never"] = "ends"
    """When to measure greedy decoding beside sampling: at round 0 and the last round, in every round, or never."""
    guided: bool = True
    """Measure the last model of an unguided arm under the guide too, so that decoding and training are told apart."""
    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Of the sampled evaluation."""
    resampled: bool = False
    """Measure dialogs also with plain resampling in the place of feedback, before the first round and after the last:
    the control without which nothing may be claimed for feedback."""


class WorkersConfig(Section):
    """Who samples and who judges; it changes no result, so that a run can go on with other workers."""

    backend: Literal["local", "ray"] = "local"
    """local: processes of this machine. ray: those of a Ray cluster (extra `ray`, docs/scaling.md)."""
    address: str | None = None
    """Of the Ray cluster: HOST:PORT, or auto on a machine of it. null: RAY_ADDRESS, else one kept here for the run."""
    gpus: Annotated[float, Field(ge=0)] | None = None
    """Of each policy under ray, a fraction where several share one. null: one where the cluster has any, else none."""
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
    """What `certistar run` does: rounds of one arm, or of several that are compared."""

    later = frozenset({"actor_critic", "programs", "model_critic", "promotion", "round_trip"})
    name: str
    model: ModelConfig
    model_critic: ModelConfig | None = None
    """Who gives opinions where `actor_critic.opinions` asks for them; it is not trained, and nothing trusts it."""
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
    actor_critic: ActorCriticConfig = ActorCriticConfig()
    """How arms with `format: asp` ask."""
    programs: ProgramsConfig = ProgramsConfig()
    """How arms with `format: program` ask."""
    round_trip: RoundTripConfig = RoundTripConfig()
    """How arms with `format: equivalence` ask."""
    jobs: int = 0
    """Lines of rounds worked on at once; 0: one a core, or one where there is a GPU."""
    workers: WorkersConfig = WorkersConfig()

    @model_validator(mode="after")
    def _arms_fit(self) -> Self:
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError(f"arms: two arms have the same name ({names})")
        for arm in self.arms:
            if arm.match is not None and arm.match not in names[: names.index(arm.name)]:
                raise ValueError(f"arms.{arm.name}.match: {arm.match!r} must name an arm listed before it")
        if self.model.thinking == "stripped" and any(arm.decoding == "guided" for arm in self.arms):
            raise ValueError("model.thinking: a guide watches all that is written; write `kept`, or `decoding: free`")
        if self.sampling.conclusion == "decided" and any(arm.guide != "logic" for arm in self.arms):
            raise ValueError("sampling.conclusion: `decided` is for the guide `logic`, which alone decides a goal")
        if self.evaluation.split == self.train_split and self.problems.source is None:
            raise ValueError("evaluation.split: held-out problems need another split than train_split")
        return self

    @model_validator(mode="after")
    def _dialogs_fit(self) -> Self:
        dialogs = [arm for arm in self.arms if arm.format == "asp"]
        if self.star.rationalise and any(arm.format in ("asp", "program") for arm in self.arms):
            raise ValueError("star.rationalise: is not for asp and program, where feedback takes the place of a hint")
        for arm in dialogs:
            if "timeout_s" in arm.actor_critic:
                raise ValueError(
                    f"arms.{arm.name}.actor_critic.timeout_s: is one for all arms; write it under actor_critic"
                )
            try:
                asks = self.actor_critic_of(arm).opinions != "none"
            except ValidationError as error:
                raise ValueError(f"arms.{arm.name}.actor_critic.{explained(error, ActorCriticConfig)}") from error
            if asks and self.model_critic is None:
                raise ValueError(f"arms.{arm.name}.actor_critic.opinions: name who gives them under model_critic")
        return self

    @model_validator(mode="after")
    def _programs_fit(self) -> Self:
        for arm in self.arms:
            try:
                self.programs_of(arm)
            except ValidationError as error:
                raise ValueError(f"arms.{arm.name}.programs.{explained(error, ProgramsConfig)}") from error
        return self

    @model_validator(mode="after")
    def _round_trips_fit(self) -> Self:
        trips = [arm for arm in self.arms if arm.format == "equivalence"]
        if trips and self.star.rationalise:
            raise ValueError("star.rationalise: a round trip has no answer that could be a hint")
        for key, source in (("problems", self.problems), ("held_out", self.held_out)):
            if trips and source is not None and source.source is None and source.dataset not in LANGUAGES:
                raise ValueError(
                    f"{key}.dataset: {source.dataset!r} has no formulas; with `format: equivalence` write one of "
                    f"{', '.join(LANGUAGES)}"
                )
        if self.round_trip.curriculum is not None:
            try:
                self.problems.curriculum(self.round_trip.curriculum, self.star.rounds)
            except InputError as error:
                raise ValueError(f"round_trip.curriculum.{error}") from error
        return self

    def programs_of(self, arm: ArmConfig) -> ProgramsConfig:
        """Return the section `programs` with what an arm has otherwise."""
        return ProgramsConfig.model_validate(self.programs.model_dump() | arm.programs)

    def actor_critic_of(self, arm: ArmConfig) -> ActorCriticConfig:
        """Return the section `actor_critic` with what an arm has otherwise."""
        return ActorCriticConfig.model_validate(self.actor_critic.model_dump() | arm.actor_critic)

    def digest(self) -> str:
        """Return the SHA-256 of the resolved configuration; `jobs` and `workers` change no result and are left out."""
        record = self.digested()
        for name in ("jobs", "workers"):
            del record[name]
        if self.model.examples is None and all(arm.format == "guided" for arm in self.arms):
            record["model"]["examples"] = 2  # the key's default before it had null, and what null means there
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def load_run(path: Path, overrides: list[str] | None = None) -> RunConfig:
    """Read a run's configuration, with `--set key.sub=value` overrides applied before it is checked."""
    return validated(RunConfig, read_yaml(path), overrides or [], path)
