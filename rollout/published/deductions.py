"""PrOntoQA's out-of-distribution problems (Saparov et al. 2023): `Prove: ..`, one file or line set for each rule.

Three shapes are read: JSON lines (`context`, `query`, `rule`), this project's `problem` lines, and what the
PrOntoQA generator itself writes, one JSON object of `example1`, `example2`, ... with solved examples, which are no
problems, inside. What is to be proved always follows, so the answer is always `true`.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from critics.problem import Problem, RecordError, read_problem
from critics.text.translators.deductions import translate
from rollout.published.records import Entry, Fields, formalised, generated_example, read_all, read_entries

DATASET = "prontoqa-ood"
RULES = ("AndIntro", "AndElim", "OrIntro", "OrElim", "ProofByContra", "Composed")


def load_deductions(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, answers `true` and `formal` filled in.

    `meta` has `rule` and `hops` where the file tells them. A problem that the kernel cannot express (case
    analysis, proof by contradiction) or the translator does not understand has no `formal`, and the reason as
    `meta["inexpressible"]`. Raises `InputError` at the first bad record, naming file, line (or example) and remedy.
    """
    source = Path(path)
    return read_all(read_entries(source), partial(_problems, stem=source.name.partition(".")[0]))


def _problems(entry: Entry, *, stem: str) -> Iterable[Problem]:
    example = generated_example(entry, stem) if entry.name else None
    if example is None:
        return [formalised(_problem(entry.fields()), translate)]
    rule = next((rule for rule in RULES if rule in stem), None)
    return [formalised(_problem(Fields({**example.values, "rule": rule})), translate)]


def _problem(data: Fields) -> Problem:
    if "query" not in data:
        return data.own(DATASET)
    query = data.get("query")
    if not isinstance(query, str) or not query.startswith("Prove: "):
        raise RecordError(f"query: {query!r} does not start with 'Prove: '")
    return read_problem(
        {
            "id": data.get("id"),
            "context": data.get("context"),
            "dataset": DATASET,
            "question": query,
            "answer": "true",
            "meta": data.told("rule", "hops"),
        }
    )
