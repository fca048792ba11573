"""ProverQA (Qi et al. 2025, `opendatalab/ProverQA`): stories, a statement, and formulas for every sentence.

Two shapes are read: the published rows (`context`, `question`, lettered `options`, a letter, `nl2fol` and
`conclusion_fol`) and this project's `problem` lines. The formulas come with the problem: they are its `formal`, and a
certificate says `given`. Where one is missing or cannot be read, there is no `formal`, and `meta["inexpressible"]`
says why.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from critics.logic.first_order.parser import parse
from critics.logic.first_order.printing import canonical
from critics.problem import Formal, Problem, RecordError
from critics.replay.first_order.syntax import FormulaError, open_names, signature
from rollout.published.records import Entry, Fields, as_fields, read_all, read_entries

DATASET = "proverqa"


def load_proverqa(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order; raises `InputError` at the first bad record, with file, line and remedy."""
    stem = Path(path).name.partition(".")[0]
    return read_all(read_entries(Path(path)), lambda entry: [_problem(entry, stem)])


def _problem(entry: Entry, stem: str) -> Problem:
    data = entry.fields()
    if "nl2fol" not in data:
        return data.own(DATASET)
    written = as_fields(data.get("nl2fol"))
    if written is None or not all(isinstance(formula, str) for formula in written.values.values()):
        raise RecordError("nl2fol: an object with a formula for each sentence is needed")
    options = data.get("options")
    problem = Fields({**data.values, "id": f"{DATASET}/{stem}/{data.get('id')}"}).problem(DATASET, "ProverQA", meta={})
    if options is None or problem.answer is None:
        raise RecordError("options, answer: lettered options and a letter are needed")
    context = " ".join(problem.context.split())
    unknown = [sentence for sentence in written.values if " ".join(sentence.split()) not in context]
    left = context
    for sentence in sorted(written.values, key=len, reverse=True):
        left = left.replace(" ".join(sentence.split()), " ")
    if unknown or left.strip():
        why = f"nl2fol does not formalise the sentences of the context: {(unknown or [left.strip()])[0][:80]!r}"
        return replace(problem, meta={"inexpressible": why})
    return with_formulas(problem, list(map(str, written.values.values())), str(data.get("conclusion_fol")))


def with_formulas(problem: Problem, premises: list[str], conclusion: str) -> Problem:
    """Return a problem with formulas that came with it as its `formal`, for attempts and for demonstrations."""
    try:
        formulas = [parse(text).formula for text in [*premises, conclusion]]
        signature(formulas)
    except FormulaError as error:
        return replace(problem, meta={**problem.meta, "inexpressible": str(error)})
    if names := open_names(formulas):
        return replace(problem, meta={**problem.meta, "inexpressible": f"no quantifier binds {', '.join(names)}"})
    read = list(map(canonical, formulas))
    formal = Formal(tuple(read[:-1]), read[-1])
    meta = {**problem.meta, "premises_fol": list(formal.axioms), "conclusion_fol": formal.goal}
    return replace(problem, formal=formal, meta=meta)
