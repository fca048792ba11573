"""Words that a program's names share with a text, read generously: only what shares none is about something else."""

import re
from collections.abc import Iterable
from functools import lru_cache

from critics.problem import Problem
from critics.replay.first_order.syntax import Application, Formula, Variable, predicates, terms
from critics.text.faithfulness.english import name_stems, sentences, squashed

MIN_SQUASHED = 4
"""Letters from which a name may be found across words (`diamondmine`)."""
MIN_WORDS = 3
"""Content words that a context has; a shorter one is a placeholder."""
_LETTER = re.compile(r"^\(?[A-Za-z][).]\s*")
_CAPITAL = re.compile(r"(?<![\w'’])(?!I\b)[A-Z](?![\w'’])")
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten first second third fourth fifth sixth seventh eighth".split()  # noqa: SIM905
)


@lru_cache(maxsize=256)
def content(text: str) -> frozenset[str]:
    """Return the stems of a text's words with content; of numbers there are none, because any program has some."""
    text = _LETTER.sub("", text)
    words = {
        stem
        for sentence in sentences(text)
        for word, stem in zip(sentence.words, sentence.stems, strict=True)
        if stem and word not in _NUMBERS and not word.isdigit() and len(word) > 1
    }
    return frozenset(words | {letter.lower() for letter in _CAPITAL.findall(text)})


def is_placeholder(problem: Problem) -> bool:
    """Say whether a problem has next to no text: then nothing can be told from its words."""
    return not content(problem.question) or len(content(problem.context)) < MIN_WORDS


def shares_words(names: Iterable[str], text: str) -> bool:
    """Say whether a name shares a word with a text; so says a text without content, with which nothing can."""
    said, shared = content(text), shared_words(names, text)
    if all(len(word) == 1 for word in said):
        # Attack: one letter is in any program; of letters alone all must be named.
        return said <= shared
    return bool(shared)


def begin_alike(one: str, other: str) -> bool:
    """Say whether two words begin alike: `perform` and `performance`."""
    shorter = min(len(one), len(other))
    length = max(3, shorter - 2)
    return one == other or (shorter >= 3 and one[:length] == other[:length])


def speaks_of(text: str, name: str) -> bool:
    """Say whether a text has a word for each word of a name."""
    said = content(text)
    letters = squashed(name)
    is_across = len(letters) >= MIN_SQUASHED and letters in squashed(text)
    return is_across or all(any(begin_alike(part, word) for word in said) for part in name_stems(name))


def names_of(formula: Formula) -> tuple[set[str], set[str]]:
    """Return a formula's predicates, and its constants and functions; a name may be both."""
    inner = [term for term in terms(formula) if not isinstance(term, Variable)]
    things = {term.function if isinstance(term, Application) else term.name for term in inner}
    return predicates(formula), things


def shared_words(names: Iterable[str], text: str) -> frozenset[str]:
    """Return the words of a text that its names share, and the names that stand in it without blanks."""
    said, letters = content(text), squashed(text)
    found: set[str] = set()
    for name in names:
        found |= {word for word in said if any(begin_alike(part, word) for part in name_stems(name))}
        if len(squashed(name)) >= MIN_SQUASHED and squashed(name) in letters:
            found.add(name)
    return frozenset(found)
