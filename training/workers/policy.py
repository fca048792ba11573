"""The policy that a configuration asks for: a model in this process, or one behind a server."""

import asyncio
import gc
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics import registry
from critics.errors import InputError
from rollout.engines.vllm import EngineSettings, rank_of, rest
from rollout.policies import models
from rollout.policies.models import LoraAdapter
from rollout.policies.policy import HuggingFacePolicy, Policy
from rollout.policies.reasoning import AnswersOnly
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from rollout.servers.adapters import require_exchange
from rollout.servers.connection import Connection
from rollout.settings import ServerSettings
from training.configuration.model import ModelConfig
from training.configuration.run import ArmConfig, RunConfig
from training.lineage.adapters import verify_adapter
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
    if model.policy is not None:
        return registry.load("policies", model.policy)(model, adapter, style)
    if model.server is None:
        if adapter is not None and (note := verify_adapter(adapter)):
            log.warning("%s", note)
        if model.engine == "vllm":
            return _in_vllm(model, adapter, style, num_seats)
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


def _in_vllm(model: ModelConfig, adapter: Path | None, style: PromptStyle, num_seats: int | None) -> Policy:
    from rollout.engines.vllm import VLLMPolicy

    settings = EngineSettings(model.pinned, model.dtype, num_seats, **dict(model.vllm))
    return VLLMPolicy(settings, adapter, prompt_style=style)


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
