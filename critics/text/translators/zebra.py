"""Zebra puzzles (ZebraLogic, Lin et al. 2025): houses in a row, values that each house has one of, and clues.

    Eric is in the second house.                          the tea drinker is not in the third house.
    Eric is the person who drinks tea.                    Eric and the dog owner are next to each other.
    Eric is directly left of the dog owner.               There is one house between Eric and the dog owner.
    Eric is somewhere to the right of the dog owner.

A phrase means the one listed value whose words it has; a phrase with none or two of them is refused, and so is one that
denies something. The answer to a question is found by trying every arrangement.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from critics.text.translators.translation import Answer, TranslationError, Unread, agreed, claim, reading

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
MAX_NODES = 200_000
"""Nodes of the search; a puzzle that takes more is not decided."""
_FRAME = re.compile(r"There are (?P<num>[2-6]) houses(?:, numbered 1 to (?P<last>\d)| in a row),? from left to right\b")
_LISTED = re.compile(r"- (?P<said>[^`:]+): (?P<values>`[^`]+`(?:, `[^`]+`)*)")
_CLUE = re.compile(r"\d+\. (?P<clue>[^.]+\.)")
_HOUSE = rf"the (?P<house>{'|'.join(ORDINALS)}) house"
_LEAD = re.compile(r"True or false: ")
_DENYING = re.compile(r"\b(?:not|no|never|other|neither|nor|or)\b|n't", re.IGNORECASE)
Relation = Literal["at", "not at", "same", "not same", "left", "directly left", "beside", "1 between", "2 between"]
_FORMS: tuple[tuple[str, Relation, bool], ...] = (
    (rf"(?P<one>.+) is not in {_HOUSE}", "not at", False),
    (rf"(?P<one>.+) is in {_HOUSE}", "at", False),
    (r"(?P<one>.+) is directly left of (?P<other>.+)", "directly left", False),
    (r"(?P<one>.+) is directly right of (?P<other>.+)", "directly left", True),
    (r"(?P<one>.+) is somewhere to the left of (?P<other>.+)", "left", False),
    (r"(?P<one>.+) is somewhere to the right of (?P<other>.+)", "left", True),
    (r"(?P<one>.+) and (?P<other>.+) are next to each other", "beside", False),
    (r"There is one house between (?P<one>.+) and (?P<other>.+)", "1 between", False),
    (r"There are two houses between (?P<one>.+) and (?P<other>.+)", "2 between", False),
    (r"(?P<one>.+?) is not (?P<other>.+)", "not same", False),
    (r"(?P<one>.+?) is (?P<other>.+)", "same", False),
)
_FITS: Mapping[Relation, Callable[[int, int], bool]] = {
    "at": lambda one, other: one == other,
    "not at": lambda one, other: one != other,
    "same": lambda one, other: one == other,
    "not same": lambda one, other: one != other,
    "left": lambda one, other: one < other,
    "directly left": lambda one, other: one + 1 == other,
    "beside": lambda one, other: abs(one - other) == 1,
    "1 between": lambda one, other: abs(one - other) == 2,
    "2 between": lambda one, other: abs(one - other) == 3,
}
Solution: TypeAlias = dict[str, int]
"""The house of each value, from 0."""


@dataclass(frozen=True, slots=True)
class Clue:
    """Place of one value: a house by its number, from 0, or its relation to the house of another value."""

    relation: Relation
    one: str
    other: str | int
    sentence: str = ""

    def fits(self, solution: Solution) -> bool:
        """Say whether a solution so far meets the clue; a value that has no house yet breaks none."""
        one = solution.get(self.one)
        other = self.other if isinstance(self.other, int) else solution.get(self.other)
        return one is None or other is None or _FITS[self.relation](one, other)


@dataclass(frozen=True, slots=True)
class Zebra:
    """Houses, lists of values under their headings (each house has one value of each list), and clues."""

    houses: int
    listed: tuple[tuple[str, tuple[str, ...]], ...]
    clues: tuple[Clue, ...]

    def solutions(self) -> Iterator[Solution]:
        """Yield every arrangement that fits; raises `Unread` where the search takes too long."""
        # What clues name first is placed first.
        told = [value for clue in self.clues for value in (clue.one, clue.other) if isinstance(value, str)]
        values = list(dict.fromkeys([*told, *(value for _, listed in self.listed for value in listed)]))
        rivals = {value: set(listed) for _, listed in self.listed for value in listed}
        nodes = 0

        def placed(solution: Solution) -> Iterator[Solution]:
            nonlocal nodes
            if len(solution) == len(values):
                yield dict(solution)
                return
            value = values[len(solution)]
            taken = {house for other, house in solution.items() if other in rivals[value]}
            for house in range(self.houses):
                nodes += 1
                if nodes > MAX_NODES:
                    raise Unread("it takes too long to try everything")
                tried = {**solution, value: house}
                if house not in taken and all(clue.fits(tried) for clue in self.clues):
                    yield from placed(tried)

        yield from placed({})


def decide(context: str, question: str) -> Answer | None:
    """Return what all arrangements say of a question; None where none fits. Raises `TranslationError`."""
    zebra = read_zebra(context)
    asked = read_question(question, zebra)
    with reading(context):
        return agreed(map(asked.fits, zebra.solutions()))


def read_zebra(context: str) -> Zebra:
    """Read a whole context; raises `TranslationError`."""
    opening, cut, rest = context.partition("Clues:")
    lines = [" ".join(line.split()).removeprefix("#").strip() for line in opening.splitlines() or [""]]
    listed = [found for line in lines if (found := _LISTED.fullmatch(line)) is not None]
    frame = _FRAME.match(lines[0])
    unread = [line for line in lines[1:] if line.strip("# ") and _LISTED.fullmatch(line) is None]
    if not cut or frame is None or unread or frame["last"] not in (None, frame["num"]):
        raise TranslationError(context[:80], "it does not open as houses in a row with lists of values and clues")
    categories = tuple((found["said"], tuple(re.findall("`([^`]+)`", found["values"]))) for found in listed)
    values = [value.lower() for _, own in categories for value in own]
    if any(len(own) != int(frame["num"]) for _, own in categories) or len(set(values)) < len(values) or not values:
        raise TranslationError(context[:80], f"each list needs {frame['num']} values that no other list has")
    zebra = Zebra(int(frame["num"]), categories, ())
    clues: list[Clue] = []
    for line in filter(None, map(str.strip, rest.splitlines())):
        found = _CLUE.fullmatch(line)
        if found is None:
            raise TranslationError(line, "a clue is one sentence behind its number")
        clues.append(read_clue(found["clue"], zebra))
    return Zebra(zebra.houses, categories, tuple(clues))


def read_question(question: str, zebra: Zebra) -> Clue:
    """Return what a question asks; raises `TranslationError`."""
    return read_clue(claim(question, _LEAD), zebra)


def read_clue(sentence: str, zebra: Zebra) -> Clue:
    """Return what a sentence says; raises `TranslationError`."""
    text = sentence.removesuffix(".")
    with reading(sentence):
        for form, relation, turned in _FORMS:
            if (found := re.fullmatch(form, text)) is None:
                continue
            one = _value(found["one"], zebra)
            if "house" in found.groupdict():
                house = ORDINALS.index(found["house"])
                if house >= zebra.houses:
                    raise Unread(f"there are only {zebra.houses} houses")
                return Clue(relation, one, house, sentence)
            other = _value(found["other"], zebra)
            if one == other:
                raise Unread(f"it compares {one!r} with itself")
            return Clue(relation, *((other, one) if turned else (one, other)), sentence)
        raise Unread("it does not say where anything is")


def _value(phrase: str, zebra: Zebra) -> str:
    """Return the one value that a phrase names; a longer one stands for those within it (`very tall`)."""
    if _DENYING.search(phrase):
        raise Unread(f"{phrase!r} may deny something")
    found = [
        value
        for _, own in zebra.listed
        for value in own
        if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", phrase, re.IGNORECASE)
    ]
    whole = [value for value in found if not any(value != other and value.lower() in other.lower() for other in found)]
    if len(whole) != 1:
        raise Unread(f"{phrase!r} does not name exactly one of the listed values")
    return whole[0]
