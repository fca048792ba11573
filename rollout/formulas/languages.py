"""Generated data sets: AutoEval's five with its hyperparameters (table 1), and a grammar of one's own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from critics.errors import InputError
from critics.formats.equivalence.language import Language, is_alphabet
from rollout.formulas.derivation import MAX_DEPTH, By, has_derivation
from rollout.formulas.grammar import FIRST_ORDER, PROPOSITIONAL, REGEX, THREE_CNF, Grammar, read_grammar
from rollout.formulas.vocabulary import Vocabulary, first_names, numbered, verbs
from rollout.problems.splits import Split

Distinct = Literal["text", "order", "names"]
"""Properties that two formulas must not share: their text; all but the order and groups of operands; all but that
and names."""


@dataclass(frozen=True, slots=True)
class Formulas(ABC):
    """Settings of a generator: items go through the categories in turn, each as often as the others."""

    name: ClassVar[str]
    language: ClassVar[Language]
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

    @abstractmethod
    def grammar(self) -> Grammar:
        """Return the grammar."""

    @abstractmethod
    def vocabulary(self) -> Vocabulary:
        """Return what names are drawn from."""


@dataclass(frozen=True, slots=True)
class PropositionalFormulas(Formulas):
    """PL(12)."""

    name = "autoeval-pl"
    language = Language.PROPOSITIONAL
    categories: Sequence[int] = tuple(range(41))
    num_propositions: int = 12

    def grammar(self) -> Grammar:
        """Return figure 2b's."""
        return PROPOSITIONAL

    def vocabulary(self) -> Vocabulary:
        """Return p1, p2, .."""
        return Vocabulary(propositions=numbered("p", self.num_propositions))


@dataclass(frozen=True, slots=True)
class ThreeCnfFormulas(PropositionalFormulas):
    """3-CNF(12): m clauses have 3m - 1 operators."""

    name = "autoeval-3cnf"
    language = Language.THREE_CNF
    categories: Sequence[int] = tuple(range(2, 60, 3))

    def grammar(self) -> Grammar:
        """Return figure 2a's."""
        return THREE_CNF


@dataclass(frozen=True, slots=True)
class FirstOrderFormulas(Formulas):
    """FOL(8,12)-S: predicates and objects have numbered names."""

    name = "autoeval-fol"
    language = Language.FIRST_ORDER
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

    def grammar(self) -> Grammar:
        """Return figure 2c's."""
        return FIRST_ORDER

    def vocabulary(self) -> Vocabulary:
        """Return pred1, pred2, .. and p1, p2, .."""
        predicates, objects = numbered("pred", self.num_predicates), numbered("p", self.num_objects)
        return Vocabulary((), predicates, objects, self.arities, self.variable_share)


@dataclass(frozen=True, slots=True)
class EnglishFirstOrderFormulas(FirstOrderFormulas):
    """FOL(8,12)-E: each formula has its own English verbs for predicates and first names for objects."""

    name = "autoeval-fol-english"

    def vocabulary(self) -> Vocabulary:
        """Return verbs and first names; raises `InputError` where their packages are not installed."""
        return Vocabulary((), tuple(sorted(verbs())), first_names(), self.arities, self.variable_share)


@dataclass(frozen=True, slots=True)
class RegularExpressions(Formulas):
    """RE(2)."""

    name = "autoeval-re"
    language = Language.REGEX
    by: By = "depth"
    categories: Sequence[int] = tuple(range(2, MAX_DEPTH + 1))
    alphabet_size: int = 2

    def __post_init__(self) -> None:
        Formulas.__post_init__(self)
        if not 1 <= self.alphabet_size <= 10:
            raise ValueError(f"alphabet_size: {self.alphabet_size} is not between 1 and 10")

    def grammar(self) -> Grammar:
        """Return figure 2d's."""
        return REGEX

    def vocabulary(self) -> Vocabulary:
        """Return the first digits."""
        return Vocabulary(alphabet="0123456789"[: self.alphabet_size])


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

    def vocabulary(self) -> Vocabulary:
        """Return the given one."""
        propositions = tuple(self.propositions) if self.logic == "propositional" else ()
        given = tuple(self.predicates), tuple(self.objects)
        return Vocabulary(propositions, *given, self.arities, self.variable_share, self.alphabet)


def language_of(config: Formulas) -> Language:
    """Return the language that a configuration's formulas are in."""
    return Language(config.logic) if isinstance(config, OwnGrammar) else config.language
