"""Policies: what writes. A Hugging Face causal LM with or without a LoRA adapter, or a script in tests."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.decoding.rows import Request
from rollout.decoding.vocabulary import token_bytes
from rollout.policies import models
from rollout.prompts.conversation import SEPARATOR, Messages, as_text, in_parts, message, without_system
from rollout.prompts.prompt import messages, text
from rollout.prompts.style import PromptStyle
from rollout.records.digests import PolicyDigests, ServerUse, adapter_weights_digest, digest_of_files, digest_once
from rollout.records.sampling import Sampling

if TYPE_CHECKING:
    from rollout.decoding.masks import MaskEngine


@dataclass(frozen=True, slots=True)
class Completion:
    """A policy's text and its token ids; both end before, and with, end-of-text where it was reached."""

    text: str
    ids: tuple[int, ...]
    finished: bool
    server: ServerUse | None = None
    """Use of a server: how it was asked, and the cost (`rollout.servers.author`); None where no server wrote it."""
    forced: tuple[int, ...] = ()
    """Positions of the ids that were forced, so that no model was asked for them."""
    log_probabilities: tuple[float, ...] = ()
    """Log-probability of each id under the model without any mask, where they were asked for."""
    thoughts: str = ""
    """The whole text with its thoughts, where a reasoning model's thoughts were taken out of `text`."""


class Interrupted(Exception):  # noqa: N818
    """Not all completions can be had: `completions` has None for those that are missing, `reason` says why."""

    def __init__(self, completions: "Sequence[Completion | None]", reason: InputError | RunFailed) -> None:
        super().__init__(str(reason))
        self.completions = completions
        self.reason = reason


class Policy(Protocol):
    """Anything that completes prompts."""

    digests: PolicyDigests

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what the policy reads for a problem; `hint` gives its answer away."""
        ...

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Return one completion for each prompt; `seeds` make each independent of its batch.

        Raises `Interrupted` where some are done and the rest cannot be had.
        """
        ...


class ChatPolicy(Policy, Protocol):
    """A policy that can be asked to go on with a conversation: such prompts go to `complete` like any others."""

    def conversation(self, messages: Messages) -> str:
        """Return the prompt that opens the assistant's next turn."""
        ...


@runtime_checkable
class ScoringPolicy(ChatPolicy, Protocol):
    """A policy that tells how likely it is to write a text."""

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation after its prompt: of its text, not of an end after it."""
        ...


@runtime_checkable
class ProbedPolicy(Protocol):
    """A policy that has to be asked whether it tells how likely a text is: a server."""

    def require_scores(self, *, own: bool) -> None:
        """Raise `InputError` where it tells nothing of given texts, or of what it writes itself (`own`)."""
        ...


class StyledPolicy:
    """Base of policies that read text: problems in a style, and conversations as text."""

    prompt_style = PromptStyle()

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what the policy reads for a problem; `hint` gives its answer away."""
        style = self.prompt_style
        if style.kind == "chat":
            return self.conversation(messages(problem, style, hint=hint))
        return text(problem, style, hint=hint)

    def conversation(self, messages: Messages) -> str:
        """Return a conversation as text, the assistant's turn opened."""
        return as_text(messages)


class ScriptedPolicy(StyledPolicy):
    """A policy that writes what it is told, in order: for tests and for replaying recorded text."""

    def __init__(self, completions: Sequence[str | Completion]) -> None:
        self.digests = PolicyDigests("scripted")
        self._left = list(completions)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Hand out the next completions, bare text as a finished one; raises `IndexError` when the script is over."""
        written = [self._left.pop(0) for _ in prompts]
        return [Completion(c, (), True) if isinstance(c, str) else c for c in written]


class Requesting:
    """A policy that is put a request in the place of a problem, and otherwise is the policy that it is made of."""

    def __init__(self, policy: ChatPolicy, request: Callable[..., Messages]) -> None:
        """Take the policy, and `request(problem, hint=..)`: the conversation that a problem becomes."""
        self.digests, self.complete = policy.digests, policy.complete
        self._policy, self._request = policy, request

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return the request's conversation."""
        return self._policy.conversation(self._request(problem, hint=hint))


class TokenPolicy(StyledPolicy):
    """Base of the policies of this process: a tokenizer, how they are asked, and how ids are read."""

    def __init__(self, model_name: str, prompt_style: PromptStyle) -> None:
        self.tokenizer = models.kept("tokenizer", model_name, partial(load_tokenizer, model_name))
        self.prompt_style = prompt_style
        self.eos_id: int = self.tokenizer.eos_token_id
        self.end_ids = models.end_ids(model_name, self.tokenizer)
        """Every token at which a text ends; trained is the first, `eos_id`."""
        self.stop = SEPARATOR if prompt_style.kind == "few-shot" else ""
        """A base model that has seen solved examples goes on with another problem instead of ending its text."""

    def conversation(self, messages: Messages) -> str:
        """Return a conversation by the chat template where the style is `chat`, else as text."""
        return as_prompt(messages, self.tokenizer, self.prompt_style)

    def prompt_ids(self, prompt: str) -> list[int]:
        """Return a prompt's tokens."""
        return prompt_ids(self.tokenizer, prompt, self.prompt_style)

    def spelled(self, text: bytes) -> list[int]:
        """Return the tokenizer's own spelling of a text that follows another one."""
        return self.tokenizer(text.decode(errors="replace"), add_special_tokens=False)["input_ids"]

    def tokenised(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return texts in two parts, tokenised apart as in training."""
        pairs = zip(prompts, continuations, strict=True)
        return [(self.prompt_ids(one), self.spelled(other.encode())) for one, other in pairs]

    def masks(self) -> "MaskEngine":
        """Return what finds the tokens that a guide allows."""
        from rollout.decoding.masks import MaskEngine

        return MaskEngine(token_bytes(self.tokenizer), self.end_ids, spell=self.spelled)

    def completion(
        self, ids: Sequence[int], stop: str, *, forced: tuple[int, ...] = (), log_probabilities: tuple[float, ...] = ()
    ) -> Completion:
        """Return what the new ids say, end-of-text and what a stop cuts off left out."""
        finished = bool(ids) and ids[-1] in self.end_ids
        written = ids[:-1] if finished else ids
        decoded = self.tokenizer.decode(written, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        if stop and stop in decoded:
            # The ids go past the text, perhaps from within a token: training tokenises the text again.
            return Completion(decoded[: decoded.index(stop)], (), True)
        return Completion(decoded, tuple(ids), finished, forced=forced, log_probabilities=log_probabilities)


class HuggingFacePolicy(TokenPolicy):
    """A causal LM from a local folder or the hub, its adapter joined to it (`rollout.policies.adapted`)."""

    def __init__(
        self,
        model_name: str,
        adapter: Path | None = None,
        *,
        prompt_style: PromptStyle,
        dtype: str = "auto",
        num_seats: int | None = None,
    ) -> None:
        import torch

        from rollout.decoding.sampling import Seats

        super().__init__(model_name, prompt_style)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        base = model_digest(model_name)
        self.digests = PolicyDigests(base, None if adapter is None else adapter_weights_digest(adapter))
        self.model: Any = _sampled(model_name, base, adapter, dtype, self.device).eval()
        self._masks = models.kept("masks", (base, self.end_ids), self.masks)
        self._seats = Seats(num_seats)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Sample all prompts, as many at a time as there are seats."""
        from rollout.decoding.rows import row_of
        from rollout.decoding.sampling import sample_batch

        rows = [None] * len(prompts) if guides is None else [row_of(guide) for guide in guides]
        stop = sampling.stop or self.stop
        requests = [
            Request(self.prompt_ids(prompt), seed, row, stop.encode())
            for prompt, seed, row in zip(prompts, seeds, rows, strict=True)
        ]
        longest = max((len(request.prompt_ids) for request in requests), default=0)
        models.require_positions(self.model, longest + sampling.max_new_tokens, "a prompt with its reply")
        sample_batch(
            self.model,
            requests,
            self._masks,
            temperature=sampling.temperature,
            max_new_tokens=sampling.max_new_tokens,
            eos_id=self.eos_id,
            also_ends=self.end_ids[1:],
            pad_id=self.tokenizer.pad_token_id,
            switches=sampling.switches,
            seats=self._seats,
        )
        return [
            self.completion(
                request.output,
                stop,
                forced=tuple(place for place, is_forced in enumerate(request.forced) if is_forced),
                log_probabilities=tuple(request.log_probabilities),
            )
            for request in requests
        ]

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation, tokenised apart from its prompt as in training."""
        from rollout.decoding.choice import score_batch

        return score_batch(self.model, self.tokenised(prompts, continuations), pad_id=self.tokenizer.pad_token_id)


def as_prompt(messages: Messages, tokenizer: Any, style: PromptStyle) -> str:
    """Return a conversation as a policy of this style reads it, the assistant's turn opened."""
    return templated(messages, tokenizer, style) if style.kind == "chat" else as_text(messages)


_RECOGNISED = 40
"""Characters of the first turn by which a templated text is seen to hold it."""


def templated(messages: Messages, tokenizer: Any, style: PromptStyle) -> str:
    """Apply the tokenizer's chat template; templates that know no thinking pass over being told of it.

    Instructions stand in the first user's turn where a template knows no system role, and texts are parts of a turn
    where it expects images beside them. Raises `PolicyError` where it refuses the turns all the same.
    """
    from jinja2 import TemplateError

    if getattr(tokenizer, "chat_template", "") is None:
        raise models.PolicyError(
            "model.prompt: the tokenizer has no chat template; write few-shot or bare in the place of chat"
        )
    told = {} if style.thinking is None else {"enable_thinking": style.thinking}
    complaint = ""
    for shape, turns in product((dict, in_parts), (messages, without_system(messages))):
        try:
            text: str = tokenizer.apply_chat_template(
                list(map(shape, turns)), tokenize=False, add_generation_prompt=True, **told
            )
        except (TemplateError, TypeError) as error:
            complaint = models.first_line(error) if shape is dict else complaint
            continue
        # Attack: a template that leaves instructions out without a word, or writes parts as Python would.
        if turns[0]["content"].strip()[:_RECOGNISED] in text and "'type': 'text'" not in text:
            return text
        complaint = "it leaves the first turn out" if shape is dict else complaint
    raise models.PolicyError(
        f"the chat template cannot show a conversation ({complaint}); set model.prompt to few-shot"
    )


def prompt_ids(tokenizer: Any, prompt: str, style: PromptStyle) -> list[int]:
    """Tokenise a prompt; a chat template writes its own special tokens, so none are added to it."""
    ids: list[int] = tokenizer(prompt, add_special_tokens=style.kind != "chat")["input_ids"]
    return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids


def load_tokenizer(model_name: str) -> Any:
    """Load a tokenizer; raises `PolicyError` where the folder is missing or it has no end-of-text token."""
    import transformers

    models.require_folder(model_name)
    name, at = models.source(model_name)
    loader: Any = transformers.AutoTokenizer
    try:
        tokenizer = loader.from_pretrained(name, **at)
    except (OSError, ValueError) as error:
        raise models.unreadable(model_name, "no tokenizer could be loaded", error) from error
    if tokenizer.eos_token_id is None:
        raise models.PolicyError(
            f"model {model_name!r}: its tokenizer has no end-of-text token, so no completion could ever end; "
            "set eos_token in its tokenizer_config.json"
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if (end := _turn_end(tokenizer)) is not None:
        tokenizer.eos_token = end
    return tokenizer


def _turn_end(tokenizer: Any) -> str | None:
    """Return the token that ends an assistant's turn by the chat template; None where there is no such token.

    Of Gemma and Phi it is not the end-of-text token: their turns would never end, and be trained to end otherwise.
    """
    from jinja2 import TemplateError

    if tokenizer.chat_template is None:
        return None
    said = "what was said"
    turns = [message("user", "what was asked"), message("assistant", said)]
    try:
        text: str = tokenizer.apply_chat_template(turns, tokenize=False)
    except TemplateError:
        return None
    rest = text.rpartition(said)[2].lstrip()
    special = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    return max((token for token in special if rest.startswith(token)), key=len, default=None)


def load_model(model_name: str, *, dtype: str = "auto", **options: Any) -> Any:
    """Load a causal LM: float32 on a CPU whatever the file holds, else bfloat16 unless told otherwise."""
    import torch

    if not torch.cuda.is_available():
        # Grouped queries read the keys where they lie; on a GPU a mask would then take a slower kernel.
        os.environ.setdefault("TRANSFORMERS_SDPA_FORCE_GQA", "1")
    name, at = models.source(model_name)
    loader = models.loader_of(model_name, models.config_of(model_name))
    if dtype == "auto":
        dtype = "bfloat16" if torch.cuda.is_available() else "float32"
    adapter = models.adapter_in(model_name)
    load = partial(_plain, loader, name, adapter, dtype=getattr(torch, dtype), **at)
    try:
        try:
            return load(**{"attn_implementation": "sdpa", **options})
        except ValueError as error:
            if "attn_implementation" in options or "attention implementation" not in str(error):
                raise
            return load(attn_implementation="eager", **options)  # Gemma 2 and gpt-oss know no other
    except (OSError, ValueError) as error:
        raise models.unreadable(model_name, "it could not be loaded", error) from error


def _plain(loader: Any, name: str, adapter: Path | None, **options: Any) -> Any:
    """Load a model, merged with its adapter in float32.

    One that was read from a GGUF file is full weights by now, and must not claim to be quantised.
    """
    if adapter is not None:
        if "quantization_config" in options:
            raise models.PolicyError(
                "model.adapter: is not merged into four bits; run `certistar merge`, and name the result"
            )
        whole = _plain(loader, name, None, **{**options, "dtype": "float32"})
        import peft

        wrapper: Any = peft.PeftModel
        return wrapper.from_pretrained(whole, str(adapter)).merge_and_unload().to(options["dtype"])
    model = loader.from_pretrained(name, **options)
    if "gguf_file" in options:
        model.hf_quantizer, model.is_quantized = None, False
        del model.config.quantization_config
    return model


def _sampled(model_name: str, digest: str, adapter: Path | None, dtype: str, device: Any) -> Any:
    """Return the model with what a round trained: a LoRA adapter joined to it, or full weights in its place.

    Full weights are trained in float32 and written so; they are run in the precision of the model that they replace.
    """
    if adapter is not None and not (adapter / "adapter_config.json").exists():
        if not any((adapter / f"model.safetensors{end}").exists() for end in ("", ".index.json")):  # one, or shards
            raise models.PolicyError(f"adapter {adapter}: neither adapter_config.json nor model.safetensors is in it")
        models.forget(models.MODEL)
        return load_model(str(adapter), dtype=dtype).to(device)
    model = models.shared(
        models.kept(models.MODEL, (digest, dtype), partial(load_model, model_name, dtype=dtype)).to(device)
    )
    if adapter is None:
        return model
    from rollout.policies.adapted import joined

    return joined(model, adapter)[0]


def model_digest(model_name: str) -> str:
    """Return the SHA-256 over a local model's weights, configuration and tokenizer; a hub model's name and commit."""
    models.require_folder(model_name)
    if (adapter := models.adapter_in(model_name)) is not None:
        return digest_of_files([(model_digest(models.unmerged(model_name)), adapter_weights_digest(adapter))])
    folder = Path(model_name).expanduser()
    if folder.suffix == ".gguf":
        return digest_of_files([(folder.name, digest_once(folder))])
    if not folder.is_dir():
        commit = getattr(models.config_of(model_name), "_commit_hash", None)
        return hashlib.sha256(json.dumps([models.source(model_name)[0], commit]).encode()).hexdigest()
    identity = {"config.json", "tokenizer.json", "chat_template.jinja"}
    names = sorted(p for p in folder.iterdir() if p.suffix == ".safetensors" or p.name in identity)
    beyond = models.further_ends(model_name)
    files = ((path.name, digest_once(path)) for path in names)
    return digest_of_files(files, f"ends:{beyond}\n" if beyond else "")
