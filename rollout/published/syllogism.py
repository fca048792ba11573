"""Syllogism Validity (Dasgupta et al. 2022; paper 004, section 4.2) as problems with a reference formalisation.

Two shapes are read: LogicGuide's set as JSON lines (`premises`, `conclusion`, `valid`), each argument there under
three instructions, and this project's `problem` lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Problem, RecordError, read_problem
from critics.translators.syllogism import OPTIONS, ask, translate
from critics.translators.translation import TranslationError
from rollout.published.records import as_list, as_object, read_entries

_RENAMED = {"name": "name", "order_first": "order", "initial_prompt": "instruction"}


def load_syllogism(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, options `Valid` and `Invalid`, `formal` filled in.

    `meta` has the `condition` (`consistent` or `inconsistent`: whether the conclusion agrees with belief;
    `nonsense`), `name`, `order` and `instruction`; an argument that the translator refuses has no `formal`, and
    the reason as `meta["inexpressible"]`. Raises `InputError` at the first bad record, naming file, line and
    remedy.
    """
    for entry in read_entries(Path(path)):
        try:
            yield _formalised(_problem(entry.record))
        except RecordError as error:
            raise InputError(f"{entry.where}: {error}; correct the record or remove it") from error


def _problem(record: object) -> Problem:
    data = as_object(record)
    if data is None:
        raise RecordError("a problem must be a JSON object")
    if "premises" in data:
        return _argument(data)
    if data.get("dataset") != "syllogism":
        raise RecordError(f"dataset: {data.get('dataset')!r} is not syllogism")
    return read_problem(data)


def _argument(data: Mapping[str, Any]) -> Problem:
    premises = as_list(data["premises"])
    if premises is None or not all(isinstance(premise, str) for premise in premises):
        raise RecordError("premises: a list of sentences is needed")
    conclusion, valid = data.get("conclusion"), data.get("valid")
    if not isinstance(conclusion, str):
        raise RecordError("conclusion: a sentence is needed")
    if not isinstance(valid, bool):
        raise RecordError(f"valid: {valid!r} is neither true nor false")
    known = {ours: data[theirs] for theirs, ours in _RENAMED.items() if data.get(theirs) is not None}
    return read_problem(
        {
            "id": data.get("id"),
            "dataset": "syllogism",
            "context": " ".join(premises),
            "question": ask(conclusion),
            "options": list(OPTIONS),
            "answer": "A" if valid else "B",
            "meta": {"condition": _condition(data), **known},
        }
    )


def _condition(data: Mapping[str, Any]) -> str:
    """Nonsense is believed by nobody: what the file says of its agreement with belief is left out."""
    if data.get("kind") == "nonsense":
        return "nonsense"
    agrees = data.get("belief_consistent")
    if data.get("kind") != "realistic" or not isinstance(agrees, bool):
        raise RecordError("kind: 'nonsense' is needed, or 'realistic' with belief_consistent true or false")
    return "consistent" if agrees else "inconsistent"


def _formalised(problem: Problem) -> Problem:
    try:
        return problem if problem.formal else replace(problem, formal=translate(problem.context, problem.question))
    except TranslationError as error:
        return replace(problem, meta={**problem.meta, "inexpressible": str(error)})
