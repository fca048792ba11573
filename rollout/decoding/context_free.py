"""Grammars beyond `automaton`'s, nesting included: llguidance reads them, behind the contract of all automata.

Its states are not those of a finite automaton, so masks are rarely met again, and that is where llguidance pays: a
new mask over 128,000 tokens took 0.7 ms (median, most of it ours) against 4.9 ms for a walk of the trie. Regular
grammars need no help, since their few states are soon all known. Without the library
(`pip install "certistar[grammars]"`) everything else works.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from critics.errors import InputError
from rollout.automaton import Pattern, State
from rollout.decoding.vocabulary import ROOT, Vocabulary
from rollout.guide import CLOSE

_MOST_MATCHERS = 4096
_OPTIONS = '%llguidance { "no_forcing": true }\n'
"""By default only the usual spelling of bytes that must follow is allowed; masks here are exact for every token."""


class ContextFree:
    """What a Lark grammar derives from `block`, closed by `]]`; a state is what was written so far.

    The grammar must not derive texts that hold `]]` or end in `]`. Raises `InputError` where llguidance is missing
    or cannot read the grammar.
    """

    def __init__(self, grammar: str) -> None:
        self.grammar = grammar
        self.key: Hashable = ("context-free", grammar)
        self.start: State = b""
        self.pattern: Pattern | None = None
        """Nesting is counted, which no pattern says."""
        alphabet = Vocabulary([bytes([byte]) for byte in range(256)])
        matcher = _matcher(_tokenizer(alphabet), grammar)
        self._matchers: dict[bytes, Any] = {b"": matcher}

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
        """Say whether the close marker was read."""
        return state.endswith(CLOSE)

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
            matcher = self._matchers[b""].deep_copy()
            if matcher.try_consume_tokens(list(text)) != len(text):
                raise AssertionError(f"{text!r} was accepted before")
            self._matchers[text] = matcher
        return self._matchers[text]


class ContextFreeMasks:
    """The tokens that a context-free grammar allows, by llguidance over the whole vocabulary."""

    def __init__(self, trie: Vocabulary) -> None:
        self._trie = trie
        self._tokenizer: Any = None
        self._matchers: dict[Hashable, Any] = {}
        self._closing: dict[bytes, int] = {}
        for token in trie.tokens:
            if token and CLOSE in token:
                path = token[: token.index(CLOSE) + len(CLOSE)]
                self._closing[path] = trie.follow(ROOT, path)

    def collect(self, automaton: ContextFree, state: State, ids: list[int], ends: list[tuple[int, int]]) -> None:
        """Add the ids that stay inside the block, and the nodes at which it ends with the bytes that lead there."""
        reached = [(node, len(path)) for path, node in self._ways_out(state) if automaton.ends(state, path)]
        over = {i for node, _ in reached for i in self._trie.below(node).tolist()}
        ids += [i for i in self._inside(automaton, state) if i not in over]
        ends += reached

    def _ways_out(self, state: State) -> list[tuple[bytes, int]]:
        half = CLOSE[:1]
        node = self._trie.follow(ROOT, half) if state.endswith(half) else ROOT
        return [*self._closing.items(), *([(half, node)] if node != ROOT else [])]

    def _inside(self, automaton: ContextFree, state: State) -> list[int]:
        """Return the ids that a matcher over the whole vocabulary allows, the bare end of the block included."""
        matcher = self._matcher_of(automaton).deep_copy()
        spelled = self._trie.longest_match(state)
        if matcher.try_consume_tokens(spelled) != len(spelled):
            raise AssertionError(f"{state!r} was accepted before")
        bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(bits, bitorder="little")[: len(self._trie.tokens)]).tolist()

    def _matcher_of(self, automaton: ContextFree) -> Any:
        if automaton.key not in self._matchers:
            self._tokenizer = self._tokenizer or _tokenizer(self._trie)
            self._matchers[automaton.key] = _matcher(self._tokenizer, automaton.grammar)
        return self._matchers[automaton.key]


def _matcher(tokenizer: Any, grammar: str) -> Any:
    from llguidance import LLMatcher

    matcher = LLMatcher(tokenizer, f'{_OPTIONS}start: block "{CLOSE.decode()}"\n{grammar}')
    if matcher.is_error():
        raise InputError(f"grammar: llguidance cannot read it ({matcher.get_error().strip().splitlines()[0]})")
    return matcher


def _tokenizer(trie: Vocabulary) -> Any:
    """Return llguidance's view of a vocabulary: special tokens have no bytes that a grammar could ask for."""
    try:
        from llguidance import LLTokenizer, TokenizerWrapper
    except ImportError as error:
        raise InputError('context-free grammars need llguidance: pip install "certistar[grammars]"') from error
    special = trie.special.tolist()
    tokens = [token or b"\xff<%d>" % i for i, token in enumerate(trie.tokens)]
    eos_id = special[0] if special else len(tokens)
    listed = tokens if special else [*tokens, b"\xff<eos>"]

    class Spelling:
        eos_token_id, bos_token_id = eos_id, None
        special_token_ids = special or [eos_id]

        def __call__(self, text: bytes) -> list[int]:
            return trie.longest_match(text)

    spelling = Spelling()
    spelling.tokens = listed  # type: ignore[attr-defined]
    return LLTokenizer(TokenizerWrapper(spelling), n_vocab=len(listed))
