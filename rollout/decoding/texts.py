"""Texts that are held to a language from their first byte to their last, piece by piece.

A piece is a line with its newline, or a part of one that ends in a comma. What the next one may be depends on those
before it: names that they declare, sections that they have begun. So a `Language` gives a grammar for one piece at a
time, and a text under it keeps rules that no grammar for the whole could say. A piece is a block that its own end
closes; end-of-text may follow one where the language says so. A token in which one piece ends and another begins is
refused, because it would cost a grammar to judge each: commas and newlines end a tokenizer's own tokens. llguidance
reads the grammars (`pip install "certistar[grammars]"`).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from critics.errors import InputError
from rollout.automaton import Automaton, Pattern, State
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row
from rollout.decoding.vocabulary import Vocabulary
from rollout.guide import Guide

_MOST_GRAMMARS = 64
"""A large one takes a megabyte or two; rows that are under way keep their own."""
_MOST_MASKS = 256
"""One over a large vocabulary may take half a megabyte, and is met again by samples that begin alike."""
_OPTIONS = '%llguidance { "no_forcing": true }\n'
"""Masks are exact for every token, and not for the usual spelling alone."""


class Language(Protocol):
    """What may come next in a text; immutable."""

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal languages from here on."""
        ...

    @property
    def may_end(self) -> bool:
        """Whether the text may end before the next piece."""
        ...

    def grammar(self) -> str | None:
        """Return Lark rules; what their `piece` derives is never the beginning of another. None: the text is over."""
        ...

    def after(self, piece: str) -> "Language":
        """Return the language after a piece that the grammar derives."""
        ...


class TextGuide:
    """A guide whose blocks are the pieces of the whole text; only policies in this process know it."""

    def __init__(self, language: Language) -> None:
        self.language = language

    @property
    def key(self) -> Hashable:
        """Return the language's own key."""
        return self.language.key

    def allowed(self) -> Automaton:
        """Return the next piece's automaton; a text that is over has none that could begin."""
        grammar = self.language.grammar()
        return _Nothing() if grammar is None else _automaton_of(grammar)

    def close(self, block: bytes) -> None:
        """Take in a piece, with its end."""
        self.language = self.language.after(block.decode())

    def clone(self) -> "TextGuide":
        """Return an independent guide in the same state."""
        return TextGuide(self.language)


class TextRow(Row):
    """Where a text stands: always inside a piece, and at the start of one where it may end."""

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
        """Whether end-of-text may come next."""
        return not self.piece and self.guide.language.may_end

    @property
    def is_over(self) -> bool:
        """Whether nothing but end-of-text may come next."""
        return self._matcher is None

    @property
    def grammar(self) -> str:
        """The grammar of the piece that is being written."""
        assert isinstance(self._automaton, _Piece)
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
        self._matcher: Any = self._automaton.begin() if isinstance(self._automaton, _Piece) else None
        self.piece = b""
        """What is written of the piece."""
        self.block: State = b""
        self.reader: _Reader | None = None
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
class _Reader:
    """A matcher over a whole vocabulary, and how many bytes of a piece it has consumed."""

    matcher: Any
    num_read: int = 0


class TextMasks(MaskEngine):
    """The tokens that a row allows, for whole texts as well as for blocks in free text."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._texts: dict[Hashable, Mask] = {}
        self._grammars: dict[str, Any] = {}
        self._tokenizer: Any = None

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
            row.reader = _Reader(self._compiled(row.grammar).deep_copy())
        spelled = self.trie.longest_match(row.piece[row.reader.num_read :])
        if row.reader.matcher.try_consume_tokens(spelled) != len(spelled):
            raise AssertionError(f"{row.piece!r} was accepted before")
        row.reader.num_read = len(row.piece)
        bits = np.frombuffer(row.reader.matcher.compute_bitmask(), dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little")[: len(self.vocabulary)].astype(bool)

    def _compiled(self, grammar: str) -> Any:
        if grammar not in self._grammars:
            if len(self._grammars) >= _MOST_GRAMMARS:
                self._grammars.clear()
            self._tokenizer = self._tokenizer or _tokenizer(self.trie)
            self._grammars[grammar] = _compiled(self._tokenizer, grammar)
        return self._grammars[grammar]


def row_of(guide: Guide) -> Row:
    """Return the row that a guide watches."""
    return TextRow(guide) if isinstance(guide, TextGuide) else Row(guide)


class _Piece:
    """One piece as an automaton over its bytes; a state is what was written so far."""

    def __init__(self, grammar: str) -> None:
        self.grammar = grammar
        self.key: Hashable = ("piece", grammar)
        self.start: State = b""
        self.pattern: Pattern | None = None
        self._compiled = _compiled(_bytewise(), grammar)

    def begin(self) -> Any:
        """Return a matcher that has read nothing."""
        return self._compiled.deep_copy()

    def step(self, state: State, byte: int) -> State | None:
        """Read everything anew: rows have a matcher of their own that goes along."""
        after = state + bytes([byte])
        return after if self._compiled.validate_tokens(list(after)) == len(after) else None

    def done(self, state: State) -> bool:
        """Say whether the whole piece was read."""
        matcher = self.begin()
        return matcher.try_consume_tokens(list(state)) == len(state) and matcher.is_accepting()

    def state_key(self, state: State) -> Hashable:
        """Return the grammar together with what was written."""
        return self.key, state


class _Nothing:
    """What follows a text that is over: no piece at all."""

    key: Hashable = "nothing"
    start: State = b""
    pattern: Pattern | None = None

    def step(self, state: State, byte: int) -> State | None:
        """Refuse every byte."""
        return None

    def done(self, state: State) -> bool:
        """Deny that a piece was read."""
        return False

    def state_key(self, state: State) -> Hashable:
        """Return the one key."""
        return self.key


@lru_cache(maxsize=_MOST_GRAMMARS)
def _automaton_of(grammar: str) -> _Piece:
    """Return a grammar's automaton: samples of one problem share most of their pieces' grammars."""
    return _Piece(grammar)


@lru_cache(maxsize=1)
def _bytewise() -> Any:
    return _tokenizer(Vocabulary([bytes([byte]) for byte in range(256)]))


def _compiled(tokenizer: Any, grammar: str) -> Any:
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, f"{_OPTIONS}start: piece\n{grammar}")
    if matcher.is_error():
        raise InputError(f"grammar: llguidance cannot read it ({matcher.get_error().strip().splitlines()[0]})")
    return matcher


def _tokenizer(trie: Vocabulary) -> Any:
    """Return llguidance's view of a vocabulary, with one more token at the end for its end of text."""
    try:
        from llguidance import LLTokenizer, TokenizerWrapper
    except ImportError as error:
        raise InputError('texts under a grammar need llguidance: pip install "certistar[grammars]"') from error
    listed = [token or b"\xff<%d>" % i for i, token in enumerate(trie.tokens)]

    class Spelling:
        eos_token_id, bos_token_id = len(listed), None
        special_token_ids = [*trie.special.tolist(), len(listed)]  # noqa: RUF012 - llguidance reads it off an object
        tokens = [*listed, b"\xff<end>"]  # noqa: RUF012

        def __call__(self, text: bytes) -> list[int]:
            return trie.longest_match(text)

    return LLTokenizer(TokenizerWrapper(Spelling()), n_vocab=len(listed) + 1)
