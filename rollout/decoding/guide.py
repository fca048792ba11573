"""The protocol of guides: stateful objects that say what a policy may write inside `[[ ]]` (LogicGuide, section 3).

A guide knows bytes and blocks, not tokens; `rollout.decoding.masks` turns what it allows into token ids.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Literal, Protocol, TypeAlias

from rollout.decoding.automaton import Automaton, Words

OPEN, CLOSE = b"[[", b"]]"

Truth: TypeAlias = Literal["true", "false", "unknown"]


class Guide(Protocol):
    """The symbolic side of guided decoding (notes on decoding, section 5)."""

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal `allowed()`, so that masks can be shared between rows and samples."""
        ...

    def allowed(self) -> Automaton:
        """Return what may follow `[[`, each word ending in `]]`."""
        ...

    def close(self, block: bytes) -> None:
        """Take in a block that was written, without its markers."""
        ...

    def clone(self) -> "Guide":
        """Return an independent guide in the same state."""
        ...


class DecidingGuide(Guide, Protocol):
    """Guide that knows what its blocks prove, so that conclusions can be held to it (`ConcludingGuide`)."""

    def conclusion(self) -> Truth | None:
        """Return what is proved of the goal; `unknown` where nothing more can be inferred, None while it is open."""
        ...

    def clone(self) -> "DecidingGuide":
        """Return an independent guide in the same state."""
        ...


class SentenceGuide(ABC):
    """A guide of a whole text, sentence by sentence, with no free text between them (`rollout.decoding.rows`).

    A sentence is closed before anybody asks what the next one may be.
    """

    @property
    @abstractmethod
    def key(self) -> Hashable:
        """Equal keys mean equal `allowed()`."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """True where nothing but end-of-text may follow."""

    @abstractmethod
    def allowed(self) -> Words:
        """Return the sentences that may come next, where the text is not over.

        Each but a text's first begins with the blank or the newline that stands before it.
        """

    @abstractmethod
    def close(self, block: bytes) -> None:
        """Take in a sentence, with what stands before it."""

    @abstractmethod
    def clone(self) -> "SentenceGuide":
        """Return an independent guide in the same state."""
