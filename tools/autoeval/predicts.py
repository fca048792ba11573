"""Benchmarks compared by the scores of models: correlation and predictive power (sections 3.2 and 4.2).

A benchmark is a table of scores by model, AutoEval's beside its own: the paper's
(configs/papers/autoeval_tables.yaml), and users' files.

    HumanEval(A):
      up_to: 7                                   # AutoEval's categories that count: those that the benchmark has
      scores:
        some-model: [0.62, 0.87]                 # AutoEval's calibrated score, and the benchmark's
        my-model: [pl/scores.json, folio/scores.json]
        my-other: [pl-2/scores.json, folio-2/scores.json#meteor]

A name of a file, relative to the table, is read as what `certistar evaluate --benchmark .. --out DIR` wrote; behind `#`
stands which of its numbers, where that is not `score`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from critics.errors import InputError
from training.autoeval.joined import read_folder
from training.autoeval.scores import scores
from training.configuration.section import ConfigError, Rate, Section, read_yaml, validated
from training.outcomes import LEVEL, Record, stats
from training.records.store import write_json, write_text
from training.reporting.leaderboard import EVALUATION, Group, find_entries

Table = Mapping[str, float]
"""Scores by model."""
PUBLISHED = Path(__file__).parents[2] / "configs" / "papers" / "autoeval_tables.yaml"
REPLICATES = 5_000
MIN_MODELS = 3
PAPER = "autoeval-paper"
"""Name of the paper's own tables, among names of files."""
Score = Rate | str


class ScoreTable(Section):
    """One benchmark."""

    scores: dict[str, tuple[Score, Score]] = Field(default_factory=dict[str, tuple[Score, Score]])
    """For each model AutoEval's calibrated score and the benchmark's: numbers from 0 to 1, or files that hold them."""
    reported: dict[str, tuple[Rate, str]] = Field(default_factory=dict[str, tuple[Rate, str]])
    """For each model the benchmark's score alone, and who reports it."""
    dataset: str | None = None
    """AutoEval's data set, such as autoeval-pl."""
    up_to: int | None = None
    """The highest category that AutoEval's score is calibrated to; all of them, if none."""
    table: int | None = None
    """Its number in the paper."""


class _File(Section):
    benchmarks: dict[str, ScoreTable]


@dataclass(frozen=True, slots=True)
class ScoreSource:
    """The tables of one file."""

    name: str
    tables: Mapping[str, Mapping[str, tuple[float, float]]]
    """For each benchmark both scores by model."""
    reported: Mapping[str, Mapping[str, tuple[float, str]]] = field(
        default_factory=dict[str, Mapping[str, tuple[float, str]]]
    )
    """For each benchmark its score by model, and who reports it, where nothing is beside it."""


def read_source(name: str) -> ScoreSource:
    """Read the paper's tables or a file; raises `ConfigError` that names the file and the key."""
    path = PUBLISHED if name == PAPER else Path(name)
    found: _File = validated(_File, {"benchmarks": read_yaml(path)}, [], path)
    tables = {
        benchmark: {
            model: (_number(own, path, table.up_to), _number(other, path, None))
            for model, (own, other) in table.scores.items()
        }
        for benchmark, table in found.benchmarks.items()
        if table.scores
    }
    reported = {benchmark: table.reported for benchmark, table in found.benchmarks.items() if table.reported}
    if empty := found.benchmarks.keys() - tables.keys() - reported.keys():
        raise ConfigError(f"{path}: {min(empty)}: has neither scores nor reported; write one of them")
    return ScoreSource(PAPER if name == PAPER else path.stem, tables, reported)


def merged(sources: Sequence[ScoreSource]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the tables of all sources, benchmarks of one name joined; raises `ConfigError` where two disagree."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for source in sources:
        for benchmark, own in source.tables.items():
            table = found.setdefault(benchmark, {})
            for model, both in own.items():
                if table.setdefault(model, both) != both:
                    raise ConfigError(f"{source.name}: {benchmark}: {model!r} has other scores in another table")
    return found


def _number(score: Score, path: Path, up_to: int | None) -> float:
    """Return a score, of AutoEval the mean of its categories up to one; raises `ConfigError` that names the file."""
    if not isinstance(score, str):
        return score
    name, _, key = score.partition("#")
    try:
        record = json.loads((path.parent / name).read_text(encoding="utf-8"))
        if "scores" not in record:
            return float(record[key or "score"])
        (part,) = record["scores"].values()
        rows = [row for row in part["rows"] if row["score"] is not None and (up_to is None or row["category"] <= up_to)]
        return sum(row["score"] for row in rows) / len(rows)
    except OSError as error:
        raise ConfigError(f"{path}: {score}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise ConfigError(
            f"{path}: {score}: holds no score; name a number from 0 to 1, or the scores.json of certistar evaluate"
        ) from error


@lru_cache(maxsize=1)
def published() -> dict[str, Any]:
    """Return the paper's tables 8 to 14: for each benchmark the data set, the bound on complexity, and both scores."""
    return read_yaml(PUBLISHED)


_PAIRED = {
    "FOLIO(R; NL)": ("folio", None, "autoeval-fol", 6),
    "FOLIO(R; FOL)": ("folio-formulas", None, "autoeval-fol", 6),
    "LogiEval(R; PL)": ("multi-logieval", "pl", "autoeval-pl", 30),
    "LogiEval(R; FOL)": ("multi-logieval", "fol", "autoeval-fol", 30),
}
"""Pairs of appendix K.4 by name: data set and condition of `certistar evaluate`, AutoEval's data set, last category."""


def of_folder(folder: Path) -> ScoreSource:
    """Return AutoEval's score beside each benchmark's, of the models that a folder has both of, as K.4 pairs them."""
    trips = {
        (own.model, dataset): told["rows"]
        for own in read_folder(folder)
        for dataset, told in own.scores.items()
        if own.prompt != "few-shot"
    }
    tables: dict[str, dict[str, tuple[float, float]]] = {}
    entries = find_entries([folder]) if any(folder.rglob(EVALUATION)) else []
    for benchmark, (dataset, condition, formulas, up_to) in _PAIRED.items():
        for entry in entries:
            rows = Group(dataset, condition).of(entry.table)
            if len(rows) and (entry.model, formulas) in trips:
                own = scores(trips[entry.model, formulas], up_to=up_to)["calibrated"]["score"]
                if own is not None:
                    tables.setdefault(benchmark, {})[entry.model] = (own, float(rows["right"].mean()))
    return ScoreSource(folder.name, tables)


# -- how well one predicts another


def correlation(a: Table, b: Table) -> Record:
    """Return Pearson's coefficient over the models that both tables have, its p-value and 95% interval (Fisher's z)."""
    x, y, models = _common(a, b)
    found = stats().pearsonr(x, y)
    interval = found.confidence_interval(LEVEL)
    told = {"rho": float(found.statistic), "p": float(found.pvalue)}
    return {"n": len(models), **told, "interval": [float(interval.low), float(interval.high)]}


def predictive_power(a: Table, b: Table) -> Record:
    """Return the chance that the model that is no worse on `a` is no worse on `b` (definition 3.1).

    Over ordered pairs of different models; two models that tie on `a` make two pairs, as `>=` has it. The 95% interval
    is a bootstrap over models, for which ties of a model with its own copies are left out.
    """
    import numpy as np

    x, y, models = _common(a, b)
    one, other = np.array(x), np.array(y)
    rng = np.random.default_rng(0)
    drawn = [_power(one, other, rng.integers(len(models), size=len(models))) for _ in range(REPLICATES)]
    known = [value for value in drawn if value is not None]
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    ties = sum(x[i] == x[j] for i in range(len(x)) for j in range(i))
    power = _power(one, other, np.arange(len(models)))
    assert power is not None, "all models are different ones"
    return {"n": len(models), "power": power, "interval": [float(low), float(high)], "ties": ties}


def _power(a: Any, b: Any, chosen: Any) -> float | None:
    different = chosen[:, None] != chosen[None, :]
    no_worse = (a[chosen][:, None] >= a[chosen][None, :]) & different
    agreed = no_worse & (b[chosen][:, None] >= b[chosen][None, :])
    return float(agreed.sum() / no_worse.sum()) if no_worse.any() else None


def _common(a: Table, b: Table) -> tuple[list[float], list[float], Sequence[str]]:
    models = sorted(a.keys() & b.keys())
    if len(models) < MIN_MODELS:
        raise ConfigError(f"benchmarks: the tables share {len(models)} models, and at least {MIN_MODELS} are needed")
    return [float(a[model]) for model in models], [float(b[model]) for model in models], models


def compared(benchmarks: Mapping[str, tuple[Table, Table]]) -> list[Record]:
    """Return for each benchmark the correlation with its AutoEval score, and that score's predictive power."""
    return [
        {"benchmark": name, "correlation": correlation(a, b), "predictive_power": predictive_power(a, b)}
        for name, (a, b) in benchmarks.items()
    ]


def predict(named: Sequence[str], out: Path | None) -> None:
    """Print correlations and predictive powers of tables and folders; the folder `out` gets numbers and figures."""
    from tools.autoeval.figures import correlation_figures, power_figure

    sources = [of_folder(Path(name)) if Path(name).is_dir() else read_source(name) for name in named or (PAPER,)]
    tables = merged(sources)
    for name, own in tables.items():
        if len(own) < MIN_MODELS:
            raise InputError(f"{name}: has {len(own)} models, and at least {MIN_MODELS} are needed; add {PAPER}")
    rows = compared({
        name: ({model: a for model, (a, _) in own.items()}, {model: b for model, (_, b) in own.items()})
        for name, own in tables.items()
    })  # fmt: skip
    for row in rows:
        rho, power = row["correlation"], row["predictive_power"]
        print(
            f"{row['benchmark']}: {rho['n']} models, correlation {rho['rho']:.2f} ({rho['interval'][0]:.2f} to "
            f"{rho['interval'][1]:.2f}, p = {rho['p']:.1g}), predicts {power['power']:.2f} "
            f"({power['interval'][0]:.2f} to {power['interval'][1]:.2f})"
        )
    if out is None:
        return
    reported = {benchmark: own for source in sources for benchmark, own in source.reported.items()}
    write_json(out / "benchmarks.json", {"benchmarks": rows, "scores": tables, "reported": reported})
    of_source = {name: {each.name: each.tables[name] for each in sources if name in each.tables} for name in tables}
    write_text(out / "correlations.svg", correlation_figures(of_source))
    write_text(out / "powers.svg", power_figure({row["benchmark"]: row["predictive_power"] for row in rows}))
