"""Small theories in controlled English about people and what they are like, and a statement to decide.

Made for actors that are trained from scratch: two to four sentences of six forms, one a line, and a bare statement as
the question. The label comes from brute force over all models (`rollout.problems.claims`); it is never a sentence of
the text. Theories that need a proof by contradiction are redrawn: answer sets do not think that way. A theory is drawn
with bare symbols; then words are drawn for them until the problem's content belongs to the split.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from critics.problem import Problem
from rollout.problems.claims import (
    SOMEBODY,
    All,
    Answer,
    Claim,
    EitherOr,
    IfThen,
    Is,
    Trait,
    adjectives,
    answer,
    consequences,
    is_possible,
    reworded,
    reworded_trait,
    traits,
)
from rollout.problems.splits import Split, belongs, consecutive, item_seed

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


@dataclass(frozen=True, slots=True)
class _ClaimSymbols:
    """The symbols of a theory, before words are drawn for them."""

    names: tuple[str, ...]
    adjectives: tuple[str, ...]


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
        symbols = _ClaimSymbols(_NAMES[: rng.choice((1, 1, 2))], _ADJECTIVES[: rng.choice((3, 4))])
        theory = _theory(config, rng, symbols, num)
        if theory is None:
            continue
        goals = _goals(theory, wanted)
        if goals and _can_be_tried(theory):
            goal = rng.choice(goals)
            if answer(theory, goal) == wanted:
                return theory, goal


def _theory(config: ControlledEnglish, rng: random.Random, symbols: _ClaimSymbols, num: int) -> _ClaimTheory | None:
    """Return some claims, at least one a fact and at least one a rule, no two about the same things; None: no luck."""
    weights = [_WEIGHTS[form] for form in config.forms]
    claims = tuple(_claim(form, symbols, rng) for form in rng.choices(config.forms, weights, k=num))
    about = {(frozenset(adjectives(claim)), frozenset(t.name for t in traits(claim))) for claim in claims}
    num_facts = sum(isinstance(claim, Is) for claim in claims)
    return claims if len(about) == num and 0 < num_facts < num else None


def _claim(form: Form, symbols: _ClaimSymbols, rng: random.Random) -> Claim:
    one, other = rng.sample(symbols.adjectives, 2)
    match form:
        case "is" | "is-not":
            return Is(Trait(rng.choice(symbols.names), one, form == "is"))
        case "every" | "nobody":
            return All(one, other, form == "every")
        case "if-then" | "either-or":
            pair = (Trait(rng.choice(symbols.names), word, rng.random() >= _NEGATIVE_RATE) for word in (one, other))
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


def _can_be_tried(theory: _ClaimTheory) -> bool:
    return all(trial(theory, claim) is not None for claim in theory if not isinstance(claim, Is))


def trial(theory: Sequence[Claim], claim: Claim) -> tuple[Trait, Trait] | None:
    """Return what to suppose, and what must then follow by a claim that is no fact; None where all is impossible.

    What is supposed does not contradict the theory: of a condition that cannot be met, the other direction is tried.
    """
    match claim:
        case Is():
            return None
        case All(subject, predicate, positive):
            ways = [(Trait(SOMEBODY, subject), Trait(SOMEBODY, predicate, positive))]
        case IfThen(condition, conclusion):
            ways = [(condition, conclusion), (conclusion.negated(), condition.negated())]
        case EitherOr(one, other):
            ways = [(one.negated(), other), (one, other.negated())]
    return next((way for way in ways if is_possible(theory, way[0])), None)
