"""Texts that are held to a language from their first byte to their last, piece by piece.

A piece is a line with its newline, or a part of one that ends in a comma. What the next one may be depends on those
before it: names that they declare, sections that they have begun. So a `Language` gives a grammar for one piece at a
time, and a text under it keeps rules that no grammar for the whole could say. A piece is a block that its own end
closes; end-of-text may follow one where the language says so. A token in which one piece ends and another begins is
refused, because it would cost a grammar to judge each: commas and newlines end a tokenizer's own tokens. llguidance
reads the grammars (`pip install "certistar[grammars]"`).
"""

from collections.abc import Hashable
from typing import Any, Protocol

import numpy as np

from critics.errors import InputError
from rollout.decoding.automaton import Automaton, Pattern, State
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row
from rollout.decoding.vocabulary import Ids, Vocabulary
from rollout.guide import Guide

_MOST_KEPT = 4_096
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
        self.block: State = self._automaton.start
        self.piece = b""
        """What is written of the piece."""

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
        return isinstance(self._automaton, _Nothing)

    def after(self, token: bytes) -> "TextRow | None":
        """Return the row as it would be after the token, None where it is refused."""
        probe = TextRow.__new__(TextRow)
        probe.guide = self.guide.clone()
        probe.pending, probe.place = False, None
        probe.block, probe.piece, probe._automaton = self.block, self.piece, self._automaton
        return probe if probe._read(token) else None

    def _read(self, text: bytes) -> bool:
        for byte in text:
            after = self._automaton.step(self.block, byte)
            if after is None:
                return False
            self.block = after
            self.piece += bytes([byte])
            if self._automaton.done(after):
                self.guide.close(self.piece)
                self._automaton = self.guide.allowed()
                self.block, self.piece = self._automaton.start, b""
        return True


class TextMasks(MaskEngine):
    """The tokens that a row allows, for whole texts as well as for blocks in free text."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._texts: dict[Hashable, Mask] = {}
        self._matchers: dict[str, Any] = {}
        self._tokenizer: Any = None

    def mask(self, row: Row) -> Mask:
        """Return what may come next."""
        if not isinstance(row, TextRow):
            return super().mask(row)
        mask = self._texts.get(row.key)
        if mask is None:
            if len(self._texts) >= _MOST_KEPT:
                self._texts.clear()
            mask = self._texts[row.key] = Mask(self._allowed_in_text(row))
        return mask

    def fitting(self, row: Row, num_left: int) -> Mask:
        """Return what may come next; nobody knows how long the rest of a text has to be."""
        return self.mask(row) if isinstance(row, TextRow) else super().fitting(row, num_left)

    def forced(self, row: Row) -> list[int]:
        """Return the tokens that need no model; none in a whole text."""
        return [] if isinstance(row, TextRow) else super().forced(row)

    def _allowed_in_text(self, row: TextRow) -> Ids:
        ends: list[int] = self.eos_ids.tolist() if row.may_end else []
        if row.is_over:
            return np.array(ends, dtype=np.int64)
        inside = [i for i in self._inside(row) if self.vocabulary[i]]
        return np.array(sorted({*ends, *inside}), dtype=np.int64)

    def _inside(self, row: TextRow) -> list[int]:
        """Return the ids that a matcher over the whole vocabulary allows, its end included."""
        assert isinstance(row.automaton, _Piece)
        matcher = self._matcher(row.automaton.grammar).deep_copy()
        spelled = self.trie.longest_match(row.piece)
        if matcher.try_consume_tokens(spelled) != len(spelled):
            raise AssertionError(f"{row.piece!r} was accepted before")
        bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(bits, bitorder="little")[: len(self.vocabulary)]).tolist()

    def _matcher(self, grammar: str) -> Any:
        if grammar not in self._matchers:
            if len(self._matchers) >= _MOST_KEPT:
                self._matchers.clear()
            self._tokenizer = self._tokenizer or _tokenizer(self.trie)
            self._matchers[grammar] = _compiled(self._tokenizer, grammar)
        return self._matchers[grammar]


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
        self._matchers: dict[bytes, Any] = {b"": _compiled(_bytewise(), grammar)}

    def step(self, state: State, byte: int) -> State | None:
        """Consume one byte on a copy of the state's matcher."""
        after = state + bytes([byte])
        if after in self._matchers:
            return after
        matcher = self._matcher_at(state).deep_copy()
        if matcher.try_consume_tokens([byte]) != 1:
            return None
        if len(self._matchers) >= _MOST_KEPT:
            self._matchers = {b"": self._matchers[b""]}
        self._matchers[after] = matcher
        return after

    def done(self, state: State) -> bool:
        """Say whether the whole piece was read."""
        return self._matcher_at(state).is_accepting()

    def state_key(self, state: State) -> Hashable:
        """Return the grammar together with what was written."""
        return self.key, state

    def _matcher_at(self, text: bytes) -> Any:
        if text not in self._matchers:
            matcher = self._matchers[b""].deep_copy()
            if matcher.try_consume_tokens(list(text)) != len(text):
                raise AssertionError(f"{text!r} was accepted before")
            self._matchers[text] = matcher
        return self._matchers[text]


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


_KNOWN: dict[str, _Piece] = {}
_BYTEWISE: list[Any] = []


def _automaton_of(grammar: str) -> _Piece:
    """Return a grammar's automaton: samples of one problem share most of their pieces' grammars."""
    if grammar not in _KNOWN:
        if len(_KNOWN) >= _MOST_KEPT // 16:
            _KNOWN.clear()
        _KNOWN[grammar] = _Piece(grammar)
    return _KNOWN[grammar]


def _bytewise() -> Any:
    if not _BYTEWISE:
        _BYTEWISE.append(_tokenizer(Vocabulary([bytes([byte]) for byte in range(256)])))
    return _BYTEWISE[0]


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
