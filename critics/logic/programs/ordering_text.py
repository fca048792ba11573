"""LogicalDeduction's sentences (BIG-bench): objects in a row, compared with each other or at a place.

Positions count from 0 at the left, oldest, cheapest or first. A text with any other sentence is not read at all, nor is
one that speaks of two scales (age and price), which are two orders.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches


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
_PREAMBLE = re.compile(
    r"(?:The following paragraphs(?: each describe a set of \w+ objects arranged in a fixed order)?"
    r"|\w+ objects(?: are)? in a fixed order)\."
    r"(?: The statements are logically consistent within each paragraph\.)?\s+"
)
"""BIG-bench's; a premise in its place is not read, and then nothing is."""
_BEFORE = {
    "to the left of": "place", "older than": "age", "less expensive than": "price", "cheaper than": "price",
    "above": "rank",
}  # fmt: skip
_AFTER = {"to the right of": "place", "newer than": "age", "more expensive than": "price", "below": "rank"}
_LOW = {
    "leftmost": "place", "oldest": "age", "cheapest": "price", "least expensive": "price", "from the left": "place",
}  # fmt: skip
_HIGH = {"rightmost": "place", "newest": "age", "most expensive": "price", "from the right": "place"}
"""Ends of the row, with the scale that each is of."""
_LIST = re.compile(r": (?P<objects>[^.:]+)\.")
_SENTENCE = re.compile(r"(?P<object>.+?) (?:is|are|finished|was|were) (?P<rest>.+)")


@dataclass(frozen=True, slots=True)
class Ordering:
    """The objects, what the text says of their order, and what each option says."""

    objects: tuple[str, ...]
    statements: tuple[Claim, ...]
    options: tuple[Claim, ...]
    scale: str

    def place_of(self, words: str) -> int | None:
        """Return the position that words such as `oldest` or `last` name; None where they are of another scale."""
        scales: set[str] = set()
        found = _place(words.lower(), len(self.objects), scales)
        return found if scales <= {self.scale, "rank"} else None


def read_ordering(context: str, options: Sequence[str]) -> Ordering | None:
    """Read a problem's context and options; None where a sentence is not of this language."""
    text = context.strip()
    preamble = _PREAMBLE.match(text)
    body = text[preamble.end() :] if preamble else text
    listed = _LIST.search(body)
    if listed is None or "." in body[: listed.start()]:
        # Attack: put a premise into a paragraph that is not read.
        return None
    objects = tuple(_plain(part) for part in re.split(r", and |, | and ", listed["objects"]) if part.strip())
    sentences = [sentence for sentence in re.split(r"\.\s*", body[listed.end() :]) if sentence.strip()]
    scales: set[str] = set()
    claims = [_claim(sentence, objects, scales) for sentence in sentences]
    said = [_claim(re.sub(r"^\(?[A-Za-z]\)\s*", "", option).rstrip("."), objects, scales) for option in options]
    if len(set(objects)) < len(objects) or len(scales) > 1 or None in claims or None in said:
        return None
    return Ordering(objects, tuple(c for c in claims if c), tuple(c for c in said if c), next(iter(scales), "rank"))


def is_claimed(sentence: str, context: str, options: Sequence[str]) -> bool | None:
    """Say whether a sentence says what the context or an option says, if in other words; None: it is not read."""
    read = read_ordering(context, options)
    if read is None:
        return None
    known = [word for each in read.objects for word in each.split()]
    # The data set writes `motorcyle`, models `motorcycle`.
    words = (" ".join(get_close_matches(word, known, 1, 0.9)) or word for word in sentence.rstrip(".").split(" "))
    said = _claim(re.sub(r"^\(?[A-Za-z]\)\s*", "", " ".join(words)), read.objects, set())
    return None if said is None else said in (*read.statements, *read.options)


def _plain(text: str) -> str:
    return re.sub(r"^(?:an?|the) ", "", text.strip().lower())


def _claim(sentence: str, objects: Sequence[str], scales: set[str]) -> Claim | None:
    """Read one sentence, and add the scale that it speaks of."""
    found = _SENTENCE.fullmatch(sentence.strip())
    if found is None or _plain(found["object"]) not in objects:
        return None
    one, rest = _plain(found["object"]), found["rest"].strip().lower()
    for words, comes_before in ((_BEFORE, True), (_AFTER, False)):
        for word, scale in words.items():
            if rest.startswith(f"{word} ") and (other := _plain(rest[len(word) :])) in objects:
                scales.add(scale)
                return Before(one, other) if comes_before else Before(other, one)
    place = _place(re.sub(r"^the ", "", rest), len(objects), scales)
    return None if place is None else At(one, place)


def _place(rest: str, num: int, scales: set[str]) -> int | None:
    """Return the position that `second from the right`, `third-newest`, `oldest`, `last` or `second-to-last` name."""
    if rest in _NUMBERS:
        scales.add("rank")
        return _within(_NUMBERS.index(rest), num)
    if rest == "last" or rest.endswith("-to-last"):
        scales.add("rank")
        nth = 0 if rest == "last" else _nth(rest.removesuffix("-to-last"))
        return None if nth is None else _within(num - 1 - nth, num)
    for words, from_end in ((_HIGH, True), (_LOW, False)):
        for word, scale in words.items():
            if rest.endswith(word):
                scales.add(scale)
                nth = _nth(rest[: -len(word)].strip(" -"))
                return None if nth is None else _within(num - 1 - nth if from_end else nth, num)
    return None


def _nth(word: str) -> int | None:
    return 0 if not word else _NUMBERS.index(word) if word in _NUMBERS else None


def _within(place: int, num: int) -> int | None:
    return place if 0 <= place < num else None
