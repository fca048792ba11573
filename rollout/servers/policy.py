"""A policy behind an OpenAI-compatible server: many attempts at once, each with its own guide and seed."""

import asyncio
import json
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.decoding.languages import TextGuide
from rollout.policies.models import end_ids
from rollout.policies.policy import Completion, Interrupted, load_tokenizer, templated
from rollout.prompts.conversation import SEPARATOR, Messages, as_text
from rollout.prompts.prompt import messages, text
from rollout.prompts.style import PromptStyle
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.servers.adapters import ServedAdapter, load
from rollout.servers.author import Author, Capability, probed
from rollout.servers.connection import Connection, Replies, RequestRefused, Tally
from rollout.servers.scoring import require_own_scores, score_texts
from rollout.settings import ServerSettings


class ServedTokens:
    """A tokenizer under a local folder or a hub name, loaded when it is first asked for; without one, it is empty."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer; None where there is none."""
        if self._name is None:
            return None
        try:
            return load_tokenizer(self._name)
        except InputError:
            return None

    @cached_property
    def eos_ids(self) -> list[int]:
        """Every token that ends a text, as in this process; none without a tokenizer."""
        if self.tokenizer is None or self._name is None:
            return []
        try:
            return list(end_ids(self._name, self.tokenizer))
        except InputError:  # a tokenizer alone, without a model's configuration
            return [self.tokenizer.eos_token_id]


class ServerPolicy:
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
        adapter: ServedAdapter | None = None,
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
        """What all completions and probes so far have cost."""
        self.capability: Capability | None = None
        self._tokens = ServedTokens(tokenizer)
        self._dropped: set[str] = set()
        self._scores: set[bool] = set()
        """Which log-probabilities it has shown: its own texts', given texts'."""
        self._stop = SEPARATOR if prompt_style.kind == "few-shot" else ""
        self._adapter = adapter
        self._model = settings.model if adapter is None else asyncio.run(self._load(adapter))
        """The name that is asked for: the model's, or the adapter's."""

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what the server is sent: for chat the messages as JSON, else text."""
        style = self.prompt_style
        written = None if style.kind == "chat" else text(problem, style, hint=hint)
        if self.settings.kind == "chat":
            turns = messages(problem, style, hint=hint) if written is None else [{"role": "user", "content": written}]
            return json.dumps(turns, ensure_ascii=False)
        return self._templated(messages(problem, style, hint=hint)) if written is None else written

    def conversation(self, messages: Messages) -> str:
        """Return what the server is sent to go on with a conversation."""
        if self.settings.kind == "chat":
            return json.dumps([dict(turn) for turn in messages], ensure_ascii=False)
        return self._templated(messages) if self.prompt_style.kind == "chat" else as_text(messages)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Write all prompts, `parallel` at a time; raises `Interrupted` where the server fails on the way."""
        if any(isinstance(guide, TextGuide) for guide in guides or ()):
            raise InputError(
                "constrained: a server is not held to the grammar of a whole text; set it to false, or take "
                "model.server out of the configuration"
            )
        return asyncio.run(self._complete(prompts, guides, seeds, sampling))

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Return the log-probability of each continuation; raises `InputError` where the server cannot tell."""
        return score_texts(self._connection(self._replies), prompts, continuations, self.tally)

    def require_scores(self, *, own: bool) -> None:
        """Ask for the log-probabilities of a few words, once: those of a given text, or the model's `own`.

        From then on its own texts come with theirs.
        """
        if own in self._scores:
            return
        if own:
            self.settings = self.settings.model_copy(update={"logprobs": True})
            asyncio.run(require_own_scores(self._connection(), self.tally))
        else:
            self.score(["One, two,"], [" three"])
        self._scores.add(own)

    async def _complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        async with self._connection(self._replies) as connection:
            capability = Capability() if guides is None else await self._probed()
            authors = [
                Author(
                    connection,
                    capability,
                    self._tokens.eos_ids if capability.spelling is not None else [],
                    json.loads(prompt) if self.settings.kind == "chat" else prompt,
                    None if guides is None else guides[row],
                    seed,
                    sampling,
                    sampling.stop or self._stop,
                )
                for row, (prompt, seed) in enumerate(zip(prompts, seeds, strict=True))
            ]
            return await self._written(authors)

    async def _written(self, authors: Sequence[Author]) -> list[Completion]:
        """Run the authors; once one fails, those that have not begun never do, and those that have may finish."""
        gate = asyncio.Semaphore(self.settings.parallel)
        failures: list[InputError | RunFailed] = []

        async def completion(author: Author) -> Completion | None:
            async with gate:
                if failures:
                    return None
                try:
                    written = (await author.write()).finish()
                    return Completion(written, (), author.attempt.ended == "stop", server=author.record())
                except (InputError, RunFailed) as error:
                    failures.append(error)
                except RequestRefused as error:
                    failures.append(self._refused(error))
                finally:
                    self.tally.add(author.tally)
            return None

        completions = await asyncio.gather(*map(completion, authors))
        if failures:
            raise Interrupted(completions, failures[0])
        return [completion for completion in completions if completion is not None]

    async def _probed(self) -> Capability:
        if self.capability is None:
            async with self._connection() as connection:
                try:
                    self.capability = await probed(connection, self.tally)
                except RequestRefused as error:
                    raise self._refused(error) from None
        return self.capability

    def _connection(self, replies: Replies | None = None) -> Connection:
        adapter = self._adapter
        restore = None if adapter is None else partial(self._load, adapter)
        connection = Connection(self.settings, replies, model=self._model, restore=restore)
        connection.dropped = self._dropped
        return connection

    async def _load(self, adapter: ServedAdapter) -> str:
        async with Connection(self.settings) as connection:
            return await load(connection, adapter)

    def _refused(self, refusal: RequestRefused) -> InputError:
        return InputError(
            f"{self.settings.base_url}: refuses a request of model {self.settings.model!r} ({str(refusal)[:200]}); "
            "correct model.server or sampling (docs/servers.md lists what servers know)"
        )

    def _templated(self, turns: Messages) -> str:
        tokenizer = self._tokens.tokenizer
        if tokenizer is None:
            raise InputError(
                "model.prompt: chat over model.server.kind: completions needs the model's own template, and no "
                "tokenizer is under model.name; name one there, or set model.server.kind to chat"
            )
        return templated(turns, tokenizer, self.prompt_style)
