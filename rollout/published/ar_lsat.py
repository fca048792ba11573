"""AR-LSAT (Zhong et al. 2021): analytical reasoning of the law school admission test, five options a question.

Three shapes are read: Logic-LM's records (`context`, `question`, lettered `options`, a letter), the published passages
with their `questions`, each of which becomes a problem, and this project's `problem` lines. There is no formalisation.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from critics.problem import Problem, RecordError
from rollout.published.records import Entry, Fields, as_fields, as_list, as_texts, lettered, read_all, read_entries

DATASET = "ar-lsat"


def load_ar_lsat(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, the text as it is published.

    `meta` has the published `tags` where there are any. Raises `InputError` at the first bad record, naming file, line
    and remedy.
    """
    return read_all(read_entries(Path(path)), _problems)


def _problems(entry: Entry) -> Iterable[Problem]:
    """Read one problem for each question of a passage; other records have one question."""
    data = entry.fields()
    if "passage" not in data:
        return [_problem(data)]
    questions = as_list(data.get("questions"))
    if questions is None:
        raise RecordError("questions: a list of questions is needed")
    return map(_problem, [_question_of(data.get("passage"), question) for question in questions])


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


def _problem(data: Fields) -> Problem:
    problem = data.problem(DATASET, "AR-LSAT")
    if problem.options is None:
        raise RecordError("options: a list of options is needed")
    return problem
