"""A small solver for clauses, by learning from conflicts, that leaves a proof where there is no model.

The proof is the list of learned clauses, in order: each follows from those before by unit propagation (RUP), and at
last the empty one does. It is for formulas with more propositions than a truth table can take; work is counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

MAX_WORK = 1_000_000
"""Clauses visited in propagation: about a second."""
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
        self._keep([-literal, *below])

    def _keep(self, clause: list[int]) -> None:
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
