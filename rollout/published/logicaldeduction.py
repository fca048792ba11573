"""LogicalDeduction (BIG-bench's `logical_deduction`): objects in a row, and which of the options is true of them.

Three shapes are read: Logic-LM's records (`context`, `question`, lettered `options`, a letter), BIG-bench's own task
file (`examples` with `input` and `target_scores`), and this project's `problem` lines. There is no `formal`: the text
is in a language that the critic of `csp` programs reads by itself.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from critics.logic.programs.ordering_text import read_ordering
from critics.problem import Problem, RecordError
from rollout.published.records import Entry, Fields, as_fields, as_list, lettered, read_all, read_entries

DATASET = "logicaldeduction"
QUESTION = "Which of the following is true?"
"""BIG-bench asks nothing in words; this is what Logic-LM asks."""


def load_logicaldeduction(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order.

    `meta` has `num_objects`, or `inexpressible` where a sentence is not of the language that is read. Raises
    `InputError` at the first bad record, naming file, line and remedy.
    """
    entries = list(read_entries(Path(path)))
    if any(entry.name is not None for entry in entries) and all(entry.name != "examples" for entry in entries):
        raise InputError(f"{path}: no task file, which has `examples`; write records as a list, or a line each")
    yield from read_all(entries, _problems)


def _problems(entry: Entry) -> Iterator[Problem]:
    """Read the examples of a task file, which says more than its examples; other records are one each."""
    if entry.name is None:
        yield _described(_problem(entry.fields()))
    elif entry.name == "examples":
        for number, example in enumerate(as_list(entry.record) or (), 1):
            yield _described(_problem(_from_task(example, f"logical_deduction_{number}")))


def _from_task(example: object, id_: str) -> Fields:
    data = as_fields(example) or Fields({})
    scores, text = as_fields(data.get("target_scores")), data.get("input")
    if scores is None or not scores.values or not isinstance(text, str):
        raise RecordError(f"{id_}: `input` and `target_scores` are needed")
    right = [chr(ord("A") + place) for place, score in enumerate(scores.values.values()) if score == 1]
    if len(right) != 1:
        raise RecordError(f"{id_}: target_scores must have exactly one 1, not {len(right)}")
    options = lettered(list(scores.values))
    asked = {"id": id_, "context": text.strip(), "question": QUESTION, "options": options, "answer": right[0]}
    return Fields(asked)


def _problem(data: Fields) -> Problem:
    problem = data.problem(DATASET, "LogicalDeduction")
    if problem.options is None:
        raise RecordError("options: a list of options is needed")
    return problem


def _described(problem: Problem) -> Problem:
    read = read_ordering(problem.context, problem.options or ())
    if read is None:
        return replace(problem, meta={**problem.meta, "inexpressible": "a sentence that orders nothing we know"})
    return replace(problem, meta={**problem.meta, "num_objects": len(read.objects)})
