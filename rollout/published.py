"""The published PrOntoQA files, in every shape they come in, as problems with a reference formalisation.

Four shapes are read: LogicGuide's set as JSON lines (`context`, `query`, `True` or `False`), Logic-LM's
(`question`, `options`, a letter), this project's `problem` lines, and what the PrOntoQA generator itself
writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no problems, inside.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from critics.reference import ReferenceMismatch, reference

_ANSWERS = {"True": "true", "False": "false"}
_SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_HOPS = re.compile(r"(\d+)hop")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One problem as the file has it, and where."""

    where: str
    record: object


def load_prontoqa(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers in the project's terms and `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has `hops` and `ontology` where the file tells them.
    Raises `InputError` at the first bad record, naming file, line (or example) and remedy, and `OSError`
    for a file that cannot be opened; records before a bad one have been yielded by then.
    """
    source = Path(path)
    if not source.name.endswith(_SUFFIXES):
        raise InputError(f"{source}: the name must end in one of {', '.join(_SUFFIXES)}")
    lines = ".jsonl" in source.suffixes[-2:]
    for entry in _line_entries(source) if lines else _document_entries(source):
        try:
            problem = _problem(entry.record)
            known = reference(problem)
            yield replace(problem, formal=None if known is None else known.formal)
        except ReferenceMismatch as error:
            raise InputError(
                f"{entry.where}: {error}; only modus ponens problems can be loaded, remove the others"
            ) from error
        except RecordError as error:
            raise InputError(f"{entry.where}: {error}; correct the record or remove it") from error


def _line_entries(source: Path) -> Iterator[_Entry]:
    for number, line in enumerate(_text(source).split("\n"), 1):
        if line.strip():
            where = f"{source}, line {number}"
            yield _Entry(where, _json(line, where))


def _document_entries(source: Path) -> Iterator[_Entry]:
    """Yield the entries of one JSON document: Logic-LM's list of records or PrOntoQA's object of examples."""
    document = _json(_text(source), str(source))
    stem = source.name.partition(".")[0]
    if (records := _array(document)) is not None:
        for number, record in enumerate(records, 1):
            yield _Entry(f"{source}, record {number}", record)
    elif (examples := _object(document)) is not None:
        for name, example in examples.items():
            yield _Entry(f"{source}, {name}", _upstream_record(f"{stem}/{name}", stem, example))
    else:
        raise InputError(f"{source}: neither an object of examples nor a list of records; name another file")


def _upstream_record(id_: str, stem: str, example: object) -> object:
    """Return the test example under LogicGuide's keys; what has none is returned as it is, to be refused."""
    test = _object((_object(example) or {}).get("test_example"))
    if test is None:
        return example
    hops = _HOPS.search(stem)
    return {
        "id": id_,
        "context": test.get("question"),
        "query": test.get("query"),
        "answer": test.get("answer"),
        "hops": None if hops is None else int(hops[1]),
        "ontology": _upstream_ontology(stem),
    }


def _upstream_ontology(stem: str) -> str | None:
    """Return the ontology that PrOntoQA's generator tells in a file's name; fictional is its default."""
    for ontology in ("true", "false"):
        if f"{ontology}ontology" in stem:
            return ontology
    return "fictional" if _HOPS.search(stem) else None


def _problem(record: object) -> Problem:
    data = _object(record)
    if data is None:
        raise RecordError("a problem must be a JSON object")
    return _queried(data) if "query" in data else _asked(data)


def _queried(data: Mapping[str, Any]) -> Problem:
    """Read LogicGuide's keys, where the question is called `query` and the answer is `True` or `False`."""
    answer = data.get("answer")
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise RecordError(f"answer: {answer!r} is neither 'True' nor 'False'")
    known = {key: data[key] for key in ("hops", "ontology") if data.get(key) is not None}
    renamed = {"question": data["query"], "answer": _ANSWERS[answer], "dataset": "prontoqa", "meta": known}
    return read_problem({**data, **renamed, "options": None})


def _asked(data: Mapping[str, Any]) -> Problem:
    """Read Logic-LM's keys or the project's own; Logic-LM writes `ProntoQA`, or no data set at all."""
    dataset = data.get("dataset", "prontoqa")
    if not isinstance(dataset, str) or dataset.lower() != "prontoqa":
        raise RecordError(f"dataset: {dataset!r} is not PrOntoQA")
    problem = read_problem({**data, "dataset": "prontoqa"})
    explanation = _array(data.get("explanation"))
    if explanation is None or "hops" in problem.meta:
        return problem
    # Logic-LM's explanation is the gold proof: a fact, then a rule and a fact for each hop.
    return replace(problem, meta={**problem.meta, "hops": (len(explanation) - 1) // 2})


def _object(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _array(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def _json(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error}); fetch the file again") from error


def _text(source: Path) -> str:
    try:
        data = source.read_bytes()
        return (gzip.decompress(data) if source.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read ({error}); name another file, or fetch it again") from error
