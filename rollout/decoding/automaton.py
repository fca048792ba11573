"""Finite automata over bytes: what may be written inside a block, one byte at a time.

`Words` is a finite set of strings, `RegularLanguage` what combinators build, `Actions` a choice between several of
them. A state is hashable; `step` returns the next state or None where the byte is refused. Every accepted text ends in
the close marker, so a state in which the automaton is `done` has no successors.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

State = Any
"""Hashable, and opaque to everyone but its automaton."""


class Automaton(ABC):
    """A set of byte strings, none a proper prefix of another.

    A subclass has `key` (equal keys mean equal languages), `start` (the state before the first byte), `step` and
    `done`, which are enough for exact masks. It may do the rest faster.
    """

    key: Hashable
    start: State

    @abstractmethod
    def step(self, state: State, byte: int) -> State | None:
        """Return the state after `byte`, or None where no word goes on so."""

    @abstractmethod
    def done(self, state: State) -> bool:
        """Say whether a whole word has been read."""

    def state_key(self, state: State) -> Hashable:
        """Equal keys mean that the same bytes may follow, also in two automata with different languages."""
        return self.key, state

    def narrowed(self, state: State) -> "tuple[Automaton, State]":
        """Return the narrowest automaton, with its state, that allows the same from here."""
        return self, state

    def moves(self, state: State) -> Mapping[int, State]:
        """Return every byte that may follow, in order, with the state after it."""
        return {byte: after for byte in range(256) if (after := self.step(state, byte)) is not None}

    def leap(self, state: State, text: bytes) -> State | None:
        """Return the state after all of `text` where that is known at once; None: it is to be read byte by byte."""
        return None

    def read(self, state: State, text: bytes) -> tuple[State | None, int]:
        """Read bytes until one is refused or a word ends; return the state (None: refused) and how many were read."""
        after = self.leap(state, text)
        if after is not None:
            return after, len(text)
        for position, byte in enumerate(text, start=1):
            state = self.step(state, byte)
            if state is None or self.done(state):
                return state, position
        return state, len(text)

    def forced(self, state: State) -> bytes:
        """Return the bytes that must follow, up to the first choice or the end."""
        text = bytearray()
        while not self.done(state) and len(following := self.moves(state)) == 1:
            [(byte, state)] = following.items()
            text.append(byte)
        return bytes(text)

    def shortest(self, state: State) -> bytes:
        """Return one of the shortest ways to the end, by breadth-first search over states that differ in their key."""
        queue = deque([(state, b"")])
        seen = {self.state_key(state)}
        while queue:
            state, text = queue.popleft()
            if self.done(state):
                return text
            for byte, after in self.moves(state).items():
                key = self.state_key(after)
                if key not in seen:
                    seen.add(key)
                    queue.append((after, text + bytes([byte])))
        raise AssertionError("a state of an automaton leads to its end")


_MOST_READS = 50_000
_FEW = 8
"""Up to so many words, a state's key is what is left of them, so that different sets share their masks."""


class Words(Automaton):
    """A finite set of words, walked as a trie without building one: a state is (low, high, depth)."""

    def __init__(self, words: Iterable[bytes], *, key: Hashable = None) -> None:
        """Take the words; they are the key themselves where none is given."""
        self.words = sorted(set(words))
        if not self.words:
            raise ValueError("an automaton needs at least one word")
        self.key = tuple(self.words) if key is None else key
        self.start = (0, len(self.words), 0)

    def step(self, state: State, byte: int) -> State | None:
        """Narrow the range of words that agree on one more byte (binary search)."""
        low, high, depth = cast("tuple[int, int, int]", state)

        def at(word: bytes) -> int:
            return word[depth] if depth < len(word) else -1

        first = bisect_left(self.words, byte, low, high, key=at)
        last = bisect_left(self.words, byte + 1, first, high, key=at)
        return (first, last, depth + 1) if first < last else None

    def done(self, state: State) -> bool:
        """Say whether the first word left ends here; prefix-freeness makes it the only one."""
        low, _, depth = cast("tuple[int, int, int]", state)
        return depth == len(self.words[low])

    def state_key(self, state: State) -> Hashable:
        """Return the words together with the place in them, or only what is left of the last few."""
        low, high, depth = cast("tuple[int, int, int]", state)
        if high - low <= _FEW:
            return tuple(word[depth:] for word in self.words[low:high])
        return self.key, state

    def moves(self, state: State) -> Mapping[int, State]:
        """Return the next bytes of the words left."""
        low, high, depth = cast("tuple[int, int, int]", state)
        following = dict.fromkeys(word[depth] for word in self.words[low:high] if depth < len(word))
        return {byte: self.step(state, byte) for byte in following}

    def leap(self, state: State, text: bytes) -> State | None:
        """Return the state after all of `text` where it stays inside the words, else None."""
        low, high, depth = cast("tuple[int, int, int]", state)
        if high - low == 1:
            return (low, high, depth + len(text)) if self.words[low].startswith(text, depth) else None
        prefix = self.words[low][:depth] + text
        first = bisect_left(self.words, prefix, low, high)
        if first == high or not self.words[first].startswith(prefix):
            return None
        last = first + 1
        if last < high and self.words[last].startswith(prefix):
            size = len(prefix)
            last = bisect_left(self.words, True, last, high, key=lambda word: word[:size] != prefix)
        return first, last, len(prefix)

    def forced(self, state: State) -> bytes:
        """Return the bytes that all words left have in common, the end of the only one included."""
        low, high, depth = cast("tuple[int, int, int]", state)
        first, last = self.words[low], self.words[high - 1]
        end = depth
        while end < len(first) and first[end] == last[end]:
            end += 1
        return first[depth:end]

    def endings(self, state: State) -> list[bytes]:
        """Return all that may still follow."""
        low, high, depth = cast("tuple[int, int, int]", state)
        return [word[depth:] for word in self.words[low:high]]


class Actions(Automaton):
    """Blocks that begin with one of several actions and a colon; each action has an automaton for what follows.

    Once the action is read, states have the keys of its automaton alone, so that masks inside one action do
    not depend on what the others offer.
    """

    def __init__(self, contents: Mapping[str, Automaton]) -> None:
        self._contents = {f"{name}:".encode(): content for name, content in contents.items()}
        self._heads = Words(self._contents)
        self.key = tuple((head, self._contents[head].key) for head in self._heads.words)
        self.start = (None, self._heads.start)

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

    def moves(self, state: State) -> Mapping[int, State]:
        """Return the next bytes of the heads, or of the content."""
        head, inner = cast("tuple[bytes | None, State]", state)
        if head is None:
            return {byte: self.step(state, byte) for byte in self._heads.moves(inner)}
        return {byte: (head, after) for byte, after in self._contents[head].moves(inner).items()}

    def leap(self, state: State, text: bytes) -> State | None:
        """Read many bytes at once within the content."""
        head, inner = cast("tuple[bytes | None, State]", state)
        after = None if head is None else self._contents[head].leap(inner, text)
        return None if after is None else (head, after)

    def narrowed(self, state: State) -> tuple[Automaton, State]:
        """Hand over to the action's own automaton as soon as one is chosen."""
        head, inner = cast("tuple[bytes | None, State]", state)
        return (self, state) if head is None else self._contents[head].narrowed(inner)


def accepts(automaton: Automaton, word: bytes) -> bool:
    """Say whether `word` is one of the automaton's words."""
    state, num_read = automaton.read(automaton.start, word)
    return state is not None and num_read == len(word) and automaton.done(state)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression as data: `kind` is bytes, chars, sequence, choice or repeat (one or more, up to `most`)."""

    kind: str
    parts: tuple["Pattern", ...] = ()
    text: bytes = b""
    most: int = 0


def literal(text: str) -> Pattern:
    """Match exactly `text`."""
    return Pattern("bytes", text=text.encode())


def chars(allowed: str) -> Pattern:
    """Match one of the characters (ASCII)."""
    return Pattern("chars", text=allowed.encode())


def sequence(*parts: Pattern) -> Pattern:
    """Match the parts one after another."""
    return Pattern("sequence", parts)


def choice(*parts: Pattern) -> Pattern:
    """Match one of the parts."""
    return Pattern("choice", parts)


def repeat(part: Pattern, *, most: int = 0) -> Pattern:
    """Match the part once or more, `most` times at most (0: without bound)."""
    return Pattern("repeat", (part,), most=most)


class RegularLanguage(Automaton):
    """A regular language as a set-of-positions automaton, determinised as far as it is walked."""

    def __init__(self, name: str, pattern: Pattern) -> None:
        self.key = name
        self._edges: list[tuple[bytes, int] | None] = []
        """Bytes that lead on from each node, and where to."""
        self._epsilon: list[set[int]] = []
        entry = self._node()
        self._final = self._compile(pattern, entry)
        self._moves: dict[State, Mapping[int, State]] = {}
        self._reads: dict[tuple[State, bytes], State | None] = {}
        self.start = self._closure({entry})

    def step(self, state: State, byte: int) -> State | None:
        """Follow the byte from every node of the state."""
        return self.moves(state).get(byte)

    def moves(self, state: State) -> Mapping[int, State]:
        """Return every byte that may follow, in order, with the state after it; results are remembered."""
        moves = self._moves.get(state)
        if moves is None:
            reached: dict[int, set[int]] = {}
            for node in cast("frozenset[int]", state):
                allowed, target = self._edges[node] or (b"", 0)
                for byte in allowed:
                    reached.setdefault(byte, set()).add(target)
            closures = {nodes: self._closure(nodes) for nodes in set(map(frozenset, reached.values()))}
            moves = {byte: closures[frozenset(reached[byte])] for byte in sorted(reached)}
            self._moves[state] = moves
        return moves

    def leap(self, state: State, text: bytes) -> State | None:
        """Return the state after all of `text` where no word ends before its last byte, else None; remembered."""
        move = (state, text)
        if move not in self._reads:
            after: State | None = state
            for place, byte in enumerate(text):
                after = None if after is None or (place and self.done(after)) else self.step(after, byte)
            if len(self._reads) >= _MOST_READS:
                self._reads.clear()
            self._reads[move] = after
        return self._reads[move]

    def done(self, state: State) -> bool:
        """Say whether the final node is reached."""
        return self._final in state

    def _node(self) -> int:
        self._edges.append(None)
        self._epsilon.append(set())
        return len(self._edges) - 1

    def _closure(self, nodes: Iterable[int]) -> frozenset[int]:
        stack, seen = list(nodes), set(nodes)
        while stack:
            for node in self._epsilon[stack.pop()] - seen:
                seen.add(node)
                stack.append(node)
        return frozenset(seen)

    def _compile(self, pattern: Pattern, entry: int) -> int:
        """Add the pattern's nodes after `entry`; return its exit (Thompson's construction)."""
        if pattern.kind == "bytes":
            for byte in pattern.text:
                entry = self._edge(entry, bytes([byte]))
            return entry
        if pattern.kind == "chars":
            return self._edge(entry, pattern.text)
        if pattern.kind == "sequence":
            for part in pattern.parts:
                entry = self._compile(part, entry)
            return entry
        leave = self._node()
        if pattern.kind == "choice" or pattern.most == 0:
            for part in pattern.parts:
                inner = self._node()
                self._epsilon[entry].add(inner)
                after = self._compile(part, inner)
                self._epsilon[after] |= {leave} if pattern.kind == "choice" else {inner, leave}
        for _ in range(pattern.most):
            entry = self._compile(pattern.parts[0], entry)
            self._epsilon[entry].add(leave)
        return leave

    def _edge(self, entry: int, allowed: bytes) -> int:
        leave = self._node()
        assert self._edges[entry] is None, "no two parts begin at one node"
        self._edges[entry] = allowed, leave
        return leave
