"""Entailment among clauses without existence: ground instances over the terms of the problem, and a search for a model.

Used to say why a sentence is refused (false, a jump, or unsupported) and that a context does not contradict itself;
no certificate rests on it. Variables range over the terms that stand in places that share a variable with theirs, and
over one more that nobody names, which loses nothing as long as terms do not grow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from critics.logic.clause import Implication
from critics.logic.formula import Application, Literal, Term, is_variable, is_within_bounds, replaced, subterms
from critics.logic.sat import GivenUp, Satisfied, solve_clauses

MAX_INSTANCES = 5_000
_SOMETHING = "something-else"


class OutOfWork(RuntimeError):  # noqa: N818
    """A search costs more than it may."""


_Place: TypeAlias = tuple[str, int]


def is_consistent(clauses: Sequence[Implication]) -> bool:
    """Say whether clauses have a model; raises `OutOfWork`."""
    numbers: dict[Literal, int] = {}
    solution = solve_clauses(
        [_signed(literal, numbers) for literal in clause.alternatives()] for clause in _instances(clauses)
    )
    if isinstance(solution, GivenUp):
        raise OutOfWork
    return isinstance(solution, Satisfied)


def follows(clauses: Sequence[Implication], target: Implication) -> bool:
    """Say whether a clause holds in every model of others; raises `OutOfWork`."""
    fresh = {variable: f"any-{place}" for place, variable in enumerate(target.variables())}
    denied = [Implication((), (literal.negated(),)) for literal in target.substitute(fresh).alternatives()]
    return not is_consistent([*clauses, *denied])


def _signed(literal: Literal, numbers: dict[Literal, int]) -> int:
    """Return a literal as the number of its atom, negative where it is denied."""
    atom = literal if literal.positive else literal.negated()
    number = numbers.setdefault(atom, len(numbers) + 1)
    return number if literal.positive else -number


def _instances(clauses: Sequence[Implication]) -> Iterator[Implication]:
    """Yield the ground instances that matter; raises `OutOfWork` where there are too many."""
    places = _Places()
    for number, clause in enumerate(clauses):
        for literal in (*clause.premises, *clause.conclusions):
            for at, argument in enumerate(literal.arguments):
                places.note((literal.predicate, at), argument, number)
    terms = places.terms()
    num = 0
    for number, clause in enumerate(clauses):
        variables = clause.variables()
        ranges = [terms[places.root((f"{number} {variable}", 0))] for variable in variables]
        for chosen in product(*ranges):
            num += 1
            if num > MAX_INSTANCES:
                raise OutOfWork
            yield clause.substitute(dict(zip(variables, chosen, strict=True)))


@dataclass(slots=True)
class _Places:
    """Union-find over the places of predicates, functions and variables: joined where they hold the same things."""

    parents: dict[_Place, _Place] = field(default_factory=dict[_Place, _Place])
    held: list[tuple[_Place, Term, int]] = field(default_factory=list[tuple[_Place, Term, int]])

    def root(self, place: _Place) -> _Place:
        while (parent := self.parents.setdefault(place, place)) != place:
            place = parent
        return place

    def note(self, place: _Place, term: Term, number: int) -> None:
        """Note that a term of the clause with this number stands in a place."""
        self.root(place)
        if isinstance(term, Application):
            self.held.append((place, term, number))
            for at, argument in enumerate(term.arguments):
                self.note((f"{term.function}()", at), argument, number)
        elif is_variable(term):
            self.parents[self.root(place)] = self.root((f"{number} {term}", 0))
        else:
            self.held.append((place, term, number))

    def terms(self) -> dict[_Place, list[Term]]:
        """Return the ground terms of each class of places, terms built from others included."""
        found: dict[_Place, dict[Term, None]] = {self.root(place): {} for place in list(self.parents)}
        for place, term, _ in self.held:
            if not isinstance(term, Application):
                found[self.root(place)].setdefault(term)
        for terms in found.values():
            if not terms:
                terms.setdefault(_SOMETHING)
        grown = True
        while grown:
            grown = False
            for place, term, number in self.held:
                if isinstance(term, Application):
                    for built in self._built(term, number, found):
                        if built not in found[self.root(place)]:
                            found[self.root(place)][built] = None
                            grown = True
            if sum(map(len, found.values())) > MAX_INSTANCES:
                raise OutOfWork
        return {place: list(terms) for place, terms in found.items()}

    def _built(self, term: Application, number: int, found: dict[_Place, dict[Term, None]]) -> list[Term]:
        variables = list(dict.fromkeys(filter(is_variable, subterms(term))))
        ranges = [list(found[self.root((f"{number} {variable}", 0))]) for variable in variables]
        built = [replaced(term, dict(zip(variables, chosen, strict=True))) for chosen in product(*ranges)]
        if not all(map(is_within_bounds, built)) or len(built) > MAX_INSTANCES:
            raise OutOfWork
        return built
