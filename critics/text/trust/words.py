"""Words that a program's names share with a text, read generously: only what shares none is about something else."""

import re
from collections.abc import Iterable
from functools import lru_cache

from critics.problem import Problem
from critics.text.faithfulness.english import name_stems, sentences, squashed
from critics.text.faithfulness.naming import begin_alike

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


def shared_words(names: Iterable[str], text: str) -> frozenset[str]:
    """Return the words of a text that its names share, and the names that stand in it without blanks."""
    said, letters = content(text), squashed(text)
    found: set[str] = set()
    for name in names:
        found |= {word for word in said if any(begin_alike(part, word) for part in name_stems(name))}
        if len(squashed(name)) >= MIN_SQUASHED and squashed(name) in letters:
            found.add(name)
    return frozenset(found)
