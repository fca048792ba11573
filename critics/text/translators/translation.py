"""Contract of every translator, a formalisation of the whole text or an error that names the sentence.

Beside it what several of them read alike: sentences, the claim of a question, words and their roles.
"""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from critics.grammar.inflection import forms, is_plural, singular
from critics.grammar.questions import asked
from critics.problem import Formal
from critics.replay.formula import MAX_NAME_LENGTH, RESERVED_NAMES

Answer: TypeAlias = Literal["true", "false", "unknown"]
"""Value that a text gives to its question."""
Translator: TypeAlias = Callable[[str, str], Formal]
"""Context and question in, `Formal` out; raises `TranslationError` for a text outside the language."""
Read = TypeVar("Read")
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_BOUNDARY = re.compile(r"(?<=\.) ")
_NUMBERED = re.compile(r"(?P<number>[1-9][0-9]*)- (?P<sentence>.+)")
_, _LISTED = Path(__file__).with_name("function_words.txt").read_text(encoding="utf-8").split("\n", 1)
_FUNCTION, QUANTIFYING_WORDS, _EMPTY = (frozenset(part.split()) for part in _LISTED.split("\n\n"))
"""`QUANTIFYING_WORDS` are adjectives that quantify: `Numerous cats are dogs` says nothing about every cat."""
FUNCTION_WORDS = RESERVED_NAMES | _FUNCTION
"""English words that name neither a property nor an object: a text that uses one says more than it seems to."""
EMPTY_WORDS = FUNCTION_WORDS | QUANTIFYING_WORDS | _EMPTY
"""Words that name neither a property nor a relation nor an object: what uses one is outside a regular language."""


class TranslationError(ValueError):
    """The text is outside the language; `sentence` is the first sentence that is."""

    def __init__(self, sentence: str, why: str) -> None:
        super().__init__(f"{sentence!r}: {why}")
        self.sentence, self.why = sentence, why


class Unread(Exception):  # noqa: N818
    """Something in a sentence that is not understood; the text says why."""


@contextmanager
def reading(sentence: str) -> Generator[None]:
    """Turn the `Unread` that is raised within into a `TranslationError` about a sentence."""
    try:
        yield
    except Unread as error:
        raise TranslationError(sentence, str(error)) from error


def understood(sentence: str, read: Callable[[str], Read]) -> Read:
    """Return what a reader makes of a sentence; raises `TranslationError`."""
    with reading(sentence):
        return read(sentence)


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


def claim(question: str) -> str:
    """Return what a question claims, without its frame, as a sentence."""
    text = asked(question)
    said = " ".join(question.split()) if text is None else text.rstrip("?")
    return said if said.endswith(".") else f"{said}."


def check_word(text: str, pattern: re.Pattern[str] = WORD, empty: frozenset[str] = FUNCTION_WORDS) -> None:
    """Raise `Unread` for what is not one word of a form, and for words that are `empty`: they name nothing."""
    if pattern.fullmatch(text) is None:
        raise Unread(f"{text!r} is not one word that may stand here")
    if text.lower() in empty or text.lower().startswith("non-"):
        # `non-smokers` hides a negation.
        raise Unread(f"{text!r} names neither a property nor a relation nor an object")


_DENYING = ("non", "un", "dis")
"""Prefixes; `in-` stands before `vertebrate` in PrOntoQA's own ontologies, which tell both apart."""
TERM_HEADS = frozenset({"fraction", "integer", "number", "prime", "set"})
"""Heads of terms of art: a prime number is what is called so, whatever `prime` and `number` say apart."""


def _holds(word: str, part: str) -> bool:
    """Say whether a word is another one with a prefix that denies it, or has it as its head."""
    if not word.endswith(part) or part in TERM_HEADS:
        return False
    before = word.removesuffix(part)
    return before in _DENYING or before.endswith("-")


def _begins(noun: str, adjective: str) -> bool:
    """Say whether an adjective stands in a noun of several words, which says its head too: a big dog is a dog."""
    return bool(adjective) and noun.startswith(f"{adjective}-") and noun.rpartition("-")[2] not in TERM_HEADS


@dataclass(slots=True)
class Roles:
    """The words of one problem, each in the one role that its places in the sentences give it."""

    known: dict[str, str] = field(default_factory=dict[str, str])
    _forms: dict[str, str] = field(default_factory=dict[str, str])
    """By each form of a noun or an adjective the word that has it."""

    def claim(self, word: str, role: str) -> str:
        """Return the word as a symbol; raises `Unread` where it has another role already, or is too long."""
        if len(word) > MAX_NAME_LENGTH:
            raise Unread(f"{word!r} is longer than {MAX_NAME_LENGTH} letters")
        if word in self.known:
            if self.known[word] != role:
                raise Unread(f"{word!r} is {self.known[word]} and {role} in one problem")
            # It was compared with all words that are known, by itself or by those after it.
            return word
        self.known[word] = role
        if role in ("noun", "adjective"):
            for form in forms(word):
                if (owner := self._forms.setdefault(form, word)) != word:
                    # Attack: tell a plural from its singular, so that nothing follows of what is one.
                    raise Unread(f"{form!r} may be of {owner!r} and of {word!r}")
            for other, other_role in self.known.items():
                pair = {role: word, other_role: other}
                is_part = other_role in ("noun", "adjective") and (_holds(word, other) or _holds(other, word))
                if is_part or _begins(pair.get("noun", ""), pair.get("adjective", "")):
                    # Attack: cut a word off from its parts, so that nothing follows of a lone-cat or the unkind.
                    raise Unread(f"{word!r} and {other!r} may be said at once")
        return word

    def copy(self) -> "Roles":
        """Return the same roles, to which more can be added."""
        return Roles(self.known.copy(), self._forms.copy())

    def claim_forms(self, word: str, role: str) -> None:
        """Claim a word, and of a name its singular too: in `Cats is warm` no object is called Cats."""
        self.claim(word, role)
        if role == "name" and is_plural(word):
            self.claim(singular(word), role)
