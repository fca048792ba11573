"""What LogicalDeduction's sentences say (BIG-bench): objects in a row, compared with each other or at a place.

Positions count from 0 at the left, oldest, cheapest or first. A text with any other sentence is not read at all.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Before:
    """One object comes before another."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class At:
    """An object is at a position."""

    one: str
    position: int


Claim = Before | At
_NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
_BEFORE = ("to the left of", "older than", "less expensive than", "cheaper than", "above")
_AFTER = ("to the right of", "newer than", "more expensive than", "below")
_LOW = ("leftmost", "oldest", "cheapest", "least expensive", "from the left")
_HIGH = ("rightmost", "newest", "most expensive", "from the right")
_LIST = re.compile(r": (?P<objects>[^.:]+)\.")
_SENTENCE = re.compile(r"(?P<object>.+?) (?:is|are|finished|was|were) (?P<rest>.+)")


@dataclass(frozen=True, slots=True)
class Ordering:
    """The objects, what the text says of their order, and what each option says."""

    objects: tuple[str, ...]
    statements: tuple[Claim, ...]
    options: tuple[Claim, ...]


def read_ordering(context: str, options: Sequence[str]) -> Ordering | None:
    """Read a problem's context and options; None where a sentence is not of this language."""
    listed = _LIST.search(context.rpartition("\n\n")[2])
    if listed is None:
        return None
    objects = tuple(_plain(part) for part in re.split(r", and |, | and ", listed["objects"]) if part.strip())
    rest = context.rpartition("\n\n")[2][listed.end() :]
    sentences = [sentence for sentence in re.split(r"\.\s*", rest) if sentence.strip()]
    claims = [_claim(sentence, objects) for sentence in sentences]
    said = [_claim(re.sub(r"^\(?[A-Za-z]\)\s*", "", option).rstrip("."), objects) for option in options]
    if len(set(objects)) < len(objects) or None in claims or None in said:
        return None
    return Ordering(objects, tuple(c for c in claims if c), tuple(c for c in said if c))


def _plain(text: str) -> str:
    return re.sub(r"^(?:an?|the) ", "", text.strip().lower())


def _claim(sentence: str, objects: Sequence[str]) -> Claim | None:
    found = _SENTENCE.fullmatch(sentence.strip())
    if found is None or _plain(found["object"]) not in objects:
        return None
    one, rest = _plain(found["object"]), found["rest"].strip().lower()
    for word in (*_BEFORE, *_AFTER):
        if rest.startswith(f"{word} ") and (other := _plain(rest[len(word) :])) in objects:
            return Before(one, other) if word in _BEFORE else Before(other, one)
    place = _place(re.sub(r"^the ", "", rest), len(objects))
    return None if place is None else At(one, place)


def _place(rest: str, num: int) -> int | None:
    """Return the position that `second from the right`, `third-newest`, `oldest`, `last` or `second-to-last` name."""
    if rest in _NUMBERS:
        return _within(_NUMBERS.index(rest), num)
    if rest == "last" or rest.endswith("-to-last"):
        nth = 0 if rest == "last" else _nth(rest.removesuffix("-to-last"))
        return None if nth is None else _within(num - 1 - nth, num)
    for words, from_end in ((_HIGH, True), (_LOW, False)):
        for word in words:
            if rest.endswith(word):
                nth = _nth(rest[: -len(word)].strip(" -"))
                return None if nth is None else _within(num - 1 - nth if from_end else nth, num)
    return None


def _nth(word: str) -> int | None:
    return 0 if not word else _NUMBERS.index(word) if word in _NUMBERS else None


def _within(place: int, num: int) -> int | None:
    return place if 0 <= place < num else None
