"""Generated data sets: AutoEval's five with its hyperparameters (table 1), and a grammar of one's own."""

import gzip
import random
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal

from critics.errors import InputError
from critics.formats.equivalence.language import Language, is_alphabet
from critics.replay.first_order.syntax import Atom, Constant, Term, Variable
from critics.replay.first_order.tokens import is_plain
from rollout.formulas.derivation import (
    FIRST_ORDER,
    MAX_DEPTH,
    PROPOSITIONAL,
    REGEX,
    THREE_CNF,
    By,
    Grammar,
    has_derivation,
    read_grammar,
)
from rollout.problems.catalogue import Split

EXTRA = "pip install 'certistar[autoeval]'"
_VERB = re.compile(r"([a-z]{4,9}),verb,")
_proposition, _constant = lru_cache(maxsize=10_000)(Atom), lru_cache(maxsize=10_000)(Constant)
_variable = lru_cache(maxsize=100)(Variable)


@dataclass(frozen=True, slots=True)
class NameVocabulary:
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


Distinct = Literal["text", "order", "names"]
"""Properties that two formulas must not share: their text; all but the order and groups of operands; all but that
and names."""


@dataclass(frozen=True, slots=True)
class Formulas(ABC):
    """Settings of a generator: items go through the categories in turn, each as often as the others."""

    name: ClassVar[str]
    language: ClassVar[Language]
    own_grammar: ClassVar[Grammar]
    by: By = "operators"
    """Measure of a category: the number of operators, or the depth of the parse tree."""
    categories: Sequence[int] = ()
    distinct: Distinct = "order"
    """A category that has no more formulas is left out of the turn."""
    constant: bool = False
    """True if formulas that hold always or never are kept; any tautology describes one of those."""
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.categories:
            raise ValueError("categories: name at least one number")
        for category in self.categories:
            if not 0 <= category <= 200 or not has_derivation(self.grammar(), self.by, category):
                raise ValueError(f"categories: the grammar has no formula with {category} as its {self.by}")

    def grammar(self) -> Grammar:
        """Return the paper's grammar (figure 2)."""
        return self.own_grammar

    @abstractmethod
    def vocabulary(self) -> NameVocabulary:
        """Return what names are drawn from."""


@dataclass(frozen=True, slots=True)
class PropositionalFormulas(Formulas):
    """PL(12)."""

    name = "autoeval-pl"
    language = Language.PROPOSITIONAL
    own_grammar = PROPOSITIONAL
    categories: Sequence[int] = tuple(range(41))
    num_propositions: int = 12

    def vocabulary(self) -> NameVocabulary:
        """Return p1, p2, .."""
        return NameVocabulary(propositions=numbered("p", self.num_propositions))


@dataclass(frozen=True, slots=True)
class ThreeCnfFormulas(PropositionalFormulas):
    """3-CNF(12): m clauses have 3m - 1 operators."""

    name = "autoeval-3cnf"
    language = Language.THREE_CNF
    own_grammar = THREE_CNF
    categories: Sequence[int] = tuple(range(2, 60, 3))


@dataclass(frozen=True, slots=True)
class FirstOrderFormulas(Formulas):
    """FOL(8,12)-S: predicates and objects have numbered names."""

    name = "autoeval-fol"
    language = Language.FIRST_ORDER
    own_grammar = FIRST_ORDER
    categories: Sequence[int] = tuple(range(38))
    quantifiers: Sequence[int] | None = (0, 1, 2, 3)
    """Numbers of quantifiers that bind something, each as often as the others, as far as there are arguments for
    them; None: as the grammar and chance have it, which in the original leaves about nine formulas in ten without
    any quantifier."""
    num_predicates: int = 8
    num_objects: int = 12
    arities: tuple[int, int] = (1, 2)
    variable_share: float = 0.25

    def __post_init__(self) -> None:
        Formulas.__post_init__(self)
        if self.quantifiers is not None and not all(0 <= number <= 9 for number in self.quantifiers or (-1,)):
            raise ValueError(f"quantifiers: {self.quantifiers} must be numbers from 0 to 9, at least one, or null")
        if not 0 <= self.variable_share <= 1:
            raise ValueError(f"variable_share: {self.variable_share} is not between 0 and 1")
        if not 1 <= self.arities[0] <= self.arities[1] <= 4:
            raise ValueError(f"arities: {self.arities} must be (least, most) within 1 to 4")

    def vocabulary(self) -> NameVocabulary:
        """Return pred1, pred2, .. and p1, p2, .."""
        predicates, objects = numbered("pred", self.num_predicates), numbered("p", self.num_objects)
        return NameVocabulary((), predicates, objects, self.arities, self.variable_share)


@dataclass(frozen=True, slots=True)
class EnglishFirstOrderFormulas(FirstOrderFormulas):
    """FOL(8,12)-E: each formula has its own English verbs for predicates and first names for objects."""

    name = "autoeval-fol-english"

    def vocabulary(self) -> NameVocabulary:
        """Return verbs and first names; raises `InputError` where their packages are not installed."""
        return NameVocabulary((), tuple(sorted(verbs())), first_names(), self.arities, self.variable_share)


@dataclass(frozen=True, slots=True)
class RegularExpressions(Formulas):
    """RE(2)."""

    name = "autoeval-re"
    language = Language.REGEX
    own_grammar = REGEX
    by: By = "depth"
    categories: Sequence[int] = tuple(range(2, MAX_DEPTH + 1))
    alphabet_size: int = 2

    def __post_init__(self) -> None:
        Formulas.__post_init__(self)
        if not 1 <= self.alphabet_size <= 10:
            raise ValueError(f"alphabet_size: {self.alphabet_size} is not between 1 and 10")

    def vocabulary(self) -> NameVocabulary:
        """Return the first digits."""
        return NameVocabulary(alphabet="0123456789"[: self.alphabet_size])


@dataclass(frozen=True, slots=True)
class OwnGrammar(Formulas):
    """A grammar and a vocabulary of one's own.

    In a rule `v` stands for a proposition, `p` for a predicate with arguments, `f` for a quantifier's new variable, `a`
    for a letter. Every rule makes a formula, or part of a regular expression, of those of its nonterminals.
    """

    name = "autoeval-own"
    rules: Mapping[str, str] = field(default_factory=lambda: {"S": "( S → S ) | ¬ v | v"})
    logic: Literal["propositional", "first-order", "regex"] = "propositional"
    categories: Sequence[int] = tuple(range(11))
    propositions: Sequence[str] = ("rain", "snow", "wind", "sun")
    predicates: Sequence[str] = ()
    objects: Sequence[str] = ()
    arities: tuple[int, int] = (1, 2)
    variable_share: float = 0.25
    alphabet: str = "01"

    def __post_init__(self) -> None:
        Formulas.__post_init__(self)
        if not is_alphabet(self.alphabet):
            raise ValueError(f"alphabet: {self.alphabet!r} must be different digits")
        if self.logic == "first-order" and not (self.predicates and self.objects):
            raise ValueError("predicates: a first-order grammar needs predicates and objects")
        if self.logic == "propositional" and not self.propositions:
            raise ValueError("propositions: name at least one")

    def grammar(self) -> Grammar:
        """Return the given one."""
        try:
            return read_grammar(self.rules)
        except InputError as error:
            raise ValueError(str(error)) from error

    def vocabulary(self) -> NameVocabulary:
        """Return the given one."""
        propositions = tuple(self.propositions) if self.logic == "propositional" else ()
        given = tuple(self.predicates), tuple(self.objects)
        return NameVocabulary(propositions, *given, self.arities, self.variable_share, self.alphabet)


def language_of(config: Formulas) -> Language:
    """Return the language that a configuration's formulas are in."""
    return Language(config.logic) if isinstance(config, OwnGrammar) else config.language
