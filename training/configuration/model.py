"""The sections that say who writes the attempts, and how they are sampled."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from critics.problem import is_object
from rollout.policies.models import RANDOM, merged_name
from rollout.prompts.style import FORMATS, PromptFile, PromptStyle, read_prompt_file
from rollout.records.sampling import Conclusion, Decoding, Sampling, Switches
from rollout.settings import ServerSettings
from training.configuration.section import Positive, Section

Format = Literal["guided", "cot", "answer", "fol", "fol-cot", "asp", "program", "equivalence"]
"""Formats of attempts: guided rationales, plain chain of thought, the answer alone, formulas that a solver decides,
formulas with the model's own answer under them, programs with tests in a dialog with the critic,
programs for solvers in the data set's language, chosen and mended, formulas put into words and back."""
NumExamples = Annotated[int, Field(ge=0)]
JUDGED_AS = {"answer": "cot", "fol-cot": "cot", "english-conclusions": "english"}
"""The formats of attempts whose arms are named after what they ask for."""


class VLLMConfig(Section):
    """Section for `engine: vllm`: what an engine may take of a machine, which decides nothing of what it writes."""

    tensor_parallel: Positive = 1
    """GPUs over which one engine spreads a model that does not fit on one."""
    gpu_memory: Annotated[float, Field(gt=0, lt=1)] = 0.9
    """Share of a GPU's memory; vLLM's cache fills what the weights leave of it."""
    max_tokens: Positive | None = None
    """Longest prompt with its completion. null: as the model's configuration has it, which may take much memory."""


class ModelConfig(Section):
    """The base model and how problems are put to it."""

    name: str
    """A local folder or a hub name; with a server, whose tokenizer it speaks. random: no model, but a writer that draws
    among the sentences that the guide `english` allows, to stand beside every guided figure."""
    revision: str | None = None
    """Branch, tag or commit of a hub model; a commit cannot change. null: its main branch as it is then. A run keeps
    the digest of the commit that it found."""
    adapter: str | None = None
    """A LoRA adapter that is merged into the model before anything else, so that a run starts from what `train` made.
    Servers and vLLM need it merged for good (`certistar merge`)."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    prompt: Literal["bare", "few-shot", "chat"] = "bare"
    examples: NumExamples | dict[Literal["guided", "cot", "answer", "fol", "fol-cot"], NumExamples] | None = None
    """Solved examples in the prompt, for all arms or by their format, as in `{guided: 1, cot: 4}`. null: two under the
    guided format and four without, as the paper has it, and one more where the data set knows the answer unknown."""
    prompt_file: str | None = None
    """A YAML file of yours with a prompt in the place of ours, and its licence (docs/prompts.md). Problems that
    its examples show are left out of evaluations, and its digest is in the traces."""
    thinking: Literal["kept", "stripped", "disabled"] = "kept"
    """stripped: of a reasoning model, only what follows its thinking is the attempt; what was thought stays in the
    traces. disabled: chat templates and chat servers are told that it should not think (`enable_thinking`). kept:
    nobody is told anything, and what is thought is part of the attempt."""
    thinking_budget: Positive | None = None
    """Tokens for thoughts, beside `sampling.max_new_tokens`; a thought that is longer is ended there. Guided arms need
    it, because the guide begins to watch where the thought ends. null: thoughts count among the new tokens."""
    engine: Literal["own", "vllm"] = "own"
    """Engine that decodes in this process. own: the loop of this project, the reference. vllm: vLLM (extra `vllm`),
    under the same guides (docs/decoding.md)."""
    vllm: VLLMConfig = VLLMConfig()
    server: ServerSettings | None = None
    """null: the model runs in this process."""
    policy: str | None = None
    """A policy of another package, by its name in `certistar.policies` (docs/plug-ins.md), which writes in the place of
    a Hugging Face model or a server. null: one of ours."""

    @model_validator(mode="before")
    @classmethod
    def _random_is_a_policy(cls, data: Any) -> Any:
        """Give the random writer's name a policy, and take it from any other name."""
        if not is_object(data) or (data.get("name") == RANDOM) == (data.get("policy") == RANDOM):
            return data
        return {**data, "policy": RANDOM if data.get("name") == RANDOM else None}

    @model_validator(mode="after")
    def _settings_fit(self) -> Self:
        if self.engine != "own" and (self.server is not None or self.policy is not None):
            raise ValueError("engine: a server or a policy of another package decodes by itself; write own")
        if self.adapter is not None and (self.engine != "own" or self.server is not None or self.policy is not None):
            raise ValueError("adapter: is merged in this process alone; run `certistar merge`, and name the result")
        if self.prompt_file is not None and self.prompt == "bare":
            raise ValueError("prompt_file: needs `prompt: chat` or `prompt: few-shot`; a bare prompt shows no examples")
        if self.thinking_budget is not None and self.thinking != "stripped":
            raise ValueError("thinking_budget: is for `thinking: stripped`")
        if self.thinking_budget is not None and self.server is not None and self.server.kind == "chat":
            raise ValueError(
                "thinking_budget: a chat server begins each reply anew; set server.kind to completions, or thinking to "
                "disabled"
            )
        return self

    @property
    def pinned(self) -> str:
        """The name with its revision and its adapter, as loaders take it (`rollout.policies.models.source`)."""
        return merged_name(self.name if self.revision is None else f"{self.name}@{self.revision}", self.adapter)

    def num_examples(self, format_: Format) -> int | None:
        """Return how many solved examples arms of a format are shown; None: as many as is usual there."""
        if isinstance(self.examples, int | None):
            return self.examples
        return next((num for name, num in self.examples.items() if name == format_), None)

    def style(self, format_: Format) -> PromptStyle:
        """Return the prompt style for a format; a conversation asks of it only how turns are put to the model."""
        told = {"kept": None, "stripped": True, "disabled": False}[self.thinking]
        own = self.own_prompts()
        asked = format_ if format_ in ("cot", "answer") else "guided"
        # A conversation of another format takes of the style no more than how turns are put.
        prompt = None if own is None or format_ not in FORMATS else own.of(asked)
        return PromptStyle(self.prompt, self.num_examples(format_), asked, told, prompt)

    def own_prompts(self) -> PromptFile | None:
        """Return the user's prompts; raises `InputError` where the file cannot be read."""
        return None if self.prompt_file is None else read_prompt_file(Path(self.prompt_file))


class SamplingConfig(Section):
    """Sampling of attempts in rollouts; evaluation uses the same token limit."""

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
    max_sentences: Positive | None = None
    """Most sentences before the answer under the guide `english`; the text then ends without one. null: as many as
    there are to say."""
    num_seats: Positive | None = None
    """Sequences written at a time, the next one seated as soon as one ends: what bounds the memory of the cache.
    null: as many as the free memory holds. No sample depends on it."""

    def sampling(self, decoding: Decoding, *, temperature: float | None = None, samples: int | None = None) -> Sampling:
        """Return the sampling of a rollout, or of an evaluation with other temperature and sample count."""
        return Sampling(
            decoding,
            self.temperature if temperature is None else temperature,
            self.samples_per_problem if samples is None else samples,
            self.max_new_tokens,
            self.conclusion if decoding == "guided" else "free",
            Switches(self.jump_forward, self.gathered_head, self.log_probabilities, self.fit_blocks),
            max_sentences=self.max_sentences if decoding == "guided" else None,
        )
