"""The memory guide (LogicGuide, appendix B): what is set under a key can be got back, exactly, however long ago.

    block = "set:" key "=" value | "get:" key "=" value
    key   = letter, digit or "_", then up to 23 of letter, digit, "_" or "-"
    value = 1 to 80 characters of letter, digit or "_-.,'", with single blanks between them

Letters are ASCII. A `get` block names a key that was set and is forced to give the value set last; with
`several`, setting adds to the key's values and a `get` block may give any one of them. While nothing is set
there is no `get` block.
"""

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache

from critics.errors import InputError
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
    """Keys and values of one attempt; a block that is not offered changes nothing.

    `stored` is what is known before the attempt, as (key, value) pairs in the order of setting: a memory that
    outlives the context window. Raises `InputError` where a pair could not have been set by a block.
    """

    def __init__(self, *, several: bool = False, stored: Iterable[tuple[str, str]] = ()) -> None:
        self.several = several
        self._values: dict[str, tuple[str, ...]] = {}
        self._allowed: Actions | None = None
        for key, value in stored:
            if not accepts(_assignment(), f"{key}={value}".encode(errors="replace") + CLOSE):
                raise InputError(
                    f"memory: {key!r} = {value!r} cannot be stored; keys are up to 24 of A-Z a-z 0-9 _ -, "
                    "values up to 80 characters of those and of . , ' with single blanks between"
                )
            self._set(key, value)

    @property
    def values(self) -> Mapping[str, tuple[str, ...]]:
        """The values under each key, in the order of setting; one value each without `several`."""
        return dict(self._values)

    @property
    def key(self) -> Hashable:
        """The stored pairs decide what is allowed."""
        return self.allowed().key

    def allowed(self) -> Actions:
        """Return the grammar of `set`, and a word of `get` for each stored pair."""
        if self._allowed is None:
            contents: dict[str, Automaton] = {"set": _assignment()}
            if self._values:
                pairs = ((key, value) for key, values in self._values.items() for value in values)
                contents["get"] = Words(f"{key}={value}".encode() + CLOSE for key, value in pairs)
            self._allowed = Actions(contents)
        return self._allowed

    def close(self, block: bytes) -> None:
        """Store what a `set` block sets; a `get` block changes nothing."""
        action, _, content = block.partition(b":")
        if action == b"set" and accepts(_assignment(), content + CLOSE):
            key, _, value = content.decode().partition("=")
            self._set(key, value)

    def clone(self) -> "MemoryGuide":
        """Copy the store; the allowed set is shared until one of the two moves on."""
        copy = MemoryGuide(several=self.several)
        copy._values, copy._allowed = dict(self._values), self._allowed
        return copy

    def _set(self, key: str, value: str) -> None:
        earlier = self._values.get(key, ()) if self.several else ()
        if value not in earlier:
            self._values[key] = (*earlier, value)
            self._allowed = None


@lru_cache(maxsize=1)
def _assignment() -> RegularLanguage:
    """Return `KEY=VALUE]]`."""
    key = sequence(chars(_LETTERS), choice(literal(""), repeat(chars(_LETTERS + "-"), most=23)))
    character = chars(_LETTERS + "-.,'")
    later = choice(character, sequence(literal(" "), character))
    value = sequence(character, choice(literal(""), repeat(later, most=79)))
    return RegularLanguage("memory assignment", sequence(key, literal("="), value, literal(CLOSE.decode())))
