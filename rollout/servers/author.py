"""One attempt, written by a server: free text as it comes, blocks in the best way the server can be held to.

    free text up to `[[`  ->  the block, held to the guide  ->  free text ...  ->  the line `Answer:`, or the end

Where a server does not show why a reply ended, replies are taken whole and cut where they first violate the
guide: the rejection-based decoding of Poesia et al. (Synchromesh, 2022) as LogicGuide's paper adapts it in appendix D.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from critics.errors import RunFailed
from rollout.decoding.automaton import Pattern
from rollout.decoding.guide import Guide
from rollout.engines.wire import WiredRequest
from rollout.guides.recipe import GuideRecipe, recipe_of
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.server_use import ServerUse
from rollout.servers.attempt import Attempt, resumed
from rollout.servers.capability import Capability
from rollout.servers.connection import Connection, Messages, RequestFields, ServerReply, ServerRequest, Tally
from rollout.servers.constraint import (
    MOST_BIASED,
    TOKEN_WAYS,
    FieldSpelling,
    GuideSpelling,
    NotExpressible,
    token_fields,
)
from rollout.servers.expression import any_of, forced, heads
from rollout.servers.scoring import own_score
from rollout.servers.tokens import ServedTokens

_OPEN, _CLOSE = "[[", "]]"
_MOST_HEADS = 50
_TRUSTED = 4
"""Violations after which each block is held to the guide from its beginning."""
_GREEDY_PATIENCE = 2
"""Violations without progress after which a greedy server is not asked the same again."""


@dataclass
class Author:
    """Writes one attempt; use it once."""

    connection: Connection
    capability: Capability
    tokens: ServedTokens
    prompt: str | Messages
    guide: Guide | None
    seed: int
    sampling: Sampling
    stop: str = ""
    tally: Tally = field(default_factory=Tally)
    violations: int = 0
    apologies: int = 0
    restarts: int = 0
    own_score: float | None = None
    """The log-probability of a text written at one go, where the server gives it."""
    _stuck: int = 0
    _wants_token: bool = False
    _takes_whole: bool = False
    """Whether the model begins again, so that a stop string would end its reply before it comes to anything new."""

    def __post_init__(self) -> None:
        self.attempt = Attempt(self.guide)
        guided = self.guide is not None and isinstance(self.capability.spelling, GuideSpelling)
        self._recipe = recipe_of(self.guide) if self.guide is not None and guided else None
        """What the server makes the guide of, where it can."""

    async def write(self) -> Attempt:
        """Return the attempt when it has ended: of itself, by the token limit or by too many violations."""
        while self.attempt.ended is None:
            if self._room <= 0:
                self.attempt.ended = "length"
            elif self._recipe is not None:
                await self._guided(self._recipe)
            elif self.attempt.is_held:
                await self._held()
            else:
                await self._free(_OPEN)
        return self.attempt

    def record(self) -> ServerUse:
        """Return what a trace keeps of how the attempt was written, and of what it cost."""
        settings = self.connection.settings
        record: ServerUse = {"kind": settings.kind, "model": settings.model}
        if self.guide is not None:
            record.update(self.capability.record())
        record.update(
            {
                "top_p": None if "top_p" in self.connection.dropped else 1.0,
                "seeded": "seed" not in self.connection.dropped,
                "dropped": sorted(self.connection.dropped),
                "max_violations": settings.max_violations,
                "calls": self.tally.calls,
                "prompt_tokens": self.tally.prompt_tokens,
                "completion_tokens": self.tally.completion_tokens,
                "uncounted": self.tally.uncounted,
                "violations": self.violations,
                "apologies": self.apologies,
                "restarts": self.restarts,
                "ended": self.attempt.ended,
            }
        )
        if settings.extra_body:
            record["extra_body"] = dict(settings.extra_body)
        if settings.logprobs:
            record["logprobs"] = [list(scored) for scored in self.attempt.scored]
            if self.own_score is not None:
                record["log_probability"] = self.own_score
        return record

    @property
    def _room(self) -> int:
        return self.sampling.max_new_tokens - self.attempt.num_tokens

    async def _guided(self, recipe: GuideRecipe) -> None:
        """Have the whole text written under its guide, which the server's plug-in makes."""
        assert isinstance(self.capability.spelling, GuideSpelling)
        eos_ids = self.tokens.eos_ids
        request = WiredRequest(recipe, self.attempt.text, self._room, self.sampling.switches.fit_blocks, tuple(eos_ids))
        ends = {"stop_token_ids": eos_ids, "ignore_eos": True} if eos_ids else {}
        stops = (self.stop,) if self.stop else ()
        reply = await self._ask(stops, {**self.capability.spelling.fields(request.spec()), **ends})
        text, _ = self._ending(reply, stops)
        if self._take(text, reply):
            if self.attempt.ended is None:
                self._ended_by_model(reply)
        elif reply.finish == "length":  # within a character of several bytes
            self.attempt.ended = "length"
        else:
            raise RunFailed(
                f"{self.connection.settings.base_url}: its plug-in let through what the guide refuses, behind "
                f"{self.attempt.text[-40:]!r}; install there the version of certistar that is here"
            )

    @property
    def _going_on(self) -> Callable[[Pattern], RequestFields] | None:
        """What holds the rest of a block and lets the text go on behind it; None where the server cannot."""
        spelling = self.capability.spelling
        return spelling.going_on if isinstance(spelling, FieldSpelling) and self._continues else None

    async def _free(self, until: str, fields: RequestFields | None = None) -> None:
        """Let the server write, up to `until` where it shows its stops; `fields` hold the beginning.

        One that can be held to the rest of a block is stopped at none: a good model's text needs one request more for
        each token that the guide refuses. Where that is often, each block is held.
        """
        trusted = self._going_on is not None and self.violations < _TRUSTED
        watched = self.guide is not None and self.capability.stops != "hidden" and not self._takes_whole
        stops = (*((until,) if watched and not trusted else ()), *((self.stop,) if self.stop else ()))
        reply = await self._ask(stops, fields)
        text, marker = self._ending(reply, stops)
        if not self._continues:
            read = resumed(self.attempt.text, text)
            self.apologies += read.apologised
            self.restarts += read.restarted
            self._takes_whole = self._takes_whole or read.restarted
            if read.restarted or (read.apologised and not read.text):
                self._violated(kept=False)
                return
            text = read.text
        good = self._take(text + (until if marker == until else ""), reply)
        if good and self.attempt.ended is None and marker != until:
            self._ended_by_model(reply)

    def _take(self, text: str, reply: ServerReply) -> bool:
        """Append a reply; return False, and count a violation, where it is cut."""
        before = len(self.attempt.text)
        self.own_score = own_score(reply) if before == 0 and self.guide is None else None
        pieces = None if self._going_on is None or self.guide is None else self.tokens.pieces(text)
        good = self.attempt.take(text, num_tokens=reply.completion_tokens, scored=reply.logprobs, pieces=pieces)
        if good:
            self._stuck = 0
        else:
            self._violated(kept=len(self.attempt.text) > before)
        return good

    def _ended_by_model(self, reply: ServerReply) -> None:
        if reply.finish == "length":
            self.attempt.ended = "length"
        elif self.attempt.is_held:  # it stopped within a block: it has to finish it
            self._violated(kept=bool(reply.text))
        else:
            self.attempt.ended = reply.finish

    def _ending(self, reply: ServerReply, stops: tuple[str, ...]) -> tuple[str, str | None]:
        """Return the text before the first stop string, and that string; None where the model itself ended."""
        if reply.stopped_at in stops:
            text, found = reply.text, reply.stopped_at
            return (text[: text.index(found)] if found in text else text), found
        places = [(place, stop) for stop in stops if (place := reply.text.find(stop)) >= 0]
        if not places:
            return reply.text, None
        place, stop = min(places)
        return reply.text[:place], stop

    async def _held(self) -> None:
        """Write the rest of a block, or of an answer that the guide has decided."""
        rest = self.attempt.rest
        if rest is not None and self.attempt.in_block and self._going_on is not None:
            await self._free(_OPEN, self._going_on(rest))
            return
        if rest is not None:
            self.attempt.take(forced(rest).decode())
            if not self.attempt.is_held:
                return
            rest = self.attempt.rest
        fields = None if rest is None else self._fields(rest)
        if fields is not None:
            await self._constrained(fields)
        elif self._wants_token:
            await self._token()
        else:
            await self._free(_CLOSE if self.attempt.in_block else _OPEN)

    def _fields(self, rest: Pattern) -> RequestFields | None:
        """Return the fields that hold a reply to `rest`; else, to its part up to a block's colon; else None."""
        spelling = self.capability.spelling
        if not isinstance(spelling, FieldSpelling):
            return None
        try:
            return spelling.fields(rest)
        except NotExpressible:
            words = heads(rest, b":", _MOST_HEADS)
        try:
            return spelling.fields(any_of(words)) if words else None
        except NotExpressible:
            return None

    async def _constrained(self, fields: RequestFields) -> None:
        assert isinstance(self.capability.spelling, FieldSpelling)
        reply = await self._ask((), fields)
        try:
            text = self.capability.spelling.read(reply.text)
        except ValueError:
            text = ""
        if text:
            self._take(text, reply)
        elif reply.finish == "length":
            self.attempt.ended = "length"
        else:
            self._violated(kept=False)

    async def _token(self) -> None:
        """Have one token chosen among those that the guide allows, as far as they can be named to the server."""
        assert self.attempt.row is not None
        self._wants_token = False
        ids = self.tokens.allowed(self.attempt.row)
        if not ids or (self.capability.way == "logit_bias" and len(ids) > MOST_BIASED):
            return
        reply = await self._ask((), token_fields(self.capability.way, ids), room=1)
        if reply.text:
            self._take(reply.text, reply)
        else:
            self._violated(kept=False)

    async def _ask(
        self, stops: tuple[str, ...], fields: RequestFields | None = None, room: int | None = None
    ) -> ServerReply:
        question = ServerRequest(
            self.prompt,
            self.attempt.text,
            max_tokens=room or self._room,
            temperature=self.sampling.temperature,
            # 31 bits are what every server takes; each call draws anew, or a retry would repeat its violation.
            seed=derived_seed(self.seed, self.tally.calls) >> 32,
            stop=stops,
            fields=fields or {},
            continues=self._continues,
        )
        return await self.connection.ask(question, self.tally)

    @property
    def _continues(self) -> bool:
        return isinstance(self.prompt, str) or self.capability.continues

    def _violated(self, *, kept: bool) -> None:
        self.violations += 1
        self._stuck = 0 if kept else self._stuck + 1
        self._wants_token = self.capability.way in TOKEN_WAYS and self.attempt.is_held
        same_again = self.sampling.temperature == 0 and not self._wants_token and self._stuck > _GREEDY_PATIENCE
        if self.attempt.ended is None and (self.violations >= self.connection.settings.max_violations or same_again):
            self.attempt.ended = "violations"
