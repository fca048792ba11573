"""Labelled problems of whatever source: published files, tables of any shape, our generators, reasoning-gym."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem, RecordError, is_object, read_problem
from critics.text.translators.syllogism import OPTIONS
from rollout.problems.catalogue import family, is_generated
from rollout.published.loaders import LOADERS, load_published, looks_like
from training.exchange.columns import Parts, RowError, read_asked, shape_of
from training.exchange.rationales import UNNAMED, Reading
from training.exchange.shapes import language_of, parts_of
from training.exchange.tables import Row, Rows, UnreadableRow, columns_of, read_rows
from training.rounds.problems import drawn

GYM = "reasoning-gym"
NUM_GENERATED = 200
_VALIDITY = {"yes": "Valid", "true": "Valid", "no": "Invalid", "false": "Invalid"}
"""Meaning of the answers to `does it follow`: what does not follow need not be false."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Problems with their gold labels, each with an id of its own."""

    problems: Sequence[Problem]
    unreadable: Sequence[UnreadableRow] = ()
    rows: Mapping[str, Row] = field(default_factory=dict[str, Row])
    """Rows of a table, by the id of their problem."""
    told: Sequence[str] = ()
    """Findings about the source, for people."""


def read_labelled(source: str, reading: Reading, num: int | None, seed: int, encoding: str | None) -> Labelled:
    """Read all problems of a source, or `num` drawn by the seed; raises `InputError` where there are none.

    A generator's name and `reasoning-gym:TASK` make `num` problems (200 where it is not said).
    """
    gym, _, task = source.replace("_", "-", 1).partition(":")
    if gym == GYM:
        found = _of_rows([_of_gym(source.partition(":")[2] or task, num or NUM_GENERATED, seed)], reading, source)
    elif is_generated(source) and not Path(source).exists():
        made = family(source)
        problems = list(made.generate(made.configured({}, "test"), num or NUM_GENERATED, seed=seed))
        found = Labelled(problems, told=[f"made by the generator {source}, split test, seed {seed}"])
    else:
        found = _of_file(source, reading, encoding)
    if not found.problems:
        raise InputError(f"{source}: there is no problem in it")
    return replace(found, problems=drawn(_with_ids(found.problems), num, seed))


def _with_ids(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems, renamed where two have one id: none is lost, and none is judged for another."""
    seen: dict[str, int] = {}
    named: list[Problem] = []
    for problem in problems:
        seen[problem.id] = seen.get(problem.id, 0) + 1
        num = seen[problem.id]
        named.append(problem if num == 1 else replace(problem, id=f"{problem.id}~{num}"))
    return named


def _of_gym(task: str, num: int, seed: int) -> Rows:
    """Return the items of a task of reasoning-gym, whose item i depends on seed and i alone."""
    try:
        gym: Any = import_module("reasoning_gym")
    except ImportError as error:
        raise InputError(f"{GYM}: is not installed ({error}); pip install 'certistar[{GYM}]'") from error
    try:
        items = list(gym.create_dataset(task, seed=seed, size=num))
    except ValueError as error:
        raise InputError(f"{GYM}:{task}: {error}; name a task such as {GYM}:syllogism") from error
    return Rows("jsonl", [Row(f"{GYM}-{task}", place, item) for place, item in enumerate(items)])


def _of_file(source: str, reading: Reading, encoding: str | None) -> Labelled:
    path = Path(source)
    is_json = path.is_file() and ".json" in "".join(path.suffixes)
    if reading.dataset == "folio" and not path.exists():
        return Labelled(list(load_published(path, "folio")), told=["read as the published data set folio"])
    name = reading.dataset or (looks_like(path) if is_json else None)
    if is_json and name in LOADERS and not reading.columns:
        try:
            return Labelled(list(load_published(path, name)), told=[f"read as the published data set {name}"])
        except InputError:
            if reading.dataset is not None:
                raise
    return _of_rows(read_rows(source, encoding), reading, source)


def _of_rows(found: Sequence[Rows], reading: Reading, source: str) -> Labelled:
    """Read rows as problem records, as the problems of attempts, or as a table."""
    read: list[tuple[Problem, Row]] = []
    unreadable = [bad for rows in found for bad in rows.unreadable]
    told: list[str] = []
    for rows in (rows for rows in found if rows.rows):
        reader = _reader(rows, reading, source, told)
        for row in rows.rows:
            try:
                read.append((reader(row), row))
            except (RowError, RecordError) as error:
                reason = error.reason if isinstance(error, RowError) else "ill_formed"
                unreadable.append(row.unreadable(reason, str(error)))
    if not read:
        first = f": {unreadable[0].id}: {unreadable[0].feedback}" if unreadable else ""
        raise InputError(f"{source}: no row can be read{first}; look at --columns")
    problems = _with_ids(problem for problem, _ in read)
    rows_ = {problem.id: row for problem, (_, row) in zip(problems, read, strict=True)}
    return Labelled(problems, unreadable, rows_, told)


def _reader(rows: Rows, reading: Reading, source: str, told: list[str]) -> Callable[[Row], Problem]:
    """Return what reads a row as its problem, and say how rows are read."""
    known = columns_of(rows.rows)
    if "problem" in known and is_object(rows.rows[0].values.get("problem")):
        told.append("read as attempts: their problems, each once for each attempt")
        return lambda row: read_problem(row.values.get("problem"))
    if {"id", "dataset", "context", "question", "answer"} <= set(known) and not reading.columns:
        told.append("read as problems")
        return lambda row: read_problem(row.values)
    shape = shape_of(known, reading.columns, source, rows.rows[0].values, ("question", "answer"))
    if "answer" not in shape.columns:
        raise InputError(f"{source}: no column is known to be the gold label; say which by --columns answer=NAME")
    told.append(shape.told())
    return lambda row: _asked(row, parts_of(row.values, shape), reading)


def _asked(row: Row, parts: Parts, reading: Reading) -> Problem:
    """Return the problem of a row of a table, with its label; raises `RowError`."""
    language = language_of(parts.told, str(parts.question))
    told = str(parts.answer).strip().lower()
    if reading.dataset in (None, "syllogism") and language == "syllogism" and parts.options is None:
        answer = _VALIDITY.get(reading.answers.get(told, told), parts.answer)
        parts = replace(parts, options=list(OPTIONS), answer=answer)
    name = row.id if parts.id is None else f"{row.file}/{parts.id}"
    problem = read_asked(parts, name=name, dataset=reading.dataset or UNNAMED, answers=reading.answers)
    return problem if reading.dataset is not None else replace(problem, dataset=language)
