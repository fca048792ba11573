"""A trace: everything that one attempt read and wrote, and what it was sampled with."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

from critics.problem import Problem

Decoding = Literal["guided", "free"]
Conclusion = Literal["free", "decided"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a policy is sampled; every parameter is explicit, none comes from a model's own defaults."""

    decoding: Decoding = "guided"
    """guided: under LogicGuide's masks; free: the same loop without them."""
    temperature: float = 1.0
    """0 is greedy."""
    samples_per_problem: int = 1
    max_new_tokens: int = 256
    conclusion: Conclusion = "free"
    """decided: under a guide, `Answer:` only once it has decided the goal, and in agreement with it."""


@dataclass(frozen=True, slots=True)
class PolicyDigests:
    """Which weights wrote it: SHA-256 of the base model's files and of the adapter's weights."""

    base: str
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One attempt with all that is needed to train on it or to write it again."""

    id: str
    problem: Problem
    format: str
    prompt: str
    completion: str
    completion_ids: tuple[int, ...]
    finished: bool
    """False where the token limit cut the completion off."""
    sample: int
    seed: int
    sampling: Sampling
    policy: PolicyDigests
    hint: bool = False
    """Whether the prompt for sampling gave the answer away (rationalisation); `prompt` never does."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form: the attempt first, everything else beside it."""
        return {
            "id": self.id,
            "problem": self.problem.record(),
            "format": self.format,
            "completion": self.completion,
            "prompt": self.prompt,
            "completion_ids": list(self.completion_ids),
            "finished": self.finished,
            "sample": self.sample,
            "hint": self.hint,
            "seed": self.seed,
            "sampling": _sampling_record(self.sampling),
            "policy": {"base": self.policy.base, "adapter": self.policy.adapter},
        }


def _sampling_record(sampling: Sampling) -> dict[str, Any]:
    """Return the JSON form; a free conclusion goes without saying, so that stores from before it stay as they are."""
    record: dict[str, Any] = {
        "decoding": sampling.decoding,
        "temperature": sampling.temperature,
        "max_new_tokens": sampling.max_new_tokens,
    }
    return record if sampling.conclusion == "free" else {**record, "conclusion": sampling.conclusion}


def derived_seed(*parts: object) -> int:
    """Return a 63-bit seed from names and numbers by SHA-256, so that item i never depends on its neighbours."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
