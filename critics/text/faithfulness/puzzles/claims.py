"""Claims of a puzzle as terms over one predicate, `at(thing, place)`, both numbered from 0."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

from critics.replay.finite.terms import Application, Constant, Operator, Quantified, Term

AT = "at"
Relation = Callable[[int, int], bool]
"""Says of the places of two things whether they go together."""


def at(thing: int, place: int) -> Term:
    """Return the claim that a thing is at a place."""
    return Application(AT, (Constant(thing), Constant(place)))


def both(parts: Iterable[Term]) -> Term:
    """Return a conjunction."""
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else Operator("and", listed)


def either(parts: Iterable[Term]) -> Term:
    """Return a disjunction."""
    listed = tuple(parts)
    return listed[0] if len(listed) == 1 else Operator("or", listed)


def denied(claim: Term) -> Term:
    """Return the denial of a claim."""
    return Operator("not", (claim,))


def exclusive(one: Term, other: Term) -> Term:
    """Return `one or other, but not both`."""
    return Operator("ne", (one, other))


def related(one: int, other: int, places: int, relation: Relation) -> Term:
    """Return the claim that the places of two things are in a relation."""
    pairs = [(v, w) for v, w in product(range(places), repeat=2) if relation(v, w)]
    return either(both([at(one, v), at(other, w)]) for v, w in pairs)


def count(parts: Sequence[Term]) -> Term:
    """Return how many of some claims hold."""
    return Operator("add", tuple(Operator("if", (part, Constant(1), Constant(0))) for part in parts))


def counted(parts: Sequence[Term], how: tuple[str, int]) -> Term:
    """Return the claim that so many of some claims hold."""
    return Operator(how[0], (count(parts), Constant(how[1])))


def each_in_one_place(things: int, places: int) -> list[Term]:
    """Return that each thing is at exactly one place."""
    found: list[Term] = []
    for thing in range(things):
        said = [at(thing, place) for place in range(places)]
        found += [either(said), *(denied(both(pair)) for pair in combinations(said, 2))]
    return found


def at_most_one_each(things: int, places: int) -> list[Term]:
    """Return that no two things are at one place."""
    return [
        denied(both([at(one, place), at(other, place)]))
        for place in range(places)
        for one, other in combinations(range(things), 2)
    ]


def rewritten(claim: Term, atoms: Callable[[int, int], Term]) -> Term:
    """Return a claim with other terms in the place of `at(thing, place)`."""
    match claim:
        case Application(function, (Constant(thing), Constant(place))) if function == AT:
            return atoms(int(thing), int(place))
        case Operator(name, operands):
            return Operator(name, tuple(rewritten(part, atoms) for part in operands))
        case Quantified() | Application():
            raise AssertionError("claims are written without quantifiers")
        case _:
            return claim
