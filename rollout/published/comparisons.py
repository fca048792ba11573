"""Benchmarks that AutoEval's scores are compared with: FOLIO in formulas, and Multi-LogiEval (appendix K).

FOLIO in its own words is `load_folio`'s.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from critics.errors import InputError
from critics.problem import Problem
from rollout.published.first_order import load_folio
from rollout.published.records import Fields, PublishedRecord, as_fields, as_list, as_texts, lettered, read_entries

FORMULAS, LOGIEVAL = "folio-formulas", "multi-logieval"
_LISTS = ("samples", "data_samples", "data", "examples")
_SAID = {"yes": "A", "no": "B"}
_LOGICS = {"pl": "pl", "propositional": "pl", "propositional_logic": "pl", "fol": "fol", "first_order": "fol",
           "first_order_logic": "fol", "nm": "nm", "non_monotonic": "nm", "nonmonotonic": "nm"}  # fmt: skip
"""Spellings of the logics, as records and folders have them."""
_DEPTH = re.compile(r"d(\d)(?:_.*)?", re.IGNORECASE)


def load_folio_formulas(path: Path | str) -> Iterator[Problem]:
    """Yield FOLIO's problems with the annotated formulas in the place of the sentences: reasoning, and no reading.

    Problems whose conclusion has no annotation are left out. Raises `InputError` as `load_folio` does.
    """
    for problem in load_folio(path):
        conclusion = problem.meta.get("conclusion_fol")
        if isinstance(conclusion, str) and problem.meta.get("premises_fol"):
            context = "\n".join(problem.meta["premises_fol"])
            yield replace(problem, id=f"{problem.id}/formulas", dataset=FORMULAS, context=context, question=conclusion)


def load_multi_logieval(path: Path | str) -> Iterator[Problem]:
    """Yield the yes-or-no questions of a file of Multi-LogiEval (Patel et al. 2024), or of a folder of them.

    A file is a list of samples, JSON lines, or an object with its samples under `samples`; each sample has `context`,
    `question` and `answer`. What else the object says (`logic`, `rule`, `depth`) goes into `meta`. Raises `InputError`
    that names the file, the record and the remedy. A folder such as `d2_Data/fol` says what the file does not.
    """
    source = Path(path)
    files = sorted(source.rglob("*.json")) if source.is_dir() else [source]
    if not files:
        raise InputError(f"{source}: there is no .json file in the folder")
    for file in files:
        within = file.relative_to(source).with_suffix("") if source.is_dir() else Path(file.stem)
        for number, (entry, told) in enumerate(_samples(file)):
            yield _problem(entry, {**_of_folders(within), **told}, f"{LOGIEVAL}/{within.as_posix()}/{number}")


def _of_folders(within: Path) -> dict[str, str | int]:
    """Return the logic and the depth that the names of folders, or of the file, give."""
    names = [part.lower().replace("-", "_") for part in within.parts]
    logics = [logic for name in names if (logic := _LOGICS.get(name.removesuffix("_data"))) is not None]
    depths = [int(found[1]) for name in names if (found := _DEPTH.fullmatch(name))]
    return {**({"logic": logics[-1]} if logics else {}), **({"depth": depths[-1]} if depths else {})}


def _samples(file: Path) -> Iterator[tuple[PublishedRecord, Mapping[str, str | int]]]:
    entries = list(read_entries(file))
    named = {entry.name: entry.record for entry in entries if entry.name is not None}
    key = next((key for key in _LISTS if as_list(named.get(key)) is not None), None)
    if key is None:
        yield from ((entry, {}) for entry in entries)
        return
    told = {name: value for name, value in named.items() if isinstance(value, str | int)}
    for number, record in enumerate(as_list(named[key]) or ()):
        yield PublishedRecord(f"{file}, {key} {number}", record), told


def _problem(entry: PublishedRecord, told: Mapping[str, str | int], name: str) -> Problem:
    sample = as_fields(entry.record) or Fields({})
    texts = as_texts([sample.get(key) for key in ("context", "question", "answer")]) or [""]
    if not all(text.strip() for text in texts):
        raise InputError(f"{entry.where}: context, question and answer are needed, each a text; correct or remove it")
    context, question, answer = (" ".join(text.split()) for text in texts)
    letter = _SAID.get(answer.lower().rstrip("."))
    if letter is None:
        raise InputError(f"{entry.where}: answer: {answer!r} is neither yes nor no")
    meta = {**told, **{key: sample.get(key) for key in ("rule", "depth", "logic") if key in sample}}
    if isinstance(logic := meta.get("logic"), str):
        meta["logic"] = _LOGICS.get(logic.strip().lower().replace("-", "_").replace(" ", "_"), logic)
    return Problem(name, LOGIEVAL, context, question, options=tuple(lettered(["Yes", "No"])), answer=letter, meta=meta)
