"""Published problems with first-order formulas: FOLIO, FLD and ProverQA.

FOLIO (Han et al. 2022) comes as the JSON lines of version 0.0 (`premises-FOL`, lists), those of version 2 and of the
Hub (texts, a line for each premise), lines with underscores (`premises_fol`), and Logic-LM's records (`context`,
`question`, `options`, a letter), which have no formulas. A name such as `yale-nlp/FOLIO`, or
`yale-nlp/FOLIO:validation` for one split, is fetched from the Hub. The annotation goes into `meta` and not into
`formal`: what an actor writes has names of its own, and would be compared with the annotators'. Sentences and formulas
are of different number in some stories: never match them then.

FLD (Morishita et al. 2023, 2024: `hitachi-nlp/FLD.v2` and its kin) has rows of `context` or `facts`, `hypothesis`,
`world_assump_label`, and the same in `context_formula` or `facts_formula` and `hypothesis_formula`. Its English is in
hundreds of templates that negate by `that .. is wrong`, which nothing here reads. ProverQA (Qi et al. 2025,
`opendatalab/ProverQA`) has rows of `context`, `question`, lettered `options`, a letter, `nl2fol` and `conclusion_fol`.
Formulas of both are the problem's `formal`, and a certificate says `given`; where one is missing or cannot be read,
`meta["inexpressible"]` says why. This project's `problem` lines are read of all three.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.problem import Formal, Problem, RecordError, read_problem
from critics.replay.first_order.parser import parse
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import FormulaError, open_names, signature
from rollout.published.logic_forms import problem_classes
from rollout.published.records import Fields, PublishedRecord, as_fields, as_texts, loader, read_all, read_entries

_ANSWERS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}
_HUB_NAME = re.compile(r"(?P<name>[\w.-]+/[\w.-]+?)(?::(?P<split>\w+))?")
_KEPT = {"story_id": "story_id", "story-id": "story_id", "example_id": "example_id", "example-id": "example_id",
         "source": "source", "src": "source"}  # fmt: skip


def load_folio(path: Path | str) -> Iterator[Problem]:
    """Yield the problems of a file, or of a data set of the Hub, in order.

    The context has a premise a line, and the question is the conclusion. `meta` has `num_premises`, `premises_fol`,
    `conclusion_fol` where it is annotated, `logic_classes` (see `rollout.published.logic_forms`), and `story_id`,
    `example_id` and `source` where they are told. Formulas are kept as published, malformed ones too. Raises
    `InputError` at the first bad record, naming file, line and remedy, and where the Hub gives nothing.
    """
    return read_all(_entries(Path(path)), lambda entry: [_story(entry)])


def _entries(source: Path) -> Iterator[PublishedRecord]:
    """Yield records with their place, and as name what an id begins with where a record has none."""
    named = _HUB_NAME.fullmatch(source.as_posix())
    is_file = source.exists() or any(suffix.startswith(".json") for suffix in source.suffixes)
    if named is not None and not is_file:
        yield from _from_hub(named["name"], named["split"])
        return
    for entry in read_entries(source):
        yield replace(entry, name=f"FOLIO/{entry.stem}")


def _from_hub(name: str, split: str | None) -> Iterator[PublishedRecord]:
    try:
        datasets: Any = importlib.import_module("datasets")
        found = datasets.load_dataset(name, split=split)
        splits = {split: found} if split is not None else dict(found)
    except Exception as error:  # the libraries below it raise what they like
        page = f"https://huggingface.co/datasets/{name}"
        raise InputError(
            f"{name}: there is no such file, and the Hub does not give it ({type(error).__name__}: "
            f"{str(error).partition(chr(10))[0][:200]}); accept its terms at {page} and log in with `hf auth login`, "
            "or name a file"
        ) from error
    rows = [(part, number, dict(row)) for part, rows in splits.items() for number, row in enumerate(rows)]
    for place, (part, number, row) in enumerate(rows):
        yield PublishedRecord(f"{name}, {part}, row {number}", row, f"{name}/{part}", number=place)


def _story(entry: PublishedRecord) -> Problem:
    data = entry.fields()
    if "premises" not in data:
        return data.problem("folio", "folio")
    premises = _texts(data, "premises")
    formulas = _texts(data, "premises_fol") if "premises_fol" in data else _texts(data, "premises-FOL")
    label = str(data.get("label")).strip().lower()
    if label not in _ANSWERS:
        raise RecordError(f"label: {data.get('label')!r} is none of True, False, Unknown and Uncertain")
    conclusion = data.get("conclusion_fol", data.get("conclusion-FOL"))
    annotated = {"conclusion_fol": conclusion.strip()} if isinstance(conclusion, str) and conclusion.strip() else {}
    return read_problem(
        {
            "id": data.get("id", f"{entry.name}/{data.get('example_id', entry.number)}"),
            "dataset": "folio",
            "context": "\n".join(premises),
            "question": data.text("conclusion", "a sentence is needed").strip(),
            "answer": _ANSWERS[label],
            "meta": {
                "num_premises": len(premises),
                "premises_fol": formulas,
                **annotated,
                "logic_classes": problem_classes(premises, formulas),
                **{_KEPT[key]: value for key, value in data.told(*_KEPT).items()},
            },
        }
    )


def _texts(data: Fields, key: str) -> list[str]:
    """Return the texts under a key, a list or a line for each, without blank ones; each on one line."""
    value = data.get(key)
    texts = value.splitlines() if isinstance(value, str) else as_texts(value)
    if texts is None:
        raise RecordError(f"{key}: a list of texts, or a text of lines, is needed")
    return [" ".join(text.split()) for text in texts if text.strip()]


_LABELS = {"PROVED": "true", "DISPROVED": "false", "UNKNOWN": "unknown"}
_FACT = re.compile(r"(?:^|\s+)(?:sent\d+|fact\d+): ")
_QUANTIFIED = re.compile(r"\((?P<some>E?)(?P<name>[a-z])\):? ")
_ATOM = re.compile(r"\{(?P<predicate>[A-Z]+)\}(?:\{(?P<thing>[a-z]+)\}|(?P<variable>[a-z])(?![a-z]))?")


@loader
def load_fld(entry: PublishedRecord) -> Iterable[Problem]:
    """Read a hypothesis about facts in nonce words, in an open world."""
    return [_hypothesis(entry, entry.fields())]


def _hypothesis(entry: PublishedRecord, data: Fields) -> Problem:
    if "hypothesis" not in data:
        return data.own("fld")
    key = "facts" if "facts" in data else "context"
    label = str(data.get("world_assump_label")).strip("_").upper()
    if label not in _LABELS:
        raise RecordError(f"world_assump_label: {data.get('world_assump_label')!r} is none of {', '.join(_LABELS)}")
    facts = [fact.strip() for fact in _FACT.split(data.text(key)) if fact.strip()]
    id_ = f"fld/{entry.stem}/{data.get('id', entry.number)}"
    question = data.text("hypothesis", "a sentence is needed").strip()
    problem = Problem(id_, "fld", "\n".join(facts), question, answer=_LABELS[label])
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


@loader
def load_proverqa(entry: PublishedRecord) -> Iterable[Problem]:
    """Read a story with a statement, and formulas for every sentence."""
    return [_annotated(entry)]


def _annotated(entry: PublishedRecord) -> Problem:
    data = entry.fields()
    if "nl2fol" not in data:
        return data.own("proverqa")
    written = as_fields(data.get("nl2fol"))
    if written is None or not all(isinstance(formula, str) for formula in written.values.values()):
        raise RecordError("nl2fol: an object with a formula for each sentence is needed")
    options = data.get("options")
    problem = Fields({**data.values, "id": f"proverqa/{entry.stem}/{data.get('id')}"}).problem(
        "proverqa", "ProverQA", meta={}
    )
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
