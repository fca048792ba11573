"""Published puzzles: knights and knaves, zebra puzzles, LogicalDeduction and AR-LSAT, none with a formalisation.

Each is read in the shapes that its loader names, and as this project's `problem` lines. Where a text cannot be read,
or fits several solutions, none, or another one than its row says, `meta["inexpressible"]` says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from critics.logic.programs.ordering_text import read_ordering
from critics.problem import Problem, RecordError
from critics.text.translators.translation import TranslationError, Unread
from critics.text.translators.zebra import ORDINALS, decide
from rollout.problems.knights import posed
from rollout.problems.zebra import num_solutions
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


@loader
def load_knights(entry: PublishedRecord) -> Iterable[Problem]:
    """Read knights and knaves (Xie et al. 2024, `K-and-K/knights-and-knaves`): a problem for each person of a row.

    The published rows have `quiz`, `names`, `solution` (for each whether he tells the truth), and in `knight_knave` the
    words for both kinds.
    """
    data = entry.fields()
    if "quiz" not in data:
        return [data.own("knights")]
    names, solution = as_texts(data.get("names")), as_list(data.get("solution"))
    if not names or solution is None or len(solution) != len(names) or not all(type(one) is bool for one in solution):
        raise RecordError("names, solution: a list of texts, and of true or false for each of them, are needed")
    words = as_fields(data.get("knight_knave"))
    kind = "knight" if words is None else words.text("knight")
    article = "an" if kind[:1] in set("aeiou") else "a"
    context, cut, _ = data.text("quiz").rpartition(" So who is ")
    if not cut:
        raise RecordError("quiz: it does not end by asking who is of which kind")
    id_ = f"knights/{entry.stem}/{data.get('index', entry.number)}"
    asked = ((name, f"True or false: {name} is {article} {kind}.") for name in names)
    return [
        _statement(f"{id_}/{name}", context, question, bool(is_true))
        for (name, question), is_true in zip(asked, solution, strict=True)
    ]


def _statement(id_: str, context: str, question: str, is_true: bool) -> Problem:
    try:
        return posed(id_, context, question, is_true=is_true)
    except TranslationError as error:
        answer, meta = "true" if is_true else "false", {"inexpressible": str(error)}
        return Problem(id_, "knights", context, question, answer=answer, meta=meta)


@loader
def load_zebra(entry: PublishedRecord) -> Iterable[Problem]:
    """Read zebra puzzles (ZebraLogic's grid mode, Lin et al. 2025): a problem for each value of the second column.

    The published rows have `puzzle`, and `solution` with `header` and `rows`. Every second question names the house to
    the right of the true one, or the first.
    """
    data = entry.fields()
    if "puzzle" not in data:
        return [data.own("zebra")]
    solution = as_fields(data.get("solution"))
    rows = [as_texts(row) for row in as_list(solution.get("rows") if solution else None) or ()]
    if not 2 <= len(rows) <= len(ORDINALS) or any(row is None or len(row) < 2 for row in rows):
        raise RecordError(
            f"solution: `rows` of texts are needed, 2 to {len(ORDINALS)} of them, the house's number first"
        )
    values = [row[1] for row in rows if row is not None]
    if "___" in values:
        raise RecordError("solution: it is left out; take the file that has the solutions")
    context, id_ = data.text("puzzle").strip(), str(data.get("id", f"zebra/{entry.number}"))
    return [_place(f"{id_}/{value}", context, value, house, len(rows)) for house, value in enumerate(values)]


def _place(id_: str, context: str, value: str, house: int, houses: int) -> Problem:
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
    return Problem(id_, "zebra", context, question, answer=answer, meta=meta)


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
