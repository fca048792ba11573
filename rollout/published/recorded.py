"""Recorded solver programs of language models (Logic-LM, Pan et al. 2023) as attempts to be judged.

Two shapes are read: Logic-LM's own outputs, one JSON list a data set and model, whose records hold the problem and
its `raw_logic_programs`; and lines of `program`, `dataset`, `model`, `problem_id`, whose problems are in other files.
An attempt is what the model wrote, its format by the data set, with the model's name beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.formats.names import CSP, FOL, LOGIC_PROGRAM, RULES
from critics.problem import Problem, RecordError, read_problem
from rollout.published.records import Fields, PublishedRecord, as_fields, as_texts, read_all, read_entries

PROGRAM_FORMATS: Mapping[str, str] = {
    "prontoqa": RULES,
    "proofwriter": RULES,
    "logicaldeduction": CSP,
    "ar-lsat": LOGIC_PROGRAM,
    "folio": FOL,
}
"""The format of a data set's programs."""
_FILE = re.compile(
    r"(?:self-refine-\d+_)?(?P<dataset>[^_]+)_(?P<split>[^_]+(?:_test)?)_(?P<model>.+?)\.jsonl?(?:\.gz)?"
)
"""Names of Logic-LM's outputs: `AR-LSAT_dev_gpt-3.5-turbo.json`."""
_LISTED = "raw_logic_programs"
_LETTERS = {"A": "true", "B": "false", "C": "unknown"}
"""FOLIO's, where its problems have no options."""


def holds_recorded(path: Path) -> bool:
    """Say whether a file's first record looks like a recorded program rather than an attempt."""
    try:
        entry = next(read_entries(path), None)
    except InputError:
        return False
    record = None if entry is None else as_fields(entry.record)
    return record is not None and (_LISTED in record or ("program" in record and "problem_id" in record))


def load_recorded(path: Path, problems: Sequence[Path] | None = None) -> Iterator[dict[str, Any]]:
    """Yield attempt records in order: `id`, `problem`, `format`, `completion`, `model`.

    `problems` are files where the problems of lines without their own are; None: the files beside `path` are searched.
    A record with several programs gives an attempt each. FOLIO's annotations are left out of the problem: no model was
    shown their vocabulary. Raises `InputError` naming file, record and remedy.
    """
    entries = list(read_entries(path))
    known = _Problems(path, problems, entries)
    return read_all(entries, lambda entry: _attempts(entry, path, known))


def _attempts(entry: PublishedRecord, path: Path, known: "_Problems") -> Iterator[dict[str, Any]]:
    record = entry.fields("a recorded program")
    dataset, model = _origin(record, path)
    own = Fields({**record.values, "dataset": dataset, "formal": None, "meta": {}})
    problem = known.of(record) if "program" in record else read_problem(own.values)
    if problem.dataset != dataset:
        raise RecordError(f"problem_id: {problem.id!r} is of {problem.dataset}, not of {dataset}")
    problem = replace(problem, formal=None) if dataset == "folio" else problem
    programs = _programs(record)
    for number, program in enumerate(programs, 1):
        id_ = record.text("id") if "program" in record else f"{dataset}/{model}/{record.text('id')}"
        yield {
            "id": id_ if len(programs) == 1 else f"{id_}#{number}",
            "problem": problem.record(),
            "format": PROGRAM_FORMATS[dataset],
            "completion": program,
            "model": model,
        }


def _origin(record: Fields, path: Path) -> tuple[str, str]:
    """Return data set and model, by the record or else by the file's name."""
    named = _FILE.fullmatch(path.name)
    given = [record.get(key) or (named[key] if named else None) for key in ("dataset", "model")]
    dataset, model = (str(value) if value else "" for value in given)
    if dataset.lower() not in PROGRAM_FORMATS or not model:
        raise RecordError(
            f"dataset {dataset!r}, model {model!r}: both are needed, in the record or as the file's name "
            f"(DATASET_SPLIT_MODEL.json); data sets are {', '.join(PROGRAM_FORMATS)}"
        )
    return dataset.lower(), model


def _programs(record: Fields) -> list[str]:
    written = as_texts([record.get("program")] if "program" in record else record.get(_LISTED))
    if not isinstance(record.get("id"), str) or not written:
        raise RecordError("`id` and `program` (a text) or `raw_logic_programs` (a list of texts) are needed")
    return written


class _Problems:
    """The problems that lines without their own name, read when the first is asked for."""

    def __init__(self, path: Path, given: Sequence[Path] | None, entries: Sequence[PublishedRecord]) -> None:
        self._wanted = {str(record.get("problem_id")) for record in _objects(entries) if "problem_id" in record}
        self._path, self._given = path, given
        self._found: dict[str, Problem] | None = None

    def of(self, record: Fields) -> Problem:
        """Return a line's problem; raises `RecordError` where there is none, or where its answer is another."""
        if self._found is None:
            self._found = self._read()
        problem = self._found.get(str(record.get("problem_id")))
        if problem is None:
            where = "the files given" if self._given is not None else f"the files of {self._path.parent}"
            raise RecordError(f"problem_id: {record.get('problem_id')!r} is not in {where}; name the file that has it")
        answer = record.get("answer")
        if problem.options is None and isinstance(answer, str):
            answer = _LETTERS.get(answer, answer)
        if answer is not None and problem.answer is not None and answer != problem.answer:
            raise RecordError(f"answer: {answer!r} where problem {problem.id!r} has {problem.answer!r}")
        return problem

    def _read(self) -> dict[str, Problem]:
        from rollout.published.loaders import load_published  # it takes numpy with it, and few files need it

        found: dict[str, Problem] = {}
        for path in self._given if self._given is not None else sorted(self._path.parent.iterdir()):
            if self._given is not None or (path != self._path and self._has_wanted(path)):
                found.update({p.id: p for p in load_published(path) if p.id in self._wanted})
        return found

    def _has_wanted(self, path: Path) -> bool:
        """Say whether a file beside has a wanted problem; what cannot be read is somebody else's file."""
        try:
            return any(str(record.get("id")) in self._wanted for record in list(_objects(read_entries(path))))
        except InputError:
            return False


def _objects(entries: Iterable[PublishedRecord]) -> Iterator[Fields]:
    return filter(None, (as_fields(entry.record) for entry in entries))
