"""Log-probabilities under a served model: a prompt is echoed with the log-probability of each token.

Completions can do that (`echo` with `logprobs`: vLLM, and OpenAI's protocol of old); chat replies tell at most how
likely the tokens were that the model wrote itself.
"""

import asyncio
from collections.abc import Sequence

from critics.errors import InputError, RunFailed
from rollout.servers.connection import Connection, RequestRefused, ServerReply, ServerRequest, Tally
from rollout.settings import ServerSettings

_ECHO = {"echo": True, "logprobs": 1}


def score_texts(
    connection: Connection, prompts: Sequence[str], continuations: Sequence[str], tally: Tally
) -> list[float]:
    """Return the log-probability of each continuation after its prompt.

    A prompt's end is found by counting its tokens alone. Where one token would span the end, the value may be off by
    that token. Raises `InputError` where the server does not echo.
    """
    if connection.settings.kind == "chat":
        raise InputError(
            "model.server.kind: chat replies do not tell how likely a given text is; set it to completions, or write "
            "coder-reviewer-own in the place of coder-reviewer"
        )
    return asyncio.run(_scored(connection, prompts, continuations, tally))


async def require_own_scores(server: Connection, tally: Tally) -> None:
    """Raise `InputError` unless a short reply comes with the log-probability of each of its tokens."""
    settings, asked = server.settings, "Count from one to ten in words."
    prompt = [{"role": "user", "content": asked}] if settings.kind == "chat" else f"{asked}\n"
    async with server as connection:
        try:
            reply = await connection.ask(ServerRequest(prompt, max_tokens=8), tally)
        except RequestRefused as refusal:
            raise _without_own(settings, str(refusal)[:200]) from None
    if own_score(reply) is None:
        raise _without_own(settings, "its reply holds none")


def own_score(reply: ServerReply) -> float | None:
    """Return the log-probability of all that a reply's model wrote; None where the server does not say."""
    values = [value for _, value in reply.logprobs if value is not None]
    return sum(values) if values and len(values) == len(reply.logprobs) else None


def _without_own(settings: ServerSettings, why: str) -> InputError:
    return InputError(
        f"{settings.base_url}: does not give the log-probabilities of what it writes ({why}); ask a server that does, "
        "or take coder-reviewer-own out of the prototypers"
    )


async def _scored(
    server: Connection, prompts: Sequence[str], continuations: Sequence[str], tally: Tally
) -> list[float]:
    wholes = [prompt + rest for prompt, rest in zip(prompts, continuations, strict=True)]
    texts = list(dict.fromkeys([*prompts, *wholes]))
    gate = asyncio.Semaphore(server.settings.parallel)
    failures: list[InputError | RunFailed] = []
    async with server as connection:

        async def echoed(text: str) -> list[float | None]:
            async with gate:
                if failures:  # what is on its way may come, and is kept; nothing else is asked
                    return []
                try:
                    return await _echo(connection, text, tally)
                except (InputError, RunFailed) as error:
                    failures.append(error)
            return []

        values = dict(zip(texts, await asyncio.gather(*map(echoed, texts)), strict=True))
    if failures:
        raise failures[0]
    return [_rest(values[whole], len(values[prompt])) for prompt, whole in zip(prompts, wholes, strict=True)]


async def _echo(connection: Connection, text: str, tally: Tally) -> list[float | None]:
    """Return the log-probability of each token of a text; None for the first, before which there is nothing."""
    try:
        reply = await connection.ask(ServerRequest(text, max_tokens=1, fields=_ECHO), tally)
    except RequestRefused as refusal:
        raise _silent(connection.settings, str(refusal)[:200]) from None
    return _values(reply, connection.settings)


def _values(reply: ServerReply, settings: ServerSettings) -> list[float | None]:
    num = reply.prompt_tokens
    if num is None or len(reply.logprobs) < num:
        raise _silent(settings, "its replies hold no log-probabilities of the prompt")
    return [value for _, value in reply.logprobs[:num]]


def _rest(values: Sequence[float | None], num_prompt: int) -> float:
    rest = values[num_prompt:]
    if any(value is None for value in rest):
        raise RunFailed("the server leaves out log-probabilities of some tokens; run the command again, or see its log")
    return sum(value for value in rest if value is not None)


def _silent(settings: ServerSettings, why: str) -> InputError:
    return InputError(
        f"{settings.base_url}: does not tell how likely a given text is ({why}); serve the model where `echo` with "
        "`logprobs` is known (vLLM), or write coder-reviewer-own in the place of coder-reviewer"
    )
