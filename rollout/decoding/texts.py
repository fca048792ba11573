"""Texts that are held to a language from their first byte to their last, piece by piece.

A piece is a line with its newline, or a part of one that ends in a comma. What the next one may be depends on those
before it: names that they declare, sections that they have begun. So a `Language` gives a grammar for one piece at a
time, and a text under it keeps rules that no grammar for the whole could say. A piece is a block that its own end
closes; end-of-text may follow one where the language says so. A token in which one piece ends and another begins is
refused, because judging each would take a grammar of its own; a tokenizer's own tokens end at commas and newlines
anyway. llguidance reads the grammars (`pip install "certistar[grammars]"`).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rollout.decoding.automaton import State
from rollout.decoding.grammars import ContextFree, GrammarMatchers
from rollout.decoding.guide import Guide
from rollout.decoding.languages import TextGuide
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row

_MOST_MASKS = 256
"""One over a large vocabulary may take half a megabyte, and is met again by samples that begin alike."""


class TextRow(Row):
    """The state of a text: always inside a piece, and at the start of one where it may end."""

    guide: TextGuide

    def __init__(self, guide: TextGuide) -> None:
        super().__init__(guide)
        self._begin()

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal masks."""
        return "text", self.guide.key, self.piece

    @property
    def may_end(self) -> bool:
        """True where end-of-text may come next."""
        return not self.piece and self.guide.language.may_end

    @property
    def inside(self) -> None:
        """None: a matcher says where the piece stands, and is no state to go on from."""

    @property
    def is_over(self) -> bool:
        """True where nothing but end-of-text may come next."""
        return self._matcher is None

    @property
    def grammar(self) -> str:
        """The grammar of the piece that is being written."""
        assert isinstance(self._automaton, ContextFree)
        return self._automaton.grammar

    def after(self, token: bytes) -> "TextRow | None":
        """Return the row as it would be after the token, None where it is refused."""
        probe = TextRow.__new__(TextRow)
        probe.guide = self.guide.clone()
        probe.pending, probe.place, probe._automaton = False, None, self._automaton
        probe.block = probe.piece = self.piece
        probe._matcher = None if self._matcher is None else self._matcher.deep_copy()
        probe.reader = None
        return probe if probe._read(token) else None

    def _begin(self) -> None:
        """Begin the next piece."""
        self._automaton = self.guide.allowed()
        self._matcher: Any = self._automaton.begin() if isinstance(self._automaton, ContextFree) else None
        self.piece = b""
        """What is written of the piece."""
        self.block: State = b""
        self.reader: _PieceReader | None = None
        """How far the masks have read the piece."""

    def _read(self, text: bytes) -> bool:
        while text:
            matcher = self._matcher
            num = 0 if matcher is None else matcher.validate_tokens(list(text))
            if matcher is None or num == 0:
                return False
            matcher.try_consume_tokens(list(text[:num]))
            self.piece += text[:num]
            self.block, text = self.piece, text[num:]
            if matcher.is_accepting():
                self.guide.close(self.piece)
                self._begin()
            elif text:
                return False
        return True


@dataclass(slots=True)
class _PieceReader:
    """A matcher over a whole vocabulary, and how many bytes of a piece it has consumed."""

    matcher: Any
    num_read: int = 0


class TextMasks(MaskEngine):
    """The tokens that a row allows, for whole texts as well as for blocks in free text."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._texts: dict[Hashable, Mask] = {}
        self._pieces = GrammarMatchers(self.trie)

    def mask(self, row: Row) -> Mask:
        """Return what may come next."""
        if not isinstance(row, TextRow):
            return super().mask(row)
        mask = self._texts.get(row.key)
        if mask is None:
            if len(self._texts) >= _MOST_MASKS:
                self._texts.clear()
            mask = self._texts[row.key] = self._mask_of_text(row)
        return mask

    def shares(self, row: Row) -> bool:
        """Say whether rows with the same key share the mask that was found last."""
        return row.key in self._texts if isinstance(row, TextRow) else super().shares(row)

    def fitting(self, row: Row, num_left: int) -> Mask:
        """Return what may come next; nobody knows how long the rest of a text has to be."""
        return self.mask(row) if isinstance(row, TextRow) else super().fitting(row, num_left)

    def forced(self, row: Row) -> list[int]:
        """Return the tokens that need no model; none in a whole text."""
        return [] if isinstance(row, TextRow) else super().forced(row)

    def _mask_of_text(self, row: TextRow) -> Mask:
        """Return the shorter of two lists: in a comment, almost everything is allowed."""
        allowed = np.zeros(len(self.vocabulary), dtype=bool) if row.is_over else self._inside(row)
        allowed[self.trie.special] = False
        allowed[self.eos_ids] = row.may_end
        if 2 * int(allowed.sum()) > len(allowed):
            return Mask(np.flatnonzero(~allowed), all_but=True)
        return Mask(np.flatnonzero(allowed))

    def _inside(self, row: TextRow) -> npt.NDArray[np.bool_]:
        """Say of each id whether a matcher over the whole vocabulary allows it, the piece's end included."""
        if row.reader is None:
            row.reader = _PieceReader(self._pieces.begin(row.grammar))
        self._pieces.read(row.reader.matcher, row.piece[row.reader.num_read :])
        row.reader.num_read = len(row.piece)
        return self._pieces.allowed(row.reader.matcher)


def row_of(guide: Guide) -> Row:
    """Return the row that a guide watches."""
    return TextRow(guide) if isinstance(guide, TextGuide) else Row(guide)
