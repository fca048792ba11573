"""The closed lists of phrases by which models lead statements in, join, cite and judge them: `phrases.txt`, compiled.

`rewordings.txt` has sentences in other words, in which the lists find what they know; `individuals.txt` has names.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ANY_CASE = re.IGNORECASE
DENYING_RULES = re.compile(r"modus tollens|contrapositi(?:on|ve)|reductio", ANY_CASE)
"""Rules by whose names a denial is inferred."""
_HEAD = re.compile(r"\[(?P<name>[A-Z_]+)(?P<each> each)?(?P<cased> cased)?\]")
_PART = re.compile(r"<(?P<name>[A-Z]\w+)> (?P<pattern>.+)")
_parts: dict[str, str] = {}


def _lines(name: str) -> Iterator[str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _spelled(pattern: str) -> str:
    return re.sub(r"<([A-Z]\w+)>", lambda name: _parts[name[1]], pattern)


def _read() -> Iterator[tuple[str, tuple[re.Pattern[str], ...]]]:
    """Yield the sections of `phrases.txt`: one pattern of all alternatives, or one for each."""
    sections: list[tuple[re.Match[str], list[str]]] = []
    for line in (*_lines("phrases.txt"), *_lines("individuals.txt")):
        if (part := _PART.fullmatch(line)) is not None:
            _parts[part["name"]] = _spelled(part["pattern"])
        elif (head := _HEAD.fullmatch(line)) is not None:
            sections.append((head, []))
        else:
            sections[-1][1].append(_spelled(line.strip()))
    for head, listed in sections:
        flags = re.RegexFlag(0) if head["cased"] else ANY_CASE
        yield head["name"], tuple(re.compile(each, flags) for each in (listed if head["each"] else ["|".join(listed)]))


_LISTS = dict(_read())


def _patterns(names: str) -> list[re.Pattern[str]]:
    return [_LISTS[name][0] for name in names.split(" ")]


(LEADS, CONCLUDES, INFERS, QUOTES, GIVENS, SHOWN, TAGS, DENIALS, FILLERS, AIMS, QUESTION_LEADS, PLAN) = _patterns(
    "LEADS CONCLUDES INFERS QUOTES GIVENS SHOWN TAGS DENIALS FILLERS AIMS QUESTION_LEADS PLAN"
)
(AIM_ENDS, REASONS, BECAUSE, SO, CITES, CITED, ANSWERS, ABOUT, YES, UNDECIDED, EXHAUSTED, ASSUMES) = _patterns(
    "AIM_ENDS REASONS BECAUSE SO CITES CITED ANSWERS ABOUT YES UNDECIDED EXHAUSTED ASSUMES"
)
(CONTRADICTION, SINCE, CONNECTIVE, KNOWS, FROM, STATES, BEHIND, AIM, GIVEN, REFUTED, CONTRADICTS, FILLER) = _patterns(
    "CONTRADICTION SINCE CONNECTIVE KNOWS FROM STATES BEHIND AIM GIVEN REFUTED CONTRADICTS FILLER"
)
(JOINTS, APPOSITIVE, QUOTED, TOPIC, ASKED, IDLE, ABOUT_TEXT, APPLIES, DOUBTS, DOING, BETWEEN, LINKED) = _patterns(
    "JOINTS APPOSITIVE QUOTED TOPIC ASKED IDLE ABOUT_TEXT APPLIES DOUBTS DOING BETWEEN LINKED"
)
(BEING, OF_NAME, TOPIC_LEADS, OF_TEXT, DENIES, OWN_ANSWER, EVERY, IS_KIND, KIND, STATED, NUMBERS, REWORDS) = _patterns(
    "BEING OF_NAME TOPIC_LEADS OF_TEXT DENIES OWN_ANSWER EVERY IS_KIND KIND STATED NUMBERS REWORDS"
)
(COMMENT, HEADINGS, OF_STATEMENT, ASKS_OF, SPOKEN_OF, KNOWN_OF, VOUCHED, ONE_OF, GIVEN_LAST) = _patterns(
    "COMMENT HEADINGS OF_STATEMENT ASKS_OF SPOKEN_OF KNOWN_OF VOUCHED ONE_OF GIVEN_LAST"
)
JUDGED, SETTLED, SETTLES, UNUSED, NO_SOURCE, NEEDS, NAMINGS = map(
    _LISTS.__getitem__, ["JUDGED", "SETTLED", "SETTLES", "UNUSED", "NO_SOURCE", "NEEDS", "NAMINGS"]
)
SOURCE, THING, NAME, WE, MANNER, NOUNS, WORDS = map(
    _parts.__getitem__, ["Source", "Thing", "Name", "We", "Manner", "Nouns", "Words"]
)
REWORDED = tuple(
    (re.compile(_spelled(pattern)), form.strip())
    for pattern, form in zip(*(list(_lines("rewordings.txt"))[start::2] for start in (0, 1)), strict=True)
)
"""Patterns of whole pieces of sentences, and the same in words that the lists know; `{name}` is a group."""
ORDINALS = {word: at for at, word in enumerate(_parts["Ordinal"].removeprefix("(?:").split("|")[:20], 1)}
VALUES = {
    "true": "true", "correct": "true", "certain": "true", "valid": "true", "false": "false", "incorrect": "false",
    "wrong": "false", "not true": "false", "not the case": "false", "untrue": "false", "uncertain": "unknown",
    "unknown": "unknown", "undetermined": "unknown", "not certain": "unknown", "unclear": "unknown",
}  # fmt: skip
NO_VALUE = {
    "uncertain": "unknown", "undetermined": "unknown", "undecided": "unknown", "neither true nor false": "unknown",
    "correct": "true", "incorrect": "false", "not true": "false", "not false": "true", "not correct": "false",
    "not valid": "invalid",
}  # fmt: skip
