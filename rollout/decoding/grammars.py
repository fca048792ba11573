"""Grammars beyond `automaton`'s, nesting included: llguidance reads them, behind the contract of all automata.

Its states are not those of a finite automaton, so masks are rarely met again, and that is where llguidance pays: a
new mask over 128,000 tokens took 0.7 ms (median, most of it ours) against 4.9 ms for a walk of the trie. Regular
grammars need no help, since their few states are soon all known. Without the library
(`pip install "certistar[grammars]"`) everything else works.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from critics.errors import InputError
from rollout.decoding.automaton import State
from rollout.decoding.guide import CLOSE
from rollout.decoding.vocabulary import ROOT, TokenTrie

MOST_GRAMMARS = 64
"""A large one takes a megabyte or two; rows that are under way keep their own."""
_MOST_MATCHERS = 4096
_OPTIONS = '%llguidance { "no_forcing": true }\n'
"""By default only the usual spelling of bytes that must follow is allowed; masks here are exact for every token."""
_BLOCK = f'block "{CLOSE.decode()}"'


class ContextFree:
    """An automaton of the texts that a Lark grammar derives from `start`; a state is what was written so far.

    By default these are blocks: the grammar's `block`, closed by `]]`. None may be the beginning of another, so a
    block must not hold `]]` or end in `]`. Raises `InputError` where llguidance is missing or cannot read the grammar.
    """

    def __init__(self, grammar: str, *, start: str = _BLOCK) -> None:
        self.grammar = f"start: {start}\n{grammar}"
        self.key: Hashable = ("context-free", self.grammar)
        self.start: State = b""
        self._matchers: dict[bytes, Any] = {b"": _compiled(_bytewise(), self.grammar)}

    def begin(self) -> Any:
        """Return a matcher over single bytes that has read nothing."""
        return self._matchers[b""].deep_copy()

    def step(self, state: State, byte: int) -> State | None:
        """Consume one byte on a copy of the state's matcher."""
        after = state + bytes([byte])
        if after in self._matchers:
            return after
        matcher = self._matcher_at(state).deep_copy()
        if matcher.try_consume_tokens([byte]) != 1:
            return None
        if len(self._matchers) >= _MOST_MATCHERS:
            self._matchers = {b"": self._matchers[b""]}
        self._matchers[after] = matcher
        return after

    def done(self, state: State) -> bool:
        """Say whether the whole text was read."""
        return self._matcher_at(state).is_accepting()

    def state_key(self, state: State) -> Hashable:
        """Return the grammar together with what was written."""
        return self.key, state

    def ends(self, state: State, text: bytes) -> bool:
        """Say whether the block ends with just these bytes."""
        for byte in text:
            state = self.step(state, byte)
            if state is None:
                return False
        return self.done(state)

    def _matcher_at(self, text: bytes) -> Any:
        if text not in self._matchers:
            matcher = self.begin()
            consume(matcher, list(text), text)
            self._matchers[text] = matcher
        return self._matchers[text]


class GrammarMatchers:
    """Matchers of grammars over a whole vocabulary; compiled grammars are kept."""

    def __init__(self, trie: TokenTrie) -> None:
        self._trie = trie
        self._tokenizer: Any = None
        self._compiled: dict[str, Any] = {}

    def begin(self, grammar: str) -> Any:
        """Return a matcher that has read nothing."""
        if grammar not in self._compiled:
            if len(self._compiled) >= MOST_GRAMMARS:
                self._compiled.clear()
            self._tokenizer = self._tokenizer or _tokenizer(self._trie)
            self._compiled[grammar] = _compiled(self._tokenizer, grammar)
        return self._compiled[grammar].deep_copy()

    def read(self, matcher: Any, text: bytes) -> None:
        """Go on with a text that was accepted before."""
        consume(matcher, self._trie.longest_match(text), text)

    def allowed(self, matcher: Any) -> npt.NDArray[np.bool_]:
        """Say of each id whether it may come next, the end of the text included."""
        bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little")[: len(self._trie.tokens)].astype(bool)


class ContextFreeMasks:
    """The tokens that a context-free grammar allows inside a block."""

    def __init__(self, trie: TokenTrie) -> None:
        self._trie = trie
        self._matchers = GrammarMatchers(trie)
        self._closing: dict[bytes, int] = {}
        for token in trie.tokens:
            if token and CLOSE in token:
                path = token[: token.index(CLOSE) + len(CLOSE)]
                self._closing[path] = trie.follow(ROOT, path)

    def collect(self, automaton: ContextFree, state: State, ids: list[int], ends: list[tuple[int, int]]) -> None:
        """Add the ids that stay inside the block, and the nodes at which it ends with the bytes that lead there."""
        reached = [(node, len(path)) for path, node in self._ways_out(state) if automaton.ends(state, path)]
        over = {i for node, _ in reached for i in self._trie.below(node).tolist()}
        matcher = self._matchers.begin(automaton.grammar)
        self._matchers.read(matcher, state)
        ids += [i for i in np.flatnonzero(self._matchers.allowed(matcher)).tolist() if i not in over]
        ends += reached

    def _ways_out(self, state: State) -> list[tuple[bytes, int]]:
        half = CLOSE[:1]
        node = self._trie.follow(ROOT, half) if state.endswith(half) else ROOT
        return [*self._closing.items(), *([(half, node)] if node != ROOT else [])]


def consume(matcher: Any, ids: list[int], text: bytes) -> None:
    """Have a matcher read tokens that spell an accepted text."""
    if matcher.try_consume_tokens(ids) != len(ids):
        raise AssertionError(f"{text!r} was accepted before")


@lru_cache(maxsize=1)
def _bytewise() -> Any:
    return _tokenizer(TokenTrie([bytes([byte]) for byte in range(256)]))


def _compiled(tokenizer: Any, grammar: str) -> Any:
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, _OPTIONS + grammar)
    if matcher.is_error():
        raise InputError(f"grammar: llguidance cannot read it ({matcher.get_error().strip().splitlines()[0]})")
    return matcher


def _tokenizer(trie: TokenTrie) -> Any:
    """Return llguidance's view of a vocabulary, with one more token at the end for its end of text.

    Special tokens have no bytes that a grammar could ask for.
    """
    try:
        from llguidance import LLTokenizer, TokenizerWrapper
    except ImportError as error:
        raise InputError('grammars need llguidance: pip install "certistar[grammars]"') from error
    listed = [token or b"\xff<%d>" % i for i, token in enumerate(trie.tokens)]

    class Spelling:
        eos_token_id, bos_token_id = len(listed), None
        special_token_ids = [*trie.special.tolist(), len(listed)]  # noqa: RUF012 - llguidance reads it off an object
        tokens = [*listed, b"\xff<end>"]  # noqa: RUF012

        def __call__(self, text: bytes) -> list[int]:
            return trie.longest_match(text)

    return LLTokenizer(TokenizerWrapper(Spelling()), n_vocab=len(listed) + 1)
