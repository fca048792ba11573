"""A policy behind an OpenAI-compatible server, and its adapters: many attempts at once, each with a guide and seed.

    POST /v1/load_lora_adapter (vLLM), /load_lora_adapter (SGLang)    {"lora_name": digest, "lora_path": folder}

An adapter's name is the digest of its weights, so that nothing that was cached under another one is taken for its own.
One is loaded when it is first needed, and the line's older ones go. Which are there is asked of the server each time:
it may have been started anew since.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from critics.errors import InputError, RunFailed
from critics.problem import Problem, is_list, is_object
from rollout.decoding.guide import Guide
from rollout.policies.models import LoraAdapter, end_ids
from rollout.policies.policy import Completion, Interrupted, StyledPolicy, load_tokenizer, model_digest, templated
from rollout.prompts.conversation import SEPARATOR, Messages, as_text, message
from rollout.prompts.style import PromptStyle
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.servers.author import Author, Capability, probed
from rollout.servers.connection import Connection, Replies, RequestRefused, ServerRequest, Tally
from rollout.settings import ServerSettings

_OK, _NOT_FOUND = 200, 404
_NAMELESS = Path("/certistar/no-such-adapter")
_REMEDY = "start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora, or SGLang with --enable-lora"


class Card(NamedTuple):
    """A model, or an adapter, that a server lists."""

    name: str
    root: str
    is_sglang: bool
    """True if it is SGLang's, which names a model by what it answers to and an adapter with its base."""


async def listed(connection: Connection) -> list[Card]:
    """Return what a server has; raises `InputError` where it does not say."""
    status, said = await connection.call("get", f"{connection.settings.base_url.rstrip('/')}/models")
    try:
        data: object = json.loads(said)
    except ValueError:
        data = None
    cards = data.get("data") if status == _OK and is_object(data) else None
    if not is_list(cards):
        raise InputError(
            f"{connection.settings.base_url}: lists no models (status {status}); is it an OpenAI-compatible server? "
            "base_url usually ends in /v1"
        )
    return [Card(str(c.get("id")), str(c.get("root")), c.get("owned_by") == "sglang") for c in cards if is_object(c)]


async def load(connection: Connection, adapter: LoraAdapter) -> str:
    """Have the server read an adapter, where it has not yet; return the name that requests ask for.

    Older ones of the same line of rounds are unloaded. Raises `InputError` where the server cannot take it.
    """
    cards = await listed(connection)
    if adapter.digest not in [card.name for card in cards]:
        status, said = await _posted(connection, "load_lora_adapter", adapter)
        cards = await listed(connection)
        if adapter.digest not in [card.name for card in cards]:  # another sampler may have been first
            where, folder, rank = connection.settings.base_url, adapter.folder, adapter.rank
            if status == _NOT_FOUND and adapter.digest not in said:
                raise InputError(f"{where}: loads no adapters while it runs (status {status}: {said}); {_REMEDY}")
            if status == _NOT_FOUND or "not exist" in said:
                raise InputError(
                    f"{where}: cannot read the adapter {folder} ({said}); write the run (--out) where the server finds "
                    "it under the same path"
                )
            raise InputError(
                f"{where}: does not take the adapter {folder} of rank {rank} ({said}); start the server with "
                f"--enable-lora and --max-lora-rank {rank}, or more"
            )
    for card in cards:
        if card.name != adapter.digest and _line_of(card.root) == _line_of(adapter.folder) is not None:
            await _posted(connection, "unload_lora_adapter", LoraAdapter(Path(card.root), card.name, 0))
    is_sglang = any(card.is_sglang for card in cards if card.name == adapter.digest)
    return f"{connection.settings.model}:{adapter.digest}" if is_sglang else adapter.digest


async def require_exchange(connection: Connection, base: str) -> None:
    """Raise `InputError` unless the server serves this base model, and loads adapters while it runs.

    It is asked for an adapter that nobody has: one that exchanges adapters looks for its folder.
    """
    settings = connection.settings
    named = [card for card in await listed(connection) if card.name == settings.model]
    if not named:
        raise InputError(f"{settings.base_url}: serves no model {settings.model!r}; correct model.server.model")
    root = named[0].root
    if named[0].is_sglang:
        status, said = await connection.call("get", f"{_origin(connection)}/get_model_info")
        data: object = json.loads(said) if status == _OK else None
        root = str(data.get("model_path")) if is_object(data) else root
    # Weights are compared where both folders can be read here, else names: two machines differ in places.
    one, other = Path(root).expanduser(), Path(base).expanduser()
    if one.is_dir() and other.is_dir():
        is_same = one.resolve() == other.resolve() or model_digest(root) == model_digest(base)
    else:
        is_same = _last(root) == _last(base)
    if not is_same:
        raise InputError(
            f"{settings.base_url}: {settings.model!r} is {root}, and model.name is {base}: adapters of one fit no "
            "other model; serve model.name, or write there what is served"
        )
    status, said = await _posted(connection, "load_lora_adapter", LoraAdapter(_NAMELESS, _NAMELESS.name, 0))
    if _NAMELESS.name not in said:
        raise InputError(f"{settings.base_url}: loads no adapters while it runs (status {status}: {said}); {_REMEDY}")


def _last(name: str) -> str:
    """Return a model's own name, also where it lies in the hub's cache."""
    for part in Path(name).parts:
        if part.startswith("models--"):
            return part.rpartition("--")[2]
    return Path(name).name


def _line_of(folder: Path | str) -> Path | None:
    """Return the line of rounds that an adapter's folder is of; None for a folder of another kind."""
    round_ = Path(folder).resolve().parent
    return round_.parent if round_.name.startswith("round-") else None


def _origin(connection: Connection) -> str:
    address = urlsplit(connection.settings.base_url)
    return f"{address.scheme}://{address.netloc}"


async def _posted(connection: Connection, what: str, adapter: LoraAdapter) -> tuple[int, str]:
    """Ask as vLLM is asked, and as SGLang is where that is not known."""
    body = {"lora_name": adapter.digest, "lora_path": str(adapter.folder.resolve())}
    status, said = await connection.call("post", f"{connection.settings.base_url.rstrip('/')}/{what}", body)
    if status == _NOT_FOUND and adapter.digest not in said:
        return await connection.call("post", f"{_origin(connection)}/{what}", body)
    return status, said


_ECHO = {"echo": True, "logprobs": 1}
_OUTGROWN = re.compile(r"context[ _-]?(length|size|window)", re.IGNORECASE)
"""Servers name their context so where a prompt is longer than it."""
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class ServerPolicy(StyledPolicy):
    """Asks a server for completions; what it can do is found out before the first guided one.

    `tokenizer` names the served model's tokenizer (a local folder or a hub name). It is needed where a chat template is
    to be applied on this side (`kind` completions). With `replies` nothing is asked that they hold; probes always are,
    for the server may be another than it was.
    """

    def __init__(
        self,
        settings: ServerSettings,
        *,
        prompt_style: PromptStyle,
        tokenizer: str | None = None,
        replies: Replies | None = None,
        adapter: LoraAdapter | None = None,
    ) -> None:
        told = {"chat_template_kwargs": {"enable_thinking": prompt_style.thinking}}
        if settings.kind == "chat" and prompt_style.thinking is not None:
            settings = settings.model_copy(update={"extra_body": {**told, **settings.extra_body}})
        self.settings = settings
        self._replies = replies
        self.prompt_style = prompt_style
        self.digests = PolicyDigests(f"server:{settings.model}", None if adapter is None else adapter.digest)
        """A name and no digest of the base: nobody outside the server knows which weights it serves."""
        self.tally = Tally()
        """Cost of all completions and probes so far."""
        self.capability: Capability | None = None
        self._tokenizer_name = tokenizer
        self._dropped: set[str] = set()
        self._scores: set[bool] = set()
        """Log-probabilities that it has shown: its own texts', given texts'."""
        self._stop = SEPARATOR if prompt_style.kind == "few-shot" else ""
        self._adapter = adapter
        self._model = settings.model if adapter is None else asyncio.run(self._load(adapter))
        """The name that is asked for: the model's, or the adapter's."""

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what the server is sent: for chat the messages as JSON, else text."""
        written = super().prompt(problem, hint=hint)
        is_text = self.settings.kind == "chat" and self.prompt_style.kind != "chat"
        return self.conversation([message("user", written)]) if is_text else written

    def conversation(self, messages: Messages) -> str:
        """Return what the server is sent to go on with a conversation."""
        if self.settings.kind == "chat":
            return json.dumps([dict(turn) for turn in messages], ensure_ascii=False)
        return self._templated(messages) if self.prompt_style.kind == "chat" else as_text(messages)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Write all prompts, `parallel` at a time; raises `Interrupted` where the server fails on the way."""
        return asyncio.run(self._complete(prompts, guides, seeds, sampling))

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation after its prompt: a prompt is echoed with its tokens' own.

        A prompt's end is found by counting its tokens alone. Where one token would span the end, the value may be off
        by that token. Raises `InputError` where the server does not echo (`echo` with `logprobs`: vLLM, and OpenAI's
        protocol of old); chat replies tell at most how likely the tokens were that the model wrote itself.
        """
        if self.settings.kind == "chat":
            raise InputError(
                "model.server.kind: chat replies do not tell how likely a given text is; set it to completions, or "
                "write coder-reviewer-own in the place of coder-reviewer"
            )
        wholes = [prompt + rest for prompt, rest in zip(prompts, continuations, strict=True)]
        texts = list(dict.fromkeys([*prompts, *wholes]))
        listed, failures = asyncio.run(self._served(self._echoed, texts, self._replies))
        if failures:
            raise failures[0]
        values = dict(zip(texts, (each or [] for each in listed), strict=True))
        rests = [values[whole][len(values[prompt]) :] for prompt, whole in zip(prompts, wholes, strict=True)]
        if any(None in rest for rest in rests):
            raise RunFailed(
                "the server leaves out log-probabilities of some tokens; run the command again, or see its log"
            )
        return [sum(value for value in rest if value is not None) for rest in rests]

    async def _echoed(self, connection: Connection, text: str) -> list[float | None]:
        """Return the log-probability of each token of a text; None for the first, before which there is nothing."""
        try:
            reply = await connection.ask(ServerRequest(text, max_tokens=1, fields=_ECHO), self.tally)
        except RequestRefused as refusal:
            raise self._silent(str(refusal)[:200]) from None
        num = reply.prompt_tokens
        if num is None or len(reply.logprobs) < num:
            raise self._silent("its replies hold no log-probabilities of the prompt")
        return [value for _, value in reply.logprobs[:num]]

    def _silent(self, why: str) -> InputError:
        return InputError(
            f"{self.settings.base_url}: does not tell how likely a given text is ({why}); serve the model where `echo` "
            "with `logprobs` is known (vLLM), or write coder-reviewer-own in the place of coder-reviewer"
        )

    def require_scores(self, *, own: bool) -> None:
        """Ask for the log-probabilities of a few words, once: those of a given text, or the model's `own`.

        From then on its own texts come with theirs.
        """
        if own in self._scores:
            return
        if own:
            self.settings = self.settings.model_copy(update={"logprobs": True})
            asyncio.run(self._require_own_scores())
        else:
            self.score(["One, two,"], [" three"])
        self._scores.add(own)

    async def _require_own_scores(self) -> None:
        asked = "Count from one to ten in words."
        prompt = [{"role": "user", "content": asked}] if self.settings.kind == "chat" else f"{asked}\n"
        why = "its reply holds none"
        async with self._connection() as connection:
            try:
                reply = await connection.ask(ServerRequest(prompt, max_tokens=8), self.tally)
                if reply.own_score is not None:
                    return
            except RequestRefused as refusal:
                why = str(refusal)[:200]
        raise InputError(
            f"{self.settings.base_url}: does not give the log-probabilities of what it writes ({why}); ask a server "
            "that does, or take coder-reviewer-own out of the prototypers"
        )

    async def _complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        capability, eos_ids = Capability(), list[int]()
        if guides is not None:
            if self.capability is None:
                async with self._connection() as connection:
                    try:
                        self.capability = await probed(connection, self.tally)
                    except RequestRefused as error:
                        raise self._refused(error) from None
            capability = self.capability
            eos_ids = self._eos_ids() if capability.has_guides else []

        async def written(connection: Connection, row: int) -> Completion:
            prompt = json.loads(prompts[row]) if self.settings.kind == "chat" else prompts[row]
            guide, stop = None if guides is None else guides[row], sampling.stop or self._stop
            author = Author(connection, capability, eos_ids, prompt, guide, seeds[row], sampling, stop)
            try:
                said = (await author.write()).finish()
                return Completion(said, (), author.attempt.ended == "stop", server=author.record())
            except RequestRefused as error:
                went_on = not isinstance(prompt, str) and any(turn["role"] == "assistant" for turn in prompt)
                if went_on and _OUTGROWN.search(str(error)):  # the dialog ends here, and the others go on
                    return Completion("", (), False, server=author.record())
                raise self._refused(error) from None
            finally:
                self.tally.add(author.tally)

        completions, failures = await self._served(written, range(len(prompts)), self._replies)
        if failures:
            raise Interrupted(completions, failures[0])
        return [completion for completion in completions if completion is not None]

    async def _served(
        self,
        ask: Callable[[Connection, Asked], Awaitable[Answer]],
        asked: Sequence[Asked],
        replies: Replies | None,
    ) -> tuple[list[Answer | None], list[InputError | RunFailed]]:
        """Ask all, `parallel` at a time; once one fails, those not begun never are, and those begun may finish."""
        gate = asyncio.Semaphore(self.settings.parallel)
        failures: list[InputError | RunFailed] = []

        async def answered(each: Asked) -> Answer | None:
            async with gate:
                try:
                    return None if failures else await ask(connection, each)
                except (InputError, RunFailed) as error:
                    failures.append(error)
            return None

        async with self._connection(replies) as connection:
            return await asyncio.gather(*map(answered, asked)), failures

    def _eos_ids(self) -> list[int]:
        """Return every token that ends a text, as in this process; none without a tokenizer."""
        if self._tokenizer is None or self._tokenizer_name is None:
            return []
        try:
            return list(end_ids(self._tokenizer_name, self._tokenizer))
        except InputError:  # a tokenizer alone, without a model's configuration
            return [self._tokenizer.eos_token_id]

    @cached_property
    def _tokenizer(self) -> Any:
        """The tokenizer under a local folder or a hub name; None where there is none."""
        try:
            return None if self._tokenizer_name is None else load_tokenizer(self._tokenizer_name)
        except InputError:
            return None

    def _connection(self, replies: Replies | None = None) -> Connection:
        adapter = self._adapter
        restore = None if adapter is None else partial(self._load, adapter)
        connection = Connection(self.settings, replies, model=self._model, restore=restore)
        connection.dropped = self._dropped
        return connection

    async def _load(self, adapter: LoraAdapter) -> str:
        async with Connection(self.settings) as connection:
            return await load(connection, adapter)

    def _refused(self, refusal: RequestRefused) -> InputError:
        remedy = "correct model.server or sampling (docs/servers.md lists what servers know)"
        if _OUTGROWN.search(str(refusal)):
            remedy = "lower model.examples or sampling.max_new_tokens, or serve the model with a longer context"
        return InputError(
            f"{self.settings.base_url}: refuses a request of model {self.settings.model!r} ({str(refusal)[:200]}); "
            f"{remedy}"
        )

    def _templated(self, turns: Messages) -> str:
        if self._tokenizer is None:
            raise InputError(
                "model.prompt: chat over model.server.kind: completions needs the model's own template, and no "
                "tokenizer is under model.name; name one there, or set model.server.kind to chat"
            )
        return templated(turns, self._tokenizer, self.prompt_style)
