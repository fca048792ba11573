"""Answers in a problem's own terms."""

from critics.problem import Problem
from critics.text.blocks import named_answer

_YES = {"yes": "true", "no": "false"}


def answer_of(value: str, problem: Problem) -> str | None:
    """Return an answer in the problem's terms; yes and no answer questions alone."""
    found = named_answer(value, problem)
    if found is not None:
        return found
    if value not in _YES or not problem.question.rstrip().endswith("?"):
        return None
    return named_answer(_YES[value], problem)
