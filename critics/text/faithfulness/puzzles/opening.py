"""Puzzles as their text sets them up: the things, the places, and how many of one go into the other.

The opening of a text is free English and read by cues: lists, numbers, `one at a time`. A text is not read where a
number, or a word that may restrict something, belongs to none of these cues.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from critics.text.faithfulness.english import stem

NUMBERS: Sequence[str] = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
ORDINALS: Sequence[str] = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
HOW = {"exactly": "eq", "at least": "ge", "at most": "le", "no more than": "le", "more than": "gt", "fewer than": "lt",
       "no fewer than": "ge", "only": "eq"}  # fmt: skip
"""Comparisons by their words."""
Counted = tuple[str, int]
"""A comparison and a number: `("ge", 2)` is `at least two`."""
_COUNT = rf"(?:(?P<how>{'|'.join(HOW)}) )?(?P<number>{'|'.join(NUMBERS)})"
_CAPACITIES = (
    re.compile(
        rf"(?:, )?(?:and |with )?{_COUNT} (?:of the )?(?P<thing>\w+) (?:[a-z]+ ){{0,5}}?"
        r"(?:each|every|per) (?:of the \w+ )?(?P<place>\w+)"
    ),
    re.compile(
        r"(?:, )?(?:and |with )?(?:each|every) (?P<place>\w+) (?:[a-z]+ ){1,5}?"
        rf"{_COUNT} (?:of the (?:\w+ )?)?(?P<thing>\w+)"
    ),
)
MAX_THINGS = 10
_ITEM = r"(?:(?:an?|the) )?[\w.'’-]+(?: [\w.'’-]+){0,2}?"
_LIST = re.compile(rf"(?:—|–|--|: )({_ITEM}(?:, {_ITEM})*,? (?:and|or) {_ITEM})(?=—|–|--|[.;,]|$)")
_RANGE = re.compile(
    r"(?:\bfrom )?\b(?:(?P<noun>[a-z]+) )?(?P<first>\w+)(?: \(\w+\))? (?:through|to) (?:(?P=noun) )?(?P<last>\w+)\b"
)
_PLAIN = (
    r"(?!(?:other|another|if|unless|except|before|after|next|adjacent|least|most|more|fewer|some|any|only|first|last|not"
    r"|who|that|which|whose|beside|between)\b)\w+"
)
"""A word within a cue. Attack: `no two boys sit next to each other`."""
_ONE_EACH = re.compile(
    r"one (?:\w+ )?at a time|one after another|(?:in|of) (?:which|what) order|the order in which|consecutively|in order"
    rf"|no two (?:{_PLAIN} ){{1,9}}?(?:at the same time|overlap|simultaneously|concurrently|the same \w+)"
    rf"|(?:each|every) (?:{_PLAIN} ){{0,7}}?(?:exactly )?once|(?:on |in |at |to )?an? different (?:one )?\w+"
    r"|(?:exactly )?one \w+ (?:each|per) \w+|exactly one \w+ (?:\w+ ){0,3}each \w+|one (?:each|per) \w+"
    r"|(?:one|exactly one) (?:in|on|at|to|per) each \w+|from first to last|sequentially|in some order|no ties"
    rf"|(?:though |but )?not (?:necessarily )?in that order|(?:nor is any|no) \w+ (?:{_PLAIN} ){{0,3}}more than once"
    rf"|no (?:other )?\w+ (?:{_PLAIN} )*?(?:simultaneously|concurrently|at the same time)(?: as any other \w+)?"
)
"""Cues of one thing in each place."""
_SINGLE = re.compile(r"(?:exactly|only|just) (?:one|once)|once|one piece|one of|one each|one per")
_RESTRICTING = re.compile(
    r"\b(?:if|unless|except|before|after|earlier|later|not|never|cannot|no|none|neither|nor|least|most|more|fewer|than"
    r"|same|different|immediately|some|another|other|between|first|last|adjacent|next|only|any|either|both|pairs?|half)\b"
)
_JOINING = frozenset({"and", "or", "but"})
_ABOUT = re.compile(
    r"(?:condition|constraint|restriction|rule|requirement|specification|following|apply|applies|fact)s?$"
)
"""Words about conditions. Attack: ask what could be true if a condition does not apply."""
_CONDITIONS = re.compile(
    r"[^.:]*\b(?:condition|constraint|restriction|rule|requirement|specification|following|known|facts?)s?\b[^.:]*[:.]\s+"
)
_BREAK = re.compile(r"(?<=[.!?])(?<!Mr\.)(?<!Ms\.)(?<!Dr\.)(?<!Mrs\.)\s+(?=[A-Z])|(?<=[.!?])\s*$")


@dataclass(frozen=True, slots=True)
class Puzzle:
    """Things and places by their names, the sentences of the conditions, and the stems of the rest."""

    things: tuple[str, ...]
    places: tuple[str, ...]
    is_ordered: bool
    """Places come one after another."""
    is_one_each: bool
    """No two things are at one place."""
    capacities: tuple[Counted, ...]
    """Number of things that each place has."""
    conditions: tuple[str, ...]
    stems: frozenset[str]


def read_puzzle(context: str) -> Puzzle | None:
    """Read a text's opening; None where it sets up something else, or says more than the cues tell."""
    text = " ".join(context.split())
    opening, conditions = _parted(text)
    if not conditions:
        return None
    lists = [tuple(_item(part) for part in re.split(r",? (?:and|or) |, ", found)) for found in _LIST.findall(opening)]
    unlisted = _LIST.sub(" ", opening)
    if not 1 <= len(lists) <= 2 or any(len(set(each)) < len(each) for each in lists):
        return None
    if any(re.search(rf"\b{re.escape(name)}\b", unlisted) for each in lists for name in each):
        # What is said of some of them is a condition.
        return None
    bare = unlisted.lower()
    words = re.findall(r"[a-z]+", bare)
    said = [word for word in words if not _RESTRICTING.search(word) and word not in _JOINING and not _ABOUT.match(word)]
    stems = frozenset(stem(word) for word in said if _number(word) is None)
    if len(lists) == 2:
        heads = [stem(re.findall(r"\w+", opening[: found.start()])[-1]) for found in _LIST.finditer(opening)]
        return _in_named_places(dict(zip(lists, heads, strict=False)), bare, conditions, stems)
    places, bare = _row(len(lists[0]), bare)
    found = Puzzle(lists[0], places, True, True, (), conditions, stems)
    cues = _ONE_EACH.sub(" ", bare)
    is_row = cues != bare and len(places) == len(lists[0])
    return found if is_row and _is_plain(cues, {len(places)}) and 2 < len(places) <= MAX_THINGS else None


_CUE = re.compile(r"(?:there are no ties|(?:the )?\w+ (?:\w+ ){1,2}one at a time)\.?", re.IGNORECASE)
"""A condition that belongs to the opening."""


def _parted(text: str) -> tuple[str, tuple[str, ...]]:
    """Return what comes before the conditions, with the sentence that announces them, and the conditions."""
    announced = [found for found in _CONDITIONS.finditer(text) if found.group().rstrip().endswith(":")]
    end = announced[-1].end() if announced else 0
    sentences = [each for each in _BREAK.split(text[end:]) if each.strip()]
    cues = [each for each in sentences if _CUE.fullmatch(each)]
    return " ".join([text[:end], *cues]), tuple(each for each in sentences if each not in cues)


def _item(text: str) -> str:
    return re.sub(r"^(?:an?|the|one (?:for|of|in|on|by)) ", "", text.strip())


def _row(num: int, bare: str) -> tuple[tuple[str, ...], str]:
    """Return the places of a row: days or months where the text names their range, else numbers; and the text left."""
    for found in _RANGE.finditer(bare):
        first, last = found["first"], found["last"]
        for names in (_DAYS, _MONTHS):
            if first in names and last in names:
                return tuple(names[names.index(first) : names.index(last) + 1]), bare.replace(found.group(), " ")
        begin, end = (_number(word) for word in (first, last))
        if begin == 1 and end is not None:
            return tuple(str(i + 1) for i in range(end)), bare.replace(found.group(), " ")
    return tuple(str(i + 1) for i in range(num)), bare


def _number(word: str) -> int | None:
    digits = re.fullmatch(r"(\d+)(?:st|nd|rd|th)?", word)
    if digits:
        return int(digits[1])
    return next((names.index(word) + 1 for names in (NUMBERS, ORDINALS) if word in names), None)


def _is_plain(cues: str, sizes: set[int]) -> bool:
    """Say whether an opening without its cues says nothing more than numbers that are known."""
    rest = re.sub(r"[^.]*\bfollowing\b[^.:]*:", lambda m: re.sub(r"\bfollowing\b", "", m.group()), cues)
    rest = _SINGLE.sub(" ", rest)
    numbers = {number for word in re.findall(r"\w+", rest) if (number := _number(word)) is not None}
    return numbers <= sizes and not _RESTRICTING.search(rest)


def _in_named_places(
    heads: Mapping[tuple[str, ...], str], bare: str, conditions: tuple[str, ...], stems: frozenset[str]
) -> Puzzle | None:
    """Read `each of the things is in exactly one of the places`; `heads` are the nouns before the lists."""
    if len(heads) != 2 or not re.search(r"\b(?:each|every)\b[^.]*\b(?:exactly |only )?one\b", bare):
        return None
    things, places = sorted(heads, key=len, reverse=True)
    if len(things) == len(places) or len(things) > MAX_THINGS:
        return None
    capacities: list[Counted] = []

    def counted(found: re.Match[str]) -> str:
        if {stem(found["thing"]), stem(found["place"])} != {heads[things], heads[places]}:
            return found[0]
        number = _number(found["number"])
        assert number is not None
        capacities.append((HOW[found["how"] or "exactly"], number))
        return " "

    for pattern in _CAPACITIES:
        bare = pattern.sub(counted, bare)
    closing = re.sub(r"\bonly [\w ]+?(?= on | in | to )", " ", bare)
    if not _is_plain(closing, {len(things), len(places)}):
        return None
    is_ordered = all(place.lower() in _DAYS for place in places) or all(place.lower() in _MONTHS for place in places)
    return Puzzle(things, places, is_ordered, False, tuple(capacities), conditions, stems)
