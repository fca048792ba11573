"""A trace: everything that one attempt read and wrote, and what it was sampled with."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from critics.problem import Problem
from rollout.decoding.request import ALL_OFF, Switches

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
    switches: Switches = ALL_OFF
    """How the loop decodes; all off, so that results published before there were any can be had again."""


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
    server: Mapping[str, Any] | None = None
    """How a server was asked for it, and what that cost; None where no server wrote it."""
    forced: tuple[int, ...] = ()
    """Which of `completion_ids` were forced, so that no model was asked for them (`Switches.jump_forward`)."""
    log_probabilities: tuple[float, ...] = ()
    """Of each of `completion_ids` under the model without any mask; empty where they were not asked for."""
    thoughts: str = ""
    """All that was written, where thinking was taken from the completion; `completion_ids` are then empty."""

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
            **({} if self.server is None else {"server": dict(self.server)}),
            **({"forced": list(self.forced)} if self.sampling.switches.jump_forward else {}),
            **({"log_probabilities": list(self.log_probabilities)} if self.log_probabilities else {}),
            **({"thoughts": self.thoughts} if self.thoughts else {}),
        }


def _sampling_record(sampling: Sampling) -> dict[str, Any]:
    """Return the JSON form; what came later goes without saying where it is off: old stores stay as they are."""
    record: dict[str, Any] = {
        "decoding": sampling.decoding,
        "temperature": sampling.temperature,
        "max_new_tokens": sampling.max_new_tokens,
    }
    if sampling.conclusion != "free":
        record["conclusion"] = sampling.conclusion
    return record | {name: True for name, is_on in asdict(sampling.switches).items() if is_on}


def derived_seed(*parts: object) -> int:
    """Return a 63-bit seed from names and numbers by SHA-256, so that item i never depends on its neighbours."""
    text = "\x1f".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
