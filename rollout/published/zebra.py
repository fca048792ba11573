"""Zebra puzzles as they are published (ZebraLogic's grid mode, Lin et al. 2025).

Two shapes are read: the published rows (`puzzle`, and `solution` with `header` and `rows`), of which each becomes a
problem for each value of its second column, and this project's `problem` lines. Every second question names the house
to the right of the true one, or the first. Where the text cannot be read, or fits no, several or other arrangements
than the row's, `meta["inexpressible"]` says so.
"""

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from critics.problem import Problem, RecordError
from critics.text.translators.translation import TranslationError, Unread
from critics.text.translators.zebra import ORDINALS, decide
from rollout.problems.zebra import DATASET, num_solutions
from rollout.published.records import Entry, as_fields, as_list, as_texts, read_all, read_entries


def load_zebra(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order; raises `InputError` at the first bad record, with file, line and remedy."""
    numbers = count()
    return read_all(read_entries(Path(path)), lambda entry: _problems(entry, numbers))


def _problems(entry: Entry, numbers: Iterator[int]) -> Iterable[Problem]:
    data = entry.fields()
    if "puzzle" not in data:
        return [data.own(DATASET)]
    solution = as_fields(data.get("solution"))
    rows = [as_texts(row) for row in as_list(solution.get("rows") if solution else None) or ()]
    if not 2 <= len(rows) <= len(ORDINALS) or any(row is None or len(row) < 2 for row in rows):
        raise RecordError(
            f"solution: `rows` of texts are needed, 2 to {len(ORDINALS)} of them, the house's number first"
        )
    values = [row[1] for row in rows if row is not None]
    if "___" in values:
        raise RecordError("solution: it is left out; take the file that has the solutions")
    context, id_ = data.text("puzzle").strip(), str(data.get("id", f"{DATASET}/{next(numbers)}"))
    return [_problem(f"{id_}/{value}", context, value, house, len(rows)) for house, value in enumerate(values)]


def _problem(id_: str, context: str, value: str, house: int, houses: int) -> Problem:
    is_true = house % 2 == 0
    asked = house if is_true else (house + 1) % houses
    question, answer = f"True or false: {value} is in the {ORDINALS[asked]} house.", "true" if is_true else "false"
    meta: dict[str, object] = {"houses": houses}
    try:
        found = num_solutions(context)
        if found != 1:
            meta["inexpressible"] = f"{'several arrangements' if found else 'no arrangement'} of the text's fit"
        elif decide(context, question) != answer:
            meta["inexpressible"] = f"the text does not say that this is {answer}"
    except (TranslationError, Unread) as error:
        meta["inexpressible"] = str(error)
    return Problem(id_, DATASET, context, question, answer=answer, meta=meta)
