"""What a tiny model is taught before it makes round trips: both directions, in words that can be read back.

The descriptions are those of `rollout.formulas.description`, so that of such a model it is known whether a description
is right, and not only whether the trip came back. A share of the lessons is wrong on purpose: self-improvement needs
something to improve.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from critics.equivalence.language import Language
from critics.equivalence.regex import ALPHABET
from critics.errors import InputError
from critics.problem import Problem
from rollout.formulas.description import DescriptionError, describe, understand, worded
from rollout.formulas.prompt import into_signs, into_words
from rollout.formulas.statement import read_notation

Record = dict[str, Any]


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


def described(traces: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """Yield for each trip an attempt that claims of the formula what its description says, read word for word.

    Judged, they say which descriptions are right. A description in other words claims nothing, and is malformed.
    """
    for trace in traces:
        claim = json.loads(trace["completion"])
        try:
            right = understand(trace["steps"][0]["text"], Language(claim["language"]))
        except DescriptionError:
            right = ""
        yield {
            "id": trace["id"],
            "problem": trace["problem"],
            "format": trace["format"],
            "completion": json.dumps({**claim, "right": right}, ensure_ascii=False),
        }


def false_positives(trips: Iterable[Mapping[str, Any]], descriptions: Iterable[Mapping[str, Any]]) -> Record:
    """Return how many certified trips had a wrong description; both are judged, in the same order.

    A description that could not be decided, or read, is told apart from one that is right and from one that is wrong.
    """
    counts = {"certified": 0, "right": 0, "wrong": 0, "unreadable": 0, "undecided": 0}
    names = {"certified": "right", "vacuous": "right", "refuted": "wrong", "malformed": "unreadable"}
    for trip, description in zip(trips, descriptions, strict=True):
        if trip["judgement"]["verdict"] == "certified":
            counts["certified"] += 1
            counts[names.get(description["judgement"]["verdict"], "undecided")] += 1
    return counts
