"""A policy over vLLM: what `HuggingFacePolicy` promises, written by somebody else's loop."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from rollout.decoding.guide import Guide
from rollout.engines import vllm
from rollout.engines.grammar import GuidedRequest
from rollout.engines.vllm import Adapter, EngineRequest, EngineSampling, EngineSettings, VLLMEngine
from rollout.policies.policy import Completion, TokenPolicy, model_digest
from rollout.prompts.style import PromptStyle
from rollout.records.digests import EngineUse, PolicyDigests, adapter_weights_digest
from rollout.records.sampling import Sampling


class VLLMPolicy(TokenPolicy):
    """A causal LM in vLLM, with or without a LoRA adapter; a model trained as a whole takes the base's place."""

    def __init__(self, settings: EngineSettings, adapter: Path | None = None, *, prompt_style: PromptStyle) -> None:
        used = EngineUse("vllm", vllm.version())
        super().__init__(settings.model, prompt_style)
        self._tokenizer_name = settings.model
        digest = None if adapter is None else adapter_weights_digest(adapter)
        self._adapter = None
        if adapter is not None and digest is not None:
            if (adapter / "adapter_config.json").exists():
                self._adapter = Adapter(adapter, digest, vllm.rank_of(adapter))
            else:
                settings = replace(settings, model=str(adapter))
        self.digests = PolicyDigests(model_digest(self._tokenizer_name), digest, used)
        self._settings = settings
        if self._adapter is not None:
            self._engine.load(self._adapter)

    @property
    def _engine(self) -> VLLMEngine:
        """The engine of this process, started anew where another policy needed another one since."""
        return vllm.running_engine(self._settings, self._tokenizer_name, self.masks, self._adapter)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Sample each prompt as a request of its own; equal seeds make equal texts in this engine alone."""
        switches, most = sampling.switches, sampling.max_new_tokens
        guided: list[GuidedRequest | None] = [None] * len(prompts)
        if guides is not None:
            guided = [GuidedRequest(guide, most, switches.fit_blocks) for guide in guides]
        asked = zip(map(self.prompt_ids, prompts), seeds, guided, strict=True)
        requests = [EngineRequest(ids, seed, each) for ids, seed, each in asked]
        self._refuse_too_long([request.prompt_ids for request in requests], most)
        stop = sampling.stop or self.stop
        asked_for = EngineSampling(sampling.temperature, most, self.eos_id, stop, self.end_ids[1:])
        written = self._engine.write(requests, asked_for, self._adapter)
        if not switches.log_probabilities:
            return [self.completion(ids, stop) for ids in written]
        texts = [(request.prompt_ids, ids) for request, ids in zip(requests, written, strict=True)]
        scored = self._engine.score(texts, self._adapter)
        return [
            self.completion(ids, stop, log_probabilities=tuple(values))
            for ids, values in zip(written, scored, strict=True)
        ]

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation, tokenised apart from its prompt as in training."""
        texts = [
            (self.prompt_ids(prompt), self.spelled(continuation.encode()))
            for prompt, continuation in zip(prompts, continuations, strict=True)
        ]
        self._refuse_too_long([before + after for before, after in texts], 1)
        return list(map(sum, self._engine.score(texts, self._adapter)))

    def _refuse_too_long(self, prompts: Sequence[Sequence[int]], num_new: int) -> None:
        """vLLM would end such an attempt early, and it would look cut off by the token limit."""
        longest = max(map(len, prompts), default=0)
        if longest + num_new > self._engine.max_tokens:
            raise InputError(
                f"engine vllm: a prompt of {longest} tokens and {num_new} new ones are more than the "
                f"{self._engine.max_tokens} that it was started for; lower sampling.max_new_tokens, or write "
                "`engine: own`"
            )
