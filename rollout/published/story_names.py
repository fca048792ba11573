"""Names that a DeontiQA story gives to the objects of its Peano source, so that its reader can use them.

A story starts by listing its people, events, patients and so on, as a rule in the order of the source. The lists
are believed where they are as long as the source's, where the question then names the objects of the goal, and most
facts have a sentence that names theirs. (Not all: some stories leave facts of their source out.) Otherwise all
names stay those of the source.
"""

import re
from collections.abc import Iterable, Mapping

from critics.replay.formula import MAX_NAME_LENGTH, NAME, RESERVED_NAMES, Literal, subterms

_SENTENCE_START = re.compile(r"(?:^|\s)\d+- ")
_LIST = re.compile(r"(?P<lead>[^:]+): (?P<items>[^:]+)\.")
_COMMA = re.compile(r",? and |, ")
_QUOTED = re.compile(r'"([^"]+)"')
_BEFORE_NAME = re.compile(r"\b(?:an?|the|Professor|Prof\.|Dr\.|Doctor|Manager|Patient|Paramedic|Nurse) ")
_SORTS = {
    "events": "event",
    "healthcare professionals": "healthcare-professional",
    "patients": "patient",
    "equipment": "equipment",
}
"""The sort of what a sentence lists, by words before the colon; what has none of them lists people."""
_EMPTY_WORDS = frozenset({"a", "event", "new", "of", "on", "the"})
"""Words of names that other objects share."""


def story_names(
    story: str, question: str, objects: Mapping[str, str], facts: Iterable[Literal], goal: Literal, taken: Iterable[str]
) -> dict[str, str]:
    """Return the story's name for each object that has one; empty where the story is not plainly in order.

    `objects` are the source's names with their sorts; `taken` are symbols that no object may be called.
    """
    sentences = [part for part in _SENTENCE_START.split(story) if part]
    names = {**_listed(sentences, objects), **_quoted(sentences, objects)}
    if len(set(names.values()) - set(taken)) < len(names) or not all(map(_is_name, names.values())):
        return {}
    told = [any(_mentions(text, fact, names) for text in sentences) for fact in facts]
    return names if 2 * sum(told) > len(told) and _mentions(question, goal, names) else {}


def _listed(sentences: list[str], objects: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for match in filter(None, map(_LIST.fullmatch, sentences)):
        sort = next((sort for words, sort in _SORTS.items() if words in match["lead"]), "person")
        members = [name for name, its in objects.items() if its == sort]
        items = _COMMA.split(match["items"])
        if len(items) == len(members):
            names.update(zip(members, map(_symbol, items), strict=True))
    return names


def _quoted(sentences: list[str], objects: Mapping[str, str]) -> dict[str, str]:
    """Groups are introduced one by one, in quotes."""
    groups = [name for name, sort in objects.items() if sort == "group"]
    quoted = list(dict.fromkeys(name for text in sentences for name in _QUOTED.findall(text)))
    return dict(zip(groups, map(_symbol, quoted), strict=True)) if len(groups) == len(quoted) else {}


def _symbol(item: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", _BEFORE_NAME.sub("", item).lower()).strip("-")


def _is_name(symbol: str) -> bool:
    return NAME.fullmatch(symbol) is not None and len(symbol) <= MAX_NAME_LENGTH and symbol not in RESERVED_NAMES


def _mentions(text: str, literal: Literal, names: Mapping[str, str]) -> bool:
    """Say whether a word of each renamed object's name is in the text."""
    words = set(_symbol(text).split("-"))
    renamed = [names[term] for term in subterms(literal) if isinstance(term, str) and term in names]
    return not any(words.isdisjoint(set(name.split("-")) - _EMPTY_WORDS) for name in renamed)
