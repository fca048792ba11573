"""From bytes to tokens: which tokens may come next when a guide watches a row.

Tokens may straddle the markers: one token may end a block and go on in free text, or open a block and write
the first bytes of its action. Every token is judged by its bytes, so nothing depends on the tokenizer's taste.
The same holds for the line `Answer:` where the guide is a `ConcludingGuide`; other guides leave free text free.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from rollout.automaton import Automaton, State
from rollout.conclusion import ConcludingGuide, Place
from rollout.guide import Guide

Ids = npt.NDArray[np.int64]
_BRACKET = ord("[")


class GuideViolation(RuntimeError):  # noqa: N818
    """A token was pushed that the mask refuses: an error of the caller, never of the policy."""


class Row:
    """Where one sequence stands: in free text (`block` None) or inside a block, and what its guide knows."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.pending = False
        """Whether the last byte of the free text is a lone `[`."""
        self.block: State | None = None
        self.place = Place() if isinstance(guide, ConcludingGuide) else None
        """Where in its line the free text stands; None where its answer is not held to anything."""
        self._automaton: Automaton = guide.allowed()
        self._content = bytearray()

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal masks, but for tokens in which a block ends and another begins."""
        if self.place is not None:
            return self._held_key(self.place)
        if self.block is None:
            return ("free", self.pending, self.guide.key)
        return ("block", self._automaton.state_key(self.block))

    def _held_key(self, place: Place) -> Hashable:
        if self.block is None:
            return ("held", self.pending, self.guide.key, place, self.conclusions)
        return ("held block", self._automaton.state_key(self.block))

    @property
    def conclusions(self) -> tuple[bytes, ...]:
        """The spellings that may follow `Answer:`; none where nothing is decided, or the answer is free."""
        return self.guide.conclusions() if isinstance(self.guide, ConcludingGuide) else ()

    @property
    def may_end(self) -> bool:
        """Whether end-of-text may come next: in free text, but not within a conclusion that is held to the guide."""
        return self.block is None and (self.place is None or self.place.may_end(self.conclusions))

    @property
    def automaton(self) -> Automaton:
        """What the open block may hold."""
        return self._automaton

    def push(self, token: bytes) -> None:
        """Advance over a token's bytes; raises `GuideViolation` where they are refused."""
        for byte in token:
            if not self._advance(byte):
                raise GuideViolation(f"{token!r} is not allowed here")

    def accepts(self, token: bytes) -> bool:
        """Say whether the token may come next, leaving the row as it is."""
        probe = Row.__new__(Row)
        probe.guide = self.guide
        probe.pending, probe.block, probe.place = self.pending, self.block, self.place
        probe._automaton, probe._content = self._automaton, bytearray(self._content)
        probe._is_probe = True
        return all(probe._advance(byte) for byte in token)

    _is_probe = False

    def _advance(self, byte: int) -> bool:
        if self.block is None:
            if self.place is not None:
                after = self.place.after(byte, self.conclusions)
                if after is None:
                    return False
                self.place = after
            if self.pending and byte == _BRACKET:
                self.pending = False
                self._automaton = self.guide.allowed()
                self.block = self._automaton.start
                self._content.clear()
            else:
                self.pending = byte == _BRACKET
            return True
        state = self._automaton.step(self.block, byte)
        if state is None:
            return False
        self._content.append(byte)
        self.block = state
        if self._automaton.done(state):
            self._close()
        return True

    def _close(self) -> None:
        if self._is_probe:
            self.guide = self.guide.clone()
        self.guide.close(bytes(self._content[:-2]))
        self.block, self.pending = None, False


@dataclass(slots=True)
class _Node:
    """A node of the vocabulary's byte trie."""

    children: dict[int, "_Node"] = field(default_factory=lambda: dict[int, _Node]())
    ids: list[int] = field(default_factory=list[int])
    free: "tuple[list[int], list[int]] | None" = None
    """Ids below that keep to free text, and ids below in which `[[` occurs; computed when first needed."""


class MaskEngine:
    """The allowed token ids of a row, exact for every token; `vocabulary[i]` is None for special tokens."""

    def __init__(self, vocabulary: Sequence[bytes | None], eos_ids: Sequence[int]) -> None:
        self.vocabulary = vocabulary
        self.eos_ids = np.array(sorted(eos_ids), dtype=np.int64)
        self._root = _Node()
        self._cache: dict[Hashable, Ids] = {}
        self._held: dict[re.Pattern[bytes], frozenset[int]] = {}
        for token_id, token in enumerate(vocabulary):
            if token:
                self._insert(token_id, token)

    def allowed(self, row: Row) -> Ids:
        """Return the ids that may come next, ascending; end-of-text only in free text. Never empty."""
        key = row.key
        ids = self._cache.get(key)
        if ids is None:
            ids, cacheable = self._compute(row)
            if cacheable:
                self._cache[key] = ids
        return ids

    def _insert(self, token_id: int, token: bytes) -> None:
        node = self._root
        for byte in token:
            node = node.children.setdefault(byte, _Node())
        node.ids.append(token_id)

    def _compute(self, row: Row) -> tuple[Ids, bool]:
        if row.place is not None and row.place.written is not None:
            return self._conclusion(row, row.place), True
        plain: list[int] = []
        opening: list[int] = []
        if row.block is None:
            plain, opening = self._free(self._root, row.pending)
            plain = [*plain, *self.eos_ids.tolist()]
        else:
            self._walk(self._root, row.automaton, row.block, plain, opening)
        if row.place is not None:
            held = self._touching(row.place.touched)
            opening = [*opening, *(i for i in plain if i in held)]
            plain = [i for i in plain if i not in held]
        accepted = [i for i in opening if row.accepts(self._bytes(i))]
        # A token that ends a block and opens another depends on what the guide learns in between.
        in_free_text = row.block is None
        cacheable = not opening or (in_free_text and not any(b"]]" in self._bytes(i) for i in opening))
        return np.array(sorted(plain + accepted), dtype=np.int64), cacheable

    def _conclusion(self, row: Row, place: Place) -> Ids:
        """Return the ids that spell the rest of a conclusion, and end-of-text where it is complete."""
        found = set[int](self.eos_ids.tolist() if row.may_end else ())
        for rest in place.endings(row.conclusions):
            node: _Node | None = self._root
            for byte in rest:
                node = node.children.get(byte)
                if node is None:
                    break
                found.update(node.ids)
        return np.array(sorted(found), dtype=np.int64)

    def _touching(self, pattern: re.Pattern[bytes]) -> frozenset[int]:
        """Return the ids that a conclusion held to the guide may refuse."""
        if pattern not in self._held:
            self._held[pattern] = frozenset(i for i, t in enumerate(self.vocabulary) if t and pattern.search(t))
        return self._held[pattern]

    def _walk(self, node: _Node, automaton: Automaton, state: State, plain: list[int], opening: list[int]) -> None:
        """Collect the tokens below `node` that the automaton allows, going on in free text after its end."""
        for byte, child in node.children.items():
            after = automaton.step(state, byte)
            if after is None:
                continue
            if automaton.done(after):
                free, brackets = self._free(child, False)
                plain += free
                opening += brackets
            else:
                plain += child.ids
                self._walk(child, automaton, after, plain, opening)

    def _free(self, node: _Node, pending: bool) -> tuple[list[int], list[int]]:
        """Split the ids at and below `node`, read as free text from there, by whether they hold `[[`."""
        if not pending and node.free is not None:
            return node.free
        plain, opening = list(node.ids), list[int]()
        for byte, child in node.children.items():
            if byte == _BRACKET and pending:
                opening += _all_ids(child)
            else:
                below = self._free(child, byte == _BRACKET)
                plain += below[0]
                opening += below[1]
        if not pending:
            node.free = (plain, opening)
        return plain, opening

    def _bytes(self, token_id: int) -> bytes:
        token = self.vocabulary[token_id]
        assert token is not None
        return token


def _all_ids(node: _Node) -> list[int]:
    ids = list(node.ids)
    for child in node.children.values():
        ids += _all_ids(child)
    return ids
