"""Syllogisms whose conclusions are believed, disbelieved or about nothing (after Dasgupta et al. 2022).

    consistent     the conclusion is true of the world, whether it follows or not
    inconsistent   the conclusion is false, whether it follows or not
    nonsense       the kinds are made up

An invalid argument is a valid one with one statement changed in mood or turned round, until it no longer
follows: it has the look of a valid form, and half of each condition is valid. What is true of the world is read
off small worlds, in which every kind is the list of a few typical members.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

from critics.problem import Problem
from critics.text.reference import theory
from critics.text.translators.syllogism import OPTIONS, ask, translate
from rollout.problems.catalogue import Split, belongs, consecutive, draws

Condition = Literal["consistent", "inconsistent", "nonsense"]
Mood = Literal["A", "E", "I", "O"]
CONDITIONS: tuple[Condition, ...] = ("consistent", "inconsistent", "nonsense")
_VALID_FORMS = (
    "AAA-1", "EAE-1", "AII-1", "EIO-1",
    "EAE-2", "AEE-2", "EIO-2", "AOO-2",
    "IAI-3", "AII-3", "OAO-3", "EIO-3",
    "AEE-4", "IAI-4", "EIO-4",
)  # fmt: skip
"""Moods of major premise, minor premise and conclusion, and the figure; none needs that a kind has members."""
_SENTENCES: dict[Mood, str] = {
    "A": "All {} are {}.",
    "E": "No {} are {}.",
    "I": "Some {} are {}.",
    "O": "Some {} are not {}.",
}
NONSENSE = (
    "bavels", "corphs", "drells", "enkits", "flimbs", "gorvins", "hastocs", "jarbles", "kestrims", "lumsks",
    "mibbets", "norfins", "ostiks", "plicks", "quarms", "rentols", "skebs", "tavins", "ulmets", "vimbles",
    "wuggits", "yents", "zindles",
)  # fmt: skip
_World = Mapping[str, frozenset[str]]
"""Kinds and their members. Every kind has one, so that what is false of a world is false of reality."""


def _world(**members: str) -> _World:
    return {kind.replace("_", " "): frozenset(named.split()) for kind, named in members.items()}


WORLDS = (
    _world(
        dogs="beagle poodle",
        poodles="poodle",
        mammals="beagle poodle bat",
        birds="sparrow penguin",
        penguins="penguin",
        insects="bee ant",
        snakes="cobra",
        reptiles="cobra turtle",
        things_that_fly="bat sparrow bee",
    ),
    _world(
        even_numbers="2 4 6",
        odd_numbers="1 3 9",
        prime_numbers="2 3",
        composite_numbers="4 6 9",
        square_numbers="1 4 9",
        integers="1 2 3 4 6 9",
    ),
    _world(
        squares="square",
        rectangles="square door",
        rhombuses="square kite",
        quadrilaterals="square door kite trapeze",
        triangles="triangle",
        polygons="square door kite trapeze triangle",
        circles="circle",
    ),
    _world(
        violins="violin",
        guitars="guitar",
        stringed_instruments="violin guitar",
        trumpets="trumpet",
        brass_instruments="trumpet horn",
        wind_instruments="trumpet horn flute",
        flutes="flute",
        drums="drum",
    ),
    _world(
        saws="saw",
        knives="bread-knife pocket-knife",
        cutting_tools="saw bread-knife pocket-knife",
        kitchen_utensils="bread-knife spoon ladle",
        ladles="ladle",
        hammers="hammer",
    ),
    _world(
        lemons="lemon",
        apples="sour-apple sweet-apple",
        fruits="lemon sour-apple sweet-apple",
        carrots="carrot",
        vegetables="carrot rhubarb",
        sour_foods="lemon sour-apple rhubarb pickle",
    ),
)


@dataclass(frozen=True, slots=True)
class Syllogisms:
    """Settings of the generator. Answers, conditions, premise orders and forms are spread evenly over the items."""

    conditions: Sequence[Condition] = CONDITIONS
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.conditions or not set(self.conditions) <= set(CONDITIONS):
            raise ValueError(f"conditions: {list(self.conditions)} must name some of {list(CONDITIONS)}")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A mood over two of the three terms: 0 the conclusion's subject, 1 the middle, 2 its predicate."""

    mood: Mood
    subject: int
    predicate: int

    def sentence(self, kinds: Sequence[str]) -> str:
        return _SENTENCES[self.mood].format(kinds[self.subject], kinds[self.predicate])

    def turned(self) -> "_Statement":
        return replace(self, subject=self.predicate, predicate=self.subject)


_Argument = tuple[_Statement, _Statement, _Statement]
"""Major premise, minor premise, conclusion."""


def item(config: Syllogisms, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content belongs to the split."""
    num_conditions = len(config.conditions)
    valid = index % 2 == 0
    condition = config.conditions[(index // 2) % num_conditions]
    order = (index // (2 * num_conditions)) % 2 + 1
    form = _VALID_FORMS[(index // (4 * num_conditions)) % len(_VALID_FORMS)]
    for rng in draws("syllogism", config.split, seed, index):
        argument = _argument(form) if valid else _spoiled(_argument(form), rng)
        kinds = _kinds(argument[2], condition, rng)
        problem = _problem(argument, kinds, order, f"syllogism/{config.split}/{seed}/{index}")
        if belongs(config.split, problem) and _is_clearly(valid, problem, kinds):
            told = {"condition": condition, "form": form, "order": order}
            return replace(problem, answer="A" if valid else "B", meta=told)
    raise AssertionError("draws have no end")


generate = consecutive(item)


def _argument(form: str) -> _Argument:
    major, minor, conclusion, _, figure = form
    premises = _Statement(_mood(major), 1, 2), _Statement(_mood(minor), 0, 1)
    return (
        premises[0].turned() if figure in "24" else premises[0],
        premises[1].turned() if figure in "34" else premises[1],
        _Statement(_mood(conclusion), 0, 2),
    )


def _mood(letter: str) -> Mood:
    return next(mood for mood in _SENTENCES if mood == letter)


def _spoiled(argument: _Argument, rng: random.Random) -> _Argument:
    """Change one statement; the argument may still be valid, for `No` and `Some` can be turned round."""
    statements = list(argument)
    at = rng.randrange(3)
    others = [mood for mood in _SENTENCES if mood != statements[at].mood]
    statements[at] = rng.choice([statements[at].turned(), *(replace(statements[at], mood=mood) for mood in others)])
    return statements[0], statements[1], statements[2]


def _is_clearly(valid: bool, problem: Problem, kinds: Sequence[str]) -> bool:
    """Say whether the argument is (in)valid with kinds that may be empty and with kinds that have members.

    The published labels never depend on it, so a model cannot know which is meant.
    """
    assert problem.formal is not None
    symbols = [kind.replace(" ", "-") for kind in kinds]
    members = [f"(some {symbol} {symbol})" for symbol in symbols]
    inhabited = replace(problem.formal, axioms=(*problem.formal.axioms, *members))
    return all((theory(formal).decided == "true") == valid for formal in (problem.formal, inhabited))


def _kinds(conclusion: _Statement, condition: Condition, rng: random.Random) -> tuple[str, str, str]:
    """Return subject, middle and predicate, by which the conclusion is true or false as the condition wants it."""
    if condition == "nonsense":
        subject, middle, predicate = rng.sample(NONSENSE, 3)
        return subject, middle, predicate
    wanted = condition == "consistent"
    fitting = [
        (world, ends)
        for world in WORLDS
        for ends in permutations(world, 2)
        if _is_true(conclusion, world, (ends[0], "", ends[1])) == wanted
    ]
    world, (subject, predicate) = rng.choice(fitting)
    return subject, rng.choice([kind for kind in world if kind not in (subject, predicate)]), predicate


def _is_true(statement: _Statement, world: _World, kinds: Sequence[str]) -> bool:
    subject, predicate = world[kinds[statement.subject]], world[kinds[statement.predicate]]
    match statement.mood:
        case "A":
            return subject <= predicate
        case "E":
            return not subject & predicate
        case "I":
            return bool(subject & predicate)
        case "O":
            return not subject <= predicate


def _problem(argument: _Argument, kinds: Sequence[str], order: int, problem_id: str) -> Problem:
    major, minor, conclusion = (statement.sentence(kinds) for statement in argument)
    context = f"{major} {minor}" if order == 1 else f"{minor} {major}"
    question = ask(conclusion)
    formal = translate(context, question)
    return Problem(problem_id, "syllogism", context, question, OPTIONS, formal=formal)
