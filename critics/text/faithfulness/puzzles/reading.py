"""Problems read from their text alone: the conditions, what the question adds, and what each option needs."""

from dataclasses import dataclass
from functools import lru_cache

from critics.replay.finite.terms import Term
from critics.text.faithfulness.puzzles.claims import at, at_most_one_each, counted, each_in_one_place
from critics.text.faithfulness.puzzles.opening import Puzzle, read_puzzle
from critics.text.faithfulness.puzzles.questions import Query, read_queries
from critics.text.faithfulness.puzzles.sentences import Unread, read_claim


@dataclass(frozen=True, slots=True)
class Reading:
    """A problem: its puzzle, what holds, what the question adds, and each option's queries."""

    puzzle: Puzzle
    frame: tuple[Term, ...]
    """Claims that are true of places whatever the conditions say; `conditions` begin with them."""
    conditions: tuple[Term, ...]
    added: Term | None
    options: tuple[tuple[Query, ...], ...]


@lru_cache(maxsize=64)
def read_problem(context: str, question: str, options: tuple[str, ...]) -> Reading | None:
    """Read a problem; None where any sentence, the question or an option is not of this language."""
    puzzle = read_puzzle(context)
    if puzzle is None:
        return None
    things, places = len(puzzle.things), len(puzzle.places)
    conditions = each_in_one_place(things, places)
    if puzzle.is_one_each:
        conditions += at_most_one_each(things, places)
    for how in puzzle.capacities:
        conditions += [counted([at(thing, place) for thing in range(things)], how) for place in range(places)]
    frame = tuple(conditions)
    try:
        conditions += [read_claim(sentence, puzzle) for sentence in puzzle.conditions]
        added, queries = read_queries(question, options, puzzle)
    except Unread:
        return None
    return Reading(puzzle, frame, tuple(conditions), added, tuple(map(tuple, queries)))
