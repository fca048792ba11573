"""Probes of a server: its abilities, as its replies show them, never by its name or its status alone.

A server that ignores a field still answers, so each ability is tried on a text that no model would write by itself.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from critics.errors import InputError
from critics.problem import Problem
from rollout.engines.wire import WiredRequest
from rollout.guides.recipe import GuideRecipe
from rollout.records.server_use import ServerUse
from rollout.servers.connection import (
    Connection,
    Messages,
    RequestRefused,
    ServerFault,
    ServerReply,
    ServerRequest,
    Tally,
)
from rollout.servers.constraint import (
    GUIDE_SPELLINGS,
    SPELLINGS,
    TOKEN_WAYS,
    WAYS,
    FieldSpelling,
    GuideSpelling,
    token_fields,
)
from rollout.servers.expression import any_of
from rollout.servers.tokens import ServedTokens
from rollout.settings import Way

Stops: TypeAlias = Literal["shown", "told", "hidden"]

_UNLIKELY = (b"qzj kwv xq", b"xxq jjw zp")
_ROOM = 48
"""Tokens for an unlikely text in the JSON form, with a tokenizer that has no words for it."""
_SEED = 20230704
_QUOTED = f"{_UNLIKELY[0].decode()}.]]"
_QUOTATION = WiredRequest(
    GuideRecipe("quote", Problem("probe", "probe", _QUOTED.removesuffix("]]"), "")), "[[quote:", _ROOM
)
"""A guide within a block that leaves one text."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Abilities that a server has shown."""

    way: Way
    """The best way in which it keeps to a pattern."""
    spelling: FieldSpelling | GuideSpelling | None = None
    """How that way is asked for; None for tokens and where nothing is asked for."""
    stops: Stops = "hidden"
    """Whether a reply shows, or a field tells, which stop string ended it; hidden: not told from the model's own end,
    so that no stop strings are used and replies are cut instead."""
    continues: bool = False
    """Whether a begun message is gone on with; completions always are."""
    refused: tuple[str, ...] = ()
    """Better ways that were tried in vain, with the reason."""

    def record(self) -> ServerUse:
        """Return the JSON form for a trace."""
        spelling = None if self.spelling is None else self.spelling.name
        return {
            "constraint": self.way,
            "spelling": spelling,
            "stops": self.stops,
            "continues": self.continues,
            "refused": list(self.refused),
        }


@dataclass
class Probe:
    """Asks one server what it can do."""

    connection: Connection
    tokens: ServedTokens
    tally: Tally

    async def capability(self) -> Capability:
        """Return what the server can do for guided texts; raises `InputError` where it lacks a way asked for."""
        stops = await self._stops()  # first, because its requests are plain (`Connection.ask`)
        return replace(await self._best_way(), stops=stops, continues=await self._continues())

    async def _best_way(self) -> Capability:
        settings = self.connection.settings
        refused: list[str] = []
        for way in WAYS if settings.constraint == "auto" else (settings.constraint,):
            if way == "rejection":
                return Capability(way, refused=tuple(refused))
            if way in TOKEN_WAYS:
                complaint = await self._token_complaint(way)
                if complaint is None:
                    return Capability(way, refused=tuple(refused))
                refused.append(f"{way}: {complaint}")
                continue
            for spelling in GUIDE_SPELLINGS if way == "guide" else SPELLINGS[way]:
                complaint = await self._complaint(spelling)
                if complaint is None:
                    return Capability(way, spelling, refused=tuple(refused))
                refused.append(f"{spelling.name}: {complaint}")
        raise InputError(
            f"{settings.base_url}: model {settings.model!r} cannot be held to blocks in the way that "
            f"model.server.constraint asks for ({'; '.join(refused)}); set it to auto"
        )

    async def _complaint(self, spelling: FieldSpelling | GuideSpelling) -> str | None:
        """Ask for one of two unlikely texts; return why a spelling does not work, or None."""
        guided = isinstance(spelling, GuideSpelling)
        asked = spelling.fields(_QUOTATION.spec()) if guided else spelling.fields(any_of(_UNLIKELY))
        question = self._question(_ROOM, fields=asked)
        try:
            reply = await self.connection.ask(question, self.tally)
        except RequestRefused:
            return "refused"
        except ServerFault:
            return "failed"
        if guided:
            return None if reply.text.startswith(_QUOTED) else "ignored"
        try:
            text = spelling.read(reply.text)
        except ValueError:
            return "ignored"
        return None if text.encode() in _UNLIKELY else "ignored"

    async def _token_complaint(self, way: Way) -> str | None:
        """Ask for one of two unlikely tokens."""
        wanted = self.tokens.unlikely()
        if not wanted:
            return "no tokenizer under model.name"
        try:
            reply = await self.connection.ask(self._question(1, fields=token_fields(way, sorted(wanted))), self.tally)
        except RequestRefused:
            return "refused"
        except ServerFault:
            return "failed"
        return None if reply.text.strip().encode() in wanted.values() else "ignored"

    async def _stops(self) -> Stops:
        """Stop a reply within what the same request wrote without a stop, and look how that shows."""
        whole = await self.connection.ask(self._question(24), self.tally)
        try:
            at = len(whole.text) // 2
            stop = whole.text[at : at + 3]
            place = whole.text.find(stop)
            if not stop.strip() or not place:
                return "hidden"
            stopped = await self.connection.ask(replace(self._question(24), stop=(stop,)), self.tally)
        except RequestRefused:
            return "hidden"
        return _stop_seen(whole.text[:place], stop, whole, stopped)

    async def _continues(self) -> bool:
        """Compare the prompt's length: a message that is gone on with has no end and no new header behind it."""
        if self.connection.settings.kind == "completions":
            return True
        question = replace(self._question(1), written="One, two, three")
        try:
            anew = await self.connection.ask(question, self.tally)
            further = await self.connection.ask(replace(question, continues=True), self.tally)
        except RequestRefused:
            return False
        counts = (anew.prompt_tokens, further.prompt_tokens)
        return counts[0] is not None and counts[1] is not None and counts[1] < counts[0]

    def _question(self, max_tokens: int, **more: Any) -> ServerRequest:
        asked = "Count from one to twenty in words."
        chat = self.connection.settings.kind == "chat"
        prompt: str | Messages = [{"role": "user", "content": asked}] if chat else f"{asked}\n"
        return ServerRequest(prompt, max_tokens=max_tokens, seed=_SEED, **more)


def _stop_seen(before: str, stop: str, whole: ServerReply, stopped: ServerReply) -> Stops:
    if stopped.tells and stopped.stopped_at == stop:
        return "told"
    ends_early = len(stopped.text) < len(whole.text) and stopped.finish == "stop"
    return "shown" if ends_early and stopped.text.startswith(before + stop) else "hidden"
