"""Knights and knaves as they are published (Xie et al. 2024, `K-and-K/knights-and-knaves`).

Two shapes are read: the published rows (`quiz`, `names`, `solution`: for each whether he tells the truth, and in
`knight_knave` the words for both kinds), of which each becomes a problem for each of its people, and this project's
`problem` lines. Where a row's text cannot be read, has several solutions or none, or another one than the row says,
`meta["inexpressible"]` says so.
"""

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from critics.problem import Problem, RecordError
from critics.text.translators.translation import TranslationError
from rollout.problems.knights import DATASET, posed
from rollout.published.records import Entry, as_fields, as_list, as_texts, read_all, read_entries


def load_knights(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order; raises `InputError` at the first bad record, with file, line and remedy."""
    numbers = count()
    return read_all(
        read_entries(Path(path)), lambda entry: _problems(entry, Path(path).name.partition(".")[0], numbers)
    )


def _problems(entry: Entry, stem: str, numbers: Iterator[int]) -> Iterable[Problem]:
    data = entry.fields()
    if "quiz" not in data:
        return [data.own(DATASET)]
    names, solution = as_texts(data.get("names")), as_list(data.get("solution"))
    if not names or solution is None or len(solution) != len(names) or not all(type(one) is bool for one in solution):
        raise RecordError("names, solution: a list of texts, and of true or false for each of them, are needed")
    words = as_fields(data.get("knight_knave"))
    kind = "knight" if words is None else words.text("knight")
    article = "an" if kind[:1] in set("aeiou") else "a"
    context, cut, _ = data.text("quiz").rpartition(" So who is ")
    if not cut:
        raise RecordError("quiz: it does not end by asking who is of which kind")
    id_ = f"{DATASET}/{stem}/{data.get('index', next(numbers))}"
    asked = ((name, f"True or false: {name} is {article} {kind}.") for name in names)
    return [
        _problem(f"{id_}/{name}", context, question, bool(is_true))
        for (name, question), is_true in zip(asked, solution, strict=True)
    ]


def _problem(id_: str, context: str, question: str, is_true: bool) -> Problem:
    try:
        return posed(id_, context, question, is_true=is_true)
    except TranslationError as error:
        answer, meta = "true" if is_true else "false", {"inexpressible": str(error)}
        return Problem(id_, DATASET, context, question, answer=answer, meta=meta)
