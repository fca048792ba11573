"""Choice of the reader for a published file: by the data set's name, or by the file's first record."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from critics.errors import InputError
from critics.problem import Problem
from rollout.published.ar_lsat import load_ar_lsat
from rollout.published.comparisons import FORMULAS, LOGIEVAL, load_folio_formulas, load_multi_logieval
from rollout.published.deductions import load_deductions
from rollout.published.deontiqa import load_deontiqa
from rollout.published.fld import load_fld
from rollout.published.folio import load_folio
from rollout.published.knights import load_knights
from rollout.published.logicaldeduction import load_logicaldeduction
from rollout.published.prontoqa import load_prontoqa
from rollout.published.proofwriter import load_proofwriter
from rollout.published.proverqa import load_proverqa
from rollout.published.records import as_fields, read_entries
from rollout.published.syllogism import load_syllogism
from rollout.published.wason import load_wason
from rollout.published.zebra import load_zebra

Loader = Callable[[Path], Iterator[Problem]]

LOADERS: Mapping[str, Loader] = {
    "prontoqa": load_prontoqa,
    "proofwriter": load_proofwriter,
    "prontoqa-ood": load_deductions,
    "syllogism": load_syllogism,
    "wason": load_wason,
    "deontiqa": load_deontiqa,
    "knights": load_knights,
    "zebra": load_zebra,
    "proverqa": load_proverqa,
    "fld": load_fld,
    "logicaldeduction": load_logicaldeduction,
    "ar-lsat": load_ar_lsat,
    "folio": load_folio,
    FORMULAS: load_folio_formulas,
    LOGIEVAL: load_multi_logieval,
}
_OWN_KEYS = {
    ("theory", "questions"): "proofwriter",
    ("premises_fol",): "folio",
    ("premises-FOL",): "folio",
    ("premises", "conclusion", "valid"): "syllogism",
    ("input", "continuations"): "wason",
    ("peano",): "deontiqa",
    ("passage", "questions"): "ar-lsat",
    ("ontology",): "prontoqa",
    ("quiz", "names", "solution"): "knights",
    ("puzzle", "solution"): "zebra",
    ("nl2fol",): "proverqa",
    ("hypothesis", "world_assump_label"): "fld",
}
"""Keys that together one data set alone has, where its records do not name it."""
_OWN_IDS = {"ProofWriter_": "proofwriter", "logical_deduction_": "logicaldeduction", "ar_lsat_": "ar-lsat",
            "FOLIO_": "folio"}  # fmt: skip
"""How the ids of one data set begin in Logic-LM's files, whose records have the same keys in all of them."""


def load_published(path: Path, dataset: str | None = None) -> Iterator[Problem]:
    """Yield the problems of a published file; of which data set, its first record shows where it is not said.

    Raises `InputError` where no reader is known, and as the readers do.
    """
    name = dataset or looks_like(path) or "prontoqa"
    if name not in LOADERS:
        raise InputError(f"{path}: no reader for the data set {name!r}; known are {', '.join(LOADERS)}")
    return LOADERS[name](path)


def looks_like(path: Path) -> str | None:
    """Return the data set that a file's first record is of, as far as it shows; None where it does not."""
    entry = next(read_entries(path), None)
    record = None if entry is None else as_fields(entry.record)
    if record is None:
        return None
    if isinstance(named := record.get("dataset"), str):
        return named.lower()
    asked = as_fields(record.get("test_example")) or record
    if str(asked.get("query", "")).startswith("Prove: "):
        return "prontoqa-ood"
    by_key = (dataset for keys, dataset in _OWN_KEYS.items() if all(key in record for key in keys))
    by_id = (dataset for start, dataset in _OWN_IDS.items() if str(record.get("id")).startswith(start))
    return next(by_key, next(by_id, None))
