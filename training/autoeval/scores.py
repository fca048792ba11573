"""AutoEval's scores of judged round trips (section 3.2): pure functions of traces.

Undecided, malformed and leaking trips are counted apart. What could not be decided is no success: the score is the
lower of its two bounds, and the upper one takes every undecided trip for one. A critic's own failures count for
nothing. A trip whose formula holds always or never is vacuous, and no success either.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from training.estimates import LEVEL, Interval

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the round trips of one category."""

    equivalent: int = 0
    different: int = 0
    undecided: int = 0
    malformed: int = 0
    """No formula that can be read came back: not compliant with the syntax."""
    leaked: int = 0
    """The description copied the formula, so that there was no second leg."""
    vacuous: int = 0
    errors: int = 0
    """The critic failed: counted for nothing."""

    @property
    def n(self) -> int:
        """The trips that count."""
        return sum(getattr(self, field.name) for field in fields(self)) - self.errors

    @property
    def asked(self) -> int:
        """The trips in which a formula was asked for."""
        return self.n - self.leaked

    def plus(self, other: "Counts") -> "Counts":
        """Return the sum."""
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def record(self) -> dict[str, Any]:
        """Return the counts with both rates, their exact 95% intervals, and the bounds that undecided trips leave."""
        return {
            "n": self.n,
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "compliance": _share(self.asked - self.malformed, self.asked),
            "compliance_interval": list(exact_interval(self.asked - self.malformed, self.asked)),
            "score": _share(self.equivalent, self.n),
            "score_interval": list(exact_interval(self.equivalent, self.n)),
            "score_bounds": [_share(self.equivalent, self.n), _share(self.equivalent + self.undecided, self.n)],
        }


_FATES = {
    "certified": "equivalent",
    "refuted": "different",
    "timeout": "undecided",
    "vacuous": "vacuous",
    "malformed": "malformed",
}


def fate(trace: Mapping[str, Any]) -> str:
    """Return under which name of `Counts` a judged trace is counted."""
    if trace.get("ending") == "leak":
        return "leaked"
    return _FATES.get(trace["judgement"]["verdict"], "errors")


def categorised(traces: Iterable[Mapping[str, Any]], by: str = "category") -> dict[Any, Counts]:
    """Count by a key of the problems' meta, such as `operators`, `depth`, `binding`, `states`; None has no category."""
    found: dict[Any, Counts] = {}
    for trace in traces:
        category = trace["problem"]["meta"].get(by)
        if category is not None:
            found[category] = found.get(category, Counts()).plus(Counts(**{fate(trace): 1}))
    return dict(sorted(found.items()))


def parameterised(traces: Iterable[Mapping[str, Any]], by: str = "category") -> list[Record]:
    """Return the parameterised score: a row for each category."""
    return _rows(categorised(traces, by))


def _rows(table: Mapping[Any, Counts]) -> list[Record]:
    return [{"category": category, **counts.record()} for category, counts in table.items()]


def calibrated(traces: Iterable[Mapping[str, Any]], *, by: str = "category", up_to: float | None = None) -> Record:
    """Return the calibrated score S_cal(D, d): every category up to d weighs the same.

    The interval is exact (Clopper and Pearson) where all categories have as many trips, which makes it too wide
    rather than too narrow, because their chances differ; else it is that of as many trips as weigh the same.
    """
    return _calibrated(categorised(traces, by), by, up_to)


def _calibrated(table: Mapping[Any, Counts], by: str, up_to: float | None) -> Record:
    rows = {d: counts for d, counts in table.items() if (up_to is None or d <= up_to) and counts.n}
    total = Counts()
    for counts in rows.values():
        total = total.plus(counts)
    shares = [_share(counts.equivalent, counts.n) for counts in rows.values()]
    highs = [_share(counts.equivalent + counts.undecided, counts.n) for counts in rows.values()]
    balanced = len({counts.n for counts in rows.values()}) <= 1
    if balanced:
        interval = exact_interval(total.equivalent, total.n)
    else:
        interval = stratified_interval([(counts.equivalent, counts.n) for counts in rows.values()])
    return {
        "by": by,
        "up_to": up_to,
        "categories": len(rows),
        **total.record(),
        "score": _mean(shares),
        "score_interval": list(interval),
        "score_bounds": [_mean(shares), _mean(highs)],
        "interval_method": "exact" if balanced else "stratified",
    }


def score_report(traces: Sequence[Mapping[str, Any]], *, by: str = "category", up_to: float | None = None) -> Record:
    """Return, for each data set, the calibrated score and the parameterised ones."""
    datasets = sorted({trace["problem"]["dataset"] for trace in traces})
    own = {name: [trace for trace in traces if trace["problem"]["dataset"] == name] for name in datasets}
    return {
        name: {"calibrated": calibrated(listed, by=by, up_to=up_to), "rows": parameterised(listed, by)}
        for name, listed in own.items()
    }


def pooled(reports: Sequence[Mapping[str, Any]]) -> Record:
    """Return the `score_report` of all trips of several reports, as of seeds, by the categories that those have."""
    found: Record = {}
    for name in sorted({name for report in reports for name in report}):
        parts = [report[name] for report in reports if name in report]
        table: dict[Any, Counts] = {}
        for row in (row for part in parts for row in part["rows"]):
            counts = Counts(**{field.name: row[field.name] for field in fields(Counts)})
            table[row["category"]] = table.get(row["category"], Counts()).plus(counts)
        table, whole = dict(sorted(table.items())), parts[0]["calibrated"]
        found[name] = {"calibrated": _calibrated(table, whole["by"], whole["up_to"]), "rows": _rows(table)}
    return found


def repeated(runs: Sequence[Sequence[Mapping[str, Any]]], *, by: str = "category") -> list[Record]:
    """Return mean and standard deviation of both rates over runs on the same problems, by category (appendix H).

    Raises `ValueError` where the runs are not on the same problems.
    """
    if len({frozenset(trace["problem"]["id"] for trace in run) for run in runs}) != 1:
        raise ValueError("repeated runs must be on the same problems")
    tables = [categorised(run, by) for run in runs]
    rows: list[Record] = []
    for category in tables[0]:
        row: Record = {"category": category, "runs": len(runs)}
        for metric in ("score", "compliance"):
            values = [table[category].record()[metric] for table in tables]
            row |= {metric: _mean(values), f"{metric}_sd": _deviation(values)}
        rows.append(row)
    return rows


def exact_interval(count: int, n: int) -> Interval:
    """Return the 95% interval of Clopper and Pearson (1934); all of [0, 1] where n is 0."""
    if n == 0:
        return (0.0, 1.0)
    from scipy.stats import binomtest

    found = binomtest(count, n).proportion_ci(LEVEL, method="exact")
    return (float(found.low), float(found.high))


def stratified_interval(strata: Sequence[tuple[int, int]]) -> Interval:
    """Return a 95% interval of the mean of rates, each stratum (count, n) weighing the same.

    That of Clopper and Pearson for the effective number of trips (Kish, 1965), as many as would leave the mean as
    uncertain if all weighed the same: it holds the mean, and equals the exact one where all strata are of one size.
    """
    if not strata:
        return (0.0, 1.0)
    from scipy.stats import beta

    mean = sum(count / n for count, n in strata) / len(strata)
    effective = len(strata) ** 2 / sum(1 / n for _, n in strata)
    count, tail = mean * effective, (1 - LEVEL) / 2
    low = float(beta.ppf(tail, count, effective - count + 1)) if mean > 0 else 0.0
    high = float(beta.ppf(1 - tail, count + 1, effective - count)) if mean < 1 else 1.0
    return (low, high)


def _share(count: int, n: int) -> float | None:
    return count / n if n else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _deviation(values: Sequence[float | None]) -> float | None:
    import statistics

    known = [value for value in values if value is not None]
    return statistics.stdev(known) if len(known) > 1 else None
