"""Configuration: frozen models over sparse YAML; unknown keys are errors that suggest the nearest key."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.request import Switches
from rollout.problems.catalogue import GENERATED, LANGUAGES, family, is_generated
from rollout.problems.prontoqa import Ontology
from rollout.problems.splits import Split
from rollout.prompt import PromptStyle
from rollout.servers.connection import ServerSettings
from rollout.servers.constraint import Way
from rollout.traces import Conclusion, Decoding, Sampling
from training.autoeval.round_trips import Curriculum
from training.configuration.actor_critic import ActorCriticConfig
from training.configuration.programs import ProgramsConfig
from training.configuration.round_trip import CurriculumConfig, RoundTripConfig
from training.configuration.section import ConfigError, Positive, Rate, Section, explained, read_yaml, validated
from training.curation.filters import Keep
from training.finetuning.trackers import Name

YamlOntology = Annotated[Ontology, BeforeValidator(lambda v: str(v).lower() if isinstance(v, bool) else v)]
"""YAML reads the names `true` and `false` as booleans."""
Format = Literal["guided", "cot", "answer", "fol", "fol-cot", "asp", "program", "equivalence"]
"""What arms write: guided rationales, plain chain of thought, the answer alone, formulas that a solver decides,
formulas with the model's own answer under them, programs with tests in a dialog with the critic,
programs for solvers in the data set's language, chosen and mended, formulas put into words and back."""


class ProblemsConfig(Section):
    """Problems to generate, or a file to read."""

    later = frozenset({"dataset", "family", "hub"})
    file: str | None = None
    """A JSON-lines file of problems, or a published file; the other keys then do not matter."""
    hub: str | None = None
    """A data set of the Hub in the place of a file, with its split: `yale-nlp/FOLIO:train`, under `dataset: folio`."""
    dataset: str = "prontoqa"
    """What is generated (`rollout.problems.catalogue`)."""
    hops: list[int] = [1, 2, 3, 4, 5]
    ontologies: list[YamlOntology] = ["fictional"]
    extra_kinds: tuple[int, int] = (0, 3)
    property_rate: Rate = 1.0
    ordering: Literal["random", "ordered"] = "random"
    family: dict[str, Any] = {}
    """The keys of another data set's generator, as its dataclass names them; PrOntoQA's stand beside this one."""

    @model_validator(mode="after")
    def _can_be_generated(self) -> Self:
        if self.hub is not None and (self.dataset != "folio" or self.file is not None):
            raise ValueError(f"hub: {self.hub!r} needs `dataset: folio`, which alone is read from the Hub, and no file")
        own = self.dataset == "prontoqa"
        for key in ("family",) if own else _PRONTOQA_KEYS:
            if getattr(self, key) != type(self).model_fields[key].get_default(call_default_factory=True):
                raise ValueError(f"{key}: " + ("PrOntoQA's keys stand beside it" if own else "write it under family"))
        if is_generated(self.dataset):
            self._configured("train")
        elif self.source is None:
            raise ValueError(f"dataset: {self.dataset!r} has no generator; known here: {', '.join(GENERATED)}")
        return self

    @property
    def source(self) -> str | None:
        """What the problems are read from; None: they are generated."""
        return self.file if self.hub is None else self.hub

    @property
    def named_dataset(self) -> str | None:
        """The data set of a file where it is said; None: the file's records show it."""
        return None if self.dataset == "prontoqa" else self.dataset

    def generate(self, split: Split, num: int, *, seed: int, start: int = 0) -> Iterator[Problem]:
        """Yield problems `start` to `start + num - 1` of a split."""
        return family(self.dataset).generate(self._configured(split), num, seed=seed, start=start)

    def curriculum(self, config: CurriculumConfig, num_rounds: int) -> Curriculum:
        """Return in which order rounds come to the categories; raises `InputError` where there are none."""
        if self.source is not None or self.dataset not in LANGUAGES:
            raise InputError(f"first: is for generated formulas (problems.dataset: {', '.join(LANGUAGES)})")
        return config.of(tuple(self._configured("train").categories), num_rounds)

    def of_categories(self, categories: Sequence[int]) -> "ProblemsConfig":
        """Return the same for some categories of formulas."""
        return self.model_copy(update={"family": {**self.family, "categories": list(categories)}})

    def _configured(self, split: Split) -> Any:
        made = family(self.dataset)
        if self.dataset == "prontoqa":
            return made.configured({key: getattr(self, key) for key in _PRONTOQA_KEYS}, split)
        try:
            return made.configured(self.family, split)
        except ValueError as error:
            raise ValueError(f"family.{error}") from error


_PRONTOQA_KEYS = ("hops", "ontologies", "extra_kinds", "property_rate", "ordering")


class ServerConfig(Section):
    """A server that writes the attempts; docs/servers.md has the command lines of vLLM, SGLang and others."""

    base_url: str
    """Up to and including `/v1`. Keys and passwords come from the environment and have no place in it."""
    model: str
    """The name under which the server knows the model."""
    kind: Literal["completions", "chat"] = "completions"
    """completions: the prompt is text and the model goes on with it, which guides need least help for."""
    key_variable: str | None = None
    """The environment variable that holds the key. null: OPENAI_API_KEY where that is set."""
    constraint: Literal["auto"] | Way = "auto"
    """How blocks are held to the guide. auto: the best way that the server is seen to honour."""
    max_violations: Positive = 20
    """An attempt with so many is given up, as in paper 004, appendix D."""
    parallel: Positive = 16
    """Attempts written at once."""
    retries: Annotated[int, Field(ge=0)] = 5
    timeout_s: Annotated[float, Field(gt=0)] = 600
    logprobs: bool = False
    """Keep the log-probabilities of the tokens where the server gives them."""
    extra_body: dict[str, Any] = {}
    """Further fields of every request, such as a server's own sampling parameters; kept in the traces."""

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(
                f"base_url: {self.base_url.rpartition('@')[2]!r} is no address such as http://host:8000/v1"
            )
        if address.username or address.password or address.query:
            raise ValueError("base_url: leave keys and passwords out; name the variable that has them in key_variable")
        return self

    def settings(self) -> ServerSettings:
        """Return what the policy needs."""
        return ServerSettings(**dict(self))


class ModelConfig(Section):
    """The base model and how problems are put to it."""

    later = frozenset({"server", "thinking", "policy"})
    name: str
    """A local folder or a hub name; with a server, whose tokenizer it speaks."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    prompt: Literal["bare", "few-shot", "chat"] = "bare"
    examples: Annotated[int, Field(ge=0)] | None = None
    """Solved examples in the prompt. null: two under the guided format and four without, as the paper has it, and one
    more where the data set knows the answer unknown."""
    thinking: Literal["kept", "stripped"] = "kept"
    """stripped: of a reasoning model, only what follows its thinking is the attempt; what was thought stays in the
    traces. For unguided arms; round trips and verifiers strip it anyway."""
    server: ServerConfig | None = None
    """null: the model runs in this process."""
    policy: str | None = None
    """A policy of another package, by its name in `certistar.policies` (docs/plug-ins.md), which writes in the place of
    a Hugging Face model or a server. null: one of ours."""

    def style(self, format_: Format) -> PromptStyle:
        """Return the prompt style for a format; a conversation asks of it only how turns are put to the model."""
        return PromptStyle(self.prompt, self.examples, format_ if format_ in ("cot", "answer") else "guided")


class SamplingConfig(Section):
    """How attempts are sampled in rollouts; evaluation uses the same token limit."""

    later = frozenset({"conclusion", "jump_forward", "gathered_head", "log_probabilities", "fit_blocks", "num_seats"})
    temperature: Annotated[float, Field(ge=0)] = 1.0
    samples_per_problem: Positive = 1
    max_new_tokens: Positive = 256
    batch_size: Positive = 100
    """Problems in a work unit: sampled together, stored together, and lost together at most."""
    conclusion: Conclusion = "free"
    """decided: under the guide, the line `Answer:` waits until the goal is decided and agrees with it, the repair
    that the paper names at its figure 12. free, because that is what the paper measures."""
    jump_forward: bool = False
    """Write forced text without asking the model: fewer forward passes, other token boundaries (docs/decoding.md)."""
    gathered_head: bool = False
    """Compute only the allowed rows of the output head inside blocks; equal but for floating-point error."""
    log_probabilities: bool = False
    """Keep each token's log-probability under the unmasked model in the traces."""
    fit_blocks: bool = False
    """Near the token limit open only blocks that still fit."""
    num_seats: Positive | None = None
    """Sequences written at a time, the next one seated as soon as one ends: what bounds the memory of the cache.
    null: as many as a work unit has."""

    def sampling(self, decoding: Decoding, *, temperature: float | None = None, samples: int | None = None) -> Sampling:
        """Return the sampling of a rollout, or of an evaluation with other temperature and sample count."""
        return Sampling(
            decoding,
            self.temperature if temperature is None else temperature,
            self.samples_per_problem if samples is None else samples,
            self.max_new_tokens,
            self.conclusion if decoding == "guided" else "free",
            Switches(self.jump_forward, self.gathered_head, self.log_probabilities, self.fit_blocks),
        )


class ArmConfig(Section):
    """One filter's line of rounds."""

    later = frozenset({"strategy", "prune", "hindsight", "actor_critic", "programs"})
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


class TrainingConfig(Section):
    """Fine-tuning with transformers' Trainer: LoRA by default."""

    later = frozenset({"quantisation", "attention", "layout", "global_batch_size", "sharding", "offload"})
    method: Literal["lora", "dora", "full"] = "lora"
    """dora: LoRA whose columns keep a magnitude of their own, which learns more at small ranks and runs slower."""
    quantisation: Literal["none", "nf4"] = "none"
    """nf4: the frozen base in four bits (QLoRA). Rollouts read the base as `model.dtype` says all the same."""
    lora_rank: Positive = 8
    lora_alpha: Positive = 16
    lora_dropout: Rate = 0.0
    epochs: Positive = 1
    max_steps: Annotated[int, Field(ge=0)] = 0
    """At most so many optimiser steps, whatever the epochs ask for: an equal budget for arms that keep more.
    0: no limit."""
    batch_size: Positive = 2
    """Rows a process computes at once; a row is an example, or a pack of them under `layout: packed`."""
    gradient_accumulation: Positive = 1
    global_batch_size: Positive | None = None
    """Rows an optimiser step learns from on all processes together: accumulation is computed from it, so that a run
    on other GPUs takes the same steps. null: batch_size x gradient_accumulation x processes."""
    learning_rate: Annotated[float, Field(gt=0)] = 2e-5
    scheduler: Literal["constant", "linear", "cosine"] = "linear"
    warmup_ratio: Rate = 0.0
    weight_decay: float = 0.0
    optimizer: Literal["adamw_torch", "adamw_bnb_8bit"] = "adamw_torch"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """auto: mixed bfloat16 on a GPU and on CPUs that multiply it natively, where it was measured more than twice
    as fast; else float32."""
    attention: Literal["auto", "eager", "sdpa", "flash_attention_2"] = "auto"
    """auto: sdpa on a GPU and eager on a CPU. flash_attention_2 needs the package flash-attn."""
    layout: Literal["padded", "grouped", "packed"] = "padded"
    """grouped: rows of like length in a batch, so that little is padded. packed: several examples in a row of
    max_tokens, none of which sees another."""
    max_tokens: Positive = 2048
    gradient_checkpointing: bool = False
    sharding: Literal["none", "fsdp2", "zero2", "zero3"] = "none"
    """What processes hold in parts. none: each holds all (DDP). zero2 and zero3 need the package deepspeed."""
    offload: bool = False
    """Keep what is sharded in the host's memory: slower, and room for models that fit no other way."""
    checkpoint_steps: int = 0
    """Steps between resumable checkpoints within a fine-tuning; 0: none, a killed one starts over."""
    trackers: list[Name] = []
    """Where Trainer reports to, and the rates of each round: trackio, wandb, tensorboard. They change no result, so no
    digest knows them."""

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        if self.quantisation != "none" and self.method == "full":
            raise ValueError("quantisation: four-bit weights cannot be trained; write `method: lora` or `dora`")
        if self.global_batch_size is not None and self.gradient_accumulation != 1:
            raise ValueError("gradient_accumulation: is computed from global_batch_size; write one of the two")
        if self.offload and self.sharding == "none":
            raise ValueError("offload: is for what is sharded; write `sharding: fsdp2`, `zero2` or `zero3`")
        if self.quantisation != "none" and self.sharding in ("zero2", "zero3"):
            raise ValueError("sharding: four-bit weights go with `none` or `fsdp2`")
        return self

    def accumulation(self, num_processes: int) -> int:
        """Return how many batches of each process make an optimiser step; raises `ConfigError`."""
        if self.global_batch_size is None:
            return self.gradient_accumulation
        at_once = self.batch_size * num_processes
        if self.global_batch_size % at_once:
            raise ConfigError(
                f"training.global_batch_size: {self.global_batch_size} is no multiple of batch_size {self.batch_size} "
                f"x {num_processes} processes; change one of the three"
            )
        return self.global_batch_size // at_once

    def digested(self) -> dict[str, Any]:
        """Return the JSON form that a digest is made from: without the trackers, which change no result."""
        record = super().digested()
        record.pop("trackers", None)
        return record

    def digested_json(self) -> str:
        """Return the JSON text that an adapter's manifest names by its digest."""
        return self.model_dump_json(exclude=set(type(self).model_fields) - set(self.digested()))


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
    """Policies of a line of rounds, each in a process; 0: one a GPU, without GPUs one for each of its cores."""
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
