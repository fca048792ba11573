"""Automata of regular expressions: equivalence with a shortest distinguishing word, and the minimal automaton.

An expression becomes its position automaton (Glushkov), whose sets of states are the bits of an integer. Two are
compared by merging states that must be equivalent (Hopcroft and Karp), breadth first, so that the first difference is
a shortest one. Subsets can be exponentially many: work is counted, and more than `MAX_WORK` is undecided.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from critics.replay.certificate import TooLarge
from critics.replay.equivalences.regex import EmptyWord, Letter, Regex, Sequence, Star, Union

MAX_WORK = 2_000_000
"""Bits of state sets that are followed, and eight for each set: about a second."""


@dataclass(frozen=True, slots=True)
class MinimalAutomaton:
    """The complete minimal automaton, states numbered as they are met from the start in the alphabet's order."""

    transitions: tuple[tuple[int, ...], ...]
    """For each state the next one, by letter; state 0 is the start."""
    accepting: tuple[int, ...]


def distinguishing_word(left: Regex, right: Regex, alphabet: str) -> str | None:
    """Return a shortest word that one matches and the other does not; None if there is none.

    Raises `TooLarge` where the automata are beyond the budget.
    """
    positions = _Positions()
    starts = positions.start(left), positions.start(right)
    merged = _Merged()
    reached: list[tuple[int, int, int, str]] = [(*starts, -1, "")]
    merged.merge(*starts)
    for number, (one, other, _, _) in enumerate(reached):
        if positions.accepts(one) != positions.accepts(other):
            return _word(reached, number)
        for letter in alphabet:
            following = positions.step(one, letter), positions.step(other, letter)
            if merged.merge(*following):
                reached.append((*following, number, letter))
    return None


def minimal_automaton(regex: Regex, alphabet: str) -> MinimalAutomaton:
    """Return the minimal automaton; raises `TooLarge`."""
    positions = _Positions()
    start = positions.start(regex)
    numbers = {start: 0}
    rows: list[list[int]] = []
    for state in (states := [start]):
        row: list[int] = []
        for letter in alphabet:
            following = positions.step(state, letter)
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            row.append(numbers[following])
        rows.append(row)
    return _minimised(rows, [positions.accepts(state) for state in states], positions)


def is_language_of(regex: Regex, transitions: list[list[int]], accepting: frozenset[int], alphabet: str) -> bool:
    """Say whether a deterministic automaton with start 0 accepts just the words that match; raises `TooLarge`.

    Every set of positions that is reached stands for exactly one state, which must accept as the set does.
    """
    positions = _Positions()
    start = positions.start(regex)
    stands_for = {start: 0}
    for state in (states := [start]):
        number = stands_for[state]
        if positions.accepts(state) != (number in accepting):
            return False
        for letter, following in zip(alphabet, transitions[number], strict=True):
            after = positions.step(state, letter)
            if after not in stands_for:
                states.append(after)
            if stands_for.setdefault(after, following) != following:
                return False
    return True


def matches(regex: Regex, word: str) -> bool:
    """Say whether the whole word matches."""
    positions = _Positions()
    state = positions.start(regex)
    for letter in word:
        state = positions.step(state, letter)
    return positions.accepts(state)


def _minimised(rows: list[list[int]], accepts: list[bool], work: "_Positions") -> MinimalAutomaton:
    """Split the states until no two of a class differ (Moore), and number the classes from the start."""
    classes, num = [int(accepting) for accepting in accepts], len(set(accepts))
    by_letter = list(zip(*rows, strict=True))
    while True:
        work.spend(len(rows))
        found: dict[tuple[int, ...], int] = {}
        following = [map(classes.__getitem__, column) for column in by_letter]
        classes = [found.setdefault(key, len(found)) for key in zip(classes, *following, strict=True)]
        if len(found) == num:
            break
        num = len(found)
    # States are met from the start, and so are their classes: the first class is the start's.
    members = {number: state for state, number in reversed(list(enumerate(classes)))}
    return MinimalAutomaton(
        tuple([tuple([classes[state] for state in rows[members[number]]]) for number in range(num)]),
        tuple([number for number in range(num) if accepts[members[number]]]),
    )


def _word(reached: list[tuple[int, int, int, str]], number: int) -> str:
    letters: list[str] = []
    while number > 0:
        _, _, number, letter = reached[number]
        letters.append(letter)
    return "".join(reversed(letters))


class _Merged:
    """States that are taken for equivalent."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def merge(self, one: int, other: int) -> bool:
        """Take two for equivalent; false if they were."""
        one, other = self._find(one), self._find(other)
        if one == other:
            return False
        self._parents[one] = other
        return True

    def _find(self, state: int) -> int:
        parents, root = self._parents, state
        while (above := parents.get(root, root)) != root:
            root = above
        while state != root:
            parents[state], state = root, parents[state]
        return root


class _Ends(NamedTuple):
    """Ends of an expression: positions that can begin a word, those that can end one, and whether it may be empty."""

    first: int
    last: int
    nullable: bool


@dataclass(slots=True)
class _Positions:
    """The positions of expressions, each a letter of one or a start, and what can follow them.

    Expressions have positions of their own; the empty set is the sink of all.
    """

    work: int = MAX_WORK
    following: list[int] = field(default_factory=list[int])
    """For each position the set of those that can come next."""
    of_letter: dict[str, int] = field(default_factory=dict[str, int])
    final: int = 0
    after: dict[int, int] = field(default_factory=dict[int, int])
    """Memory of what was worked out: for a set of positions, all that can come next."""

    def start(self, regex: Regex) -> int:
        """Add an expression; return its start as a set of one."""
        position = self._new(0)
        ends = self._add(regex)
        self.following[position] = ends.first
        self.final |= ends.last | (1 << position if ends.nullable else 0)
        return 1 << position

    def accepts(self, state: int) -> bool:
        return state & self.final != 0

    def step(self, state: int, letter: str) -> int:
        after = self.after.get(state)
        if after is None:
            self.spend(state.bit_count() + 8)
            after, left = 0, state
            while left:
                after |= self.following[left.bit_length() - 1]
                left ^= 1 << (left.bit_length() - 1)
            self.after[state] = after
        return after & self.of_letter.get(letter, 0)

    def spend(self, amount: int) -> None:
        self.work -= amount
        if self.work < 0:
            raise TooLarge

    def _new(self, following: int) -> int:
        self.following.append(following)
        return len(self.following) - 1

    def _add(self, regex: Regex) -> _Ends:
        # Tests of the type and no `match`: each letter of each expression passes here.
        if isinstance(regex, Letter):
            place = 1 << self._new(0)
            self.of_letter[regex.letter] = self.of_letter.get(regex.letter, 0) | place
            return _Ends(place, place, False)
        if isinstance(regex, Star):
            ends = self._add(regex.body)
            self._follow(ends.last, ends.first)
            return _Ends(ends.first, ends.last, True)
        if isinstance(regex, EmptyWord):
            return _Ends(0, 0, True)
        return self._add_sequence(regex) if isinstance(regex, Sequence) else self._add_union(regex)

    def _add_union(self, regex: Union) -> _Ends:
        first, last, nullable = 0, 0, False
        for other in map(self._add, regex.parts):
            first, last, nullable = first | other.first, last | other.last, nullable or other.nullable
        return _Ends(first, last, nullable)

    def _add_sequence(self, regex: Sequence) -> _Ends:
        first, last, nullable = 0, 0, True
        for other in map(self._add, regex.parts):
            self._follow(last, other.first)
            first |= other.first if nullable else 0
            last = other.last | (last if other.nullable else 0)
            nullable = nullable and other.nullable
        return _Ends(first, last, nullable)

    def _follow(self, last: int, first: int) -> None:
        self.spend(last.bit_count() + 8)
        while last:
            position = last.bit_length() - 1
            self.following[position] |= first
            last ^= 1 << position
