"""Lengths of an arm's requests and of what is written in reply, beside the model's window, before anything is asked.

Prompts are those that the arm's strategy really makes: it is led through a few problems by a stand-in for the policy.
Solutions are as long as references, where the arm's format has any.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from critics.formats.names import GUIDED
from critics.problem import Problem
from critics.text.reference import ReferenceMismatch, reference
from rollout.actor_critic.feedback import Reviewing
from rollout.decoding.guide import Guide
from rollout.policies.models import config_of
from rollout.policies.policy import Completion, as_prompt, load_tokenizer
from rollout.prompts.conversation import Messages
from rollout.prompts.prompt import messages, solution, text
from rollout.prompts.style import FORMATS, PromptStyle
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import FREE, Sampling
from training.configuration.model import ModelConfig
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.compute import ModelShape, shape_of_model
from training.lessons.references import guided
from training.workers.strategies import SingleAttempt, strategy_of

SAMPLED = 48
"""Problems that are looked at."""
CHARACTERS_PER_TOKEN = 2.5
"""Assumed of a model that nobody knows here; the densest that was counted (`KNOWN`)."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts a text's tokens, exactly where the tokenizer is at hand."""

    count: Callable[[str], int]
    tokenizer: Any = None
    estimated: float | None = None
    """Characters that were taken for a token; None: tokens were counted."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of an arm's first requests and of their replies."""

    prompt: float
    completion: float
    longest: float
    known: bool
    """False: no demonstration could be written, and completions are taken as long as they may get."""
    longest_prompt: float = 0.0
    uncut: float = 0.0
    """Tokens of the longest reference, whatever the limit."""
    limit: int = 0
    thoughts: int = 0
    """Tokens for what is thought before the reply."""
    window: int | None = None
    """Tokens that the model reads and writes at most; None where that is not known."""
    blocks: float = 0.0
    """Guided blocks of a reply: to a server each is a request of its own."""
    estimated: float | None = None

    @property
    def overflow(self) -> float:
        """Tokens by which the longest prompt and a reply up to the limit pass the window; 0 where they fit."""
        return 0.0 if self.window is None else max(0.0, self.longest_prompt + self.thoughts + self.limit - self.window)

    def line(self, name: str) -> str:
        """Return what people are told."""
        window = "unknown" if self.window is None else f"{self.window:,}"
        how = "" if self.estimated is None else f"; estimated, {self.estimated:g} characters a token"
        written = f"solutions {self.completion:.0f} (longest {self.uncut:.0f}, at most {self.limit:,})"
        written = written if self.known else f"replies at most {self.limit:,}"
        written = f"thoughts up to {self.thoughts:,} + {written}" if self.thoughts else written
        return (
            f"{name}: prompts {self.prompt:,.0f} tokens (longest {self.longest_prompt:,.0f}) + {written}, "
            f"window {window}{how}"
        )


@dataclass
class StandIn:
    """A policy that writes the same reply to everything and keeps what it was asked."""

    style: PromptStyle
    tokenizer: Any
    reply: str = ""
    asked: list[list[str]] = field(default_factory=list[list[str]])
    """Prompts of each batch that was to be written."""
    rated: list[str] = field(default_factory=list[str])
    digests: PolicyDigests = field(default_factory=lambda: PolicyDigests("stand-in"))

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return the prompt, by the chat template where its tokenizer is at hand."""
        if self.style.kind == "chat" and self._has_template:
            return as_prompt(messages(problem, self.style, hint=hint), self.tokenizer, self.style)
        return text(problem, self.style, hint=hint)

    def conversation(self, messages: Messages) -> str:
        """Return the prompt of a conversation."""
        style = self.style if self._has_template else PromptStyle()
        return as_prompt(messages, self.tokenizer, style)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Return the reply for each prompt."""
        self.asked.append(list(prompts))
        return [Completion(self.reply, (), True) for _ in prompts]

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Call everything equally likely."""
        self.rated += [prompt + continuation for prompt, continuation in zip(prompts, continuations, strict=True)]
        return [0.0 for _ in prompts]

    @property
    def _has_template(self) -> bool:
        return getattr(self.tokenizer, "chat_template", None) is not None


def tokens_of(model: ModelConfig) -> Tokens:
    """Return what counts a model's tokens: typed in, its tokenizer, or a guess where a server's is unknown."""
    known = KNOWN.get(model.name)
    is_here = Path(model.name).expanduser().is_dir()
    if known is None and (is_here or (model.server is None and model.policy is None)):
        tokenizer = load_tokenizer(model.pinned)
        return Tokens(lambda written: len(tokenizer(written)["input_ids"]), tokenizer)
    ratio = CHARACTERS_PER_TOKEN if known is None else known.characters_per_token
    return Tokens(lambda written: ceil(len(written) / ratio), estimated=ratio)


def is_made_here(model: str) -> bool:
    """Say whether a model is a seed model of this project, which tells where it comes from."""
    return (Path(model).expanduser() / "provenance.json").is_file()


def window_of(model: ModelConfig) -> int | None:
    """Return how many tokens a model reads and writes at most; None where its configuration does not say."""
    if (known := KNOWN.get(model.name)) is not None:
        return known.window
    if model.policy is not None or not Path(model.name).expanduser().is_dir():
        return None
    return getattr(config_of(model.pinned).get_text_config(), "max_position_embeddings", None)


def lengths_of(config: RunConfig, arm: ArmConfig, problems: Sequence[Problem], review: Reviewing) -> Lengths:
    """Measure the first requests of an arm at some problems, and their references."""
    tokens, sampling = tokens_of(config.model), config.sampling.sampling(arm.decoding, samples=1)
    asked = lead_through(config, arm, problems, review, StandIn(config.model.style(arm.format), tokens.tokenizer))
    prompts = list(map(tokens.count, asked.asked[0])) if asked.asked else [0]
    written = list(filter(None, (_reference(config, arm, problem) for problem in problems)))
    solutions, limit = list(map(tokens.count, written)), sampling.max_new_tokens
    thoughts = config.model.thinking_budget or 0
    return Lengths(
        prompt=sum(prompts) / len(prompts),
        completion=min(limit, sum(solutions) / len(solutions)) if solutions else limit,
        longest=min(limit, max(solutions)) if solutions else limit,
        known=bool(solutions),
        longest_prompt=max(prompts),
        thoughts=thoughts,
        uncut=max(solutions, default=limit),
        limit=limit,
        window=window_of(config.model),
        blocks=sum(one.count("[[") for one in written) / len(written) if arm.decoding != FREE and written else 0.0,
        estimated=tokens.estimated,
    )


def lead_through(
    config: RunConfig, arm: ArmConfig, problems: Sequence[Problem], review: Reviewing, policy: StandIn
) -> StandIn:
    """Have an arm's strategy ask a stand-in, and return it with what it was asked."""
    strategy = strategy_of(config, arm, trained=False, review=review)
    sampling = config.sampling.sampling(arm.decoding, samples=1)
    if isinstance(strategy, SingleAttempt) and type(strategy) is SingleAttempt:
        policy.asked.append([policy.prompt(problem) for problem in problems])
    else:
        list(strategy.attempts(policy, problems, sampling, seed=0))
    return policy


def _reference(config: RunConfig, arm: ArmConfig, problem: Problem) -> str | None:
    """Return what a perfect writer would give: as the prompt's examples show it, or as a model was trained."""
    if arm.format not in FORMATS:
        return None
    if arm.format == GUIDED and config.model.prompt == "bare":
        return guided(problem)
    try:
        known = reference(problem)
        return None if known is None else solution(problem, known.formal, arm.format)
    except (ReferenceMismatch, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Dimensions:
    """A model's keys as its configuration spells them."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    vocab_size: int
    max_position_embeddings: int
    head_dim: int = 128
    tie_word_embeddings: bool = False


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model whose plan needs no download."""

    family: str
    """Its `model_type`."""
    dimensions: Dimensions
    characters_per_token: float

    @property
    def window(self) -> int:
        """Tokens that it reads and writes at most."""
        return self.dimensions.max_position_embeddings

    def shape(self) -> ModelShape:
        """Return the shape of the family's model of these dimensions, built without memory."""
        import torch

        transformers: Any = import_module("transformers")
        config = transformers.AutoConfig.for_model(self.family, **asdict(self.dimensions))
        with torch.device("meta"):
            found = shape_of_model(transformers.AutoModelForCausalLM.from_config(config))
        assert found is not None, "every known family has heads and layers"
        return found


KNOWN: Mapping[str, KnownModel] = {
    "huggyllama/llama-13b": KnownModel("llama", Dimensions(5120, 13824, 40, 40, 40, 32000, 2048), 2.45),
    "meta-llama/Llama-3.1-8B-Instruct": KnownModel("llama", Dimensions(4096, 14336, 32, 32, 8, 128256, 131072), 2.65),
    "Qwen/Qwen2.5-7B-Instruct": KnownModel("qwen2", Dimensions(3584, 18944, 28, 28, 4, 152064, 32768), 2.65),
    "Qwen/Qwen3-0.6B": KnownModel("qwen3", Dimensions(1024, 3072, 28, 16, 8, 151936, 40960, 128, True), 2.65),
    "Qwen/Qwen3-1.7B": KnownModel("qwen3", Dimensions(2048, 6144, 28, 16, 8, 151936, 40960, 128, True), 2.65),
    "Qwen/Qwen3-4B": KnownModel("qwen3", Dimensions(2560, 9728, 36, 32, 8, 151936, 40960, 128, True), 2.65),
    "Qwen/Qwen3-8B": KnownModel("qwen3", Dimensions(4096, 12288, 36, 32, 8, 151936, 40960), 2.65),
    "HuggingFaceTB/SmolLM2-360M-Instruct": KnownModel(
        "llama", Dimensions(960, 2560, 32, 15, 5, 49152, 8192, 64, True), 2.6
    ),
    "HuggingFaceTB/SmolLM2-1.7B-Instruct": KnownModel(
        "llama", Dimensions(2048, 8192, 24, 32, 32, 49152, 8192, 64, True), 2.6
    ),
}
