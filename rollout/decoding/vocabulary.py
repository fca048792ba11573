"""A tokenizer's tokens as a trie of their bytes, so that one walk finds all tokens that a set of strings begins with.

Nodes are numbers in the order of a depth-first walk over the sorted tokens, so all that is below a node lies in
one stretch: of nodes, and of tokens. The root is 0, and a lookup that fails also yields 0, since the root is
nobody's child.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from rollout.decoding.guide import OPEN

Ids = npt.NDArray[np.int64]
ROOT = 0
_BRACKET = OPEN[0]


class TokenTrie:
    """The trie; `tokens[i]` is None for special tokens, which no walk finds."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        self.tokens = tokens
        self.special = np.array([i for i, token in enumerate(tokens) if not token], dtype=np.int64)
        spelled = sorted((token, i) for i, token in enumerate(tokens) if token)
        self.sorted_ids: Ids = np.array([i for _, i in spelled], dtype=np.int64)
        """Ids in the order of their bytes."""
        self.ends: list[int] = []
        """The node after the last one below each node: its next sibling, where it has one."""
        self.bytes: list[int] = []
        """The byte that leads to each node."""
        self.ids: list[tuple[int, ...]] = []
        """The ids of the tokens that end at each node."""
        self.edges: dict[int, int] = {}
        """The child of a node for a byte, under `node << 8 | byte`."""
        self._ranks: list[int] = []
        """How many tokens come before each node; one more entry for the end."""
        self._grow([token for token, _ in spelled])
        self._openers = [rank for rank, (token, _) in enumerate(spelled) if OPEN in token]

    def children(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the byte and the node of each child, in the order of the bytes."""
        child, end = node + 1, self.ends[node]
        while child < end:
            yield self.bytes[child], child
            child = self.ends[child]

    def follow(self, node: int, text: bytes) -> int:
        """Return the node that `text` leads to from `node`; `ROOT` where no token goes on so."""
        for byte in text:
            node = self.edges.get(node << 8 | byte, ROOT)
            if node == ROOT:
                return ROOT
        return node

    def below(self, node: int) -> Ids:
        """Return the ids of the tokens that end at the node or go on from it, in the order of their bytes."""
        return self.sorted_ids[self._ranks[node] : self._ranks[self.ends[node]]]

    def opening(self, node: int, depth: int, *, pending: bool = False) -> list[int]:
        """Return the ids at and below `node` that open a block after their first `depth` bytes.

        `pending`: the text before those bytes ends in a lone `[`.
        """
        first, last = self._ranks[node], self._ranks[self.ends[node]]
        openers = self._openers[bisect_left(self._openers, first) : bisect_left(self._openers, last)]
        found = [int(self.sorted_ids[rank]) for rank in openers]
        found = [i for i in found if OPEN in self.bytes_of(i)[depth:]]
        bracket = self.edges.get(node << 8 | _BRACKET, ROOT) if pending else ROOT
        if bracket != ROOT:
            found += [i for i in self.below(bracket).tolist() if i not in set(found)]
        return found

    def bytes_of(self, token_id: int) -> bytes:
        """Return what an ordinary token is spelled like."""
        token = self.tokens[token_id]
        assert token is not None
        return token

    def longest_match(self, text: bytes) -> list[int]:
        """Spell `text` by taking the longest token each time; nothing where some byte has no token."""
        spelled: list[int] = []
        at = 0
        while at < len(text):
            node, best, length = ROOT, -1, 0
            for offset, byte in enumerate(text[at:], start=1):
                node = self.edges.get(node << 8 | byte, ROOT)
                if node == ROOT:
                    break
                if self.ids[node]:
                    best, length = self.ids[node][0], offset
            if best < 0:
                return []
            spelled.append(best)
            at += length
        return spelled

    def _grow(self, spelled: Sequence[bytes]) -> None:
        """Add the tokens, which are sorted: each shares its first nodes with the one before it."""
        path = [self._node(0)]
        ids, before = self.sorted_ids.tolist(), b""
        for rank, token in enumerate(spelled):
            shared = _num_shared(before, token)
            for node in path[shared + 1 :]:
                self.ends[node] = len(self.ends)
            del path[shared + 1 :]
            for byte in token[shared:]:
                self.edges[path[-1] << 8 | byte] = len(self.ends)
                path.append(self._node(byte))
                self._ranks.append(rank)
            self.ids[path[-1]] += (ids[rank],)
            before = token
        for node in path:
            self.ends[node] = len(self.ends)
        self._ranks = [0, *self._ranks, len(spelled)]

    def _node(self, byte: int) -> int:
        self.ends.append(0)
        self.bytes.append(byte)
        self.ids.append(())
        return len(self.ends) - 1


def _num_shared(one: bytes, other: bytes) -> int:
    """Return the length of the longest common prefix."""
    for length, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return length
    return min(len(one), len(other))
