"""The wire: one request of OpenAI's protocol through the official client, and its reply as plain data.

What can go wrong is told apart once, here: `InputError` where the user has to change something (a key, a model's
name, a parameter), `RunFailed` where the server has to recover, `RequestRefused` where it does not know a field.
The key is read from the environment and leaves this file towards the server alone: it is cut out of every text
that comes back, and errors of the client, which hold the request's headers, are never chained.
"""

import asyncio
import hashlib
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from pydantic import JsonValue

from critics.errors import InputError, RunFailed
from critics.problem import is_list, is_object
from rollout.prompts.conversation import Messages, without_system
from rollout.settings import ServerSettings

RequestFields: TypeAlias = Mapping[str, JsonValue]
"""Fields of a request's JSON body."""

_DROPPABLE = ("seed", "top_p", "top_logprobs", "logprobs")
"""Fields without which a request means the same, or only gives less back; temperature is not one of them."""
_SYSTEM = "system role"
"""Dropped where the model has none, as Gemma 2: instructions then stand in the first user's turn."""
_LONGEST_PAUSE_S = 8.0
_EXPLANATION_LENGTH = 200
_TALKATIVE = ("httpcore", "httpcore2")
"""Under the client; below INFO they log the headers of replies, in which a server may repeat the key."""
_SHORTEST_SECRET = 4
_COUNTED = ("prompt", "completion")


class RequestRefused(Exception):  # noqa: N818
    """The server refuses a request as it stands (status 400 or 422); the text is its explanation."""


class ServerFault(RunFailed):
    """The server failed at a request (status 500 and above), again and again; another one may still go well."""


class ModelNotFound(InputError):  # noqa: N818
    """The server has no model, or no adapter, of the name that it was asked for."""


class _UnreadableReply(Exception):  # noqa: N818
    """A reply is not what the protocol says."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """One request: what is to be continued, and how."""

    prompt: str | Messages
    written: str = ""
    """Text that the model has written of its own so far."""
    max_tokens: int = 16
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    fields: RequestFields = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A reply of the server."""

    text: str
    finish: str
    prompt_tokens: int | None
    completion_tokens: int | None
    logprobs: tuple[tuple[str, float | None], ...]

    @property
    def own_score(self) -> float | None:
        """Log-probability of all that the model wrote; None where the server does not say."""
        values = [value for _, value in self.logprobs if value is not None]
        return sum(values) if values and len(values) == len(self.logprobs) else None


@dataclass(slots=True)
class Tally:
    """Counts of requests and tokens."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    """Replies without a count of tokens."""
    retries: int = 0
    """Never part of a trace: a rerun may need others."""

    def count(self, reply: "ServerReply") -> "ServerReply":
        """Add a reply's tokens, and return it."""
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0
        self.uncounted += reply.completion_tokens is None
        return reply

    def add(self, other: "Tally") -> None:
        """Add another tally."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply as it came, without the key, and the fields that the server had refused by then."""

    text: str
    dropped: tuple[str, ...]


class Replies(Protocol):
    """Replies by what was asked. The same may be asked several times, and then has several replies."""

    def recall(self, request: str) -> KeptReply | None:
        """Return a kept reply to a request that was not handed out yet; None where there is none."""
        ...

    def keep(self, request: str, reply: KeptReply) -> None:
        """Keep a reply that was handed out already; on return it is on the disk."""
        ...


class Connection:
    """A server that can be asked questions; use it as an asynchronous context manager.

    With `replies`, what they hold is not asked, and what is asked is kept there. `model`: the name of an adapter that
    is asked in the place of the settings' model, and `restore` loads it where the server does not have it (any more).
    """

    def __init__(
        self,
        settings: ServerSettings,
        replies: Replies | None = None,
        *,
        model: str | None = None,
        restore: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        self.settings = settings
        self.model = model or settings.model
        self._replies = replies
        self._restore = restore
        self.dropped: set[str] = set()
        """Fields that the server did not know; no longer sent, but for `max_tokens`, which has a new name."""
        self._key_name = settings.key_variable or "OPENAI_API_KEY"
        self._key = os.environ.get(self._key_name, "").strip()
        if settings.key_variable is not None and not self._key:
            raise InputError(
                f"model.server.key_variable: the environment variable {settings.key_variable} is not set; "
                "set it to the server's key, or leave the line out where none is needed"
            )
        self._client: Any = None

    async def __aenter__(self) -> "Connection":
        from openai import AsyncOpenAI

        for name in _TALKATIVE:
            logging.getLogger(name).setLevel(logging.INFO)
        self._client = AsyncOpenAI(
            base_url=self.settings.base_url,
            api_key=self._key or "none",
            max_retries=self.settings.retries,
            timeout=self.settings.timeout_s,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def ask(self, question: ServerRequest, tally: Tally) -> ServerReply:
        """Send a request and return its reply; raises `InputError`, `RunFailed` or `RequestRefused`.

        A field that the server does not know and the request can do without is dropped, once for all requests;
        a plain request has to show which, because a complaint about a constraint may repeat the whole request.
        """
        name = "" if self._replies is None else self._name(question)
        if self._replies is not None and (kept := self._replies.recall(name)) is not None:
            self.dropped.update(kept.dropped)
            tally.calls += 1
            return tally.count(_read(kept.text, self.settings.kind))
        restore = self._restore
        while True:
            body, dropped = self._body(question), frozenset(self.dropped)
            try:
                text, reply = await self._readable_reply(body, tally)
            except ModelNotFound:
                if restore is None:
                    raise
                await restore()
                restore = None
            except RequestRefused as refusal:
                said, others = str(refusal), self.dropped - dropped  # by requests that were refused at the same time
                names = [n for n in (_SYSTEM, *_DROPPABLE) if n not in self.dropped and n in said.lower()]
                if "max_completion_tokens" in said and "max_tokens" not in self.dropped:
                    names = ["max_tokens"]
                if question.fields or not (names or others):
                    raise
                self.dropped.update(names[:1])
            else:
                if self._replies is not None:
                    self._replies.keep(name, KeptReply(text, tuple(sorted(self.dropped))))
                return tally.count(reply)

    async def call(self, method: str, address: str, body: object = None) -> tuple[int, str]:
        """Return status and text of a request beside the protocol's own; raises `RunFailed` where nobody answers."""
        import openai

        failure: Exception | None = None
        client = self._client.with_options(max_retries=min(1, self.settings.retries))
        try:
            text: str = await getattr(client, method)(address, cast_to=str, **({"body": body} if body else {}))
            return 200, self._without_key(text)
        except openai.APIStatusError as error:
            return error.status_code, self._without_key(_said(error))[:_EXPLANATION_LENGTH]
        except openai.OpenAIError as error:
            failure = self._explained(error)
        raise failure

    def _name(self, question: ServerRequest) -> str:
        """Name a request by what is asked of which model; where it listens, and how patiently it is asked, is left out.

        The seed is part of it, whether or not the server takes it: two samples are two requests.
        """
        settings = self.settings
        what = {key: getattr(question, key) for key in question.__slots__}
        asked = {"model": self.model, "kind": settings.kind, "logprobs": settings.logprobs, **what}
        text = json.dumps({**asked, "extra_body": settings.extra_body}, sort_keys=True, default=dict)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    async def _readable_reply(self, body: RequestFields, tally: Tally) -> tuple[str, ServerReply]:
        """Return a reply as text and as it is read; ask again, after growing pauses, until it can be read."""
        complaint = ""
        for attempt in range(self.settings.retries + 1):
            if attempt:
                tally.retries += 1
                await asyncio.sleep(min(0.5 * 2 ** (attempt - 1), _LONGEST_PAUSE_S))
            text = await self._post(body, tally)
            try:
                return text, _read(text, self.settings.kind)
            except _UnreadableReply as error:
                complaint = str(error)
            except (AttributeError, KeyError, TypeError, ValueError):
                complaint = "replies with fields of another form than the protocol's"
        raise RunFailed(
            f"{self.settings.base_url}: {complaint}, {self.settings.retries + 1} times; "
            "is it an OpenAI-compatible server? base_url usually ends in /v1"
        )

    async def _post(self, body: RequestFields, tally: Tally) -> str:
        """Return the reply's text, without the key; the client waits and retries as the server asks it to."""
        import openai

        known = {name: body[name] for name in ("model", "messages", "prompt") if name in body}
        further = {name: value for name, value in body.items() if name not in known}
        api = self._client.chat.completions if self.settings.kind == "chat" else self._client.completions
        failure: Exception | None = None
        tally.calls += 1
        try:
            raw = await api.with_raw_response.create(**known, extra_body=further)
            tally.retries += raw.retries_taken
            return self._without_key(raw.text)
        except openai.OpenAIError as error:
            failure = self._explained(error)
        # Raised out here, so that the client's error, with the key in its request, is not even the context.
        raise failure

    def _body(self, question: ServerRequest) -> RequestFields:
        settings, prompt = self.settings, question.prompt
        body: dict[str, JsonValue] = {
            "model": self.model,
            "temperature": question.temperature,
            "top_p": 1.0,
            "seed": question.seed,
            "max_tokens": question.max_tokens,
        }
        if question.stop:
            body["stop"] = list(question.stop)
        if isinstance(prompt, str):
            body["prompt"] = prompt + question.written
        else:
            turns = without_system(prompt) if _SYSTEM in self.dropped else prompt
            written = [{"role": "assistant", "content": question.written}] if question.written else []
            body["messages"] = [{**turn} for turn in (*turns, *written)]
        if settings.logprobs:
            body |= {"logprobs": True, "top_logprobs": 0} if settings.kind == "chat" else {"logprobs": 0}
        for name in self.dropped & body.keys():
            value = body.pop(name)
            if name == "max_tokens":
                body["max_completion_tokens"] = value
        return {**body, **settings.extra_body, **question.fields}

    def _without_key(self, text: str) -> str:
        """Attack: a server, or a proxy in between, that repeats the key in a reply or in a complaint about it."""
        return text.replace(self._key, "[key]") if self._key and len(self._key) >= _SHORTEST_SECRET else text

    def _explained(self, error: Exception) -> Exception:
        """Return what the user is told: one line with the server, what it says, and the remedy."""
        import openai

        where, tries = self.settings.base_url, self.settings.retries + 1
        said = self._without_key(_said(error))[:_EXPLANATION_LENGTH]
        match error:
            case openai.APITimeoutError():
                return RunFailed(
                    f"{where}: no reply within {self.settings.timeout_s:g} s, {tries} times; "
                    "raise model.server.timeout_s, or lower model.server.parallel"
                )
            case openai.APIConnectionError():
                return RunFailed(
                    f"{where}: no server answers ({tries} tries); start it, or correct model.server.base_url"
                )
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                name = self._key_name
                remedy = f"set {name} to a valid key" if self._key else f"{name} is not set: set it to the server's key"
                return InputError(f"{where}: the key is refused ({said}); {remedy}")
            case openai.NotFoundError():
                return ModelNotFound(
                    f"{where}: not found ({said}); correct model.server.base_url, .model ({self.model!r}) "
                    f"or .kind ({self.settings.kind})"
                )
            case openai.RateLimitError():
                return RunFailed(
                    f"{where}: still limits the rate after {tries} tries ({said}); "
                    "run the command again later, or lower model.server.parallel"
                )
            case openai.BadRequestError() | openai.UnprocessableEntityError():
                return RequestRefused(said)
            case _:
                return ServerFault(f"{where}: {said}, {tries} times; see the server's log and run the command again")


def _said(error: Exception) -> str:
    """Return what the server says is wrong, whichever field of its reply holds it."""
    body: object = getattr(error, "body", None)
    message = (body.get("message") or body.get("detail") if is_object(body) else None) or str(error)
    return " ".join(str(message).split())


def _read(text: str, kind: str) -> ServerReply:
    """Read a reply's body; raises `_UnreadableReply`."""
    try:
        data: object = json.loads(text)
    except ValueError:
        data = None
    if not is_object(data):
        raise _UnreadableReply("replies with something else than a JSON object")
    choices: object = data.get("choices")
    first: object = choices[0] if is_list(choices) and choices else None
    if not is_object(first):
        raise _UnreadableReply("replies without choices")
    written: Any = first.get("message", {}).get("content") if kind == "chat" else first.get("text")
    if written is not None and not isinstance(written, str):
        raise _UnreadableReply("replies without text")
    usage: Any = data.get("usage") or {}
    read, wrote = (value if isinstance(value := usage.get(f"{name}_tokens"), int) else None for name in _COUNTED)
    finish = str(first.get("finish_reason") or "unknown")
    # A reply that was cut off within a character may end in half of one, which no file takes.
    whole = (written or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return ServerReply(whole, finish, read, wrote, _logprobs(first.get("logprobs")))


def _logprobs(fields: object) -> tuple[tuple[str, float | None], ...]:
    """Return tokens with their log-probabilities, from either endpoint's form; empty where there are none."""
    if not is_object(fields):
        return ()
    if isinstance(fields.get("content"), list):
        return tuple((str(token["token"]), float(token["logprob"])) for token in fields["content"])
    tokens, values = fields.get("tokens") or (), fields.get("token_logprobs") or ()
    return tuple((str(t), None if v is None else float(v)) for t, v in zip(tokens, values, strict=False))
