"""Automata of regular expressions: equivalence with a shortest distinguishing word, and the minimal automaton.

An expression becomes its position automaton (Glushkov), whose sets of states are the bits of an integer. Two are
compared by merging states that must be equivalent (Hopcroft and Karp), breadth first, so that the first difference is
a shortest one. Subsets can be exponentially many: work is counted, and more than `MAX_WORK` is undecided.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from critics.equivalence.regex import EmptyWord, Letter, Regex, Sequence, Star, Union

MAX_WORK = 2_000_000
"""Bits of state sets that are followed, and eight for each set: about a second."""


class TooLarge(Exception):  # noqa: N818
    """The work is used up: undecided."""


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
    rows: list[tuple[int, ...]] = []
    for state in (states := [start]):
        row: list[int] = []
        for letter in alphabet:
            following = positions.step(state, letter)
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            row.append(numbers[following])
        rows.append(tuple(row))
    return _minimised(rows, [positions.accepts(state) for state in states], positions)


def _minimised(rows: list[tuple[int, ...]], accepts: list[bool], work: "_Positions") -> MinimalAutomaton:
    """Split the states until no two of a class differ (Moore), and number the classes from the start."""
    classes, num = [int(accepting) for accepting in accepts], len(set(accepts))
    while True:
        work.spend(len(rows))
        found: dict[tuple[int, ...], int] = {}
        classes = [
            found.setdefault((classes[state], *(classes[following] for following in row)), len(found))
            for state, row in enumerate(rows)
        ]
        if len(found) == num:
            break
        num = len(found)
    # States are met from the start, and so are their classes: the first class is the start's.
    members = {number: state for state, number in reversed(list(enumerate(classes)))}
    return MinimalAutomaton(
        tuple(tuple(classes[following] for following in rows[members[number]]) for number in range(num)),
        tuple(number for number in range(num) if accepts[members[number]]),
    )


def _word(reached: list[tuple[int, int, int, str]], number: int) -> str:
    letters: list[str] = []
    while number > 0:
        _, _, number, letter = reached[number]
        letters.append(letter)
    return "".join(reversed(letters))


class _Merged:
    """Which states are taken for equivalent."""

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


@dataclass(frozen=True, slots=True)
class _Ends:
    """Of an expression: the positions that can begin a word and those that can end one, and whether it may be empty."""

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
    """What was worked out: for a set of positions, all that can come next."""

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
            after = 0
            for position in self._bits(state):
                after |= self.following[position]
            self.after[state] = after
        return after & self.of_letter.get(letter, 0)

    def spend(self, amount: int) -> None:
        self.work -= amount
        if self.work < 0:
            raise TooLarge

    def _new(self, following: int) -> int:
        self.following.append(following)
        return len(self.following) - 1

    def _bits(self, state: int) -> Iterator[int]:
        self.spend(state.bit_count() + 8)
        while state:
            lowest = state & -state
            yield lowest.bit_length() - 1
            state ^= lowest

    def _add(self, regex: Regex) -> _Ends:
        match regex:
            case Letter(letter):
                place = 1 << self._new(0)
                self.of_letter[letter] = self.of_letter.get(letter, 0) | place
                return _Ends(place, place, False)
            case EmptyWord():
                return _Ends(0, 0, True)
            case Star(body):
                ends = self._add(body)
                self._follow(ends.last, ends.first)
                return _Ends(ends.first, ends.last, True)
            case Union(parts):
                ends = _Ends(0, 0, False)
                for other in map(self._add, parts):
                    ends = _Ends(ends.first | other.first, ends.last | other.last, ends.nullable or other.nullable)
                return ends
            case Sequence(parts):
                ends = _Ends(0, 0, True)
                for other in map(self._add, parts):
                    self._follow(ends.last, other.first)
                    ends = _Ends(
                        ends.first | (other.first if ends.nullable else 0),
                        other.last | (ends.last if other.nullable else 0),
                        ends.nullable and other.nullable,
                    )
                return ends

    def _follow(self, last: int, first: int) -> None:
        for position in self._bits(last):
            self.following[position] |= first
