"""FLD (Morishita et al. 2023, 2024: `hitachi-nlp/FLD.v2` and its kin): facts in nonce words, and a hypothesis.

Two shapes are read: the published rows (`context` or `facts`, `hypothesis`, `world_assump_label`, and the same in
`context_formula` or `facts_formula` and `hypothesis_formula`) and this project's `problem` lines. The world is open.
The formulas come with the problem, as `formal`: predicates are `A`, `AB`, objects `a`, `b`, as the row writes them.
Its English is in hundreds of templates that negate by `that .. is wrong`, which nothing here reads.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from critics.problem import Problem, RecordError
from rollout.published.proverqa import with_formulas
from rollout.published.records import Fields, read_all, read_entries

DATASET = "fld"
_LABELS = {"PROVED": "true", "DISPROVED": "false", "UNKNOWN": "unknown"}
_FACT = re.compile(r"(?:^|\s+)(?:sent\d+|fact\d+): ")
_QUANTIFIED = re.compile(r"\((?P<some>E?)(?P<name>[a-z])\):? ")
_ATOM = re.compile(r"\{(?P<predicate>[A-Z]+)\}(?:\{(?P<thing>[a-z]+)\}|(?P<variable>[a-z])(?![a-z]))?")


def load_fld(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order; raises `InputError` at the first bad record, with file, line and remedy."""
    stem, numbers = Path(path).name.partition(".")[0], count()
    return read_all(read_entries(Path(path)), lambda entry: [_problem(entry.fields(), stem, numbers)])


def _problem(data: Fields, stem: str, numbers: Iterator[int]) -> Problem:
    if "hypothesis" not in data:
        return data.own(DATASET)
    key = "facts" if "facts" in data else "context"
    label = str(data.get("world_assump_label")).strip("_").upper()
    if label not in _LABELS:
        raise RecordError(f"world_assump_label: {data.get('world_assump_label')!r} is none of {', '.join(_LABELS)}")
    facts = [fact.strip() for fact in _FACT.split(data.text(key)) if fact.strip()]
    id_ = f"{DATASET}/{stem}/{data.get('id', next(numbers))}"
    question = data.text("hypothesis", "a sentence is needed").strip()
    problem = Problem(id_, DATASET, "\n".join(facts), question, answer=_LABELS[label])
    formulas, goal = data.get(f"{key}_formula"), data.get("hypothesis_formula")
    if not isinstance(formulas, str) or not isinstance(goal, str):
        return replace(problem, meta={"inexpressible": f"the row has no {key}_formula and hypothesis_formula"})
    premises = [formula.strip() for formula in _FACT.split(formulas) if formula.strip()]
    if len(premises) != len(facts):
        why = f"the row has {len(premises)} formulas for {len(facts)} facts"
        return replace(problem, meta={"inexpressible": why})
    return with_formulas(problem, list(map(_formula, premises)), _formula(goal))


def _formula(text: str) -> str:
    """Return a row's formula in this project's notation: `(x): {A}x -> {B}x` is `∀x ((A(x) → B(x)))`."""
    prefix = ""
    while (found := _QUANTIFIED.match(text)) is not None:
        prefix += f"{'∃' if found['some'] else '∀'}{found['name']} "
        text = text[found.end() :]
    atoms = _ATOM.sub(lambda m: m["predicate"] + (f"({t})" if (t := m["thing"] or m["variable"]) else ""), text)
    body = re.sub(r" v ", " ∨ ", atoms)
    return f"{prefix}({body})" if prefix else body
