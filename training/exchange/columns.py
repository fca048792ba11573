"""A column map: which column of a table is the question, which the rationale, and how their values are read.

A value that cannot be read is an error, and never counts as missing: without its gold answer a wrong rationale could be
certified.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from critics.errors import InputError
from critics.problem import Problem
from critics.text.answer_reader import read_answer
from critics.text.blocks import answer_of
from training.configuration.section import nearest

PARTS = ("id", "context", "question", "options", "answer", "rationale", "conclusion")
"""Parts that a column can be. `answer` is the gold answer; `conclusion` is what a text without an answer line answers,
or, without a question, a statement that the gold answer calls true or false."""


ABSENT = object()
"""In place of a context that no column holds; an empty cell is None, and a row with one cannot be read."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a row as its table has them, before anything is read; None where there is nothing."""

    id: object = None
    context: object = ABSENT
    question: object = None
    options: object = None
    answer: object = None
    rationale: object = None
    conclusion: object = None

    @property
    def told(self) -> str:
        """The context as text; empty where there is none."""
        return "" if self.context is ABSENT or self.context is None else str(self.context)

    def cut(self, other: "Parts") -> "Parts":
        """Return these parts with those that were cut out of one of them in their places."""
        found = {name: value for name in PARTS if (value := getattr(other, name)) is not None and value is not ABSENT}
        return replace(self, **found)


class RowError(ValueError):
    """A row cannot be read; `reason` is machine-readable."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RationaleRow:
    """One row: a problem, and what somebody wrote about it."""

    problem: Problem
    text: str
    """Ends in the line `Answer: ..`, which stood there or comes from the column `conclusion`."""


def read_columns(given: Sequence[str]) -> dict[str, str]:
    """Read `question=q,rationale=why`; raises `InputError` that names the part, and the nearest one that there is."""
    columns: dict[str, str] = {}
    for pair in (part.strip() for text in given for part in text.split(",")):
        part, equals, column = (word.strip() for word in pair.partition("="))
        if not equals or not column:
            raise InputError(f"--columns {pair!r}: write PART=COLUMN, such as question=problem,rationale=solution")
        if part not in PARTS:
            raise InputError(f"--columns {pair!r}: unknown part {part!r}; {nearest(part, PARTS)}")
        columns[part] = column
    return columns


def read_answers(given: Sequence[str]) -> dict[str, str]:
    """Read `1=true,0=false`: what a table's own words for answers mean; raises `InputError`."""
    answers: dict[str, str] = {}
    for pair in (part.strip() for text in given for part in text.split(",")):
        word, equals, answer = (part.strip() for part in pair.partition("="))
        if not equals or not word or not answer:
            raise InputError(f"--answers {pair!r}: write WORD=ANSWER, such as 1=true,0=false")
        answers[word.lower()] = answer
    return answers


def read_rationale(parts: Parts, *, name: str, dataset: str, answers: Mapping[str, str] | None = None) -> RationaleRow:
    """Read one row's parts as the problem `name` and a text about it. Raises `RowError`."""
    problem = read_asked(parts, name=name, dataset=dataset, answers=answers)
    return RationaleRow(problem, _concluded(_text(parts.rationale, "rationale"), parts.conclusion, problem))


def read_asked(parts: Parts, *, name: str, dataset: str, answers: Mapping[str, str] | None = None) -> Problem:
    """Read one row's problem; `answers` says what other words for its gold answer mean. Raises `RowError`."""
    problem = Problem(
        id=name,
        dataset=dataset,
        context="" if parts.context is ABSENT else _text(parts.context, "context"),
        question=_text(parts.question, "question"),
        options=_options(parts.options),
    )
    return _with_answer(problem, parts.answer, answers or {})


def _with_answer(problem: Problem, value: object, answers: Mapping[str, str]) -> Problem:
    """Return the problem with its gold answer, read as an answer line would be."""
    if value is None:
        return problem
    told = _plain(value).lower()
    answer = answer_of(_plain(answers.get(told, value)).lower(), problem)
    if answer is None:
        raise RowError(
            "answer_unreadable",
            f"the answer {_shown(value)} is none that the problem can have; say what it means, as by --answers "
            f"{_shown(told).strip(chr(39))}=true, or that it is none by --columns answer=-",
        )
    return Problem(problem.id, problem.dataset, problem.context, problem.question, problem.options, answer)


def _concluded(text: str, conclusion: object, problem: Problem) -> str:
    """Return the text with an answer line; raises `RowError` where two contradict each other."""
    own = read_answer(text, problem)
    if conclusion is None:
        return text
    said = answer_of(_plain(conclusion).lower(), problem)
    if said is None:
        told = f"the conclusion {_shown(conclusion)} is none that the problem can have"
        raise RowError("conclusion_unreadable", told)
    if own is not None and own != said:
        raise RowError("two_answers", f"the text answers {own} and its conclusion {said}")
    return text if own is not None else f"{text.rstrip()}\nAnswer: {_plain(conclusion)}"


def _options(value: object) -> tuple[str, ...] | None:
    """Read options: a list of texts, such a list as JSON, or `{"label": [..], "text": [..]}`."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise RowError("options_unreadable", "the options are a text that is no JSON list") from error
    if isinstance(value, Mapping):
        value = cast("Mapping[str, object]", value).get("text")
    texts = _texts(value)
    if not texts:
        raise RowError("options_unreadable", "the options are no list of texts")
    return tuple(texts)


def _texts(value: object) -> list[str] | None:
    """Return a list of texts; None for anything else."""
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = [one for one in listed if isinstance(one, str)]
    return texts if isinstance(value, list) and len(texts) == len(listed) else None


def _text(value: object, part: str) -> str:
    """Return a text; sentences in a list become lines."""
    if (lines := _texts(value)) is not None:
        value = "\n".join(lines)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"no_{part}", f"the {part} is no text, or an empty one")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Half a surrogate pair, which JSON can spell, or a byte of a table that is no UTF-8.
        told = f"the {part} is no Unicode text (at character {error.start}); save the file as UTF-8, or give --encoding"
        raise RowError("not_unicode", told) from error
    return value


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:
        text = "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}.."


def _plain(value: object) -> str:
    """Return a cell as text on one line: tables have true and false as booleans."""
    try:
        return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
    except ValueError:  # more digits than Python prints
        return "a number of thousands of digits"
