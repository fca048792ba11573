"""A text that a server is writing: watched byte by byte by its guide, cut where it first goes wrong.

Whatever a server was asked to keep to, nothing stands in the text that the guide has not let through.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from critics.text.blocks import DECORATION
from critics.text.thinking import is_thinking
from rollout.decoding.automaton import forced
from rollout.decoding.conclusion import Place
from rollout.decoding.guide import Guide
from rollout.decoding.rows import GuideViolation, Row

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
    """A text and its guide's state; `ended` says why there is no more of it, None while it goes on."""

    def __init__(self, guide: Guide | None) -> None:
        self.text = ""
        self.scored: list[Scored] = []
        self.row = None if guide is None else Row(guide)
        self.ended: str | None = None
        self.num_tokens = 0
        """About as many as are in the text; tokens that were cut off it do not count."""
        self._opened: int | None = None
        self._line = 0

    @property
    def in_block(self) -> bool:
        """True while a block is open."""
        return self.row is not None and self.row.block is not None

    @property
    def is_held(self) -> bool:
        """True where the guide decides what follows: within a block, or between `Answer:` and the value's end."""
        return self.row is not None and (self.in_block or (self._place is not None and not self.row.may_end))

    @property
    def _place(self) -> Place | None:
        """The state of the answer's value, once one that is held to the guide is begun."""
        place = None if self.row is None else self.row.place
        return place if place is not None and place.written is not None else None

    def force(self) -> bool:
        """Append what must follow where the text is held; False where there is more than one way to go on.

        After `Answer:` a value that the guide has decided is written in its first spelling.
        """
        assert self.row is not None
        if self.row.inside is not None:
            must = forced(*self.row.inside)
        else:
            assert self._place is not None
            must = next(iter(self._place.endings(self.row.conclusions)), b"")
        return bool(must) and self.take(must.decode())

    def take(self, text: str, *, num_tokens: int | None = None, scored: Sequence[Scored] = ()) -> bool:
        """Append what the guide lets through; return False where that is not all, once the text was cut there.

        A guided text ends with its line `Answer:`: what a model adds below it is left out.
        """
        start = len(self.text)
        good = self.row is None or all(self._push(char) or self.ended for char in text)
        if self.row is None:
            self.text += text
        kept = len(self.text) - start
        self._score(text[:kept], scored)
        tokens = math.ceil(len(text) / _CHARACTERS_PER_TOKEN) if num_tokens is None else num_tokens
        self.num_tokens += math.ceil(tokens * kept / len(text)) if text else 0
        if not good:
            self._retreat()
        return good or self.ended is not None

    def finish(self) -> str:
        """Return the whole text; a block that is still open is left out, so that the text stays well-formed."""
        text = self.text if self._opened is None else self.text[: self._opened - 2]
        self._forget_scores(len(text))
        return text

    def _push(self, char: str) -> bool:
        """Append a character; False where the guide refuses it."""
        assert self.row is not None
        if self.ended is not None:
            return True
        was_open, encoded = self.in_block, char.encode("utf-8", "surrogatepass")
        if char == "\n" and not was_open and _ANSWER.match(self.text, self._line) and not is_thinking(self.text):
            self.ended = "stop"
            return True
        # A character of several bytes is judged whole, or a cut would leave half of it in the guide's state.
        if len(encoded) > 1 and not self.row.accepts(encoded):
            return False
        try:
            self.row.push(encoded)
        except GuideViolation:
            return False
        self.text += char
        if self.in_block != was_open:
            self._opened = len(self.text) if self.in_block else None
        elif char == "\n":
            self._line = len(self.text)
        return True

    def _retreat(self) -> None:
        """Leave no beginning of an answer that the guide does not allow: nothing else could follow it."""
        assert self.row is not None
        place = self.row.place
        if self.in_block or place is None:
            return
        if place.written is not None:
            self.ended = "stop" if self.row.may_end else None
        elif place.letters > 0:
            self.text, self.row.place, self.row.pending = self.text[: self._line], Place(), False
            self._forget_scores(self._line)

    def _forget_scores(self, length: int) -> None:
        """Keep the tokens that stand within the text's first `length` characters."""
        while self.scored and sum(len(token) for token, _ in self.scored) > length:
            self.scored.pop()

    def _score(self, kept: str, scored: Sequence[Scored]) -> None:
        """Keep the tokens that stand in the text as a whole; text that has none is kept without a number."""
        length = 0
        for token, value in scored:
            if not kept.startswith(token, length) or not token:
                break
            self.scored.append((token, value))
            length += len(token)
        if kept[length:]:
            self.scored.append((kept[length:], None))
