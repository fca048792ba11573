"""Claims in controlled English: who is how, what all and no people of a kind are, conditions and alternatives.

One sentence says one claim and can be read back; no translator of `critics.text.translators` reads the rules, which
mean other things elsewhere (ProofWriter knows no contraposition). What follows from claims is decided by brute force
over all models, as truth tables; people whom nobody names are one more person, which is enough because no claim says
that somebody exists.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal, TypeAlias

Answer = Literal["true", "false", "unknown"]
SOMEBODY = "Kim"
"""Stands for everybody whom no claim names."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A statement that somebody is so, or is not: an atom or its negation."""

    name: str
    adjective: str
    positive: bool = True

    def negated(self) -> "Trait":
        """Return the opposite."""
        return Trait(self.name, self.adjective, not self.positive)

    def __str__(self) -> str:
        return f"{self.name} is {'' if self.positive else 'not '}{self.adjective}"


@dataclass(frozen=True, slots=True)
class Is:
    """A trait, stated."""

    trait: Trait

    def __str__(self) -> str:
        return f"{self.trait}."


@dataclass(frozen=True, slots=True)
class All:
    """All people who are so are something else, or where it is not positive, none of them is."""

    subject: str
    predicate: str
    positive: bool = True

    def __str__(self) -> str:
        return f"{'Every' if self.positive else 'No'}body who is {self.subject} is {self.predicate}."


@dataclass(frozen=True, slots=True)
class IfThen:
    """One trait implies another."""

    condition: Trait
    conclusion: Trait

    def __str__(self) -> str:
        return f"{self.conclusion} if {self.condition}."


@dataclass(frozen=True, slots=True)
class EitherOr:
    """Exactly one of two traits."""

    one: Trait
    other: Trait

    def __str__(self) -> str:
        return f"Either {self.one} or {self.other}, but not both."


Claim: TypeAlias = Is | All | IfThen | EitherOr
Implication: TypeAlias = tuple[Trait, Trait]

_TRAIT = r"((?!Everybody|Nobody)[A-Z]\w*) is (not )?([a-z]+)"
_IS = re.compile(rf"{_TRAIT}\.")
_ALL = re.compile(r"(Every|No)body who is ([a-z]+) is ([a-z]+)\.")
_IF_THEN = re.compile(rf"{_TRAIT} if {_TRAIT}\.")
_EITHER_OR = re.compile(rf"Either {_TRAIT} or {_TRAIT}, but not both\.")


def read_claim(sentence: str) -> Claim:
    """Read a sentence back; raises `ValueError` where it is not controlled English."""
    if match := _IS.fullmatch(sentence):
        return Is(_trait(*match.groups()))
    if match := _ALL.fullmatch(sentence):
        return All(match[2], match[3], match[1] == "Every")
    if match := _IF_THEN.fullmatch(sentence):
        conclusion, condition = match.groups()[:3], match.groups()[3:]
        return IfThen(_trait(*condition), _trait(*conclusion))
    if match := _EITHER_OR.fullmatch(sentence):
        one, other = match.groups()[:3], match.groups()[3:]
        return EitherOr(_trait(*one), _trait(*other))
    raise ValueError(f"{sentence!r} is not a sentence of controlled English")


def _trait(name: str, negation: str | None, adjective: str) -> Trait:
    return Trait(name, adjective, negation is None)


def reworded(claim: Claim, words: Mapping[str, str]) -> Claim:
    """Return the claim with other names and adjectives."""
    match claim:
        case Is(trait):
            return Is(reworded_trait(trait, words))
        case All(subject, predicate, positive):
            return All(words[subject], words[predicate], positive)
        case IfThen(condition, conclusion):
            return IfThen(reworded_trait(condition, words), reworded_trait(conclusion, words))
        case EitherOr(one, other):
            return EitherOr(reworded_trait(one, words), reworded_trait(other, words))


def reworded_trait(trait: Trait, words: Mapping[str, str]) -> Trait:
    """Return the trait with another name and adjective."""
    return Trait(words[trait.name], words[trait.adjective], trait.positive)


def traits(claim: Claim) -> tuple[Trait, ...]:
    """Return the traits that a claim about named people mentions."""
    match claim:
        case Is(trait):
            return (trait,)
        case All():
            return ()
        case IfThen(one, other) | EitherOr(one, other):
            return one, other


def adjectives(claim: Claim) -> tuple[str, ...]:
    """Return the adjectives of a claim, in their order."""
    if isinstance(claim, All):
        return claim.subject, claim.predicate
    return tuple(trait.adjective for trait in traits(claim))


def implications(claim: Claim, names: Iterable[str]) -> Iterator[Implication]:
    """Yield what a claim says as `if this, then that` about each of the people, each in both directions."""
    for left, right in _one_way(claim, names):
        yield left, right
        yield right.negated(), left.negated()


def _one_way(claim: Claim, names: Iterable[str]) -> Iterator[Implication]:
    match claim:
        case Is():
            return
        case All(subject, predicate, positive):
            for name in names:
                yield Trait(name, subject), Trait(name, predicate, positive)
        case IfThen(condition, conclusion):
            yield condition, conclusion
        case EitherOr(one, other):
            yield one.negated(), other
            yield one, other.negated()


def answer(claims: Sequence[Claim], goal: Trait) -> Answer | None:
    """Return whether a trait follows from claims, or its opposite, or neither, over all models; None: there is none."""
    models, truth = _table(claims, goal)
    if not models:
        return None
    if not models & ~truth:
        return "true"
    return "false" if not models & truth else "unknown"


def is_possible(claims: Sequence[Claim], trait: Trait) -> bool:
    """Say whether a trait holds in some model of the claims."""
    models, truth = _table(claims, trait)
    return bool(models & truth)


def _table(claims: Sequence[Claim], goal: Trait) -> tuple[int, int]:
    """Return the models of the claims and those where the goal is true, as sets of rows of one truth table."""
    named = sorted({*people(claims), goal.name})
    atoms = sorted(
        {(name, word) for claim in claims if isinstance(claim, All) for name in named for word in adjectives(claim)}
        | {(t.name, t.adjective) for claim in claims for t in traits(claim)}
        | {(goal.name, goal.adjective)}
    )
    rows, columns = _columns(len(atoms))
    column = dict(zip(atoms, columns, strict=True))

    def truth(trait: Trait) -> int:
        held = column[trait.name, trait.adjective]
        return held if trait.positive else rows & ~held

    models = rows
    for claim in claims:
        if isinstance(claim, Is):
            models &= truth(claim.trait)
        for left, right in _one_way(claim, named):
            models &= ~truth(left) | truth(right)
    return models, truth(goal)


def people(claims: Sequence[Claim]) -> list[str]:
    """Return everybody: who is named, and somebody else."""
    return sorted({SOMEBODY, *(trait.name for claim in claims for trait in traits(claim))})


@lru_cache
def _columns(num: int) -> tuple[int, tuple[int, ...]]:
    """Return all rows of a truth table over `num` atoms as one number, and those where each atom is true."""
    size = 1 << num
    rows = (1 << size) - 1
    return rows, tuple(rows // ((1 << (1 << i)) + 1) << (1 << i) for i in range(num))


def consequences(claims: Sequence[Claim]) -> frozenset[Trait]:
    """Return the traits of a reasoner who goes through the alternatives, and then only forward from what is known.

    Everything else that follows needs a proof by contradiction. Of contradictory claims it is nothing.
    """
    named = people(claims)
    choices = [((c.one, c.other.negated()), (c.one.negated(), c.other)) for c in claims if isinstance(c, EitherOr)]
    stated = [claim.trait for claim in claims if isinstance(claim, Is)]
    links = [link for claim in claims for link in implications(claim, named)]
    reached = [_closure({*stated, *(t for pair in case for t in pair)}, links) for case in product(*choices)]
    cases = [known for known in reached if not any(trait.negated() in known for trait in known)]
    return frozenset(trait for trait in cases[0] if all(trait in known for known in cases)) if cases else frozenset()


def _closure(known: set[Trait], links: Sequence[Implication]) -> set[Trait]:
    while new := {right for left, right in links if left in known} - known:
        known = known | new
    return known
