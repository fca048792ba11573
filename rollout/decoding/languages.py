"""Languages of whole texts, and the guide that holds a text to one piece by piece (`rollout.decoding.texts`).

A text under them needs a model in this process; naming them needs neither its masks nor llguidance.
"""

from collections.abc import Hashable
from functools import lru_cache
from typing import Protocol

from rollout.decoding.automaton import Automaton, Pattern, State

_MOST_PIECES = 64
"""As many as there are compiled grammars (`rollout.decoding.grammars`)."""


class PieceLanguage(Protocol):
    """A language of whole texts: says what may come next; immutable."""

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal languages from here on."""
        ...

    @property
    def may_end(self) -> bool:
        """True where the text may end before the next piece."""
        ...

    def grammar(self) -> str | None:
        """Return Lark rules; what their `piece` derives is never the beginning of another. None: the text is over."""
        ...

    def after(self, piece: str) -> "PieceLanguage":
        """Return the language after a piece that the grammar derives."""
        ...


class TextGuide:
    """A guide whose blocks are the pieces of the whole text; only policies in this process know it."""

    def __init__(self, language: PieceLanguage) -> None:
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


class _Nothing:
    """The automaton after the end of a text, which accepts no piece."""

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


@lru_cache(maxsize=_MOST_PIECES)
def _automaton_of(grammar: str) -> Automaton:
    """Return a piece's automaton: samples of one problem share most of their pieces' grammars."""
    from rollout.decoding.grammars import ContextFree

    return ContextFree(grammar, start="piece")
