"""Sentences as these checks read them: content words by their lemmas' stems, negations and commas.

This is no parser. Where a sentence's words leave open what is negated (`not big or round`, `only`, `except`), it says
so, and whoever asks must not take that for an answer.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from critics.grammar.inflection import is_plural, singular
from critics.text.translators.function_words import FUNCTION_WORDS

NEGATIONS = frozenset(
    "not no never none neither nor nobody nothing nowhere cannot without unless false untrue".split()  # noqa: SIM905
)
_UNCLEAR = frozenset(
    """
    only except hardly scarcely barely rarely seldom few little non lack lacks fail fails deny denies refuse refuses
    instead rather otherwise doubt doubts
    """.split()  # noqa: SIM905
)
_JOINTS = frozenset({"and", "or", "nor", "but"})
_EMPTY = (
    FUNCTION_WORDS
    | NEGATIONS
    | frozenset(
        "thing things people person given following statement true true's case above based information".split()  # noqa: SIM905
        + "let us suppose assume either if then whether that's".split()  # noqa: SIM905
        + "me my your our their him her them lot lots longer year am s y".split()  # noqa: SIM905
    )
) - {"mine"}
MAX_CHARACTERS = 20_000
MIN_DOUBLED = 6
"""Letters of a word that may be mistyped with a letter doubled (`Brazillian`)."""
_DOUBLED = re.compile(r"([a-z])\1")
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?|[,;:]")
_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])|[\W_]+")
_TAG = re.compile(r"^\s*\[\w+\]")
"""FOLIO marks background knowledge with `[BG]`."""
_LAST_ASKED = re.compile(r"(?:\?|:)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `words` in order and lower case, and of each its stem, empty for words without content."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    commas: frozenset[int]
    """Positions of words right after a comma."""

    def negations(self) -> tuple[int, ...]:
        """Return the positions of the negations."""
        return tuple(i for i, word in enumerate(self.words) if word in NEGATIONS)

    def has_unclear_words(self) -> bool:
        """Say whether a word may negate, or may not."""
        return any(word in _UNCLEAR for word in self.words)

    def ranges_over_several(self) -> bool:
        """Say whether the words leave open what a negation covers: `not big or round`, `no cat and dog`."""
        negations = self.negations()
        for number, at in enumerate(negations):
            end = negations[number + 1] if number + 1 < len(negations) else len(self.words)
            part = self.words[at + 1 : end]
            if end < len(self.words) and _JOINTS & set(part[-2:]):
                part = part[:-2]
            stop = next((i for i, word in enumerate(part) if word in ("then", "if")), len(part))
            if self.words[at] not in ("neither", "unless") and _JOINTS & set(part[:stop]):
                return True
        return False


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a context, in order; lines end sentences as full stops do."""
    return tuple(sentence(part) for part in _BREAK.split(text[:MAX_CHARACTERS]) if _WORD.search(part))


def asked(question: str) -> Sentence | None:
    """Return the statement that a question asks about: what stands last, after `true or false?` and the like."""
    last = _LAST_ASKED.split(question[-MAX_CHARACTERS:].strip())[-1]
    found = sentences(last)
    return found[-1] if found else None


@lru_cache(maxsize=4096)
def sentence(text: str) -> Sentence:
    """Return one sentence taken apart."""
    words: list[str] = []
    commas: set[int] = set()
    for word in _words(_TAG.sub("", text)):
        if word in ",;:":
            commas.add(len(words))
        else:
            words.append(word.lower())
    stems = tuple("" if word in _EMPTY else stem(word) for word in words)
    return Sentence(tuple(words), stems, frozenset(commas))


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(_plain(text).replace("’", "'")):
        if word.lower() == "can't":
            yield "cannot"
        elif word.endswith("n't"):
            yield from ([word[:-3]] if word[:-3] else []) + ["not"]
        else:
            yield word.removesuffix("'s") or word


def squashed(text: str) -> str:
    """Return the letters and digits alone, in lower case."""
    return "".join(character for character in text.lower() if character.isalnum())


@lru_cache(maxsize=16384)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a symbol in lower case: `FormedIn`, `formed_in` and `formed-in` have the same."""
    return tuple(word for part in _HUMP.split(_plain(name)) if (word := part.lower()))


def _plain(text: str) -> str:
    """Return a text without accents: a model writes `ruda_slaska` of `Ruda Śląska`."""
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


@lru_cache(maxsize=16384)
def name_stems(name: str) -> tuple[str, ...]:
    """Return the stems of those of a symbol's words that have content; of all of them where none has."""
    words = name_words(name)
    told = [stem(word) for word in words if word not in _EMPTY]
    return tuple(told) or tuple(map(stem, words))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return what the forms of a noun, a verb or an adjective share: `chases`, `chased` and `chasing` have one stem."""
    word = word.lower()
    found = stem_by_rule(_irregular().get(word, word))
    return _DOUBLED.sub(r"\1", found) if len(found) >= MIN_DOUBLED else found


def stem_by_rule(word: str) -> str:
    """Return a word's stem without a look into the dictionary."""
    if len(word) > 2 and is_plural(word):
        word = singular(word)
    for suffix in ("ing", "ed", "ly"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            if suffix != "ly" and word[-1] == word[-2] and word[-1] not in "aeiolsz":
                word = word[:-1]
            break
    is_cut = word.endswith(("e", "i")) or (word.endswith("y") and word[-2:-1] not in tuple("aeiou"))
    return word[:-1] if is_cut and len(word) >= 4 else word


@lru_cache(maxsize=1)
def _irregular() -> dict[str, str]:
    """Return lemmas by forms of verbs."""
    text = (Path(__file__).parent / "verbs.txt").read_text(encoding="utf-8")
    return dict(line.split(" ", 1) for line in text.splitlines())
