"""Walks of a whole vocabulary at once: what an automaton says of every token, level by level of the trie.

A walk in Python takes a microsecond a node: a tenth of a second for a state that allows half of 128,000 tokens. Here
the automaton's moves are a table, and one look-up takes all nodes of a level to their states.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from rollout.decoding.automaton import Automaton, State, successors
from rollout.decoding.vocabulary import Ids, TokenTrie

_REFUSED = 0
_MOST_STATES = 4_000
"""An automaton with more states on one walk is none whose states meet again; its table would be larger than its use."""
Numbers = npt.NDArray[np.int32]


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
        self.is_filled[_REFUSED] = True
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
        for byte, after in successors(automaton, self.states[number]):
            place = 256 * self.number(automaton, after)
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
    """A trie's nodes in the order of their depth, for walks of all of them."""

    def __init__(self, trie: TokenTrie) -> None:
        num = len(trie.edges) + 1
        edges = np.fromiter(trie.edges.keys(), dtype=np.int64, count=num - 1)
        parents = np.concatenate([[0], edges >> 8])  # nodes are numbered as their edges were added
        depth, above = _depths(parents), parents
        order = np.argsort(depth, kind="stable")
        place = np.empty(num, dtype=np.int64)
        place[order] = np.arange(num)
        self._nodes = order
        self._parents = place[above[order]].astype(np.int32)
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
            self._fill(automaton, table, reached[before:first])
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
        inside = np.flatnonzero((found != _REFUSED) & ~table.is_done.take(found))
        return Walk(self._ids[inside], found[inside], table, ends)

    @staticmethod
    def _fill(automaton: Automaton, table: MoveTable, reached: Numbers) -> None:
        """Fill the rows of the states that a level has reached."""
        met = np.zeros(len(table.states), dtype=bool)
        met[reached >> 8] = True
        for number in np.flatnonzero(met & ~table.is_filled[: len(met)]).tolist():
            table.fill(automaton, number)


def _depths(parents: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each node's distance from the root, by jumps over twice as many nodes each time."""
    depth, above = (parents >= 0).astype(np.int64), parents
    depth[0] = 0
    while above.any():
        depth, above = depth + depth[above], above[above]
    return depth
