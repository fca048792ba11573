"""The state of one guided sequence, followed byte by byte whatever its tokens straddle.

One token may end a block and go on in free text, or open a block and write the first bytes of its action. The
line `Answer:` is followed too where the guide is a `ConcludingGuide`; other guides leave free text free.
"""

from collections.abc import Hashable

from rollout.decoding.automaton import Automaton, State, narrowed, read
from rollout.decoding.conclusion import ConcludingGuide, Place
from rollout.decoding.guide import CLOSE, OPEN, Guide

_BRACKET = OPEN[0]
_REFUSED = -1


class GuideViolation(RuntimeError):  # noqa: N818
    """A token was pushed that the mask refuses: an error of the caller, never of the policy."""


class Row:
    """The state of one sequence: in free text (`block` None) or inside a block, with what its guide knows."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.pending = False
        """Whether the last byte of the free text is a lone `[`."""
        self.block: State | None = None
        self.place = Place() if isinstance(guide, ConcludingGuide) else None
        """Where in its line the free text stands; None where its answer is not held to anything."""
        self._automaton: Automaton = guide.allowed()
        self._content = bytearray()
        self._is_probe = False

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal masks, but for tokens in which a block ends and another begins."""
        if self.block is not None:
            inside = self._automaton.state_key(self.block)
            return ("block", inside) if self.place is None else ("held block", inside)
        if self.place is None:
            return ("free", self.pending, self.guide.key)
        return ("held", self.pending, self.guide.key, self.place, self.conclusions)

    @property
    def conclusions(self) -> tuple[bytes, ...]:
        """The spellings that may follow `Answer:`; none where nothing is decided, or the answer is free."""
        return self.guide.conclusions() if isinstance(self.guide, ConcludingGuide) else ()

    @property
    def may_end(self) -> bool:
        """True where end-of-text may come next: in free text outside a conclusion that is held to the guide."""
        return self.block is None and (self.place is None or self.place.may_end(self.conclusions))

    @property
    def automaton(self) -> Automaton:
        """The automaton of the rest of the open block."""
        return self._automaton

    @property
    def inside(self) -> tuple[Automaton, State] | None:
        """Automaton and state of the open block; None in free text."""
        return None if self.block is None else (self._automaton, self.block)

    def jump(self, text: bytes, inside: tuple[Automaton, State]) -> None:
        """Advance over bytes of the open block to where they led another row, from an equal key and without its end."""
        self._content += text
        self._automaton, self.block = inside

    def push(self, token: bytes) -> None:
        """Advance over a token's bytes; raises `GuideViolation` where they are refused."""
        if not self._read(token):
            raise GuideViolation(f"{token!r} is not allowed here")

    def accepts(self, token: bytes) -> bool:
        """Say whether the token may come next, leaving the row as it is."""
        return self.after(token) is not None

    def after(self, token: bytes) -> "Row | None":
        """Return the row as it would be after the token, None where it is refused; the guide itself learns nothing."""
        probe = Row.__new__(Row)
        probe.guide = self.guide
        probe.pending, probe.block, probe.place = self.pending, self.block, self.place
        probe._automaton, probe._content = self._automaton, bytearray(self._content)
        probe._is_probe = True
        return probe if probe._read(token) else None

    def _read(self, text: bytes) -> bool:
        at = 0
        while at < len(text):
            if self.block is not None:
                at = self._read_block(text, at)
            elif self.place is None:
                at = self._read_free(text, at)
            else:
                at = self._read_held(text, at, self.place)
            if at == _REFUSED:
                return False
        return True

    def _read_free(self, text: bytes, at: int) -> int:
        """Read free text to its end or through the next `[[`; return the position after it."""
        if self.pending and text[at] == _BRACKET:
            return self._open(at + 1)
        opened = text.find(OPEN, at)
        if opened >= 0:
            return self._open(opened + len(OPEN))
        self.pending = text[-1] == _BRACKET
        return len(text)

    def _read_held(self, text: bytes, at: int, place: Place) -> int:
        """Read one byte of free text whose answer is held to the guide."""
        after = place.after(text[at], self.conclusions)
        if after is None:
            return _REFUSED
        self.place = after
        return self._read_free(text[: at + 1], at)

    def _read_block(self, text: bytes, at: int) -> int:
        """Read to the end of the block or of the text; return the position after it."""
        rest = text[at:] if at else text
        state, num_read = read(self._automaton, self.block, rest)
        if state is None:
            return _REFUSED
        self._content += rest[:num_read]
        if self._automaton.done(state):
            self._close()
        else:
            self._automaton, self.block = narrowed(self._automaton, state)
        return at + num_read

    def _open(self, at: int) -> int:
        self.pending = False
        self._automaton = self.guide.allowed()
        self.block = self._automaton.start
        self._content.clear()
        return at

    def _close(self) -> None:
        if self._is_probe:
            self.guide = self.guide.clone()
        self.guide.close(bytes(self._content[: -len(CLOSE)]))
        self.block, self.pending = None, False
