"""Choice of the loader for a published file: by the data set's name, or by the file's first record."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from critics.errors import InputError
from critics.problem import Problem
from rollout.published.records import Loader, as_fields, read_entries

LOADERS: Mapping[str, str] = {
    "prontoqa": "rollout.published.prontoqa:load_prontoqa",
    "proofwriter": "rollout.published.proofwriter:load_proofwriter",
    "prontoqa-ood": "rollout.published.prontoqa:load_deductions",
    "syllogism": "rollout.published.content_effects:load_syllogism",
    "wason": "rollout.published.content_effects:load_wason",
    "deontiqa": "rollout.published.records:load_deontiqa",
    "proverqa": "rollout.published.first_order:load_proverqa",
    "fld": "rollout.published.first_order:load_fld",
    "logicaldeduction": "rollout.published.puzzles:load_logicaldeduction",
    "ar-lsat": "rollout.published.puzzles:load_ar_lsat",
    "folio": "rollout.published.first_order:load_folio",
    "folio-formulas": "rollout.published.comparisons:load_folio_formulas",
    "multi-logieval": "rollout.published.comparisons:load_multi_logieval",
}
"""By data set; a loader is imported when it is asked for."""
_OWN_KEYS = {
    ("theory", "questions"): "proofwriter",
    ("premises_fol",): "folio",
    ("premises-FOL",): "folio",
    ("premises", "conclusion", "valid"): "syllogism",
    ("input", "continuations"): "wason",
    ("peano",): "deontiqa",
    ("passage", "questions"): "ar-lsat",
    ("ontology",): "prontoqa",
    ("nl2fol",): "proverqa",
    ("hypothesis", "world_assump_label"): "fld",
}
"""Keys that together one data set alone has, where its records do not name it."""
_OWN_IDS = {"ProofWriter_": "proofwriter", "logical_deduction_": "logicaldeduction", "ar_lsat_": "ar-lsat",
            "FOLIO_": "folio"}  # fmt: skip
"""Beginnings of the ids of one data set in Logic-LM's files, whose records have the same keys in all of them."""


def load_published(path: Path, dataset: str | None = None) -> Iterator[Problem]:
    """Yield the problems of a published file; of which data set, its first record shows where it is not said.

    Raises `InputError` where no reader is known, and as the readers do.
    """
    name = dataset or looks_like(path) or "prontoqa"
    if name not in LOADERS:
        raise InputError(f"{path}: no reader for the data set {name!r}; known are {', '.join(LOADERS)}")
    module, _, function = LOADERS[name].partition(":")
    load: Loader = getattr(import_module(module), function)
    return load(path)


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
