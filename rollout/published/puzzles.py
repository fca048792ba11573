"""Published puzzles: LogicalDeduction and AR-LSAT, neither with a formalisation.

Each is read in the shapes that its loader names, and as this project's `problem` lines. Where a text cannot be read,
`meta["inexpressible"]` says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from critics.logic.programs.ordering_text import read_ordering
from critics.problem import Problem, RecordError
from rollout.published.records import (
    Fields,
    PublishedRecord,
    as_fields,
    as_list,
    as_texts,
    lettered,
    loader,
    read_all,
    read_entries,
)

QUESTION = "Which of the following is true?"
"""BIG-bench asks nothing in words; this is what Logic-LM asks."""
_ORDERED = ("logicaldeduction", "LogicalDeduction")
_ANALYTICAL = ("ar-lsat", "AR-LSAT")


def load_logicaldeduction(path: Path | str) -> Iterator[Problem]:
    """Yield the problems of LogicalDeduction (BIG-bench's `logical_deduction`), in order.

    Logic-LM's records are read, and BIG-bench's own task file (`examples` with `input` and `target_scores`). `meta` has
    `num_objects`, or `inexpressible` where a sentence is not of the language that is read. Raises `InputError` at the
    first bad record, naming file, line and remedy.
    """
    entries = list(read_entries(Path(path)))
    if any(entry.name is not None for entry in entries) and all(entry.name != "examples" for entry in entries):
        raise InputError(f"{path}: no task file, which has `examples`; write records as a list, or a line each")
    yield from read_all(entries, _orderings)


def _orderings(entry: PublishedRecord) -> Iterator[Problem]:
    """Read the examples of a task file, which says more than its examples; other records are one each."""
    if entry.name is None:
        yield _described(_optional(entry.fields(), *_ORDERED))
    elif entry.name == "examples":
        for number, example in enumerate(as_list(entry.record) or (), 1):
            yield _described(_optional(_from_task(example, f"logical_deduction_{number}"), *_ORDERED))


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


def _optional(data: Fields, dataset: str, title: str) -> Problem:
    problem = data.problem(dataset, title)
    if problem.options is None:
        raise RecordError("options: a list of options is needed")
    return problem


def _described(problem: Problem) -> Problem:
    read = read_ordering(problem.context, problem.options or ())
    if read is None:
        return replace(problem, meta={**problem.meta, "inexpressible": "a sentence that orders nothing we know"})
    return replace(problem, meta={**problem.meta, "num_objects": len(read.objects)})


@loader
def load_ar_lsat(entry: PublishedRecord) -> Iterable[Problem]:
    """Read AR-LSAT (Zhong et al. 2021), five options a question: a problem for each question of a passage.

    Logic-LM's records are read too. `meta` has the published `tags` where there are any.
    """
    data = entry.fields()
    if "passage" not in data:
        return [_optional(data, *_ANALYTICAL)]
    questions = as_list(data.get("questions"))
    if questions is None:
        raise RecordError("questions: a list of questions is needed")
    return [_optional(_question_of(data.get("passage"), question), *_ANALYTICAL) for question in questions]


def _question_of(passage: object, question: object) -> Fields:
    asked = as_fields(question)
    if asked is None:
        raise RecordError("questions: each must be an object")
    options = as_texts(asked.get("options"))
    if not options:
        raise RecordError(f"questions, {asked.get('id')}: options: a list of texts is needed")
    tags = [tag for tag in as_list(asked.get("tags")) or () if isinstance(tag, str) and tag]
    return Fields(
        {
            "id": asked.get("id"),
            "context": passage,
            "question": asked.get("question"),
            "options": lettered(options),
            "answer": asked.get("answer"),
            "meta": {"tags": tags} if tags else {},
        }
    )
