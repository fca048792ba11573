"""The published PrOntoQA files, and its out-of-distribution problems (Saparov et al. 2023), with formalisations.

Of PrOntoQA four shapes are read: LogicGuide's set as JSON lines (`context`, `query`, `True` or `False`), Logic-LM's
(`question`, `options`, a letter), this project's `problem` lines, and what the PrOntoQA generator itself
writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no problems, inside. Of the
others (`Prove: ..`, a file or line set for each rule) the first and the last two; what is to be proved always follows.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from critics.problem import Problem, RecordError, read_problem
from critics.text.reference import ReferenceMismatch, reference
from critics.text.translators.regular import translate_deductions as translate
from rollout.published.records import Fields, PublishedRecord, as_fields, as_list, entry_error, formalised, loader

RULES = ("AndIntro", "AndElim", "OrIntro", "OrElim", "ProofByContra", "Composed")
_ANSWERS = {"True": "true", "False": "false"}
_HOPS = re.compile(r"(\d+)hop")


@loader
def load_prontoqa(entry: PublishedRecord) -> Iterable[Problem]:
    """Read a problem, its answer in the project's terms and `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has `hops` and `ontology` where the file tells them.
    """
    example = _generated(entry)
    data = entry.fields() if example is None else Fields({**example.values, "ontology": _ontology(example, entry.stem)})
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


@loader
def load_deductions(entry: PublishedRecord) -> Iterable[Problem]:
    """Read a problem, its answer `true` and `formal` filled in.

    `meta` has `rule` and `hops` where the file tells them. A problem that the kernel cannot express (case
    analysis, proof by contradiction) or the translator does not understand has no `formal`, and the reason as
    `meta["inexpressible"]`.
    """
    example = _generated(entry)
    if example is None:
        return [formalised(_deduction(entry.fields()), translate)]
    rule = next((rule for rule in RULES if rule in entry.stem), None)
    return [formalised(_deduction(Fields({**example.values, "rule": rule})), translate)]


def _deduction(data: Fields) -> Problem:
    if "query" not in data:
        return data.own("prontoqa-ood")
    query = data.get("query")
    if not isinstance(query, str) or not query.startswith("Prove: "):
        raise RecordError(f"query: {query!r} does not start with 'Prove: '")
    return read_problem(
        {
            "id": data.get("id"),
            "context": data.get("context"),
            "dataset": "prontoqa-ood",
            "question": query,
            "answer": "true",
            "meta": data.told("rule", "hops"),
        }
    )


def _generated(entry: PublishedRecord) -> Fields | None:
    """Return the test example of an entry in a file of PrOntoQA's generator, under the keys of LogicGuide's lines.

    The file's name tells the hops. None where there is no test example.
    """
    example = as_fields(entry.record) if entry.name else None
    test = None if example is None else as_fields(example.get("test_example"))
    if test is None:
        return None
    hops = _HOPS.search(entry.stem)
    return Fields(
        {
            "id": f"{entry.stem}/{entry.name}",
            "context": test.get("question"),
            "query": test.get("query"),
            "answer": test.get("answer"),
            "hops": None if hops is None else int(hops[1]),
        }
    )
