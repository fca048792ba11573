"""Sorts: what a typed theory's predicates and functions take, and which statements respect it.

`person` below `entity` means that every person is an entity. A variable or object that stands in several
places has the narrowest of their sorts, and they must lie on one line. Whether a rule is well-sorted is decided
once, when it is stated: what its premises say about a variable must be enough for its conclusion. So every
conclusion drawn from well-sorted statements is well-sorted, and matching needs no further test.

The name of a sort is a unary predicate too: `(person anna)` declares an object, and `(person 'x)` as a premise
binds a variable to the objects so declared.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from critics.replay.formula import Application, Literal, Rule, Statement, Term, is_variable

_Value = TypeVar("_Value")

ANY = "anything"
"""The sort above all others."""


class SortError(ValueError):
    """A statement uses a symbol that the theory lacks, or puts a term where its sort does not belong."""


@dataclass(frozen=True, slots=True)
class SortedSignature:
    """The symbols of a typed theory."""

    sorts: Mapping[str, str]
    """Each sort, and the sort right above it."""
    predicates: Mapping[str, tuple[str, ...]]
    functions: Mapping[str, tuple[tuple[str, ...], str]]
    """The sorts of the arguments and of the result."""
    constants: Mapping[str, str]
    """Objects that belong to the theory itself."""

    def sorts_in(self, statement: Statement, known: Mapping[str, str]) -> dict[str, str]:
        """Return the sorts of objects that the statement adds to `known`, or narrows; raises `SortError`."""
        premises = statement.premises if isinstance(statement, Rule) else ()
        conclusion = statement.conclusion if isinstance(statement, Rule) else statement
        found: dict[str, str] = {}
        for literal in premises:
            self._collect(literal, known, found)
        bound = dict(found) if premises else None
        self._collect(conclusion, known, found)
        if bound is not None:
            self._check_conclusion(statement, bound, found)
        return {name: sort for name, sort in found.items() if name[0] != "'" and known.get(name) != sort}

    def admits(self, rule: Rule, binding: Mapping[str, Term], known: Mapping[str, str]) -> bool:
        """Say whether the values have the sorts that a universal fact's places ask for."""
        found: dict[str, str] = {}
        self._collect(rule.conclusion, known, found)
        return all(self.is_below(self.sort_of(value, known), found[name]) for name, value in binding.items())

    def sort_of(self, term: Term, known: Mapping[str, str]) -> str:
        """Return a ground term's sort; `anything` where nothing is known of it."""
        if isinstance(term, Application):
            return self._function(term)[1]
        return self.constants.get(term) or known.get(term, ANY)

    def _collect(self, literal: Literal, known: Mapping[str, str], found: dict[str, str]) -> None:
        for term, sort in self.places(literal):
            if isinstance(term, Application):
                result = self._function(term)[1]
                if not self.is_below(result, sort):
                    raise SortError(f"{literal}: {term} is of sort {result}, and {sort} is needed")
            else:
                before = found.get(term) or (ANY if is_variable(term) else self.sort_of(term, known))
                found[term] = self._narrower(literal, term, before, sort)

    def _check_conclusion(self, statement: Statement, bound: Mapping[str, str], found: Mapping[str, str]) -> None:
        for name, sort in found.items():
            if name[0] == "'" and bound.get(name) != sort:
                raise SortError(
                    f"{statement}: the conclusion needs {name} to be of sort {sort}, and the premises only say "
                    f"{bound.get(name, ANY)}; add the premise ({sort} {name})"
                )

    def places(self, literal: Literal) -> Iterator[tuple[Term, str]]:
        """Yield every term of a literal with the sort that its place asks for."""
        wanted = self._predicate(literal)
        for term, sort in zip(literal.arguments, wanted, strict=True):
            yield from self._within(term, sort)

    def _within(self, term: Term, sort: str) -> Iterator[tuple[Term, str]]:
        yield term, sort
        if isinstance(term, Application):
            for part, wanted in zip(term.arguments, self._function(term)[0], strict=True):
                yield from self._within(part, wanted)

    def _predicate(self, literal: Literal) -> tuple[str, ...]:
        name, num = literal.predicate, len(literal.arguments)
        wanted = (name,) if name in self.sorts else self.predicates.get(name)
        if wanted is None:
            raise SortError(f"{literal}: there is no predicate {name}{_nearest(name, self.predicates, self.sorts)}")
        if len(wanted) != num:
            raise SortError(f"{literal}: {name} takes {_listed(wanted)}, not {num} argument(s)")
        return wanted

    def _function(self, term: Application[Term]) -> tuple[tuple[str, ...], str]:
        name, num = term.function, len(term.arguments)
        found = self.functions.get(name)
        if found is None:
            raise SortError(f"{term}: there is no function {name}{_nearest(name, self.functions)}")
        if len(found[0]) != num:
            raise SortError(f"{term}: {name} takes {_listed(found[0])}, not {num} argument(s)")
        return found

    def _narrower(self, literal: Literal, name: str, one: str, other: str) -> str:
        if self.is_below(one, other):
            return one
        if self.is_below(other, one) and name not in self.constants:
            return other
        raise SortError(f"{literal}: {name} is of sort {one} elsewhere, and {other} is needed here")

    def is_below(self, lower: str, upper: str) -> bool:
        """Say whether the first sort is the second, or below it."""
        while lower != upper and lower in self.sorts:
            lower = self.sorts[lower]
        return upper in (lower, ANY)


def joined(one: SortedSignature, other: SortedSignature) -> SortedSignature:
    """Return the symbols of both; raises `ValueError` where they disagree about one."""
    return SortedSignature(
        _united(one.sorts, other.sorts),
        _united(one.predicates, other.predicates),
        _united(one.functions, other.functions),
        _united(one.constants, other.constants),
    )


def _united(one: Mapping[str, _Value], other: Mapping[str, _Value]) -> dict[str, _Value]:
    at_odds = sorted(name for name in one.keys() & other.keys() if one[name] != other[name])
    if at_odds:
        raise ValueError(f"{at_odds[0]}: {one[at_odds[0]]} in one theory, {other[at_odds[0]]} in the other; rename it")
    return {**one, **other}


def _listed(sorts: tuple[str, ...]) -> str:
    return f"{len(sorts)} ({', '.join(sorts)})"


def _nearest(name: str, *known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, [k for names in known for k in names], n=1)
    return f"; is {close[0]} meant?" if close else ""
