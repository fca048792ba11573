"""The optional model critic of a run: which policy it is, and which dialogs it gives opinions on."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from rollout.actor_critic.feedback import Reply, Reviewing
from rollout.actor_critic.model_critic import ModelCritic, OpinionSettings
from rollout.policies.policy import ChatPolicy
from rollout.records.steps import DialogReview
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.configuration.strategies import ActorCriticConfig
from training.workers.policy import build_policy


def opinionated(config: RunConfig, section: ActorCriticConfig, review: Reviewing) -> Reviewing:
    """Add a model's opinions to the reviewing where an arm asks for them; the model is loaded at the first question."""
    if section.opinions == "none":
        return review
    assert config.model_critic is not None
    settings = OpinionSettings(on_accepted=section.opinions == "all")
    model = json.dumps(config.model_critic.model_dump(mode="json"))

    def reviewed(replies: Sequence[Reply]) -> list[DialogReview]:
        return ModelCritic(review, _policy(model, config.sampling.num_seats), settings)(replies)

    return reviewed


@lru_cache(maxsize=1)
def _policy(model: str, num_seats: int | None) -> ChatPolicy:
    """Return the policy of a configuration in JSON: one in a process, because it stays the same in all rounds."""
    config = ModelConfig.model_validate_json(model)
    return cast("ChatPolicy", build_policy(config, None, config.style("asp"), num_seats=num_seats))
