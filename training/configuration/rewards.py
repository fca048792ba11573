"""The configuration of reinforcement: a policy that is rewarded for certificates."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from critics.workers.own_time import DEFAULT_TIMEOUT_S
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.problems import ProblemsConfig
from training.configuration.section import Positive, Section, read_yaml, validated


class ReinforcementConfig(Section):
    """One training of an adapter with TRL (extra `trl`); `training` says what is trained and how fast."""

    name: str
    algorithm: Literal["grpo", "rloo"] = "grpo"
    model: ModelConfig
    problems: ProblemsConfig = ProblemsConfig()
    num_problems: Positive = 200
    format: Literal["guided", "cot"] = "guided"
    """Format of attempts; free text without a guide, since TRL samples by itself."""
    group: Annotated[int, Field(ge=2)] = 8
    """Attempts at a problem that are compared with one another."""
    steps: Positive = 100
    max_new_tokens: Positive = 256
    temperature: Annotated[float, Field(gt=0)] = 1.0
    beta: Annotated[float, Field(ge=0)] = 0.0
    """Weight of the divergence from the base model; 0, as TRL's GRPO has it, needs no second model in memory."""
    credit: Literal["attempt", "first_bad_step"] = "attempt"
    """Part of an attempt below its group's mean that is punished: all of it, or from its first bad step on, where one
    is known (GRPO)."""
    thoughts: Literal["judged", "ignored"] = "judged"
    """Thoughts before a reply. judged: it is a part of the text, and a sentence of it that is false or not
    read earns nothing. ignored: the reply alone is judged, and no token of the thought is learnt (GRPO)."""
    training: TrainingConfig = TrainingConfig()
    seed: int = 0
    jobs: Positive = 1
    """Processes that judge."""
    timeout_s: Annotated[float, Field(gt=0)] = DEFAULT_TIMEOUT_S

    @model_validator(mode="after")
    def _can_be_grouped(self) -> "ReinforcementConfig":
        if (rows := self.training.rows_a_step(1)) % self.group:
            raise ValueError(f"training.global_batch_size: {rows} attempts make no whole groups of {self.group}")
        if self.credit == "first_bad_step" and self.algorithm != "grpo":
            raise ValueError("credit: RLOO weighs whole attempts; first_bad_step needs algorithm: grpo")
        if self.thoughts == "ignored" and self.algorithm != "grpo":
            raise ValueError("thoughts: RLOO weighs whole attempts, thoughts too; ignored needs algorithm: grpo")
        if self.model.server is not None:
            raise ValueError("model.server: a model behind a server cannot be trained; take it out")
        return self


def load_reinforcement(path: Path, overrides: list[str] | None = None) -> ReinforcementConfig:
    """Read a configuration; raises `ConfigError` that names the file, the key and the remedy."""
    return validated(ReinforcementConfig, read_yaml(path), overrides or [], path)
