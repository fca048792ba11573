"""The memory guide (LogicGuide, appendix B): what is set under a key can be got back, exactly, however long ago.

    block = "set:" key "=" value | "get:" key "=" value
    key   = letter, digit or "_", then up to 23 of letter, digit, "_" or "-"
    value = 1 to 80 characters of letter, digit or "_-.,'", with single blanks between them

Letters are ASCII. A `get` block names a key that was set and is forced to give the value set last. While nothing is set
there is no `get` block.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache

from rollout.decoding.automaton import (
    Actions,
    Automaton,
    RegularLanguage,
    Words,
    accepts,
    chars,
    choice,
    literal,
    repeat,
    sequence,
)
from rollout.decoding.guide import CLOSE

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class MemoryGuide:
    """Keys and values of one attempt; a block that is not offered changes nothing."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values = dict(values or {})
        """The value set last under each key."""
        self._allowed: Actions | None = None

    @property
    def key(self) -> Hashable:
        """The stored pairs decide what is allowed."""
        return self.allowed().key

    def allowed(self) -> Actions:
        """Return the grammar of `set`, and a word of `get` for each stored pair."""
        if self._allowed is None:
            contents: dict[str, Automaton] = {"set": _assignment()}
            if self.values:
                contents["get"] = Words(f"{key}={value}".encode() + CLOSE for key, value in self.values.items())
            self._allowed = Actions(contents)
        return self._allowed

    def close(self, block: bytes) -> None:
        """Store what a `set` block sets; a `get` block changes nothing."""
        action, _, content = block.partition(b":")
        if action == b"set" and accepts(_assignment(), content + CLOSE):
            key, _, value = content.decode().partition("=")
            self.values[key] = value
            self._allowed = None

    def clone(self) -> "MemoryGuide":
        """Copy the store; the allowed set is shared until one of the two moves on."""
        copy = MemoryGuide(self.values)
        copy._allowed = self._allowed
        return copy


@lru_cache(maxsize=1)
def _assignment() -> RegularLanguage:
    """Return `KEY=VALUE]]`."""
    key = sequence(chars(_LETTERS), choice(literal(""), repeat(chars(_LETTERS + "-"), most=23)))
    character = chars(_LETTERS + "-.,'")
    later = choice(character, sequence(literal(" "), character))
    value = sequence(character, choice(literal(""), repeat(later, most=79)))
    return RegularLanguage("memory assignment", sequence(key, literal("="), value, literal(CLOSE.decode())))
