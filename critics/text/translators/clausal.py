"""From a reading of the grammar to clauses of the formal language, and its names to those that a translator gives.

`∀x. (cat(x) ∧ red(x)) → (warm(x) ∨ ¬big(x))` is `(cat 'x) -> (red 'x) -> (warm 'x) or (not (big 'x))`. What speaks of
something unnamed (`some cat is warm`) is no clause, and is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from critics.grammar.lexicon import third_person
from critics.replay.clauses import Implication
from critics.replay.first_order import syntax as fo
from critics.replay.formula import MAX_ARITY, MAX_NAME_LENGTH, MAX_PREMISES, NAME, Literal
from critics.text.translators.translation import Unread

ATTRIBUTES = frozenset(
    """
    blue red brown orange small large metallic wooden luminous liquid transparent opaque nervous happy feisty shy
    bright dull sweet sour spicy bitter floral fruity earthy hot cold temperate kind mean angry amenable aggressive
    melodic muffled discordant loud slow moderate fast windy sunny overcast rainy snowy
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
"""The adjectives of the deduction rules' generator; its proofs take each before a noun for a property by itself."""
MAX_ALTERNATIVES = 4
_NOUN = re.compile(r"\b(?:an?|every|each|no|any)(?: [a-z-]+)*? ([a-z-]+)(?= (?:is|that|who|and|or|does)\b|[,.?]|$)")
Bound = Mapping[str, str]
Some = list[tuple[Literal, ...]]
"""Alternatives, of which each is a conjunction, or conjuncts, of which each is an alternative."""


@dataclass(frozen=True, slots=True)
class Namer:
    """Names of one problem's predicates and objects in the formal language, as its data set's translator gives them."""

    dataset: str
    nouns: frozenset[str]
    """Words before which PrOntoQA's adjectives are properties of their own: a spicy cat is spicy, and a cat."""

    @classmethod
    def of(cls, dataset: str, text: str) -> "Namer":
        """Return the names of a problem with that text."""
        # Hot dogs are no dogs: only the generator's own texts take an adjective off.
        return cls(dataset, frozenset(_NOUN.findall(text.lower()) if dataset == "prontoqa-ood" else ()))

    def literals(self, atom: fo.Atom, bound: Bound) -> list[Literal]:
        """Return an atom as literals; raises `Unread`."""
        arguments = tuple(self._term(term, bound) for term in atom.arguments)
        if len(arguments) > MAX_ARITY:
            raise Unread("it relates more than two things")
        *before, name = atom.predicate.split(" ")
        if name == "_" and len(before) == 1:
            names = [third_person(before[0]) if self.dataset == "proofwriter" else before[0]]
        elif name in self.nouns and ATTRIBUTES.issuperset(before):
            names = [*before, name]
        else:
            names = [atom.predicate.replace(" ", "-")]
        return [Literal(True, _name(each), arguments) for each in names]

    def _term(self, term: fo.Term, bound: Bound) -> str:
        match term:
            case fo.Variable(name):
                return bound[name]
            case fo.Constant(name):
                shown = name.removeprefix("the ") if self.dataset == "proofwriter" else name
                return _name(shown.replace(" ", "-"))
            case _:
                raise Unread("it speaks of something that has no name")


def clauses_of(formula: fo.Formula, namer: Namer) -> tuple[Implication, ...]:
    """Return what a formula says as clauses; raises `Unread` where it is none, or a name has another letter."""
    return tuple(_clauses(formula, {}, namer))


def _clauses(formula: fo.Formula, bound: Bound, namer: Namer) -> list[Implication]:
    match formula:
        case fo.Quantified(fo.Quantifier.ALL, variable, body):
            return _clauses(body, {**bound, variable: f"'{variable}"}, namer)
        case fo.Compound(fo.Operator.AND, operands):
            return [clause for part in operands for clause in _clauses(part, bound, namer)]
        case fo.Compound(fo.Operator.IMPLIES, (condition, said)):
            # The condition's conjunctions are the denials of its denial's alternatives.
            cases = [tuple(one.negated() for one in each) for each in alternatives(condition, bound, namer, False)]
            concluded = alternatives(said, bound, namer, True)
        case _:
            cases, concluded = [()], alternatives(formula, bound, namer, True)
    if max(map(len, concluded)) > MAX_ALTERNATIVES or max(map(len, cases)) > MAX_PREMISES:
        raise Unread("too many properties are joined")
    return [Implication(premises, chosen) for premises in cases for chosen in concluded]


def alternatives(formula: fo.Formula, bound: Bound, namer: Namer, holds: bool) -> Some:
    """Return the conjuncts of a formula, or of its denial, each as alternatives of which one holds."""
    match formula:
        case fo.Atom():
            said = namer.literals(formula, bound)
            return [(literal,) for literal in said] if holds else [tuple(literal.negated() for literal in said)]
        case fo.Not(body):
            return alternatives(body, bound, namer, not holds)
        case fo.Compound(fo.Operator.AND | fo.Operator.OR as operator, operands):
            parts = [alternatives(part, bound, namer, holds) for part in operands]
            if (operator is fo.Operator.AND) == holds:
                return [each for part in parts for each in part]
            chosen = [tuple(dict.fromkeys(one for each in some for one in each)) for some in product(*parts)]
            if len(chosen) > MAX_ALTERNATIVES * MAX_PREMISES:
                raise Unread("too many properties are joined")
            return chosen
        case fo.Compound(fo.Operator.XOR, (one, other)) if holds:
            both = fo.Compound(fo.Operator.AND, (one, other))
            neither = fo.Compound(fo.Operator.OR, (one, other))
            return [*alternatives(neither, bound, namer, True), *alternatives(both, bound, namer, False)]
        case _:
            raise Unread("it speaks of something that has no name")


def _name(text: str) -> str:
    if NAME.fullmatch(text) is None or len(text) > MAX_NAME_LENGTH:
        raise Unread(f"{text!r} is no name of the formal language")
    return text
