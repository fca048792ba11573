"""Syllogism Validity (Dasgupta et al. 2022; LogicGuide, section 4.2) as problems with a reference formalisation.

Two shapes are read: LogicGuide's set as JSON lines (`premises`, `conclusion`, `valid`), each argument there under
three instructions, and this project's `problem` lines.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from critics.problem import Problem, RecordError, read_problem
from critics.text.translators.syllogism import OPTIONS, ask, translate
from rollout.published.records import Entry, Fields, as_texts, formalised, read_all, read_entries

_RENAMED = {"name": "name", "order_first": "order", "initial_prompt": "instruction"}


def load_syllogism(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, options `Valid` and `Invalid`, `formal` filled in.

    `meta` has the `condition` (`consistent` or `inconsistent`: whether the conclusion agrees with belief;
    `nonsense`), `name`, `order` and `instruction`; an argument that the translator refuses has no `formal`, and
    the reason as `meta["inexpressible"]`. Raises `InputError` at the first bad record, naming file, line and
    remedy.
    """
    return read_all(read_entries(Path(path)), _problems)


def _problems(entry: Entry) -> Iterable[Problem]:
    data = entry.fields()
    return [formalised(_argument(data) if "premises" in data else data.own("syllogism"), translate)]


def _argument(data: Fields) -> Problem:
    premises = as_texts(data.get("premises"))
    if premises is None:
        raise RecordError("premises: a list of sentences is needed")
    conclusion, valid = data.text("conclusion", "a sentence is needed"), data.get("valid")
    if not isinstance(valid, bool):
        raise RecordError(f"valid: {valid!r} is neither true nor false")
    known = {ours: data.get(theirs) for theirs, ours in _RENAMED.items() if data.get(theirs) is not None}
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


def _condition(data: Fields) -> str:
    """Nonsense is believed by nobody: what the file says of its agreement with belief is left out."""
    if data.get("kind") == "nonsense":
        return "nonsense"
    agrees = data.get("belief_consistent")
    if data.get("kind") != "realistic" or not isinstance(agrees, bool):
        raise RecordError("kind: 'nonsense' is needed, or 'realistic' with belief_consistent true or false")
    return "consistent" if agrees else "inconsistent"
