"""The published PrOntoQA files, in every shape they come in, as problems with a reference formalisation.

Four shapes are read: LogicGuide's set as JSON lines (`context`, `query`, `True` or `False`), Logic-LM's
(`question`, `options`, a letter), this project's `problem` lines, and what the PrOntoQA generator itself
writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no problems, inside.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from critics.reference import ReferenceMismatch, reference
from rollout.published.records import Entry, as_list, as_object, read_entries

_ANSWERS = {"True": "true", "False": "false"}
_HOPS = re.compile(r"(\d+)hop")


def load_prontoqa(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers in the project's terms and `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has `hops` and `ontology` where the file tells them.
    Raises `InputError` at the first bad record, naming file, line (or example) and remedy, and `OSError`
    for a file that cannot be opened; records before a bad one have been yielded by then.
    """
    for entry in _entries(Path(path)):
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


def _entries(source: Path) -> Iterator[Entry]:
    """Yield the file's records; the examples of a generator's file under LogicGuide's keys."""
    stem = source.name.partition(".")[0]
    for entry in read_entries(source):
        if entry.name is None:
            yield entry
        else:
            record = _upstream_record(f"{stem}/{entry.name}", stem, entry.record)
            yield replace(entry, record=record)


def _upstream_record(id_: str, stem: str, example: object) -> object:
    """Return the test example under LogicGuide's keys; what has none is returned as it is, to be refused."""
    test = as_object((as_object(example) or {}).get("test_example"))
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
    data = as_object(record)
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
    explanation = as_list(data.get("explanation"))
    if explanation is None or "hops" in problem.meta:
        return problem
    # Logic-LM's explanation is the gold proof: a fact, then a rule and a fact for each hop.
    return replace(problem, meta={**problem.meta, "hops": (len(explanation) - 1) // 2})
