"""The memory guide (paper 004, appendix B): what is set under a key can be got back, exactly, however long ago.

    block = "set:" key "=" value | "get:" key "=" value
    key   = letter, digit or "_", then up to 23 of letter, digit, "_" or "-"
    value = 1 to 80 characters of letter, digit or "_-.,'", with single blanks between them

Letters are ASCII. A `get` block names a key that was set and is forced to give the value set last; with
`several`, setting adds to the key's values and a `get` block may give any one of them. While nothing is set
there is no `get` block.
"""

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import cast

from critics.errors import InputError
from rollout.automaton import Automaton, Grammar, State, Words, chars, choice, literal, repeat, sequence
from rollout.guide import CLOSE

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


class Actions:
    """Blocks that begin with one of several actions and a colon; each action has an automaton for what follows.

    Once the action is read, states have the keys of its automaton alone, so that masks inside one action do
    not depend on what the others offer.
    """

    def __init__(self, contents: Mapping[str, Automaton]) -> None:
        self._contents = {f"{name}:".encode(): content for name, content in contents.items()}
        self._heads = Words(self._contents)
        self.key: Hashable = tuple((head, self._contents[head].key) for head in self._heads.words)
        self.start: State = (None, self._heads.start)

    def step(self, state: State, byte: int) -> State | None:
        """Read one byte of the action's name or of its content."""
        head, inner = cast("tuple[bytes | None, State]", state)
        if head is not None:
            after = self._contents[head].step(inner, byte)
            return None if after is None else (head, after)
        after = self._heads.step(inner, byte)
        if after is None or not self._heads.done(after):
            return None if after is None else (None, after)
        first, _, _ = cast("tuple[int, int, int]", after)
        action = self._heads.words[first]
        return action, self._contents[action].start

    def done(self, state: State) -> bool:
        """Say whether the content is at its end."""
        head, inner = cast("tuple[bytes | None, State]", state)
        return head is not None and self._contents[head].done(inner)

    def state_key(self, state: State) -> Hashable:
        """Forget the other actions as soon as one is chosen."""
        head, inner = cast("tuple[bytes | None, State]", state)
        return (self.key, state) if head is None else self._contents[head].state_key(inner)


def accepts(automaton: Automaton, word: bytes) -> bool:
    """Say whether `word` is one of the automaton's words."""
    state = automaton.start
    for byte in word:
        state = None if automaton.done(state) else automaton.step(state, byte)
        if state is None:
            return False
    return automaton.done(state)


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
        """What is stored under each key, in the order of setting; one value each without `several`."""
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
def _assignment() -> Grammar:
    """Return `KEY=VALUE]]`."""
    key = sequence(chars(_LETTERS), choice(literal(""), repeat(chars(_LETTERS + "-"), most=23)))
    character = chars(_LETTERS + "-.,'")
    later = choice(character, sequence(literal(" "), character))
    value = sequence(character, choice(literal(""), repeat(later, most=79)))
    return Grammar("memory assignment", sequence(key, literal("="), value, literal(CLOSE.decode())))
