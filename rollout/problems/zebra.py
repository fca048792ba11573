"""Zebra puzzles: houses in a row, and clues that are all needed, so that exactly one arrangement fits.

All arrangements are tried (`critics.text.translators.zebra`), and clingo decides again when a demonstration
(`rollout.actor_critic.demonstration`) is judged.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from critics.problem import Problem
from critics.text.translators.zebra import ORDINALS, Clue, Relation, Solution, Zebra, read_zebra
from rollout.problems.splits import Split, belongs, consecutive, draws

DATASET = "zebra"
_LISTS = {
    "name": ("Ada", "Ben", "Cleo", "Dov", "Esme", "Finn", "Gita", "Hugo"),
    "drink": ("tea", "milk", "juice", "cocoa", "water", "coffee"),
    "animal": ("heron", "otter", "gecko", "rabbit", "pony", "goose"),
    "colour": ("red", "blue", "green", "white", "yellow", "purple"),
}
_WORDS: dict[Relation, str] = {
    "at": "{} is in the {} house.",
    "not at": "{} is not in the {} house.",
    "same": "{} is {}.",
    "left": "{} is somewhere to the left of {}.",
    "directly left": "{} is directly left of {}.",
    "beside": "{} and {} are next to each other.",
    "1 between": "There is one house between {} and {}.",
}


@dataclass(frozen=True, slots=True)
class ZebraPuzzles:
    """Settings of the generator. Sizes and answers are spread evenly over consecutive items."""

    houses: Sequence[int] = (2, 3, 4)
    lists: Sequence[int] = (2, 3)
    """Number of values that each house has: a name, a drink, .."""
    split: Split = "train"

    def __post_init__(self) -> None:
        for key, values in (("houses", self.houses), ("lists", self.lists)):
            if not values or not all(2 <= num <= 4 for num in values):
                raise ValueError(f"{key}: {list(values)} must be some of 2, 3 and 4")


def item(config: ZebraPuzzles, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content belongs to the split."""
    is_true, size = index % 2 == 0, index // 2
    houses = config.houses[size % len(config.houses)]
    lists = config.lists[size // len(config.houses) % len(config.lists)]
    for rng in draws(DATASET, config.split, seed, index):
        named = {name: tuple(rng.sample(_LISTS[name], houses)) for name in list(_LISTS)[:lists]}
        solution = {v: at for own in named.values() for at, v in enumerate(rng.sample(own, houses))}
        zebra = _needed(Zebra(houses, tuple(named.items()), ()), _true_clues(named, solution, rng))
        told = {clue.one for clue in zebra.clues if clue.relation in ("at", "not at")}
        # Attack: ask what a clue says.
        open_ = [value for value in solution if value not in told]
        if not open_:
            continue
        asked = rng.choice(open_)
        house = solution[asked] if is_true else rng.choice([h for h in range(houses) if h != solution[asked]])
        problem = Problem(
            f"{DATASET}/{config.split}/{seed}/{index}",
            DATASET,
            _told(zebra),
            f"True or false: {_phrase(asked, capital=True)} is in the {ORDINALS[house]} house.",
            answer="true" if is_true else "false",
            meta={"houses": houses, "lists": lists, "clues": len(zebra.clues)},
        )
        if belongs(config.split, problem):
            return problem
    raise AssertionError("draws have no end")


generate = consecutive(item)


def num_solutions(context: str) -> int:
    """Return how many arrangements fit, two for more; raises `TranslationError`, and `Unread` where it takes long."""
    return len(list(islice(read_zebra(context).solutions(), 2)))


def _true_clues(named: dict[str, tuple[str, ...]], solution: Solution, rng: random.Random) -> list[Clue]:
    """Return clues that hold, those that tell least in front."""
    values, of = list(solution), {value: name for name, own in named.items() for value in own}
    found: list[Clue] = [
        clue
        for relation in _WORDS
        if relation not in ("at", "not at")
        for one in values
        for other in values
        if one != other and (of[one] != of[other] or relation != "same")
        if (clue := Clue(relation, one, other)).fits(solution)
    ]
    found += [Clue("not at", v, house) for v in values for house in set(solution.values()) - {solution[v]}]
    rng.shuffle(found)
    return [*found, *(Clue("at", value, solution[value]) for value in rng.sample(values, len(values)))]


def _needed(zebra: Zebra, clues: list[Clue]) -> Zebra:
    """Return the puzzle with clues that fix one arrangement, none of which can be left out."""
    chosen: list[Clue] = []
    for clue in clues:
        chosen.append(clue)
        if _is_fixed(replace(zebra, clues=tuple(chosen))):
            break
    for clue in tuple(chosen):
        rest = tuple(one for one in chosen if one != clue)
        if _is_fixed(replace(zebra, clues=rest)):
            chosen.remove(clue)
    return replace(zebra, clues=tuple(chosen))


def _is_fixed(zebra: Zebra) -> bool:
    return len(list(islice(zebra.solutions(), 2))) == 1


def _phrase(value: str, *, capital: bool) -> str:
    return value if value[0].isupper() else f"{'The' if capital else 'the'} one with {value}"


def _told(zebra: Zebra) -> str:
    lists = [f"- Each house has its own {name}: {', '.join(f'`{v}`' for v in own)}" for name, own in zebra.listed]
    said = [
        _WORDS[clue.relation].format(
            _phrase(clue.one, capital=not clue.relation.endswith("between")),
            ORDINALS[clue.other] if isinstance(clue.other, int) else _phrase(clue.other, capital=False),
        )
        for clue in zebra.clues
    ]
    row = (
        f"There are {zebra.houses} houses in a row, from left to right: the {', the '.join(ORDINALS[: zebra.houses])}."
    )
    return "\n".join([row, *lists, "Clues:", *(f"{number}. {clue}" for number, clue in enumerate(said, 1))])
