"""A tokenizer's tokens as a trie of their bytes, so that one walk finds all tokens that a set of strings begins with.

Nodes are numbers in the order of a depth-first walk over the sorted tokens, so all that is below a node lies in
one stretch: of nodes, and of tokens. The root is 0, and a lookup that fails also yields 0, since the root is
nobody's child.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from critics.errors import InputError
from rollout.decoding.automaton import Automaton, State
from rollout.decoding.guide import OPEN

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
ROOT = 0
_BRACKET = OPEN[0]
_MOST_STATES = 4_000
"""An automaton with more states on one walk is none whose states meet again; its table would be larger than its use."""
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHERS = sorted(set(range(256)) - set(_PRINTABLE))
_BYTE_OF = {chr(byte): byte for byte in _PRINTABLE} | {chr(256 + i): byte for i, byte in enumerate(_OTHERS)}
"""The byte behind each character of GPT-2's printable alphabet."""


def token_bytes(tokenizer: Any) -> list[bytes | None]:
    """Return the bytes of every id, None for special tokens and for ids that stand for nothing.

    Knows byte-level BPE (GPT-2, Llama 3, Qwen) and SentencePiece with byte fallback (Llama 2, Mistral); any
    other decoder raises `InputError`, because a wrong table would let a policy write what a guide forbids.
    """
    backend = json.loads(tokenizer.backend_tokenizer.to_str())
    decoder = json.dumps(backend["decoder"])
    special = set(tokenizer.all_special_ids)
    added = {token["id"]: token for token in backend["added_tokens"]}
    is_byte_level = "ByteLevel" in decoder
    if not (is_byte_level or "ByteFallback" in decoder or "Metaspace" in decoder):
        raise InputError(
            f"the tokenizer's decoder ({decoder[:60]}) is neither byte-level nor SentencePiece; "
            "guided decoding needs to know every token's bytes"
        )
    table: list[bytes | None] = [None] * len(tokenizer)
    for text, token_id in tokenizer.get_vocab().items():
        if token_id in special or (token_id in added and added[token_id]["special"]):
            continue
        if token_id in added:
            table[token_id] = text.encode()
        elif is_byte_level:
            table[token_id] = b"".join(bytes([_BYTE_OF[c]]) if c in _BYTE_OF else c.encode() for c in text)
        else:
            byte = _BYTE_TOKEN.fullmatch(text)
            table[token_id] = bytes([int(byte[1], 16)]) if byte else text.replace("\u2581", " ").encode()
    return table


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
        """Number of tokens before each node; one more entry for the end."""
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
            pairs = enumerate(zip(before, token, strict=False))
            shared = next((at for at, (a, b) in pairs if a != b), min(len(before), len(token)))
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


class TooManyStates(Exception):  # noqa: N818
    """The automaton has more states than a table is good for."""


class MoveTable:
    """The moves of an automaton, filled as far as it is walked: a row of 256 numbers of states for each state."""

    def __init__(self) -> None:
        self.states: list[State] = [None]
        """By number; the first one stands for what is refused."""
        self.moves: Numbers = np.zeros(256 * 64, dtype=np.int32)
        """Under `256 x state + byte`, 256 times the number of the state after it."""
        self.is_done = np.zeros(64, dtype=bool)
        self.is_filled = np.zeros(64, dtype=bool)
        self.is_filled[0] = True
        self._numbers: dict[State, int] = {}

    def number(self, automaton: Automaton, state: State) -> int:
        """Return a state's number."""
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            if found >= _MOST_STATES:
                raise TooManyStates
            if found == len(self.is_done):
                self.moves = np.concatenate([self.moves, np.zeros_like(self.moves)])
                self.is_done = np.concatenate([self.is_done, np.zeros_like(self.is_done)])
                self.is_filled = np.concatenate([self.is_filled, np.zeros_like(self.is_filled)])
            self.states.append(state)
            self.is_done[found] = self.is_filled[found] = automaton.done(state)  # and nothing goes on from there
        return found

    def fill(self, automaton: Automaton, number: int) -> None:
        """Fill the row of a state."""
        for byte, after in automaton.moves(self.states[number]).items():
            place = 256 * self.number(automaton, after)  # which may replace the table
            self.moves[256 * number + byte] = place
        self.is_filled[number] = True


@dataclass(frozen=True, slots=True)
class Walk:
    """Result of a walk."""

    ids: Ids
    """Tokens that stay inside the block, ascending."""
    states: Numbers
    """For each of them the number of the automaton's state after it."""
    table: MoveTable
    """Table with the states of these numbers."""
    ends: list[tuple[int, int]]
    """Nodes at which the block ends, and how many bytes of a token lead there."""


class TrieLevels:
    """A trie's nodes in the order of their depth, for walks of all of them, level by level.

    A walk in Python takes a microsecond a node: a tenth of a second for a state that allows half of 128,000 tokens.
    Here the automaton's moves are a table, and one look-up takes all nodes of a level to their states.
    """

    def __init__(self, trie: TokenTrie) -> None:
        num = len(trie.edges) + 1
        edges = np.fromiter(trie.edges.keys(), dtype=np.int64, count=num - 1)
        parents = np.concatenate([[0], edges >> 8])  # nodes are numbered as their edges were added
        depth, above = (parents >= 0).astype(np.int64), parents
        depth[0] = 0
        while above.any():  # jumps over twice as many nodes each time
            depth, above = depth + depth[above], above[above]
        order = np.argsort(depth, kind="stable")
        place = np.empty(num, dtype=np.int64)
        place[order] = np.arange(num)
        self._nodes = order
        self._parents = place[parents[order]].astype(np.int32)
        self._bytes = np.concatenate([[0], edges & 255])[order].astype(np.int32)
        starts = np.searchsorted(depth[order], np.arange(1, int(depth.max()) + 2)).tolist()
        self._levels: list[tuple[int, int]] = list(pairwise(starts))
        num_at = np.fromiter(map(len, trie.ids), dtype=np.int64, count=num)
        by_id = np.argsort(trie.sorted_ids)  # which are in the order of their nodes
        self._ids: Ids = trie.sorted_ids[by_id]
        self._places = place[np.repeat(np.arange(num), num_at)[by_id]]

    def walk(self, automaton: Automaton, state: State, table: MoveTable) -> Walk:
        """Return what the automaton allows from a state on; raises `TooManyStates`."""
        reached = np.zeros(len(self._nodes), dtype=np.int32)
        reached[0] = 256 * table.number(automaton, state)
        before = 0
        ends: list[tuple[int, int]] = []
        for depth, (first, last) in enumerate(self._levels, start=1):
            met = np.zeros(len(table.states), dtype=bool)
            met[reached[before:first] >> 8] = True
            for number in np.flatnonzero(met & ~table.is_filled[: len(met)]).tolist():
                table.fill(automaton, number)
            index = reached.take(self._parents[first:last])
            index += self._bytes[first:last]
            level = reached[first:last]
            table.moves.take(index, out=level)
            if not level.any():
                break
            before = first
            over = np.flatnonzero(table.is_done.take(level >> 8))
            ends += [(int(node), depth) for node in self._nodes[first:last][over]]
        found = reached.take(self._places) >> 8
        inside = np.flatnonzero((found != 0) & ~table.is_done.take(found))
        return Walk(self._ids[inside], found[inside], table, ends)
