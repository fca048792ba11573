"""Clauses: what a sentence says in the formal language, Horn or with alternatives in its conclusion; their models.

(cat tom)                                  a fact
(cat 'x) -> (dog 'x)                       a rule; variables stand for everything
(cat 'x) -> (dog 'x) or (cow 'x)           alternatives, of which at least one holds

Whether clauses have a model is decided for ground instances over the terms of the problem. Variables range over the
terms that stand in places that share a variable with theirs, and over one more that nobody names, which loses nothing
as long as terms do not grow. That there is none is believed only with a proof by unit propagation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TypeAlias

from critics.replay import kernel
from critics.replay.certificate import Rejected
from critics.replay.formula import (
    Application,
    Literal,
    Rule,
    Statement,
    Term,
    canonical_statement,
    is_variable,
    is_within_bounds,
    parse_statement,
    replaced,
    subterms,
)
from critics.replay.sat import Contradictory, GivenUp, check_proof, solve_clauses

MAX_INSTANCES = 5_000
_SOMETHING = "something-else"
_OR = " or "


@dataclass(frozen=True, slots=True)
class Implication:
    """If all premises hold, one of the conclusions does; there is at least one conclusion."""

    premises: tuple[Literal, ...]
    conclusions: tuple[Literal, ...]

    def __str__(self) -> str:
        return " -> ".join([*map(str, self.premises), _OR.join(map(str, self.conclusions))])

    @property
    def is_fact(self) -> bool:
        """True if it is one ground literal."""
        return not self.premises and len(self.conclusions) == 1 and not self.conclusions[0].variables()

    @property
    def fact(self) -> Literal:
        """The literal of a fact."""
        assert self.is_fact
        return self.conclusions[0]

    def alternatives(self) -> tuple[Literal, ...]:
        """Return the literals of which at least one holds, premises denied, without repetitions."""
        return tuple(dict.fromkeys((*(premise.negated() for premise in self.premises), *self.conclusions)))

    def variables(self) -> tuple[str, ...]:
        """Return the variables in order of occurrence, without repetitions."""
        literals = (*self.premises, *self.conclusions)
        return tuple(dict.fromkeys(variable for literal in literals for variable in literal.variables()))

    def substitute(self, binding: Mapping[str, Term]) -> "Implication":
        """Replace all bound variables at once."""
        return Implication(
            tuple(premise.substitute(binding) for premise in self.premises),
            tuple(conclusion.substitute(binding) for conclusion in self.conclusions),
        )

    def canonical(self) -> str:
        """Return one text for all clauses that differ in names of variables and in order alone."""
        parts = [canonical_statement(Rule(self.premises, c)) if self.premises else _plain(c) for c in self.conclusions]
        return _OR.join(sorted(parts))


def _plain(literal: Literal) -> str:
    return canonical_statement(Rule((), literal) if literal.variables() else literal)


def fact(literal: Literal) -> Implication:
    """Return a literal as a clause."""
    return Implication((), (literal,))


def clause_of(statement: Statement) -> Implication:
    """Return a statement of the Horn language as a clause."""
    return (
        fact(statement) if isinstance(statement, Literal) else Implication(statement.premises, (statement.conclusion,))
    )


def statement_of(clause: Implication) -> Statement | None:
    """Return a clause in the Horn language; None where it has alternatives."""
    if len(clause.conclusions) != 1:
        return None
    (conclusion,) = clause.conclusions
    return Rule(clause.premises, conclusion) if clause.premises or conclusion.variables() else conclusion


def read_clause(text: str) -> Implication:
    """Read the text of a clause; raises `FormulaError`."""
    first, *others = text.split(_OR)
    clause = clause_of(parse_statement(first))
    said = [clause_of(parse_statement(other)).conclusions[0] for other in others]
    return Implication(clause.premises, (*clause.conclusions, *said))


def denied(clauses: tuple[Implication, ...]) -> tuple[Implication, ...] | None:
    """Return the denial of what is said about named objects; None where that is no conjunction of facts."""
    if len(clauses) != 1 or clauses[0].premises or clauses[0].variables():
        return None
    return tuple(fact(conclusion.negated()) for conclusion in clauses[0].conclusions)


def ground_terms(clauses: Iterable[Implication]) -> list[Term]:
    """Return the ground terms that occur in clauses, parts of terms included, each once."""
    return kernel.ground_terms([literal for clause in clauses for literal in (*clause.premises, *clause.conclusions)])


class OutOfWork(Rejected):
    """A search costs more than it may."""

    def __init__(self) -> None:
        super().__init__("too_large")


_Place: TypeAlias = tuple[str, int]


@lru_cache(maxsize=256)
def is_consistent(clauses: tuple[Implication, ...]) -> bool:
    """Say whether clauses have a model, as all attempts at a problem ask of one context; raises `OutOfWork`."""
    numbers: dict[Literal, int] = {}
    signed: list[list[int]] = []
    for clause in _instances(clauses):
        signed.append([])
        for literal in clause.alternatives():
            # The number of its atom, negative where it is denied.
            atom = literal if literal.positive else literal.negated()
            number = numbers.setdefault(atom, len(numbers) + 1)
            signed[-1].append(number if literal.positive else -number)
    match solve_clauses(signed):
        case GivenUp():
            raise OutOfWork
        case Contradictory(learned):
            check_proof(signed, learned)
            return False
        case _:
            return True


def follows(clauses: Sequence[Implication], target: Implication) -> bool:
    """Say whether a clause holds in every model of others; raises `OutOfWork`."""
    fresh = {variable: f"any-{place}" for place, variable in enumerate(target.variables())}
    denied = [Implication((), (literal.negated(),)) for literal in target.substitute(fresh).alternatives()]
    return not is_consistent((*clauses, *denied))


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

    def _built(self, term: Application[Term], number: int, found: dict[_Place, dict[Term, None]]) -> list[Term]:
        variables = list(dict.fromkeys(filter(is_variable, subterms(term))))
        ranges = [list(found[self.root((f"{number} {variable}", 0))]) for variable in variables]
        built = [replaced(term, dict(zip(variables, chosen, strict=True))) for chosen in product(*ranges)]
        if not all(map(is_within_bounds, built)) or len(built) > MAX_INSTANCES:
            raise OutOfWork
        return built
