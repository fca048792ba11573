"""The policy that a configuration asks for: a model in this process, or one behind a server."""

from pathlib import Path

from critics.errors import InputError
from rollout.policy import HuggingFacePolicy, Policy
from rollout.prompt import PromptStyle
from rollout.servers.policy import ServerPolicy
from training.config import ModelConfig


def build_policy(model: ModelConfig, adapter: Path | None, style: PromptStyle) -> Policy:
    """Return the policy; raises `InputError` where a server would need an adapter that it does not know."""
    if model.server is None:
        return HuggingFacePolicy(model.name, adapter, prompt_style=style, dtype=model.dtype)
    if adapter is not None:
        raise InputError(
            f"adapter {adapter}: the server at {model.server.base_url} does not know it; start the server with it and "
            "name it in model.server.model (docs/servers.md), or take model.server out of the configuration"
        )
    return ServerPolicy(model.server.settings(), prompt_style=style, tokenizer=model.name)
