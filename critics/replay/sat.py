"""A small solver for clauses, by learning from conflicts, that leaves a proof where there is no model; and its check.

The proof is the list of learned clauses, in order: each follows from those before by unit propagation (RUP), and at
last the empty one does. It is for formulas with more propositions than a truth table can take; work is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from critics.replay.certificate import Rejected

MAX_WORK = 1_000_000
"""Clauses visited in propagation: about a second."""
MAX_PROPAGATED = 3_000_000
"""Clauses looked at in one proof."""
_DECAY = 1 / 0.95
_RESTART = 100


@dataclass(frozen=True, slots=True)
class Satisfied:
    """A model: the literals that hold."""

    literals: frozenset[int]


@dataclass(frozen=True, slots=True)
class Contradictory:
    """There is no model, and these clauses show it."""

    learned: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The work is used up."""


Solution: TypeAlias = Satisfied | Contradictory | GivenUp


class _OutOfWork(Exception):  # noqa: N818
    pass


def solve_clauses(clauses: Iterable[Sequence[int]], work: int = MAX_WORK) -> Solution:
    """Find a model of clauses, or a proof that there is none; the same every time."""
    search = _Search(work)
    try:
        if not all(search.add(sorted(set(clause), key=abs)) for clause in clauses):
            return Contradictory(())
        return search.run()
    except _OutOfWork:
        return GivenUp()


class _Search:
    """Assigned literals in order (the trail), two watched literals in each clause, and how active each variable is."""

    def __init__(self, work: int) -> None:
        self._work = work
        self._watching: dict[int, list[list[int]]] = {}
        self._level: dict[int, int] = {}
        self._reason: dict[int, list[int] | None] = {}
        self._holds: set[int] = set()
        self._trail: list[int] = []
        self._marks: list[int] = []
        self._propagated = 0
        self._activity: dict[int, float] = {}
        self._bump = 1.0
        self._phase: dict[int, int] = {}
        self._learned: list[tuple[int, ...]] = []

    def add(self, clause: list[int]) -> bool:
        """Add a clause of the problem; false where it contradicts a unit clause before it."""
        if any(-literal in clause for literal in clause):
            return True
        for literal in clause:
            self._activity.setdefault(abs(literal), 0.0)
        if len(clause) == 1:
            if -clause[0] in self._holds:
                return False
            self._assign(clause[0], clause)
            return True
        self._watch(clause)
        return bool(clause)

    def run(self) -> Solution:
        conflicts = 0
        while True:
            conflict = self._propagate()
            if conflict is not None:
                if not self._marks:
                    return Contradictory(tuple(self._learned))
                self._learn(conflict)
                conflicts += 1
                if conflicts % _RESTART == 0:
                    self._backtrack(0)
                continue
            free = [variable for variable in self._activity if variable not in self._level]
            if not free:
                return Satisfied(frozenset(self._holds))
            self._spend(1 + len(free) // 16)
            chosen = max(free, key=lambda variable: (self._activity[variable], -variable))
            self._marks.append(len(self._trail))
            self._assign(self._phase.get(chosen, -1) * chosen, None)

    def _spend(self, amount: int) -> None:
        self._work -= amount
        if self._work < 0:
            raise _OutOfWork

    def _watch(self, clause: list[int]) -> None:
        for literal in clause[:2]:
            self._watching.setdefault(literal, []).append(clause)

    def _assign(self, literal: int, reason: list[int] | None) -> None:
        if literal in self._holds:
            return
        self._holds.add(literal)
        self._level[abs(literal)] = len(self._marks)
        self._reason[abs(literal)] = reason
        self._trail.append(literal)

    def _propagate(self) -> list[int] | None:
        """Assign what follows; return a clause that is violated, if there is one."""
        while self._propagated < len(self._trail):
            false = -self._trail[self._propagated]
            self._propagated += 1
            watched = self._watching.get(false, [])
            self._spend(1 + len(watched))
            kept: list[list[int]] = []
            for number, clause in enumerate(watched):
                if self._moves_watch(clause, false):
                    continue
                kept.append(clause)
                if clause[0] in self._holds:
                    continue
                if -clause[0] in self._holds:
                    self._watching[false] = kept + watched[number + 1 :]
                    return clause
                self._assign(clause[0], clause)
            self._watching[false] = kept
        return None

    def _moves_watch(self, clause: list[int], false: int) -> bool:
        """Watch another literal than one that became false; the other watched one comes first."""
        if clause[0] == false:
            clause[0], clause[1] = clause[1], clause[0]
        if clause[0] in self._holds:
            return False
        for place in range(2, len(clause)):
            if -clause[place] not in self._holds:
                clause[1], clause[place] = clause[place], clause[1]
                self._watching.setdefault(clause[1], []).append(clause)
                return True
        return False

    def _learn(self, conflict: list[int]) -> None:
        """Learn the clause of the first unique implication point, go back, and assign what it implies."""
        seen: set[int] = set()
        below: list[int] = []
        level, open_, place = len(self._marks), 0, len(self._trail)
        reason: list[int] | None = conflict
        literal = 0
        while True:
            for other in reason or ():
                variable = abs(other)
                if other == literal or variable in seen or self._level[variable] == 0:
                    continue
                seen.add(variable)
                self._activity[variable] += self._bump
                if self._level[variable] == level:
                    open_ += 1
                else:
                    below.append(other)
            place -= 1
            while abs(self._trail[place]) not in seen:
                place -= 1
            literal = self._trail[place]
            open_ -= 1
            if open_ == 0:
                break
            reason = self._reason[abs(literal)]
        clause = [-literal, *below]
        self._spend(len(clause))
        self._bump *= _DECAY
        if self._bump > 1e100:
            self._activity = {variable: value * 1e-100 for variable, value in self._activity.items()}
            self._bump *= 1e-100
        self._learned.append(tuple(clause))
        clause[1:] = sorted(clause[1:], key=lambda literal: -self._level[abs(literal)])
        self._backtrack(self._level[abs(clause[1])] if len(clause) > 1 else 0)
        if len(clause) > 1:
            self._watch(clause)
        self._assign(clause[0], clause)

    def _backtrack(self, level: int) -> None:
        if level >= len(self._marks):
            return
        mark = self._marks[level]
        for literal in self._trail[mark:]:
            self._phase[abs(literal)] = 1 if literal > 0 else -1
            self._holds.discard(literal)
            del self._level[abs(literal)], self._reason[abs(literal)]
        del self._trail[mark:], self._marks[level:]
        self._propagated = min(self._propagated, mark)


def check_proof(clauses: Iterable[Sequence[int]], proof: Iterable[Sequence[int]]) -> None:
    """Raise unless each step, and at last falsity, follows from what is before by unit propagation."""
    following = _Propagation()
    for clause in clauses:
        following.add(clause)
    for step in [*proof, ()]:
        if not isinstance(step, list | tuple) or any(type(literal) is not int or literal == 0 for literal in step):
            raise Rejected("ill_formed")
        if not following.contradicts([-literal for literal in step]):
            raise Rejected("not_a_proof")
        following.add(step)


class _Propagation:
    """Unit propagation: keeps the literals that follow from the clauses alone."""

    def __init__(self) -> None:
        self._left = MAX_PROPAGATED
        self._true: set[int] = set()
        self._watching: dict[int, list[list[int]]] = {}
        """For a literal the clauses of which it is one of the first two."""
        self._is_false = False

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause, and keep what follows from all."""
        literals = [literal for literal in dict.fromkeys(clause) if -literal not in self._true]
        if any(literal in self._true for literal in literals):
            return
        for literal in literals[:2] if len(literals) > 1 else ():
            self._watching.setdefault(literal, []).append(literals)
        if len(literals) == 1:
            self._is_false |= self._conflict([], literals)
        self._is_false |= not literals

    def contradicts(self, assumed: list[int]) -> bool:
        """Say whether assumptions lead to a contradiction; they are forgotten afterwards."""
        if self._is_false:
            return True
        added: list[int] = []
        found = self._conflict(added, assumed)
        self._true.difference_update(added)
        return found

    def _conflict(self, added: list[int], assumed: list[int]) -> bool:
        """Let literals be true, with all that follows; say whether that is contradictory. Notes what became true."""
        waiting: list[int] = []
        for literal in assumed:
            if not self._let(literal, waiting):
                added += waiting
                return True
        for literal in waiting:
            # What follows is appended to what is gone through.
            if self._conflicts_after(literal, waiting):
                added += waiting
                return True
        added += waiting
        return False

    def _let(self, literal: int, waiting: list[int]) -> bool:
        if -literal in self._true:
            return False
        if literal not in self._true:
            self._true.add(literal)
            waiting.append(literal)
        return True

    def _conflicts_after(self, literal: int, waiting: list[int]) -> bool:
        """Look at the clauses in which a watched literal became false."""
        false = -literal
        watched = self._watching.pop(false, [])
        self._left -= 1 + len(watched)
        if self._left < 0:
            raise Rejected("too_large")
        kept = self._watching.setdefault(false, [])
        for number, clause in enumerate(watched):
            if clause[0] == false:
                clause[0], clause[1] = clause[1], clause[0]
            # The place of a literal that is not false, after the first two; 0 if there is none.
            places = range(2, len(clause) if clause[0] not in self._true else 0)
            other = next((place for place in places if -clause[place] not in self._true), 0)
            if other > 1:
                clause[1], clause[other] = clause[other], clause[1]
                self._watching.setdefault(clause[1], []).append(clause)
                continue
            kept.append(clause)
            if clause[0] not in self._true and not self._let(clause[0], waiting):
                kept += watched[number + 1 :]
                return True
        return False
