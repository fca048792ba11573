"""An arm's policy, and its strategy: attempts out, examples back.

The one interface between a line of rounds, the strategies of `rollout.strategies` and `training.lessons.teaching`.
"""

import asyncio
import gc
import logging
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from pydantic import ValidationError

from critics import registry
from critics.errors import InputError
from critics.formats.names import FOL
from critics.problem import Problem, is_object
from rollout.actor_critic.feedback import Reviewing
from rollout.engines.vllm import EngineSettings, rank_of, rest
from rollout.policies import models
from rollout.policies.models import RANDOM, LoraAdapter
from rollout.policies.policy import ChatPolicy, HuggingFacePolicy, Policy, Requesting
from rollout.policies.reasoning import AnswersOnly
from rollout.programs.first_order import DEFAULT_EXAMPLES, request
from rollout.programs.lessons import by_stage
from rollout.programs.review import RunReviewPool
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import ENGLISH, Sampling
from rollout.records.traces import Trace
from rollout.servers.connection import Connection
from rollout.servers.policy import require_exchange
from rollout.settings import DialogSettings, ProgramSettings, ServerSettings
from rollout.strategies.dialog import after_retries, converse
from rollout.strategies.programs import refine
from rollout.strategies.single import sample
from training.autoeval.yardstick import RoundTrips
from training.configuration.learning import LessonConfig
from training.configuration.model import JUDGED_AS, ModelConfig
from training.configuration.run import (
    ActorCriticConfig,
    ArmConfig,
    PlugInConfig,
    ProgramsConfig,
    RoundTripConfig,
    RunConfig,
)
from training.configuration.section import ConfigError, explained, read_yaml
from training.lessons.teaching import ExampleRecord, completion_example, dialog_examples, program_example
from training.lineage.adapters import MANIFEST, verify_adapter
from training.logs import quieten
from training.workers.replies import CommandReplies

log = logging.getLogger(__name__)


def build_policy(
    model: ModelConfig, adapter: Path | None, style: PromptStyle, *, num_seats: int | None = None
) -> Policy:
    """Return the policy, without its thinking where that is stripped.

    See `_writer`; raises `InputError` as it does.
    """
    writer = _writer(model, adapter, style, num_seats)
    if (own := model.own_prompts()) is not None:
        writer.digests = replace(writer.digests, prompt=own.digest)
    return AnswersOnly(writer, model.thinking_budget) if model.thinking == "stripped" else writer


def _writer(model: ModelConfig, adapter: Path | None, style: PromptStyle, num_seats: int | None) -> Policy:
    """Return the policy, which writes `num_seats` sequences at a time; None: all that it is given at once.

    A server loads the adapter now; raises `InputError` where it cannot.
    """
    if model.policy == RANDOM:
        from rollout.policies.reasoning import RandomWriter

        return RandomWriter(style)
    if model.policy is not None:
        return registry.load("policies", model.policy)(model, adapter, style)
    if model.server is None:
        if adapter is not None and (note := verify_adapter(adapter)):
            log.warning("%s", note)
        if model.engine == "vllm":
            from rollout.engines.vllm import VLLMPolicy

            settings = EngineSettings(model.pinned, model.dtype, num_seats, **dict(model.vllm))
            return VLLMPolicy(settings, adapter, prompt_style=style)
        return HuggingFacePolicy(model.pinned, adapter, prompt_style=style, dtype=model.dtype, num_seats=num_seats)
    from rollout.servers.policy import ServerPolicy

    replies = CommandReplies(model.server.base_url)
    served = None if adapter is None else _served(adapter)
    return ServerPolicy(model.server, prompt_style=style, tokenizer=model.pinned, replies=replies, adapter=served)


def _served(adapter: Path) -> LoraAdapter:
    if note := verify_adapter(adapter):
        log.warning("%s", note)
    if not (adapter / "adapter_config.json").exists():
        raise InputError(f"adapter {adapter}: holds no LoRA adapter, and a server exchanges no whole weights; serve it")
    return LoraAdapter(adapter, adapter_weights_digest(adapter), rank_of(adapter))


def require_server(model: ModelConfig) -> None:
    """Raise `InputError` or `RunFailed` where a model has a server that is not there or cannot serve a run's rounds."""
    if model.server is None:
        return

    async def asked(settings: ServerSettings) -> None:
        async with Connection(settings) as connection:
            await require_exchange(connection, model.name)

    asyncio.run(asked(model.server))


def quiet_policy(config: RunConfig, arm: ArmConfig, adapter: Path | None) -> Policy:
    """Return the policy of an arm for a command that has this process to itself: no warnings, one thread on a CPU."""
    quieten()
    if config.model.server is None:
        import torch

        if not torch.cuda.is_available():
            torch.set_num_threads(1)
    style = config.model.style(arm.format)
    return build_policy(config.model, adapter, style, num_seats=config.sampling.num_seats)


def forget_models(*, room: float = 0.0) -> None:
    """Free the memory of models that are held only by their own cycles; an engine sleeps.

    What this process keeps for its next policy leaves the GPU, and is forgotten where it takes more than `room` bytes.
    """
    rest()
    gc.collect()
    models.rest(room)
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model under a configuration, with its label in tables."""

    label: str
    config: RunConfig
    adapter: Path | None = None

    @property
    def folder(self) -> str:
        """The label as a name that any file system takes."""
        return re.sub(r"[^\w.+-]+", "_", self.label).strip("._") or "model"


def named_models(config: RunConfig, names: Sequence[str], adapter: Path | None = None) -> list[NamedModel]:
    """Return the models that `--model` names, in order; without any, the configuration's own.

    A name is a model on the hub or in a folder, an adapter's folder, a model of the configuration's server,
    `NAME@http://HOST/v1` for another server's, or a YAML file with keys of the section `model`.
    Raises `InputError` where one cannot be meant, or two would be one folder.
    """
    models = [_named(config, name, adapter) for name in names] or [_own(config, adapter)]
    by_folder: dict[str, str] = {}
    for model in models:
        if model.folder in by_folder:
            raise InputError(
                f"--model: {by_folder[model.folder]!r} and {model.label!r} are one name in tables and files"
            )
        by_folder[model.folder] = model.label
    return models


def label_of(config: RunConfig) -> str:
    """Return the name of a configuration's own model as its server, or the hub, has it."""
    return config.model.pinned if config.model.server is None else config.model.server.model


def _own(config: RunConfig, adapter: Path | None) -> NamedModel:
    beside = "" if adapter is None else f"+{_adapter_name(adapter)}"
    return NamedModel(label_of(config) + beside, config, adapter)


def _named(config: RunConfig, name: str, adapter: Path | None) -> NamedModel:
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        return NamedModel(path.stem, _with(config, name, **read_yaml(path)), adapter)
    if (found := re.fullmatch(r"(.+)@(https?://.+)", name)) is not None:
        server = {"model": found[1], "base_url": found[2]}
        return NamedModel(found[1], _with(config, name, server=server), adapter)
    if re.fullmatch(r".+@\w+:/.*", name):
        raise InputError(f"--model {name}: a server is named NAME@http://HOST/v1 or NAME@https://HOST/v1")
    if path.is_dir() and ((path / "adapter_config.json").exists() or (path / MANIFEST).exists()):
        if adapter is not None:
            raise InputError(f"--model {name}: is an adapter, and --adapter names another; leave one out")
        return NamedModel(f"{label_of(config)}+{_adapter_name(path)}", config, path)
    if config.model.server is not None and not path.is_dir():
        return NamedModel(name, _with(config, name, server={"model": name}), adapter)
    return NamedModel(name, _with(config, name, name=name, server=None), adapter)


def _with(config: RunConfig, named: str, /, **keys: Any) -> RunConfig:
    """Return the configuration with these keys in its section `model`, those of `server` beside what it has."""
    model = config.model.model_dump() | ({"revision": None} if "name" in keys else {})  # it is the other model's
    given = keys.get("server")
    if is_object(given):
        keys = {**keys, "server": {**(model["server"] or {}), **given}}
    try:
        return RunConfig.model_validate({**config.model_dump(), "model": {**model, **keys}})
    except ValidationError as error:
        raise ConfigError(f"--model {named}: {explained(error, RunConfig)}") from error


def _adapter_name(adapter: Path) -> str:
    """Return the last folders of an adapter's path that tell it from another round's."""
    parts = [part for part in adapter.resolve().parts if part not in ("/", "adapter")]
    return "-".join(parts[-4:] if "round-" in "-".join(parts[-1:]) else parts[-1:])


class Strategy(Protocol):
    """Strategy: puts problems to a policy, and makes examples of what came out."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield `sampling.samples_per_problem` attempts for each problem, in problem order, as one batch."""
        ...

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return what kept traces teach, for a dataset."""
        ...

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the trace as it would be with a smaller budget, smallest first; empty where it has one size."""
        ...


@dataclass(frozen=True, slots=True)
class SingleAttempt:
    """One completion for a problem: under a guide, or free text."""

    format: str
    guide: str = field(default="logic", kw_only=True)

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield one attempt after the other."""
        most = sampling.max_sentences if self.guide == ENGLISH else None
        sampling = replace(sampling, guide=self.guide, max_sentences=most)
        return sample(policy, problems, sampling, seed=seed, format_=self.format, hinted=hinted)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return each trace's prompt and completion."""
        return [completion_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return nothing: there is one completion."""
        return []


@dataclass(frozen=True, slots=True)
class Formalising(SingleAttempt):
    """Formulas for the sentences of a problem, and of the text that its `meta` holds."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield the texts as attempts, with their formulas."""
        from rollout.strategies.formalisation import formalised, request

        writer = Requesting(cast("ChatPolicy", policy), request)
        asked = SingleAttempt.attempts(self, writer, problems, sampling, seed=seed, hinted=hinted)
        return map(formalised, asked)


@dataclass(frozen=True, slots=True)
class FirstOrderStrategy(SingleAttempt):
    """Formulas for a problem: for the solver, or with the model's own answer under them."""

    num_examples: int
    answers: bool

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield one attempt after the other."""
        asked = partial(request, num_examples=self.num_examples, answers=self.answers)
        writer = Requesting(cast("ChatPolicy", policy), asked)
        return SingleAttempt.attempts(self, writer, problems, sampling, seed=seed, hinted=hinted)


@dataclass(frozen=True, slots=True)
class ActorCritic:
    """A program with tests, and the critic's feedback on it (LLM-ARC)."""

    settings: DialogSettings
    review: Reviewing
    lessons: LessonConfig = field(default_factory=LessonConfig)

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield dialogs; there is no hint, because the critic's feedback takes its place."""
        assert not hinted
        actor = cast("ChatPolicy", policy)
        return converse(actor, problems, self.settings, sampling, seed=seed, review=self.review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return lessons, each with the certificate of its dialog, mixed as the configuration says."""
        return dialog_examples(traces, self.lessons, seed=seed)

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the dialog after 0, 1, .. retries, for the curves of figure 5; a problem in portions has none."""
        if self.settings.portion_size is not None:
            return []
        return [after_retries(trace, num) for num in range(self.settings.max_retries + 1)]

    def resampling(self) -> "ActorCritic":
        """Return plain resampling with the same budget: the control beside retries with feedback."""
        return replace(self, settings=self.settings.model_copy(update={"history": "none"}))


@dataclass(frozen=True, slots=True)
class Programs:
    """A program for a solver: sampled, chosen and mended (papers 000 and 001)."""

    settings: ProgramSettings
    timeout_s: float

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield attempts; there is no hint, because what running a program shows takes its place."""
        assert not hinted
        writer = cast("ChatPolicy", policy)
        with RunReviewPool(timeout_s=self.timeout_s) as review:
            yield from refine(writer, problems, self.settings, sampling, seed=seed, review=review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[ExampleRecord]:
        """Return the direct way from each problem to its last program, in one turn and without solved examples."""
        return [program_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the attempt after each stage, the chosen prototype first, for the tables of 001."""
        return by_stage(trace)


def strategy_of(config: RunConfig, arm: ArmConfig, *, trained: bool, review: Reviewing) -> Strategy:
    """Return an arm's strategy; the prompt of an actor that was `trained` on its dialogs shows no examples."""
    asked = arm.strategy
    if isinstance(asked, PlugInConfig):
        return registry.load("strategies", asked.of)(config, arm)
    if isinstance(asked, ProgramsConfig):
        return Programs(asked.trained() if trained else asked, asked.timeout_s)
    if isinstance(asked, RoundTripConfig):
        return RoundTrips(asked, asked.learn)
    if isinstance(asked, ActorCriticConfig):
        settings = asked.trained() if trained else asked
        return ActorCritic(settings, review, asked.lessons)
    format_ = JUDGED_AS.get(asked.name, asked.name)
    if asked.name in (FOL, "fol-cot") and config.model.prompt != "bare":
        num = config.model.num_examples(asked.name)
        return FirstOrderStrategy(format_, DEFAULT_EXAMPLES if num is None else num, asked.name == "fol-cot")
    return SingleAttempt(format_, guide=arm.guide)


def no_review(_: object) -> Any:
    """Stand in for the critic where no dialog goes on."""
    raise InputError("a finished dialog is not reviewed again")
