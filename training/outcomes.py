"""The outcomes table: one row an attempt. Every rate, panel, comparison and table of a paper is a group-by of it.

`training.rounds.evaluation.outcomes` makes it of judged traces; an evaluation keeps its columns (`evaluation.json`),
and reports read them back.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

from training.estimates import Proportion

Record: TypeAlias = dict[str, Any]
"""The JSON form of a result: what a file holds is what tables, figures and pages are made of."""
Table: TypeAlias = Any
"""A pandas.DataFrame of Python objects: None stays None, and a sum of flags is an int that JSON can hold."""
FLAGS = ("right", "certified", "lucky", "answered", "no_answer", "abstained", "wrong_formal", "exhausted")
"""The columns of 0 and 1."""
GROUPINGS: Mapping[str, str] = {
    "by_hops": "hops",
    "by_condition": "condition",
    "by_dataset": "dataset",
    "by_answer": "gold",
}
"""Keys of an evaluation, and the columns that they group attempts by."""
RATES: Mapping[str, str] = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
"""The rates of every attempt, and the counts that they are made of."""


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return rows as a table."""
    return import_module("pandas").DataFrame(list(rows), dtype=object)


def pooled(cells: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, int]:
    """Return the sums of counts, such as those of several seeds."""
    listed = list(cells)
    return {name: sum(cell[name] for cell in listed) for name in names}


def rates(cells: Iterable[Mapping[str, Any]], made_of: Mapping[str, str] = RATES) -> Record:
    """Return n, the rates of counts together, and their 95% intervals (Wilson 1927)."""
    counts = pooled(cells, ("n", *made_of.values()))
    shares = {name: Proportion(counts[count], counts["n"]) for name, count in made_of.items()}
    told = {name: share.rate for name, share in shares.items()}
    return {"n": counts["n"], **told, **{f"{name}_interval": list(s.interval) for name, s in shares.items()}}


def naturally(label: str) -> tuple[bool, int, str]:
    """Sort labels: numbers ascending, then words."""
    return (not label.isdecimal(), int(label) if label.isdecimal() else 0, label)
