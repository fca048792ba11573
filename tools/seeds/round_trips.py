"""Lessons of a tiny model before it makes round trips: both directions, in words that can be read back.

The descriptions are those of `rollout.formulas.description`, so that of such a model it is known whether a description
is right, and not only whether the trip came back. A share of the lessons is wrong on purpose: self-improvement needs
something to improve.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from critics.errors import InputError
from critics.formats.equivalence.language import ALPHABET, Language
from critics.problem import Problem
from rollout.formulas.description import FIRST_WORDS, DescriptionError, understand
from rollout.formulas.prompt import into_signs, into_words, read_notation
from tools.seeds.descriptions import describe


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt with its completion."""

    id: str
    prompt: str
    completion: str


def bare_lessons(
    problems: Iterable[Problem], *, seed: int, error_rate: float = 0.0, unreadable_rate: float = 0.0
) -> Iterator[Lesson]:
    """Yield two lessons for each problem, one each way, with bare prompts; each is wrong at `error_rate`.

    Of the formulas with brackets, the share `unreadable_rate` lacks one. Raises `InputError` for a problem without a
    formula.
    """
    for problem in problems:
        if problem.formal is None:
            raise InputError(f"problem {problem.id}: has no formula to describe")
        language, text = Language(problem.meta["language"]), problem.formal.goal
        rng = random.Random(f"{seed}/{problem.id}")
        right = describe(text, language, problem.meta.get("alphabet", ALPHABET))
        said = worded(right, rng, error_rate=error_rate)
        written = understand(worded(right, rng, error_rate=error_rate), language)
        written = _unbalanced(written, rng) if rng.random() < unreadable_rate else written
        yield Lesson(f"{problem.id}/informalise", str(into_words(read_notation(problem.meta), text, "bare")), said)
        yield Lesson(
            f"{problem.id}/autoformalise", str(into_signs(read_notation(problem.meta), right, "bare")), written
        )


def _unbalanced(written: str, rng: random.Random) -> str:
    """Return a formula without one of its brackets, where it has any."""
    places = [place for place, sign in enumerate(written) if sign in "()"]
    if not places:
        return written
    place = rng.choice(places)
    return written[:place] + written[place + 1 :]


def worded(description: str, rng: random.Random, *, error_rate: float) -> str:
    """Return a description in which one word is wrong at a rate, so that it says something else and can be read."""
    words = description.split()
    places = [place for place, word in enumerate(words) if word in _CONFUSED]
    if not places or rng.random() >= error_rate:
        return description
    place = rng.choice(places)
    word = words[place]
    if word in FIRST_WORDS:
        words[_between(words, place)] = "or" if word == "both" else "and"
    words[place : place + 1] = _CONFUSED[word].split()
    return " ".join(words)


_CONFUSED = {
    "both": "either",
    "either": "both",
    "not": "",
    "every": "some",
    "some": "every",
    "zero": "one",
    "one": "zero",
}


def _between(words: Sequence[str], place: int) -> int:
    """Return where the word stands that goes with the first word of a pair."""
    depth, links = 0, {link for _, link in FIRST_WORDS.values()}
    for number in range(place, len(words)):
        depth += (words[number] in FIRST_WORDS) - (words[number] in links)
        if depth == 0:
            return number
    raise DescriptionError(f"{words[place]!r} has no second part")
