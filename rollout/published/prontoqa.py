"""The published PrOntoQA files, in every shape they come in, as problems with a reference formalisation.

Four shapes are read: LogicGuide's set as JSON lines (`context`, `query`, `True` or `False`), Logic-LM's
(`question`, `options`, a letter), this project's `problem` lines, and what the PrOntoQA generator itself
writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no problems, inside.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from critics.problem import Problem, RecordError, read_problem
from critics.text.reference import ReferenceMismatch, reference
from rollout.published.records import Entry, Fields, as_list, entry_error, generated_example, read_all, read_entries

_ANSWERS = {"True": "true", "False": "false"}


def load_prontoqa(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers in the project's terms and `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has `hops` and `ontology` where the file tells them.
    Raises `InputError` at the first bad record, naming file, line (or example) and remedy; records before a bad
    one have been yielded by then.
    """
    source = Path(path)
    return read_all(read_entries(source), partial(_problems, stem=source.name.partition(".")[0]))


def _problems(entry: Entry, *, stem: str) -> Iterable[Problem]:
    example = None if entry.name is None else generated_example(entry, stem)
    data = entry.fields() if example is None else Fields({**example.values, "ontology": _ontology(example, stem)})
    problem = _queried(data) if "query" in data else _asked(data)
    try:
        known = reference(problem)
    except ReferenceMismatch as error:
        remedy = "only modus ponens problems can be loaded, remove the others"
        raise entry_error(entry.where, error, remedy) from error
    return [replace(problem, formal=None if known is None else known.formal)]


def _ontology(example: Fields, stem: str) -> str | None:
    """Return the ontology that PrOntoQA's generator tells in a file's name; fictional is its default."""
    told = next((ontology for ontology in ("true", "false") if f"{ontology}ontology" in stem), None)
    return "fictional" if told is None and example.get("hops") is not None else told


def _queried(data: Fields) -> Problem:
    """Read LogicGuide's keys, where the question is called `query` and the answer is `True` or `False`."""
    answer = data.get("answer")
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise RecordError(f"answer: {answer!r} is neither 'True' nor 'False'")
    known = data.told("hops", "ontology")
    renamed = {"question": data.get("query"), "answer": _ANSWERS[answer], "dataset": "prontoqa", "meta": known}
    return read_problem({**data.values, **renamed, "options": None})


def _asked(data: Fields) -> Problem:
    """Read Logic-LM's keys or the project's own."""
    problem = data.problem("prontoqa", "PrOntoQA")
    explanation = as_list(data.get("explanation"))
    if explanation is None or "hops" in problem.meta:
        return problem
    # Logic-LM's explanation is the gold proof: a fact, then a rule and a fact for each hop.
    return replace(problem, meta={**problem.meta, "hops": (len(explanation) - 1) // 2})
