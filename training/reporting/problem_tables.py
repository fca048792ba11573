"""The overview of data sets that Deng's table 1 gives, in Markdown."""

from collections import Counter
from collections.abc import Iterator, Sequence

from critics.problem import Problem
from training.tables import markdown


def overview(given: Sequence[Problem], asked: Sequence[Problem]) -> str:
    """Return a table with a row for each data set: how many problems there are and are asked, options and answers."""
    rows = [_row(name, given, asked) for name in dict.fromkeys(problem.dataset for problem in given)]
    head = ["data set", "size", "asked", "options", "answers of those asked"]
    return markdown(head, rows)


def _row(name: str, given: Sequence[Problem], asked: Sequence[Problem]) -> Iterator[str]:
    own, chosen = ([problem for problem in listed if problem.dataset == name] for listed in (given, asked))
    yield from (name, str(len(own)), str(len(chosen)))
    # Problems of one data set may have more options than others of it, as LogicalDeduction's have.
    most = max(len(problem.options or ()) for problem in own)
    letters = [chr(ord("A") + place) for place in range(most)]
    yield ", ".join(letters or sorted({problem.answer for problem in own if problem.answer is not None}))
    answers = Counter(problem.answer for problem in chosen if problem.answer is not None)
    yield ", ".join(f"{answer} {num}" for answer, num in sorted(answers.items()))
