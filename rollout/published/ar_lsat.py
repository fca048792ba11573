"""AR-LSAT (Zhong et al. 2021): analytical reasoning of the law school admission test, five options a question.

Three shapes are read: Logic-LM's records (`context`, `question`, lettered `options`, a letter), the published passages
with their `questions`, each of which becomes a problem, and this project's `problem` lines. There is no formalisation.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from rollout.published.records import as_list, as_object, lettered, read_entries

DATASET = "ar-lsat"


def load_ar_lsat(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, the text as it is published.

    `meta` has the published `tags` where there are any. Raises `InputError` at the first bad record, naming file, line
    and remedy.
    """
    for entry in read_entries(Path(path)):
        try:
            for record in _questions(entry.record):
                yield _problem(record)
        except RecordError as error:
            raise InputError(f"{entry.where}: {error}; correct the record or remove it") from error


def _questions(record: object) -> list[dict[str, Any]]:
    """Return one record for each question of a passage; other records have one question."""
    data = as_object(record)
    if data is None:
        raise RecordError("a problem must be a JSON object")
    if "passage" not in data:
        return [data]
    questions = as_list(data.get("questions"))
    if questions is None:
        raise RecordError("questions: a list of questions is needed")
    return [_question_of(data["passage"], question) for question in questions]


def _question_of(passage: object, question: object) -> dict[str, Any]:
    asked = as_object(question)
    if asked is None:
        raise RecordError("questions: each must be an object")
    options = as_list(asked.get("options"))
    if not options or not all(isinstance(option, str) for option in options):
        raise RecordError(f"questions, {asked.get('id')}: options: a list of texts is needed")
    return {
        "id": asked.get("id"),
        "context": passage,
        "question": asked.get("question"),
        "options": lettered(options),
        "answer": asked.get("answer"),
        "meta": {"tags": tags} if (tags := _tags(asked)) else {},
    }


def _tags(asked: Mapping[str, Any]) -> list[str]:
    return [tag for tag in as_list(asked.get("tags")) or () if isinstance(tag, str) and tag]


def _problem(data: Mapping[str, Any]) -> Problem:
    dataset = data.get("dataset", DATASET)
    if not isinstance(dataset, str) or dataset.lower() != DATASET:
        raise RecordError(f"dataset: {dataset!r} is not AR-LSAT")
    problem = read_problem({**data, "dataset": DATASET})
    if problem.options is None:
        raise RecordError("options: a list of options is needed")
    return problem
