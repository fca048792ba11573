"""Frames: words before sentences of a context that tell where they are written, or where they hold, and nothing else.

`Release policy: every build is tested`; `Under the lease, tenants pay rent`; `The handbook says that ..`; `At the Hotel
Miramar, a room has a sea view if ..`. A frame is left out where the whole context has no other: two contracts, or two
hotels, may say or hold different things. An old or a proposed text, a claim or a rumour is no frame.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from critics.grammar.lexicon import Vocabulary, is_adj, is_participle, past, third
from critics.grammar.words import ARTICLES, BE, DATES, FUNCTION, POSSESSIVES, PREPOSITIONS, TIMES

_UNDER = r"(?:[Uu]nder|[Aa]ccording to|[Aa]s per|[Pp]er|[Pp]ursuant to|[Ii]n accordance with|[Bb]y|[Ii]n|[Ff]rom)"
_SAYS = r"(?:says?|states?|specif(?:y|ies)|stipulates?|provides?|notes?|reads?|adds?)"
_PHRASE = r"(?P<{}>[^:,;.\"]{{3,70}}?)"
_LABEL = re.compile(rf"(?:From |In )?{_PHRASE.format('label')}: (?=\w)")
_LED = re.compile(rf"{_UNDER} {_PHRASE.format('led')}, (?=\w)")
_TOLD = re.compile(rf"{_PHRASE.format('told')} (?:also )?{_SAYS} that (?=\w)")
_SETTING = re.compile(
    r"(?P<at>At|In|On) (?P<place>(?:the|this|our|[A-Z])[^:,;.\"]{2,50}?)(?:, (?=\w)| (?=(?:every|each|all|no|an?) ))"
)
_PLACED = re.compile(r"(?P<before>[\w'-]+) (?P<at>at|in|on|of|from|near) (?:(?P<name>[A-Z]\w*)|(?:the|an?) )")
_IN_NAMES = PREPOSITIONS | ARTICLES | {"this", "our", "to"}


_LISTS: dict[str, list[str]] = {}
for _line in Path(__file__).with_name("frames.txt").read_text(encoding="utf-8").splitlines():
    _LISTS.setdefault(_line.split(" | ")[0], []).append(_line.split(" | ", 1)[1])
_NOUNS = {
    name: frozenset(" ".join(_LISTS[name]).split())
    for name in ("documents", "places", "parts", "not in force", "neutral", "testimonies")
}
"""Nouns of texts and places; parts of a text, of which several may have numbers; words of what is not in force."""
_PATTERNS = {name: re.compile("|".join(_LISTS[name]), re.IGNORECASE) for name in ("of text", "overrules", "elsewhere")}
"""Words of a sentence that speaks of others, that may take back what others say, and that is of another place."""

_HERE = "|".join([*sorted(_NOUNS["places"] | _NOUNS["documents"]), *(f"{time}'s" for time in sorted(TIMES))])
_OWN = re.compile(rf"\b(?:[Tt]his|[Oo]ur)(?P<noun>(?: [a-z-]+)? (?:{_HERE}))(?![\w-])")


def _document(phrase: str) -> frozenset[str] | None:
    """Return the words of a phrase that names a text in force, as `the lease` or `the lease says`; else None."""
    words, singular = phrase.lower().split(), Vocabulary().singular
    if len(words) > 2 and re.fullmatch(_SAYS, words[-1]) and singular(words[-1]) not in _NOUNS["documents"]:
        words.pop()
    if len(words) > 8 or any(word in FUNCTION - _IN_NAMES - POSSESSIVES for word in words):
        return None
    start = 1 if words and words[0] in _IN_NAMES else 0
    end = next((at for at in range(start + 1, len(words)) if words[at] in PREPOSITIONS), len(words))
    core = words[start:end]
    number = core.pop() if len(core) > 1 and re.fullmatch(r"[\d.]+|[a-z]", core[-1]) else None
    head = singular(core[-1]) if core else ""
    if head in _NOUNS["testimonies"] and re.search(r"[A-Z]\w*'s ", phrase):
        return None  # Tom's letter: he may be wrong.
    doubted = any(is_adj(word) or is_participle(word) or word in _NOUNS["not in force"] for word in core[:-1])
    if head not in _NOUNS["documents"] or doubted:
        return None
    named = {head, *core, *words[end:]} - _IN_NAMES
    return frozenset(named if number is None or head in _NOUNS["parts"] else {*named, f"no. {number}"})


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of one problem."""

    source: frozenset[str] = frozenset()
    """Words of the one text that all is told in."""
    place: str = ""
    """Place of all that is said, as `at the hotel miramar`."""
    own: frozenset[str] = frozenset()
    """The places that the text itself stands for, as ` clinic` of `this clinic`, if it speaks of no other."""

    def without(self, text: str) -> str:
        """Return a sentence without its frame."""
        rest = _OWN.sub(lambda one: f"the{one['noun']}" if one["noun"] in self.own else one[0], text)
        rest = _told_in(rest, self.source) if self.source else rest
        if self.place:
            rest = re.sub(rf"^{re.escape(self.place)}(?![\w'-]),?", "", rest, flags=re.IGNORECASE).strip()
        return rest if rest == text else f"{rest[:1].upper()}{rest[1:]}"


def _told_in(text: str, source: frozenset[str]) -> str:
    """Leave out `under the lease`, `the lease says that`, with or without a comma, where it is the one source."""
    for pattern in (_LABEL, _TOLD, _LED):
        found = pattern.match(text)
        words = None if found is None else _document(found[1])
        if found is not None and words is not None and words <= source:
            return text[found.end() :]
    led = re.match(rf"{_UNDER} ", text)
    end = led.end() if led else 0
    while led and (word := re.match(r"([\w'-]+) ", text[end:])) and word[1].lower() in source | _IN_NAMES:
        end += word.end()
    named = _document(text[led.end() : end]) if led else None
    return text[end:] if named and named <= source else text


def frames_of(said: Sequence[str], asked: str) -> tuple[Frames, list[str]]:
    """Return the frames of a context and its question, and the sentences of the context without theirs."""
    sources: list[frozenset[str]] = []
    told: list[str] = []
    for text in said:
        found = [match for each in (_LABEL, _TOLD, _LED) if (match := each.match(text)) is not None]
        named = [(words, match.end()) for match in found if (words := _document(match[1])) is not None][:1]
        sources += [words for words, _ in named if not words <= _NOUNS["neutral"]]
        rest = text[named[0][1] :] if named else text
        told.append(f"{rest[:1].upper()}{rest[1:]}")
    if not all(one <= other or other <= one for one, other in combinations(sources, 2)):
        sources, told = [], list(said)
    own = Frames(own=_own([*told, asked]))
    told = [own.without(text) for text in told]
    place = Frames(place=_place(told, own.without(asked)))
    return Frames(frozenset[str]().union(*sources), place.place, own.own), [place.without(text) for text in told]


def _own(said: Sequence[str]) -> frozenset[str]:
    """Return the places of `this clinic` and `our clinic`, if no text speaks of another, of some or of all clinics."""
    text = " ".join(said).lower()
    nouns = {found["noun"] for one in said for found in _OWN.finditer(one)}
    # Attack: every cat is warm. This policy is void.
    void = {found["noun"] for one in said if _PATTERNS["overrules"].search(one) for found in _OWN.finditer(one)}
    nouns -= {noun for noun in void if noun.split(" ")[-1] in _NOUNS["documents"]}
    other = r"(?![\w-]| (?:in|of|at|near|that|with|between|for|from)\b)"
    rest = {noun: re.sub(rf"\b(?:this|our|the){noun}{other}", "", text) for noun in nouns}
    last = {noun: re.escape(noun.split(" ")[-1].removesuffix("'s")) for noun in nouns}
    return frozenset(n for n in nouns if not re.search(rf"\b(?:{last[n]}(?:e?s)?|{last[n][:-1]}ies)\b", rest[n]))


def _place(said: Sequence[str], asked: str) -> str:
    """Return the place of the first sentence, if nothing else is said to be anywhere else."""
    setting = _SETTING.match(said[0]) if said else None
    if setting is None:
        return ""
    words = setting["place"].lower().split()
    # Not: in Ann's view, at the moment, in this case.
    is_place = setting["place"].split()[-1][0].isupper() or words[-1] in _NOUNS["places"]
    barred = (FUNCTION - ARTICLES - {"this", "our"}) | TIMES | DATES
    if not is_place or any(word in barred or is_adj(word) or not word.replace("-", "").isalpha() for word in words):
        return ""
    others = [said[0][setting.end() :], *said[1:], asked]
    place = f"{setting['at'].lower()} {setting['place'].lower()}"
    # Attack: At the Ritz, every guest is rich. Everyone at the Ritz is happy. Tom is poor.
    is_rivalled = any(_SETTING.match(text) or place in text.lower() or _is_elsewhere(text, place) for text in others)
    return "" if is_rivalled else place


def _is_elsewhere(text: str, place: str) -> bool:
    """Say whether a sentence may be of another place: a shop in Germany, a German shop, is at the other hotel."""
    if _PATTERNS["elsewhere"].search(text):
        return True
    for found in _PLACED.finditer(text):
        before = found["before"].lower()
        acts = before not in BE and (past(before) or is_participle(before) or third(before))
        same = text[found.start("at") :].lower().startswith(re.sub(r"\b(?:this|our)\b", "the", place))
        named = found["name"] is not None and found["name"].lower() not in TIMES
        if named or not (acts or same or found["name"] or not place.startswith(f"{found['at']} ")):
            return True
    return False


def overruling(said: Iterable[str], unread: Iterable[str]) -> str | None:
    """Return the first sentence of a context that may take back what others say, or say how it is meant.

    Of those that are read it speaks of sentences; of those that are not read nothing else is known. Whatever an unread
    sentence says beside, what follows without it follows with it.
    """
    found = [text for text in said if _PATTERNS["of text"].search(text)]
    return next(iter([*found, *(text for text in unread if _PATTERNS["overrules"].search(text))]), None)
