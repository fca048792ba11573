"""Context-free grammars by llguidance (`pip install "certistar[grammars]"`): matchers over bytes and over a vocabulary.

Their states are not those of a finite automaton, so masks are rarely met again, and that is where llguidance pays: a
new mask over 128,000 tokens took 0.7 ms (median, most of it ours) against 4.9 ms for a walk of the trie. Regular
grammars need no help, since their few states are soon all known.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from critics.errors import InputError
from rollout.decoding.vocabulary import TokenTrie

_MOST_GRAMMARS = 64
"""A large one takes a megabyte or two; rows that are under way keep their own."""
_OPTIONS = '%llguidance { "no_forcing": true }\nstart: piece\n'
"""By default only the usual spelling of bytes that must follow is allowed; masks here are exact for every token."""


class GrammarMatchers:
    """Matchers of what Lark grammars derive from `piece`, over a vocabulary; compiled grammars are kept.

    Raises `InputError` where llguidance is missing or cannot read a grammar.
    """

    def __init__(self, trie: TokenTrie) -> None:
        self._trie = trie
        self._tokenizer: Any = None
        self._compiled: dict[str, Any] = {}

    def begin(self, grammar: str) -> Any:
        """Return a matcher that has read nothing."""
        if grammar not in self._compiled:
            if len(self._compiled) >= _MOST_GRAMMARS:
                self._compiled.clear()
            self._compiled[grammar] = self._compile(grammar)
        return self._compiled[grammar].deep_copy()

    def read(self, matcher: Any, text: bytes) -> None:
        """Go on with a text that was accepted before."""
        ids = self._trie.longest_match(text)
        if matcher.try_consume_tokens(ids) != len(ids):
            raise AssertionError(f"{text!r} was accepted before")

    def allowed(self, matcher: Any) -> npt.NDArray[np.bool_]:
        """Say of each id whether it may come next, the end of the text included."""
        bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        return np.unpackbits(bits, bitorder="little")[: len(self._trie.tokens)].astype(bool)

    def _compile(self, grammar: str) -> Any:
        try:
            from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
        except ImportError as error:
            raise InputError('grammars need llguidance: pip install "certistar[grammars]"') from error
        trie = self._trie
        # One more token at the end for llguidance's end of text; special tokens have no bytes that it could ask for.
        listed = [token or b"\xff<%d>" % i for i, token in enumerate(trie.tokens)]

        class Spelling:
            eos_token_id, bos_token_id = len(listed), None
            special_token_ids = [*trie.special.tolist(), len(listed)]  # noqa: RUF012 - llguidance reads it off an object
            tokens = [*listed, b"\xff<end>"]  # noqa: RUF012

            def __call__(self, text: bytes) -> list[int]:
                return trie.longest_match(text)

        self._tokenizer = self._tokenizer or LLTokenizer(TokenizerWrapper(Spelling()), n_vocab=len(listed) + 1)
        matcher = LLMatcher(self._tokenizer, _OPTIONS + grammar)
        if matcher.is_error():
            raise InputError(f"grammar: llguidance cannot read it ({matcher.get_error().strip().splitlines()[0]})")
        return matcher


@lru_cache(maxsize=1)
def bytewise() -> GrammarMatchers:
    """Return matchers over single bytes."""
    return GrammarMatchers(TokenTrie([bytes([byte]) for byte in range(256)]))
