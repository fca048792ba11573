"""Sentences as these checks read them: content words by their stems, and negations with what they stand before.

This is no parser. Where a sentence's words leave open what is negated (`not big or round`, `only`, `except`), it says
so, and whoever asks must not take that for an answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from critics.inflection import is_plural, singular
from critics.translators.function_words import FUNCTION_WORDS

NEGATIONS = frozenset(
    "not no never none neither nor nobody nothing nowhere cannot without unless false untrue".split()  # noqa: SIM905
)
ADJACENT = frozenset({"not", "never", "cannot"})
"""Negations that stand before what they deny: `not big`, `does not chase`; `no` stands before a subject instead."""
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
    )
)
MAX_CHARACTERS = 20_000
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_LAST_ASKED = re.compile(r"(?:\?|:)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `words` in order and lower case; `stems` of the same length, empty for words without content."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    squashed: str
    """All letters and digits without what stands between them."""

    def negations(self) -> tuple[int, ...]:
        """Return the positions of the negations."""
        return tuple(i for i, word in enumerate(self.words) if word in NEGATIONS)

    def denied(self) -> frozenset[str]:
        """Return the stems that a negation stands right before, words without content apart."""
        found: set[str] = set()
        for at in self.negations():
            if self.words[at] in ADJACENT:
                after = next((stem for stem in self.stems[at + 1 :] if stem), None)
                found |= set() if after is None else {after}
        return frozenset(found)

    def has_unclear_words(self) -> bool:
        """Say whether a word may negate, or may not."""
        return any(word in _UNCLEAR for word in self.words)

    def ranges_over_several(self) -> bool:
        """Of `not big or round` and `no cat and dog` the words do not say what the negation covers."""
        negations = self.negations()
        for number, at in enumerate(negations):
            end = negations[number + 1] if number + 1 < len(negations) else len(self.words)
            part = self.words[at + 1 : end]
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
    words = tuple(_words(text))
    return Sentence(words, tuple("" if w in _EMPTY else stem(w) for w in words), squashed(text))


def _words(text: str) -> Iterator[str]:
    for found in _WORD.findall(text.replace("’", "'")):
        word = found.lower()
        if word.endswith("n't"):
            yield from ([word[:-3]] if word[:-3] else []) + ["not"]
        elif word == "can't":
            yield "cannot"
        else:
            yield word.removesuffix("'s") or word


def squashed(text: str) -> str:
    """Return the letters and digits alone, in lower case."""
    return "".join(character for character in text.lower() if character.isalnum())


def name_stems(name: str) -> tuple[str, ...]:
    """Return the stems of a symbol's words: `FormedIn`, `formed_in` and `formed-in` say the same."""
    words = [part.lower() for part in _HUMP.split(name) if part]
    told = [stem(word) for word in words if word not in _EMPTY]
    return tuple(told) or tuple(map(stem, words))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Cut what inflects a noun, a verb or an adjective: `chases`, `chased` and `chasing` have one stem."""
    word = word.lower()
    if len(word) > 2 and is_plural(word):
        word = singular(word)
    for suffix in ("ing", "ed", "ly", "e", "y", "i"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word
