"""Problems for PrOntoQA's other deduction rules (Saparov et al. 2023): something is to be proved, and follows.

    AndIntro   two facts meet the condition of a rule: "Sam is cold. Sam is a zumpus. Each cold zumpus is a numpus."
    AndElim    one part of what a rule concludes goes on: "Every numpus is a vumpus and a yumpus."
    OrIntro    one fact meets a disjunction: "Everything that is cold or a zumpus is a numpus."
    Composed   a chain whose links are of all three kinds

`hops` counts the rule applications of the formal proof, the definition of a compound goal included. Every
link has a neighbour that leads nowhere: it misses a fact or concludes a kind of its own. Case analysis and proof
by contradiction are not generated, because the kernel has neither.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from critics.grammar.inflection import plural
from critics.problem import Problem
from critics.text.translators.regular import translate_deductions as translate
from rollout.problems.catalogue import Split, consecutive, draws, first_of_split
from rollout.problems.prontoqa import ADJECTIVES, FICTIONAL_KINDS, NAMES, with_article

DeductionRule = Literal["AndIntro", "AndElim", "OrIntro", "Composed"]
MAX_HOPS = 5
"""A longer chain and its neighbours need more kinds than there are."""
_KINDS = (*FICTIONAL_KINDS, "brimpus", "gorpus", "grimpus", "lempus", "lorpus", "shumpus", "sterpus")


@dataclass(frozen=True, slots=True)
class Deductions:
    """Settings of the generator. Rules and hops are spread evenly over consecutive items."""

    rules: Sequence[DeductionRule] = ("AndIntro", "AndElim", "OrIntro", "Composed")
    hops: Sequence[int] = (2, 3)
    neighbour_rate: float = 1.0
    """The share of links that have a neighbour which leads nowhere (published: about all)."""
    ordering: Literal["random", "ordered"] = "random"
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.hops or not all(1 <= h <= MAX_HOPS for h in self.hops):
            raise ValueError(f"hops: {list(self.hops)} must name numbers from 1 to {MAX_HOPS}")
        if not self.rules:
            raise ValueError("rules: name at least one of AndIntro, AndElim, OrIntro, Composed")
        if "Composed" in self.rules and min(self.hops) < 2:
            raise ValueError("hops: Composed needs at least 2, to compose something")
        if not 0 <= self.neighbour_rate <= 1:
            raise ValueError(f"neighbour_rate: {self.neighbour_rate} must lie between 0 and 1")


@dataclass(slots=True)
class _Draft:
    """A problem while it is drawn: words not used yet, and the sentences so far."""

    rng: random.Random
    kinds: list[str]
    adjectives: list[str]
    name: str
    neighbour_rate: float
    sentences: list[str] = field(default_factory=list[str])

    def state(self, *said: str) -> None:
        """Say of the object what it is."""
        self.sentences.append(f"{self.name} is {self.listed(said, 'and')}.")

    def rule(self, kind: str, *concluded: str) -> None:
        """Say of everything of a kind, adjectives included, what kinds it is."""
        form = self.rng.choice(("Every", "Each", "plural"))
        if form == "plural":
            self.sentences.append(f"{plural(kind).capitalize()} are {self.listed(map(plural, concluded), 'and')}.")
        else:
            self.sentences.append(f"{form} {kind} is {self.listed(map(with_article, concluded), 'and')}.")

    def everything(self, connective: str, condition: Sequence[str], kind: str) -> None:
        """Say of everything that is all or some of what is listed what kind it is."""
        self.sentences.append(f"Everything that is {self.listed(condition, connective)} is {with_article(kind)}.")

    def listed(self, parts: Iterable[str], connective: str) -> str:
        """Join in random order, as `A and B and C` or, three at least, as `A, B, and C`."""
        *first, last = self.rng.sample(listed := list(parts), len(listed))
        if len(first) > 1 and self.rng.random() < 0.5:
            return f"{', '.join(first)}, {connective} {last}"
        return f" {connective} ".join([*first, last])

    def has_neighbour(self) -> bool:
        return self.rng.random() < self.neighbour_rate


def item(config: Deductions, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content belongs to the split."""
    rule = config.rules[index % len(config.rules)]
    hops = config.hops[(index // len(config.rules)) % len(config.hops)]
    id_ = f"prontoqa-ood/{config.split}/{seed}/{index}"
    drawn = (_draw(config, rng, rule, hops, id_) for rng in draws("prontoqa-ood", config.split, seed, index))
    return first_of_split(config.split, drawn)


generate = consecutive(item)


def _draw(config: Deductions, rng: random.Random, rule: DeductionRule, hops: int, problem_id: str) -> Problem:
    kinds: list[str] = rng.sample(_KINDS, len(_KINDS))
    adjectives: list[str] = rng.sample(ADJECTIVES, len(ADJECTIVES))
    draft = _Draft(rng, kinds, adjectives, rng.choice(NAMES), config.neighbour_rate)
    claim = _CLAIMS[rule](draft, hops)
    if config.ordering == "random":
        rng.shuffle(draft.sentences)
    context, question = " ".join(draft.sentences), f"Prove: {draft.name} is {claim}."
    return Problem(
        id=problem_id,
        dataset="prontoqa-ood",
        context=context,
        question=question,
        answer="true",
        formal=translate(context, question),
        meta={"rule": rule, "hops": hops},
    )


def _and_intro(draft: _Draft, hops: int) -> str:
    kind = _started(draft, [_attributive] * (hops - 1))
    draft.state(adjective := draft.adjectives.pop())
    return with_article(f"{adjective} {kind}")


def _and_elim(draft: _Draft, hops: int) -> str:
    kind, beside = draft.kinds.pop(), draft.kinds.pop()
    draft.state(with_article(kind), with_article(beside))
    return with_article(_linked(draft, kind, [_conjoining] * hops))


def _or_intro(draft: _Draft, hops: int) -> str:
    kind = _started(draft, [_alternative] * (hops - 1))
    return draft.listed((draft.adjectives.pop(), with_article(kind)), "or")


def _composed(draft: _Draft, hops: int) -> str:
    """No link is of the kind of the one before it; the goal may be a disjunction."""
    is_or = hops > 2 and draft.rng.random() < 0.5
    links: list[_Link] = []
    while len(links) < hops - is_or:
        links.append(draft.rng.choice([link for link in _LINKS if link not in links[-1:]]))
    kind = _started(draft, links)
    if not is_or:
        return with_article(kind)
    return draft.listed(map(with_article, (kind, draft.kinds.pop(), draft.kinds.pop())), "or")


def _started(draft: _Draft, links: Sequence["_Link"]) -> str:
    kind = draft.kinds.pop()
    draft.state(with_article(kind))
    return _linked(draft, kind, links)


def _linked(draft: _Draft, kind: str, links: Sequence["_Link"]) -> str:
    for link in links:
        kind = link(draft, kind)
    return kind


def _attributive(draft: _Draft, kind: str) -> str:
    following, adjective = draft.kinds.pop(), draft.adjectives.pop()
    draft.state(adjective)
    draft.rule(f"{adjective} {kind}", following)
    if draft.has_neighbour():
        draft.rule(f"{draft.adjectives.pop()} {kind}", draft.kinds.pop())
    return following


def _conjoining(draft: _Draft, kind: str) -> str:
    following, beside = draft.kinds.pop(), draft.kinds.pop()
    draft.rule(kind, following, beside)
    if draft.has_neighbour():
        draft.rule(beside, draft.kinds.pop())
    return following


def _alternative(draft: _Draft, kind: str) -> str:
    following = draft.kinds.pop()
    draft.everything("or", (draft.adjectives.pop(), with_article(kind)), following)
    if draft.has_neighbour():
        draft.everything("or", (draft.adjectives.pop(), with_article(kind)), draft.kinds.pop())
    return following


def _conjunctive(draft: _Draft, kind: str) -> str:
    following, beside, adjective = draft.kinds.pop(), draft.kinds.pop(), draft.adjectives.pop()
    draft.state(with_article(beside), adjective)
    draft.everything("and", (with_article(kind), with_article(beside), adjective), following)
    if draft.has_neighbour():
        draft.everything("and", (with_article(kind), with_article(beside), draft.adjectives.pop()), draft.kinds.pop())
    return following


_Link: TypeAlias = Callable[[_Draft, str], str]
"""Writes a rule that leads from a kind to the next, what else it needs, and perhaps its neighbour."""
_LINKS: tuple[_Link, ...] = (_attributive, _conjoining, _alternative, _conjunctive)
_CLAIMS: dict[DeductionRule, Callable[[_Draft, int], str]] = {
    "AndIntro": _and_intro,
    "AndElim": _and_elim,
    "OrIntro": _or_intro,
    "Composed": _composed,
}
"""Write the sentences of a problem and return what is to be proved of its object."""
