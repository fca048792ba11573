"""One attempt on trust beside its problem's text: the text bears it out, or it does not, or nobody can tell."""

from critics.problem import TRUTH_VALUES, Attempt
from critics.replay.answers import in_terms_of
from critics.text import alignment
from critics.text.faithfulness.puzzles.comparison import difference
from critics.text.faithfulness.puzzles.reading import read_problem
from critics.text.part import TextPart


def is_aligned(part: TextPart, attempt: Attempt, answer: str) -> bool:
    """Say whether the text of its problem bears out what an attempt formalises on trust, and answers with."""
    problem = attempt.problem
    if part.is_puzzle:
        reading = read_problem(problem.context, problem.question, problem.options or ())
        program = None if reading is None else part.puzzle(attempt.completion)
        return reading is not None and program is not None and not difference(program, reading)
    formalised = part.theory(attempt)
    value = next((value for value in TRUTH_VALUES if in_terms_of(value, problem.options) == answer), None)
    return formalised is not None and value is not None and alignment.is_aligned(problem, formalised, value)
