"""The policy that a configuration asks for: a model in this process, or one behind a server."""

import asyncio
import gc
import logging
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from critics import registry
from critics.errors import InputError
from rollout.engines.vllm import EngineSettings, rank_of, rest
from rollout.policies import models
from rollout.policies.models import RANDOM, LoraAdapter
from rollout.policies.policy import HuggingFacePolicy, Policy
from rollout.policies.reasoning import AnswersOnly
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from rollout.servers.adapters import require_exchange
from rollout.servers.connection import Connection
from rollout.settings import ServerSettings
from training.configuration.model import ModelConfig
from training.configuration.run import ArmConfig, RunConfig
from training.configuration.section import ConfigError, explained, read_yaml
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
        from rollout.policies.random_writer import RandomWriter

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
        return NamedModel(path.stem, _with(config, dict(read_yaml(path)), name), adapter)
    if (found := re.fullmatch(r"(.+)@(https?://.+)", name)) is not None:
        server = {"model": found[1], "base_url": found[2]}
        return NamedModel(found[1], _with(config, {"server": server}, name), adapter)
    if re.fullmatch(r".+@\w+:/.*", name):
        raise InputError(f"--model {name}: a server is named NAME@http://HOST/v1 or NAME@https://HOST/v1")
    if path.is_dir() and ((path / "adapter_config.json").exists() or (path / MANIFEST).exists()):
        if adapter is not None:
            raise InputError(f"--model {name}: is an adapter, and --adapter names another; leave one out")
        return NamedModel(f"{label_of(config)}+{_adapter_name(path)}", config, path)
    if config.model.server is not None and not path.is_dir():
        return NamedModel(name, _with(config, {"server": {"model": name}}, name), adapter)
    return NamedModel(name, _with(config, {"name": name, "server": None}, name), adapter)


def _with(config: RunConfig, keys: dict[str, Any], name: str) -> RunConfig:
    """Return the configuration with these keys in its section `model`, those of `server` beside what it has."""
    model = config.model.model_dump() | ({"revision": None} if "name" in keys else {})  # it is the other model's
    given = keys.get("server")
    if isinstance(given, dict):
        keys = {**keys, "server": {**(model["server"] or {}), **cast("dict[str, Any]", given)}}
    try:
        return RunConfig.model_validate({**config.model_dump(), "model": {**model, **keys}})
    except ValidationError as error:
        raise ConfigError(f"--model {name}: {explained(error, RunConfig)}") from error


def _adapter_name(adapter: Path) -> str:
    """Return the last folders of an adapter's path that tell it from another round's."""
    parts = [part for part in adapter.resolve().parts if part not in ("/", "adapter")]
    return "-".join(parts[-4:] if "round-" in "-".join(parts[-1:]) else parts[-1:])
