"""The published ProofWriter files (Tafjord et al. 2021, open world) as problems with a reference formalisation.

Four shapes are read: Logic-LM's records (`context`, `question`, `options`, a letter), LogicGuide's (`context`,
`query`, `True`, `False` or `Unknown`), the authors' own theories with their `questions`, each of which becomes a
problem, and this project's `problem` lines.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.kernel import WorkLimitExceeded
from critics.problem import Problem, RecordError, read_problem
from critics.reference import ReferenceMismatch, reference
from critics.translators.proofwriter import translate
from critics.translators.translation import TranslationError
from rollout.demonstration import decide
from rollout.published.records import as_object, read_entries

_ANSWERS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}
_DEPTH = re.compile(r"-D(?P<depth>\d+)(?:-|_|$)")
_CLOSED_WORLD = re.compile(r"-CWA-")


def load_proofwriter(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers in the project's terms and `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has the theory's `depth` where the id tells it (`OWA-D5`), and
    as `hops` the number of rule applications in a proof of the statement or of its negation, None where neither
    follows. A problem that the translator refuses has no `formal` and no `hops`, and the reason as
    `meta["inexpressible"]`. Raises `InputError` at the first bad record, naming file, line and remedy, and
    `OSError` for a file that cannot be opened; records before a bad one have been yielded by then.
    """
    for entry in read_entries(Path(path)):
        try:
            for record in _questions(entry.record):
                yield _formalised(_problem(record))
        except (RecordError, ReferenceMismatch) as error:
            raise InputError(f"{entry.where}: {error}; correct the record or remove it") from error


def _questions(record: object) -> list[dict[str, Any]]:
    """Return one record for each question of a theory; other records have one question."""
    data = as_object(record)
    if data is None:
        raise RecordError("a problem must be a JSON object")
    if "theory" not in data:
        return [data]
    questions = as_object(data.get("questions"))
    if questions is None:
        raise RecordError("questions: an object of questions is needed")
    return [_question_of(data, name, question) for name, question in questions.items()]


def _question_of(theory: Mapping[str, Any], name: str, question: object) -> dict[str, Any]:
    asked = as_object(question)
    if asked is None:
        raise RecordError(f"questions.{name}: an object is needed")
    answer = asked.get("answer")
    return {
        "id": f"{theory.get('id')}_{name}",
        "context": theory["theory"],
        "query": asked.get("question"),
        "answer": str(answer) if isinstance(answer, bool) else answer,
    }


def _problem(data: dict[str, Any]) -> Problem:
    dataset = data.get("dataset", "proofwriter")
    if not isinstance(dataset, str) or dataset.lower() != "proofwriter":
        raise RecordError(f"dataset: {dataset!r} is not ProofWriter")
    read = {**data, **_queried(data)} if "query" in data else data
    problem = read_problem({**read, "dataset": "proofwriter"})
    if _CLOSED_WORLD.search(problem.id):
        # What is not derived is false there, and would be certified as unknown here.
        raise RecordError(f"id: {problem.id!r} is a closed-world problem; only open-world ones can be decided")
    depth = _DEPTH.search(problem.id)
    if depth is None or "depth" in problem.meta:
        return problem
    return replace(problem, meta={**problem.meta, "depth": int(depth["depth"])})


def _queried(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what LogicGuide's keys say, where the question is called `query` and the answer is a word."""
    answer = data.get("answer")
    if not isinstance(answer, str) or answer.lower() not in _ANSWERS:
        raise RecordError(f"answer: {answer!r} is none of 'True', 'False' and 'Unknown'")
    return {"question": data["query"], "answer": _ANSWERS[answer.lower()], "options": None}


def _formalised(problem: Problem) -> Problem:
    """Fill in `formal` and `hops`; a formalisation that is given is compared with the text."""
    if problem.formal is not None:
        reference(problem)
        return problem
    try:
        formal = translate(problem.context, problem.question)
    except TranslationError as error:
        return replace(problem, meta={**problem.meta, "inexpressible": str(error)})
    formalised = replace(problem, formal=formal)
    try:
        answer, inferences = decide(formal)
    except WorkLimitExceeded:
        return formalised
    hops = None if answer == "unknown" else len(inferences)
    return replace(formalised, meta={**problem.meta, "hops": hops})
