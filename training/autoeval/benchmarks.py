"""Benchmarks compared by the scores of models: correlation and predictive power (sections 3.2 and 4.2).

A benchmark is a table of scores by model. The paper's own tables are in tables.yaml.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from training.configuration.section import ConfigError, read_yaml
from training.estimates import LEVEL, stats
from training.outcomes import Record

Table = Mapping[str, float]
"""Scores by model."""
PUBLISHED = Path(__file__).with_name("tables.yaml")
REPLICATES = 5_000
MIN_MODELS = 3


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


@lru_cache(maxsize=1)
def published() -> dict[str, Any]:
    """Return the paper's tables 8 to 14: for each benchmark the data set, the bound on complexity, and both scores."""
    return read_yaml(PUBLISHED)
