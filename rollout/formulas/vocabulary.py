"""The names that fill a formula: numbered ones, or English verbs and first names from packages (optional)."""

import gzip
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.logic.first_order.tokens import is_plain
from critics.replay.first_order.syntax import Atom, Constant, Term, Variable

EXTRA = "pip install 'certistar[autoeval]'"
_VERB = re.compile(r"([a-z]{4,9}),verb,")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names to draw a formula's own from (paper, table 1)."""

    propositions: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    arities: tuple[int, int] = (1, 2)
    """Least and most arguments of a predicate; drawn anew for each formula."""
    variable_share: float = 0.25
    """Share of arguments that are variables, where a quantifier is there to bind them."""
    alphabet: str = "01"

    def drawn(self, rng: random.Random, num_predicates: int, num_objects: int) -> "FormulaNames":
        """Draw the predicates, with their numbers of arguments, and the objects of one formula."""
        predicates, objects = self.predicates, self.objects
        if len(predicates) > num_predicates:
            predicates = tuple(rng.sample(predicates, num_predicates))
        if len(objects) > num_objects:
            objects = tuple(rng.sample(objects, num_objects))
        low, high = self.arities
        signature = tuple((name, low + int(rng.random() * (high - low + 1))) for name in predicates)
        return FormulaNames(self.propositions, signature, objects, self.variable_share)


@dataclass(frozen=True, slots=True)
class FormulaNames:
    """The names of one formula."""

    propositions: tuple[str, ...]
    predicates: tuple[tuple[str, int], ...]
    """With their numbers of arguments."""
    objects: tuple[str, ...]
    variable_share: float

    def atoms(self, rng: random.Random, num: int, scope: Sequence[str] = (), *, bound: bool = False) -> list[Atom]:
        """Draw atoms, with variables among those in scope.

        With `bound` every variable in scope, as far as there are arguments for them, stands in some atom.
        """
        if self.propositions:
            return [self._proposition(rng) for _ in range(num)]
        chosen = [self.predicates[int(rng.random() * len(self.predicates))] for _ in range(num)]
        num_arguments = sum(arity for _, arity in chosen)
        kept: dict[int, str] = {}
        if bound and scope:
            kept = dict(zip(rng.sample(range(num_arguments), min(len(scope), num_arguments)), scope, strict=False))
        places = count()
        return [
            Atom(name, tuple([self._term(rng, scope, kept.get(next(places))) for _ in range(arity)]))
            for name, arity in chosen
        ]

    def changed(self, rng: random.Random, atom: Atom) -> Atom:
        """Return an atom with another name in one place, or the same one; variables stay where they are."""
        if self.propositions:
            return self._proposition(rng)
        place = int(rng.random() * (len(atom.arguments) + 1)) - 1
        if place < 0:
            fitting = [name for name, arity in self.predicates if arity == len(atom.arguments)]
            return Atom(fitting[int(rng.random() * len(fitting))], atom.arguments)
        if isinstance(atom.arguments[place], Variable):
            return atom
        other = self._term(rng, (), None)
        return Atom(atom.predicate, (*atom.arguments[:place], other, *atom.arguments[place + 1 :]))

    def _proposition(self, rng: random.Random) -> Atom:
        return _proposition(self.propositions[int(rng.random() * len(self.propositions))])

    def _term(self, rng: random.Random, scope: Sequence[str], kept: str | None) -> Term:
        if kept is not None:
            return _variable(kept)
        if scope and rng.random() < self.variable_share:
            return _variable(scope[int(rng.random() * len(scope))])
        return _constant(self.objects[int(rng.random() * len(self.objects))])


def variables_of(atoms: Iterable[Atom]) -> set[str]:
    """Return the variables that stand in atoms without functions."""
    return {term.name for atom in atoms for term in atom.arguments if isinstance(term, Variable)}


@lru_cache(maxsize=10_000)
def _proposition(name: str) -> Atom:
    return Atom(name)


@lru_cache(maxsize=10_000)
def _constant(name: str) -> Constant:
    return Constant(name)


@lru_cache(maxsize=100)
def _variable(name: str) -> Variable:
    return Variable(name)


def numbered(prefix: str, num: int) -> tuple[str, ...]:
    """Return `p1`, `p2`, .. as the paper's synthetic names are."""
    return tuple(f"{prefix}{number}" for number in range(1, num + 1))


@lru_cache(maxsize=1)
def first_names() -> tuple[str, ...]:
    """Return first names of Faker's American English that are no verbs; raises `InputError` without the package."""
    try:
        provider: Any = import_module("faker.providers.person.en_US").Provider
    except ImportError as error:
        raise _missing("faker") from error
    return _usable(name for name in provider.first_names if name.lower() not in verbs())


@lru_cache(maxsize=1)
def verbs() -> frozenset[str]:
    """Return the verbs of LemmInflect's lexicon (NIH's SPECIALIST); raises `InputError` without the package."""
    found = find_spec("lemminflect")  # its import takes half a second, and only its lexicon is wanted
    if found is None or found.origin is None:
        raise _missing("lemminflect")
    path = Path(found.origin).with_name("resources") / "infl_lu.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return frozenset(_usable(match[1] for match in map(_VERB.match, lines) if match is not None))


def _usable(names: Iterable[str]) -> tuple[str, ...]:
    """Keep what can stand in a formula without quotes; sorted, so that a package's own order does not matter."""
    return tuple(sorted({name for name in names if name.isascii() and name.isalpha() and is_plain(name)}))


def _missing(package: str) -> InputError:
    return InputError(
        f"English names need the package {package!r}, which is not installed: {EXTRA}, or generate autoeval-fol"
    )
