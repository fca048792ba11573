"""Contract of every translator, a formalisation of the whole text or an error that names the sentence.

Beside it what several of them read alike: sentences, the claim of a question, words and their roles.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from critics.formula import MAX_NAME_LENGTH
from critics.inflection import is_plural, singular
from critics.problem import Formal
from critics.translators.function_words import FUNCTION_WORDS

Translator: TypeAlias = Callable[[str, str], Formal]
"""Context and question in, `Formal` out; raises `TranslationError` for a text outside the language."""
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_BOUNDARY = re.compile(r"(?<=\.) ")
_NUMBERED = re.compile(r"(?P<number>[1-9][0-9]*)- (?P<sentence>.+)")


class TranslationError(ValueError):
    """The text is outside the language; `sentence` is the first sentence that is."""

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(f"{sentence!r}: {why}")
        self.sentence = sentence


def sentences(context: str) -> list[str]:
    """Return the sentences of a context; one that is cut off, and so has no full stop, is refused."""
    if not context.split():
        raise TranslationError(context, "the context is empty")
    found = _BOUNDARY.split(" ".join(context.split()))
    if not found[-1].endswith("."):
        raise TranslationError(found[-1], "a sentence must end with a full stop")
    return found


def unnumbered(said: list[str]) -> list[str]:
    """Drop the numbers where all sentences have one, from 1 on; elsewhere `1- ` is left in place, to be refused."""
    numbered = [_NUMBERED.fullmatch(sentence) for sentence in said]
    numbers = [match["number"] for match in numbered if match is not None]
    if numbers != [str(number) for number in range(1, len(said) + 1)]:
        return said
    return [match["sentence"] for match in numbered if match is not None]


def claim(question: str, lead: re.Pattern[str]) -> str:
    """Return what a question claims, after what may lead it in, as a sentence."""
    text = " ".join(question.split())
    opening = lead.match(text)
    said = text[opening.end() :] if opening is not None else text
    return said if said.endswith(".") else f"{said}."


def check_word(
    sentence: str, text: str, pattern: re.Pattern[str] = WORD, empty: frozenset[str] = FUNCTION_WORDS
) -> None:
    """Refuse what is not one word of a form, and words that are `empty`: they name nothing."""
    if pattern.fullmatch(text) is None:
        raise TranslationError(sentence, f"{text!r} is not one word that may stand here")
    if text.lower() in empty or text.lower().startswith("non-"):
        # `non-smokers` hides a negation.
        raise TranslationError(sentence, f"{text!r} names neither a property nor a relation nor an object")


def forms(word: str, role: str) -> set[str]:
    """Return what a word claims: a name also its singular, for in `Cats is warm` no object is called Cats."""
    return {word, singular(word)} if role == "name" and is_plural(word) else {word}


@dataclass(slots=True)
class Roles:
    """The words of one problem, each in the one role that its places in the sentences give it."""

    known: dict[str, str] = field(default_factory=dict[str, str])

    def claim(self, sentence: str, word: str, role: str) -> str:
        """Return the word as a symbol; raises `TranslationError` where it has another role already, or is too long."""
        if len(word) > MAX_NAME_LENGTH:
            raise TranslationError(sentence, f"{word!r} is longer than {MAX_NAME_LENGTH} letters")
        if self.known.setdefault(word, role) != role:
            raise TranslationError(sentence, f"{word!r} is {self.known[word]} and {role} in one problem")
        return word
