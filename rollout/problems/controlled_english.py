"""Small theories in controlled English about people and what they are like, and a statement to decide.

Made for actors that are trained from scratch: two to four sentences of six forms, one a line, and a bare statement as
the question. Each sentence says one claim and can be read back. The label comes from brute force over all models, as
truth tables, and is never a sentence of the text. People whom nobody names are one more person, which is enough because
no claim says that somebody exists. Theories that need a proof by contradiction are redrawn: answer sets do not think
that way. A theory is drawn with bare symbols; then words are drawn for them until its content belongs to the split.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal, TypeAlias

from critics.problem import Problem
from rollout.problems.catalogue import Split, belongs, consecutive, item_seed

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


DATASET = "controlled-english"
Form = Literal["is", "is-not", "every", "nobody", "if-then", "either-or"]
FORMS: tuple[Form, ...] = ("is", "is-not", "every", "nobody", "if-then", "either-or")
OPTIONS = ("A) True", "B) False", "C) Unknown")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hal")
ADJECTIVES = (
    "brave", "calm", "fair", "grumpy", "humble", "jolly", "kind", "loud", "merry", "neat", "proud", "quick", "shy",
    "tall", "witty", "young",
)  # fmt: skip
"""No two begin alike, because a critic looks for a rule's words in the text by their beginnings."""

_NAMES = ("N0", "N1")
_ADJECTIVES = ("a0", "a1", "a2", "a3")
_LETTERS: dict[Answer, str] = {"true": "A", "false": "B", "unknown": "C"}
_ANSWERS: tuple[Answer, ...] = ("true", "false", "unknown")
_NEGATIVE_RATE = 0.25
"""Share of denials among the traits in conditions and alternatives."""
_WEIGHTS: dict[Form, float] = {"is": 3, "is-not": 2, "every": 2, "nobody": 1, "if-then": 1.5, "either-or": 1.5}


@dataclass(frozen=True, slots=True)
class ControlledEnglish:
    """Settings of the generator. Numbers of premises and answers are spread evenly over consecutive items."""

    num_premises: Sequence[int] = (2, 3, 4)
    forms: Sequence[Form] = FORMS
    """Forms of the premises; simple forms alone make an easy start."""
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.num_premises or not all(2 <= num <= 6 for num in self.num_premises):
            raise ValueError(f"num_premises: {list(self.num_premises)} must name numbers from 2 to 6")
        if not set(self.forms) <= set(FORMS):
            raise ValueError(f"forms: {list(self.forms)} must be among {', '.join(FORMS)}")
        if not {"is", "is-not"} & set(self.forms) or not {"every", "if-then"} & set(self.forms):
            raise ValueError("forms: needs `is` or `is-not`, and `every` or `if-then`, or nothing could be asked")


_ClaimTheory: TypeAlias = tuple[Claim, ...]


def item(config: ControlledEnglish, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content, whatever the order of its sentences, belongs to the split."""
    wanted = _ANSWERS[index % 3]
    num = config.num_premises[(index // 3) % len(config.num_premises)]
    rng = random.Random(item_seed(DATASET, config.split, seed, index))
    theory, goal = _drawn(config, rng, num, wanted)
    while True:
        drawn = (*rng.sample(NAMES, len(_NAMES)), *rng.sample(ADJECTIVES, len(_ADJECTIVES)))
        words: dict[str, str] = dict(zip((*_NAMES, *_ADJECTIVES), drawn, strict=True))
        claims, asked = [reworded(claim, words) for claim in theory], reworded_trait(goal, words)
        shown, in_order = (_problem(listed, asked, wanted, "") for listed in (claims, sorted(claims, key=str)))
        if belongs(config.split, shown, in_order):
            return _problem(claims, asked, wanted, f"{DATASET}/{config.split}/{seed}/{index}")


generate = consecutive(item)


def _problem(theory: Sequence[Claim], goal: Trait, label: Answer, problem_id: str) -> Problem:
    return Problem(
        id=problem_id,
        dataset=DATASET,
        context="\n".join(map(str, theory)),
        question=f"{goal}.",
        options=OPTIONS,
        answer=_LETTERS[label],
        meta={"num_premises": len(theory), "logic_classes": [logic_class(claim) for claim in theory]},
    )


def logic_class(claim: Claim) -> str:
    """Return the class of a sentence among those of `rollout.published.logic_forms`."""
    match claim:
        case EitherOr():
            return "disjunction"
        case Is(Trait(positive=False)) | All(positive=False):
            return "negation"
        case _:
            return "conditional"


def _drawn(config: ControlledEnglish, rng: random.Random, num: int, wanted: Answer) -> tuple[_ClaimTheory, Trait]:
    """Draw theories until one has a statement with the answer that is wanted."""
    while True:
        names, words = _NAMES[: rng.choice((1, 1, 2))], _ADJECTIVES[: rng.choice((3, 4))]
        theory = _theory(config, rng, names, words, num)
        if theory is None:
            continue
        goals = _goals(theory, wanted)
        if goals and all(trial(theory, claim) is not None for claim in theory if not isinstance(claim, Is)):
            goal = rng.choice(goals)
            if answer(theory, goal) == wanted:
                return theory, goal


def _theory(
    config: ControlledEnglish, rng: random.Random, names: Sequence[str], words: Sequence[str], num: int
) -> _ClaimTheory | None:
    """Return some claims, at least one a fact and at least one a rule, no two about the same things; None: no luck."""
    weights = [_WEIGHTS[form] for form in config.forms]
    claims = tuple(_claim(form, names, words, rng) for form in rng.choices(config.forms, weights, k=num))
    about = {(frozenset(adjectives(claim)), frozenset(t.name for t in traits(claim))) for claim in claims}
    num_facts = sum(isinstance(claim, Is) for claim in claims)
    return claims if len(about) == num and 0 < num_facts < num else None


def _claim(form: Form, names: Sequence[str], words: Sequence[str], rng: random.Random) -> Claim:
    one, other = rng.sample(words, 2)
    match form:
        case "is" | "is-not":
            return Is(Trait(rng.choice(names), one, form == "is"))
        case "every" | "nobody":
            return All(one, other, form == "every")
        case "if-then" | "either-or":
            pair = (Trait(rng.choice(names), word, rng.random() >= _NEGATIVE_RATE) for word in (one, other))
            return IfThen(*pair) if form == "if-then" else EitherOr(*pair)


def _goals(theory: _ClaimTheory, wanted: Answer) -> list[Trait]:
    """Return what can be asked: about who and what the text speaks of, and neither stated nor denied outright."""
    known = consequences(theory)
    stated = {claim.trait for claim in theory if isinstance(claim, Is)}
    named = dict.fromkeys(trait.name for claim in theory for trait in traits(claim))
    told = dict.fromkeys(word for claim in theory for word in adjectives(claim))
    asked = (Trait(name, word, positive) for name in named for word in told for positive in (True, False))
    answers: dict[Trait, Answer] = {
        goal: "true" if goal in known else "false" if goal.negated() in known else "unknown"
        for goal in asked
        if not {goal, goal.negated()} & stated
    }
    return [goal for goal, found in answers.items() if found == wanted]


def trial(theory: Sequence[Claim], claim: Claim) -> tuple[Trait, Trait] | None:
    """Return what to suppose, and what must then follow by a claim that is no fact; None where all is impossible.

    What is supposed does not contradict the theory: of a condition that cannot be met, the other direction is tried.
    """
    ways = [*_one_way(claim, [SOMEBODY])]
    if isinstance(claim, IfThen):
        ways.append((claim.conclusion.negated(), claim.condition.negated()))
    return next((way for way in ways if is_possible(theory, way[0])), None)
