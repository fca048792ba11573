"""PrOntoQA's out-of-distribution problems (Saparov et al. 2023): `Prove: ..`, one file or line set for each rule.

Three shapes are read: JSON lines (`context`, `query`, `rule`), this project's `problem` lines, and what the
PrOntoQA generator itself writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no
problems, inside. What is to be proved always follows, so the answer is always `true`.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from critics.translators.deductions import translate
from critics.translators.translation import TranslationError
from rollout.published.records import Entry, as_object, read_entries

DATASET = "prontoqa-ood"
RULES = ("AndIntro", "AndElim", "OrIntro", "OrElim", "ProofByContra", "Composed")
_HOPS = re.compile(r"(\d+)hop")


def load_deductions(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers `true` and `formal` filled in.

    `meta` has `rule` and `hops` where the file tells them. A problem that the kernel cannot express (case
    analysis, proof by contradiction) or the translator does not understand has no `formal`, and the reason as
    `meta["inexpressible"]`. Raises `InputError` at the first bad record, naming file, line (or example) and remedy.
    """
    source = Path(path)
    for entry in read_entries(source):
        try:
            yield _formalised(_problem(_upstream_record(entry, source) if entry.name else entry.record))
        except RecordError as error:
            raise InputError(f"{entry.where}: {error}; correct the record or remove it") from error


def _upstream_record(entry: Entry, source: Path) -> object:
    """Return the test example under the lines' keys; what has none is returned as it is, to be refused."""
    test = as_object((as_object(entry.record) or {}).get("test_example"))
    if test is None:
        return entry.record
    stem = source.name.partition(".")[0]
    hops = _HOPS.search(stem)
    return {
        "id": f"{stem}/{entry.name}",
        "context": test.get("question"),
        "query": test.get("query"),
        "rule": next((rule for rule in RULES if rule in stem), None),
        "hops": None if hops is None else int(hops[1]),
    }


def _problem(record: object) -> Problem:
    data = as_object(record)
    if data is None:
        raise RecordError("a problem must be a JSON object")
    if "query" not in data:
        if data.get("dataset") != DATASET:
            raise RecordError(f"dataset: {data.get('dataset')!r} is not {DATASET}")
        return read_problem(data)
    if not isinstance(data["query"], str) or not data["query"].startswith("Prove: "):
        raise RecordError(f"query: {data['query']!r} does not start with 'Prove: '")
    known = {key: data[key] for key in ("rule", "hops") if data.get(key) is not None}
    named = {key: data.get(key) for key in ("id", "context")}
    return read_problem({**named, "dataset": DATASET, "question": data["query"], "answer": "true", "meta": known})


def _formalised(problem: Problem) -> Problem:
    try:
        return problem if problem.formal else replace(problem, formal=translate(problem.context, problem.question))
    except TranslationError as error:
        return replace(problem, meta={**problem.meta, "inexpressible": str(error)})
