"""The protocol of guides: stateful objects that say what a policy may write inside `[[ ]]` (LogicGuide, section 3).

A guide knows bytes and blocks, not tokens; `rollout.decoding.masks` turns what it allows into token ids.
"""

from collections.abc import Hashable
from typing import Literal, Protocol, TypeAlias

from rollout.decoding.automaton import Automaton

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
    """Guide that knows what its blocks prove, so that conclusions can be held to it (`rollout.decoding.conclusion`)."""

    def conclusion(self) -> Truth | None:
        """Return what is proved of the goal; `unknown` where nothing more can be inferred, None while it is open."""
        ...

    def clone(self) -> "DecidingGuide":
        """Return an independent guide in the same state."""
        ...
