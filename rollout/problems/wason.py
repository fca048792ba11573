"""Wason's selection tasks: which two of four cards could show that a rule is broken?

For "if p then q" they are the card that shows p, whose other side may be no q, and the card that shows no q.
Rules are realistic (someone has to see to it that they are kept), arbitrary (letters, numbers, animals, ..), or
nonsense. Which cards decide is a question about what nobody sees, and no kernel of this project judges it: there
is no formalisation, and `cot` is the format of these problems, at best `unproved`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from critics.grammar.inflection import article
from critics.problem import Problem
from rollout.problems.catalogue import Split, belongs, consecutive, draws
from rollout.problems.syllogism import NONSENSE

Condition = Literal["realistic", "arbitrary", "nonsense"]
CONDITIONS: tuple[Condition, ...] = ("realistic", "arbitrary", "nonsense")
_QUESTION = "Which two cards must be turned over to find out whether the rule is kept?"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of the cards: what it tells, how a rule names it, and what cards show that meet the rule or do not."""

    told: str
    said: str
    meeting: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """If the one side meets its part then the other must meet its own."""

    scene: str
    condition: Side
    demand: Side


def _rule(scene: str, condition: tuple[str, str, str, str], demand: tuple[str, str, str, str]) -> SelectionRule:
    return SelectionRule(scene, _side(*condition), _side(*demand))


def _side(told: str, said: str, meeting: str, missing: str) -> Side:
    return Side(told, said, tuple(meeting.split(", ")), tuple(missing.split(", ")))


REALISTIC = (
    _rule(
        "A waiter looks after the tables of a beer garden, and each card stands for a guest.",
        ("the drink", "a guest drinks alcohol", "beer, wine, cider", "lemonade, tea, apple juice"),
        ("the age", "the guest must be of age", "31 years, 44 years, 58 years", "9 years, 12 years, 14 years"),
    ),
    _rule(
        "A safety officer walks through a laboratory, and each card stands for a chemist.",
        ("the substance", "a chemist handles something poisonous", "chlorine, mercury, arsenic", "water, salt, sugar"),
        ("the clothing", "the chemist must wear gloves", "rubber gloves, thick gloves", "bare hands, rings only"),
    ),
    _rule(
        "A clerk sorts parcels, and each card stands for a parcel.",
        (
            "the weight",
            "a parcel weighs more than ten kilos",
            "12 kilos, 19 kilos, 25 kilos",
            "1 kilo, 3 kilos, 7 kilos",
        ),
        ("the label", "the parcel must have a red label", "red label", "green label, white label, no label"),
    ),
    _rule(
        "A customs officer inspects luggage, and each card stands for a suitcase.",
        ("the content", "a suitcase has plants in it", "an orchid, a fern, a cactus", "books, shoes, a camera"),
        ("the papers", "the suitcase must be declared", "declared in full, declared on arrival", "not declared"),
    ),
    _rule(
        "A baker packs the bread of the day, and each card stands for a loaf.",
        ("the ingredients", "a loaf contains nuts", "walnuts, hazelnuts, pecan nuts", "raisins, carrots, olives"),
        ("the wrapping", "the loaf must carry a warning", "large warning, small warning", "no warning, plain paper"),
    ),
    _rule(
        "A foreman looks around a building site, and each card stands for a worker.",
        ("the place", "a worker is on the scaffold", "top of the scaffold, foot of the scaffold", "office, canteen"),
        ("the headgear", "the worker must wear a helmet", "yellow helmet, white helmet", "woollen cap, straw hat"),
    ),
    _rule(
        "A guard goes through a night train, and each card stands for a passenger.",
        ("the place", "a passenger lies in a berth", "upper berth, lower berth", "window seat, aisle seat"),
        ("the booking", "the passenger must have booked", "booked in May, booked in June", "never booked"),
    ),
    _rule(
        "A teacher prepares an excursion, and each card stands for a pupil.",
        ("the plan", "a pupil goes to the zoo", "zoo by bus, zoo by bicycle", "stays at school, stays at home"),
        ("the form", "the form must be signed", "signed by the mother, signed by the father", "not signed, form lost"),
    ),
    _rule(
        "A gallery in Paris lends its paintings, and each card stands for a painting.",
        ("the destination", "a painting leaves the country", "Tokyo, Oslo, Lima", "Lyon, Marseille, Nantes"),
        ("the insurance", "the painting must be insured", "insured for a year, insured for a month", "not insured"),
    ),
    _rule(
        "A policewoman stops bicycles, and each card stands for a ride.",
        ("the time", "someone rides at night", "11 at night, 2 at night", "noon, 3 in the afternoon"),
        ("the lamp", "the lamp must be on", "lamp on, lamp on full beam", "lamp off, lamp missing"),
    ),
    _rule(
        "A nurse keeps the records of a blood bank, and each card stands for a visitor.",
        ("the visit", "a visitor gives blood", "gave half a litre of blood, gave a little blood", "asked the way"),
        ("the test", "the visitor must have been tested", "tested today, tested yesterday", "never tested"),
    ),
    _rule(
        "A gardener makes the round of the greenhouses, and each card stands for a plant.",
        ("the species", "a plant is tropical", "banana plant, cocoa plant", "cabbage, apple tree, rye"),
        ("the temperature", "the plant must be kept warm", "24 degrees, 27 degrees", "2 degrees, 5 degrees"),
    ),
)
_ARBITRARY = (
    (_side("a letter", "a vowel", "A, E, I, O, U", "D, K, M, R, T"), "a consonant"),
    (_side("a number", "an even number", "2, 4, 18, 36", "3, 7, 15, 41"), "an odd number"),
    (_side("a shape", "a shape with corners", "triangle, square, hexagon", "circle, oval, disc"), "a round shape"),
    (_side("an animal", "a bird", "owl, robin, heron", "trout, eel, carp"), "a fish"),
    (_side("a month", "a month with 31 days", "January, March, July", "April, June"), "a month with 30 days"),
    (_side("a city", "a city in Europe", "Lisbon, Vienna, Prague", "Hanoi, Osaka, Delhi"), "a city in Asia"),
    (_side("an instrument", "a string instrument", "cello, harp, viola", "oboe, tuba, bassoon"), "a wind instrument"),
    (_side("a plant", "a tree", "beech, larch, willow", "tulip, daisy, poppy"), "a flower"),
)  # fmt: skip
"""Each with what a rule says of the cards that do not meet its part, for rules the other way round."""


@dataclass(frozen=True, slots=True)
class SelectionTasks:
    """Settings of the generator. Conditions and card orders are spread evenly over consecutive items."""

    conditions: Sequence[Condition] = CONDITIONS
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.conditions or not set(self.conditions) <= set(CONDITIONS):
            raise ValueError(f"conditions: {list(self.conditions)} must name some of {list(CONDITIONS)}")


def item(config: SelectionTasks, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content, whatever the order of its cards, belongs to the split."""
    condition = config.conditions[index % len(config.conditions)]
    order = ("antecedent", "consequent")[(index // len(config.conditions)) % 2]
    for rng in draws("wason", config.split, seed, index):
        rule = _drawn_rule(condition, rng)
        sides = [[rng.choice(side.meeting), rng.choice(side.missing)] for side in (rule.condition, rule.demand)]
        asked = frozenset((sides[0][0], sides[1][1]))
        sorted_ = _posed(rule, sorted(sides[0] + sides[1]), asked)
        for side in sides:
            rng.shuffle(side)
        shown = sides[0] + sides[1] if order == "antecedent" else sides[1] + sides[0]
        problem = replace(
            _posed(rule, shown, asked),
            id=f"wason/{config.split}/{seed}/{index}",
            meta={"condition": condition, "order": order},
        )
        if belongs(config.split, problem, sorted_):
            return problem
    raise AssertionError("draws have no end")


generate = consecutive(item)


def _drawn_rule(condition: Condition, rng: random.Random) -> SelectionRule:
    if condition == "realistic":
        return rng.choice(REALISTIC)
    if condition == "arbitrary":
        sides = [_either_way(side, otherwise, rng) for side, otherwise in rng.sample(_ARBITRARY, 2)]
    else:
        sides = [_either_way(*_made_side(word.removesuffix("s")), rng) for word in rng.sample(NONSENSE, 2)]
    said = f"a card has {sides[0].said} on one side", f"it has {sides[1].said} on the other"
    return SelectionRule("Four cards lie on a table.", replace(sides[0], said=said[0]), replace(sides[1], said=said[1]))


def _made_side(word: str) -> tuple[Side, str]:
    with_it, without = f"{article(word)} {word}", f"no {word}"
    return Side(f"whether there is {with_it}", with_it, (with_it,), (without,)), without


def _either_way(side: Side, otherwise: str, rng: random.Random) -> Side:
    return side if rng.random() < 0.5 else Side(side.told, otherwise, side.missing, side.meeting)


def _posed(rule: SelectionRule, cards: Sequence[str], asked: frozenset[str]) -> Problem:
    """Return the problem without its name: options are the pairs of cards, in the order of the cards."""
    pairs = list(combinations(cards, 2))
    told = f"One side of each card tells {rule.condition.told}, the other {rule.demand.told}."
    lines = "\n".join(f"card: {card}" for card in cards)
    return Problem(
        id="",
        dataset="wason",
        context=f"{rule.scene} {told} The rule: if {rule.condition.said}, then {rule.demand.said}.\n{lines}",
        question=_QUESTION,
        options=tuple(f'"{one}" and "{other}"' for one, other in pairs),
        answer=chr(ord("A") + [frozenset(pair) for pair in pairs].index(asked)),
    )
