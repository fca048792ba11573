"""One attempt, written by a server: under the guide itself where the server has this project's plug-in.

Else replies are taken whole and cut where they first violate the guide, and the next request goes on from there: the
rejection-based decoding of Poesia et al. (Synchromesh, 2022) as LogicGuide's paper adapts it in appendix D. Whatever a
server was asked to keep to, nothing stands in the text that the guide has not let through.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from critics.replay.replies import is_thinking
from critics.text.blocks import DECORATION
from rollout.decoding.guide import Guide
from rollout.decoding.rows import GuideViolation, Place, Row, SentenceRow, row_of
from rollout.engines.plugins import WiredRequest
from rollout.guides.catalogue import GuideRecipe, recipe_of
from rollout.prompts.conversation import Messages
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, derived_seed
from rollout.servers.connection import (
    Connection,
    RequestFields,
    RequestRefused,
    ServerFault,
    ServerReply,
    ServerRequest,
    Tally,
)

_QUOTED = "qzj kwv xq.]]"
_PROBE = WiredRequest(GuideRecipe("quote", Problem("probe", "probe", _QUOTED.removesuffix("]]"), "")), "[[quote:", 48)
"""A guide within a block that leaves one text, which no model would write by itself."""
_PROBE_SEED = 20230704
_GREEDY_PATIENCE = 2
"""Violations without progress after which a greedy server is not asked the same again."""
_BARE = f"[{re.escape(DECORATION)}]"
_ANSWER = re.compile(rf"{_BARE}*answer{_BARE}*:{_BARE}*[^\s{re.escape(DECORATION)}]", re.IGNORECASE)
_APOLOGY = re.compile(r"[^\[\n.:!]{0,80}\b(?:apolog|sorry)[^\[\n.:!]{0,120}(?:[.:!]+[ \t]*\n?|\n|$)", re.IGNORECASE)
_ANNOUNCEMENT = re.compile(
    r"[^\[\n.:]{0,40}\b(?:continu|resum|pick(?:ing)? up|where (?:I|we))[^\[\n.:]{0,60}:[ \t]*\n?", re.IGNORECASE
)
_RECOGNISED = 20
"""Characters at the beginning of a text by which a reply is seen to begin it again."""
_LEAST_OVERLAP = 8
_CHARACTERS_PER_TOKEN = 4

Scored = tuple[str, float | None]
"""A token's text and its log-probability; None where it was not the server's choice, or not told."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Ways of a server to hold a text to its guide, as its replies have shown."""

    has_guides: bool = False
    """True if it has the plug-in; else replies are cut."""
    refused: tuple[str, ...] = ()
    """The field that was tried in vain, with the reason."""


async def probed(connection: Connection, tally: Tally) -> Capability:
    """Return how a server is held to guides: one that ignores a field still answers, so it is asked for a certain text.

    Raises `InputError` where it lacks the way that its settings ask for.
    """
    settings = connection.settings
    if settings.constraint == "rejection":
        return Capability()
    asked = "Count from one to twenty in words."
    prompt = [{"role": "user", "content": asked}] if settings.kind == "chat" else f"{asked}\n"
    plain = ServerRequest(prompt, max_tokens=1, seed=_PROBE_SEED)
    await connection.ask(plain, tally)  # first, because a plain request shows which fields are not known
    try:
        request = ServerRequest(prompt, max_tokens=48, seed=_PROBE_SEED, fields=_fields(_PROBE))
        if (await connection.ask(request, tally)).text.startswith(_QUOTED):
            return Capability(has_guides=True)
        refused = "structured_outputs.grammar: ignored"
    except RequestRefused:
        refused = "structured_outputs.grammar: refused"
    except ServerFault:
        refused = "structured_outputs.grammar: failed"
    if settings.constraint == "guide":
        raise InputError(
            f"{settings.base_url}: model {settings.model!r} has no plug-in of certistar that holds it to guides "
            f"({refused}); install certistar there, or set model.server.constraint to auto"
        )
    return Capability(refused=(refused,))


def _fields(request: WiredRequest) -> RequestFields:
    return {"structured_outputs": {"grammar": request.spec()}}


@dataclass(frozen=True, slots=True)
class Resumed:
    """A new message read as the rest of the one before it (LogicGuide's paper, appendix D)."""

    text: str
    apologised: bool = False
    restarted: bool = False


def resumed(written: str, reply: str) -> Resumed:
    """Take from a new message what it says again, or says about having been cut off."""
    if not written:
        return Resumed(reply)
    rest, apologised = reply, False
    while match := _APOLOGY.match(rest):
        rest, apologised = rest[match.end() :], True
    if apologised and (match := _ANNOUNCEMENT.match(rest)):
        rest = rest[match.end() :]
    if rest.startswith(written):
        return Resumed(rest[len(written) :], apologised)
    same = written[: max(_LEAST_OVERLAP, min(_RECOGNISED, len(rest)))]
    if len(same) < len(written) and rest.startswith(same):
        return Resumed("", apologised, restarted=True)
    longest = min(len(written), len(rest))
    overlap = next((n for n in range(longest, _LEAST_OVERLAP - 1, -1) if written.endswith(rest[:n])), 0)
    return Resumed(rest[overlap:], apologised)


class GuidedText:
    """A text watched byte by byte by its guide; `ended` says why there is no more of it, None while it goes on."""

    def __init__(self, guide: Guide | None) -> None:
        self.text = ""
        self.scored: list[Scored] = []
        self.row = None if guide is None else row_of(guide)
        self.ended: str | None = None
        self.num_tokens = 0
        """About as many as are in the text; tokens that were cut off it do not count."""
        self._opened: int | None = None
        self._line = 0
        self._is_thinking = False

    @property
    def is_held(self) -> bool:
        """True where the guide decides what follows: within a block, or between `Answer:` and the value's end."""
        row = self.row
        if row is None or row.block is not None:
            return row is not None
        return row.place is not None and row.place.written is not None and not row.may_end

    def force(self) -> bool:
        """Append what must follow where the text is held; False where there is more than one way to go on.

        After `Answer:` a value that the guide has decided is written in its first spelling.
        """
        row = self.row
        assert row is not None
        if row.block is not None:
            must = row.automaton.forced(row.block)
        else:
            assert row.place is not None
            must = next(iter(row.place.endings(row.conclusions)), b"")
        return bool(must) and self.take(must.decode())

    def take(self, text: str, *, num_tokens: int | None = None, scored: Sequence[Scored] = ()) -> bool:
        """Append what the guide lets through; return False where that is not all, once the text was cut there.

        A guided text ends with its line `Answer:`: what a model adds below it is left out.
        """
        start, row = len(self.text), self.row
        good = row is None or all(self._push(char, row) or self.ended for char in text)
        if row is None:
            self.text += text
        kept = self.text[start:]
        length = 0
        for token, value in scored:  # tokens that stand in the text as a whole
            if not kept.startswith(token, length) or not token:
                break
            self.scored.append((token, value))
            length += len(token)
        if kept[length:]:
            self.scored.append((kept[length:], None))
        tokens = math.ceil(len(text) / _CHARACTERS_PER_TOKEN) if num_tokens is None else num_tokens
        self.num_tokens += math.ceil(tokens * len(kept) / len(text)) if text else 0
        if not good:
            self._retreat()
        return good or self.ended is not None

    def finish(self) -> str:
        """Return the whole text; a block that is still open is left out, so that the text stays well-formed."""
        if self._opened is not None:
            self._cut(self._opened - 2)
        return self.text

    def _push(self, char: str, row: Row) -> bool:
        """Append a character; False where the guide refuses it."""
        if self.ended is not None:
            return True
        was_open, encoded = row.block is not None, char.encode("utf-8", "surrogatepass")
        if self._is_thinking:
            # What is thought aloud is no attempt yet: blocks that it mentions are none.
            self.text += char
            self._note_thinking(char)
            return True
        if char == "\n" and not was_open and _ANSWER.match(self.text, self._line):
            self.ended = "stop"
            return True
        # A character of several bytes is judged whole, or a cut would leave half of it in the guide's state.
        if len(encoded) > 1 and not row.accepts(encoded):
            return False
        try:
            row.push(encoded)
        except GuideViolation:
            return False
        self.text += char
        if isinstance(row, SentenceRow):
            self.ended = None if row.block is not None else "stop"
        elif (row.block is not None) != was_open:
            self._opened = None if was_open else len(self.text)
        elif char == "\n":
            self._line = len(self.text)
        if not was_open:
            self._note_thinking(char)
        return True

    def _note_thinking(self, char: str) -> None:
        """See whether a thought begins or ends where the text stops, which it does with a bracket's end."""
        if char in ">]▷":
            was_thinking, self._is_thinking = self._is_thinking, is_thinking(self.text)
            self._line = len(self.text) if was_thinking and not self._is_thinking else self._line

    def _retreat(self) -> None:
        """Leave no beginning of an answer that the guide does not allow: nothing else could follow it."""
        row = self.row
        assert row is not None
        if row.block is not None or row.place is None:
            return
        if row.place.written is not None:
            self.ended = "stop" if row.may_end else None
        elif row.place.letters > 0:
            row.place, row.pending = Place(), False
            self._cut(self._line)

    def _cut(self, length: int) -> None:
        """Keep the text's first characters, and the tokens that stand within them."""
        self.text = self.text[:length]
        while self.scored and sum(len(token) for token, _ in self.scored) > length:
            self.scored.pop()


@dataclass
class Author:
    """Writes one attempt; use it once."""

    connection: Connection
    capability: Capability
    eos_ids: list[int]
    """Every token that ends a text of the served model; empty where no tokenizer says it."""
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

    def __post_init__(self) -> None:
        self.attempt = GuidedText(self.guide)

    async def write(self) -> GuidedText:
        """Return the attempt when it has ended: of itself, by the token limit or by too many violations."""
        recipe = None if self.guide is None or not self.capability.has_guides else recipe_of(self.guide)
        while self.attempt.ended is None:
            if self._room <= 0:
                self.attempt.ended = "length"
            elif recipe is not None:
                await self._guided(recipe)
            elif not (self.attempt.is_held and self.attempt.force()):
                await self._free()
        return self.attempt

    def record(self) -> ServerUse:
        """Return what a trace keeps of how the attempt was written, and of what it cost."""
        settings, tally, dropped = self.connection.settings, self.tally, self.connection.dropped
        record: ServerUse = {"kind": settings.kind, "model": settings.model}
        if self.guide is not None:
            record["constraint"] = "guide" if self.capability.has_guides else "rejection"
            record["refused"] = list(self.capability.refused)
        record |= {
            "top_p": None if "top_p" in dropped else 1.0,
            "seeded": "seed" not in dropped,
            "dropped": sorted(dropped),
            "max_violations": settings.max_violations,
            "calls": tally.calls,
            "prompt_tokens": tally.prompt_tokens,
            "completion_tokens": tally.completion_tokens,
            "uncounted": tally.uncounted,
            "violations": self.violations,
            "apologies": self.apologies,
            "restarts": self.restarts,
            "ended": self.attempt.ended,
        }
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
        eos_ids, fits = self.eos_ids, self.sampling.switches.fit_blocks
        request = WiredRequest(recipe, self.attempt.text, self._room, fits, tuple(eos_ids))
        ends: RequestFields = {"stop_token_ids": [*eos_ids], "ignore_eos": True} if eos_ids else {}
        reply, text = await self._asked({**_fields(request), **ends})
        if self._take(text, reply):
            return
        if reply.finish != "length":
            raise RunFailed(
                f"{self.connection.settings.base_url}: its plug-in let through what the guide refuses, behind "
                f"{self.attempt.text[-40:]!r}; install there the version of certistar that is here"
            )
        self.attempt.ended = "length"  # within a character of several bytes

    async def _free(self) -> None:
        """Let the server write, and keep what the guide lets through."""
        reply, text = await self._asked({})
        if not isinstance(self.prompt, str):
            read = resumed(self.attempt.text, text)
            self.apologies += read.apologised
            self.restarts += read.restarted
            if read.restarted or (read.apologised and not read.text):
                self._violated(kept=False)
                return
            text = read.text
        self._take(text, reply)

    def _take(self, text: str, reply: ServerReply) -> bool:
        """Append a reply, and see whether it ends the attempt; return False, and count a violation, where it is cut."""
        attempt, before = self.attempt, len(self.attempt.text)
        self.own_score = reply.own_score if before == 0 and self.guide is None else None
        if not attempt.take(text, num_tokens=reply.completion_tokens, scored=reply.logprobs):
            self._violated(kept=len(attempt.text) > before)
            return False
        self._stuck = 0
        if attempt.ended is None and reply.finish != "length" and attempt.is_held:
            self._violated(kept=bool(reply.text))  # it stopped within a block: it has to finish it
        elif attempt.ended is None:
            attempt.ended = reply.finish
        return True

    async def _asked(self, fields: RequestFields) -> tuple[ServerReply, str]:
        """Return a reply, and its text before the stop string, which some servers show."""
        question = ServerRequest(
            self.prompt,
            self.attempt.text,
            max_tokens=self._room,
            temperature=self.sampling.temperature,
            # 31 bits are what every server takes; each call draws anew, or a retry would repeat its violation.
            seed=derived_seed(self.seed, self.tally.calls) >> 32,
            stop=(self.stop,) if self.stop else (),
            fields=fields,
        )
        reply = await self.connection.ask(question, self.tally)
        return reply, reply.text.partition(self.stop)[0] if self.stop else reply.text

    def _violated(self, *, kept: bool) -> None:
        self.violations += 1
        self._stuck = 0 if kept else self._stuck + 1
        same_again = self.sampling.temperature == 0 and self._stuck > _GREEDY_PATIENCE
        if self.attempt.ended is None and (self.violations >= self.connection.settings.max_violations or same_again):
            self.attempt.ended = "violations"
