"""Words of sentences and of symbols, by the stems of their lemmas. This is no parser: it compares words, and bars."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from critics.grammar.inflection import is_plural, singular
from critics.text.translators.translation import FUNCTION_WORDS

NEGATIONS = frozenset(
    "not no never none neither nor nobody nothing nowhere cannot without unless false untrue".split()  # noqa: SIM905
)
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
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
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
    words = [word.lower() for word in _words(_TAG.sub("", text))]
    return Sentence(tuple(words), tuple("" if word in _EMPTY else stem(word) for word in words))


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
