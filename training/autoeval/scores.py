"""AutoEval's scores of judged round trips (section 3.2): pure functions of traces.

Undecided, malformed and leaking trips are counted apart. An undecided trip is no success: the score is the lower of two
bounds, and the upper one counts every undecided trip as a success. A critic's own failures are left out. A trip whose
formula always holds, or never does, is vacuous, and no success either.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from critics.problem import Problem
from rollout.records.traces import Trace
from training.estimates import LEVEL, Estimate, Interval, exact_estimate, exact_interval, stats

Category: TypeAlias = Any
"""What a data set sorts its problems by: a number, or a name."""
SIGNS = ("conjunctions", "disjunctions", "negations")
STRATA = ("binding", "depth", *SIGNS, "states", "edges", "density")
"""What trips are sorted by beside their category: quantifiers that bind, depth, signs, and of the minimal automaton
states, edges and density (appendix I)."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the round trips of one category, by what became of them."""

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

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "Counts":
        """Read a row of scores; raises `KeyError` where a count is missing."""
        return cls(**{field.name: row[field.name] for field in fields(cls)})

    def plus(self, other: "Counts") -> "Counts":
        """Return the sum."""
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    @property
    def score(self) -> Estimate:
        """The share that came back equivalent, undecided trips being none of them."""
        return exact_estimate(self.equivalent, self.n)

    @property
    def compliance(self) -> Estimate:
        """The share of the trips that were asked for a formula in which one came back."""
        return exact_estimate(self.asked - self.malformed, self.asked)

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The score with every undecided trip as a failure, and as a success."""
        return (_share(self.equivalent, self.n), _share(self.equivalent + self.undecided, self.n))

    def record(self) -> dict[str, object]:
        """Return the counts with both rates, their exact 95% intervals, and the bounds that undecided trips leave."""
        compliance, score = self.compliance, self.score
        return {
            "n": self.n,
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "compliance": compliance.rate,
            "compliance_interval": list(compliance.interval),
            "score": score.rate,
            "score_interval": list(score.interval),
            "score_bounds": list(self.bounds),
        }


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Calibrated score S_cal(D, d): every category up to d weighs the same."""

    by: str
    up_to: float | None
    num_categories: int
    total: Counts
    score: Estimate
    bounds: tuple[float | None, float | None]
    method: Literal["exact", "stratified"]
    """Exact (Clopper and Pearson) where all categories have as many trips, which makes the interval too wide rather
    than too narrow, because their chances differ; else that of as many trips as weigh the same."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "by": self.by,
            "up_to": self.up_to,
            "categories": self.num_categories,
            **self.total.record(),
            "score": self.score.rate,
            "score_interval": list(self.score.interval),
            "score_bounds": list(self.bounds),
            "interval_method": self.method,
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one data set: the parameterised ones, category by category, and from them the calibrated one."""

    table: Mapping[Category, Counts]
    by: str = "category"
    """The key of the problems' meta that sorts them, such as `operators`, `depth`, `binding`, `states`."""
    up_to: float | None = None
    """The last category that the calibrated score counts, the d of S_cal(D, d)."""

    @property
    def calibrated(self) -> Calibrated:
        """The calibrated score."""
        rows = {d: c for d, c in self.table.items() if (self.up_to is None or d <= self.up_to) and c.n}
        total = sum_of(rows.values())
        bounds = (_mean([c.bounds[0] for c in rows.values()]), _mean([c.bounds[1] for c in rows.values()]))
        is_balanced = len({counts.n for counts in rows.values()}) <= 1
        strata = [(counts.equivalent, counts.n) for counts in rows.values()]
        interval = exact_interval(total.equivalent, total.n) if is_balanced else stratified_interval(strata)
        method = "exact" if is_balanced else "stratified"
        return Calibrated(self.by, self.up_to, len(rows), total, Estimate(bounds[0], interval), bounds, method)

    def rows(self) -> list[dict[str, object]]:
        """Return the JSON form of the parameterised scores, a row for each category."""
        return [{"category": category, **counts.record()} for category, counts in self.table.items()]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"calibrated": self.calibrated.record(), "rows": self.rows()}


_FATES = {
    "certified": "equivalent",
    "refuted": "different",
    "timeout": "undecided",
    "vacuous": "vacuous",
    "malformed": "malformed",
}


def fate(trace: Trace) -> str:
    """Return under which name of `Counts` a judged trace is counted."""
    if trace.ending == "leak":
        return "leaked"
    return _FATES.get(trace.judged.verdict, "errors")


def sum_of(listed: Iterable[Counts]) -> Counts:
    """Return the counts of several categories together."""
    total = Counts()
    for counts in listed:
        total = total.plus(counts)
    return total


def scores_of(traces: Iterable[Trace], by: str = "category", up_to: float | None = None) -> Scores:
    """Return the scores of one data set's judged trips; a problem whose meta lacks `by` is in no category."""
    found: dict[Category, Counts] = {}
    for trace in traces:
        category = value_by(trace, by)
        if category is not None:
            found[category] = found.get(category, Counts()).plus(Counts(**{fate(trace): 1}))
    return Scores(dict(sorted(found.items())), by, up_to)


def value_by(trace: Trace, by: str) -> Category:
    """Return what a trip is sorted by under a key."""
    return value_of(trace.problem, by)


def value_of(problem: Problem, by: str) -> Category:
    """Return what a problem's formula is sorted by under a key; it says nothing of signs that it does not have."""
    meta = problem.meta
    return meta.get(by, 0 if by in SIGNS and "operators" in meta and meta.get("language") != "regex" else None)


def strata_of(trips: Sequence[Trace]) -> dict[str, Scores]:
    """Return the scores by each key of `STRATA` that has several values among the trips."""
    return {by: found for by in STRATA if len((found := scores_of(trips, by)).table) > 1}


def score_report(traces: Sequence[Trace]) -> dict[str, Scores]:
    """Return the scores of each data set."""
    datasets = sorted({trace.problem.dataset for trace in traces})
    return {name: scores_of(trace for trace in traces if trace.problem.dataset == name) for name in datasets}


def read_scores(record: Mapping[str, Any]) -> dict[str, Scores]:
    """Read a score report back from its JSON form."""
    found: dict[str, Scores] = {}
    for dataset, own in record.items():
        table = {row["category"]: Counts.read(row) for row in own["rows"]}
        found[dataset] = Scores(table, own["calibrated"]["by"], own["calibrated"]["up_to"])
    return found


def report_record(report: Mapping[str, Scores]) -> dict[str, object]:
    """Return the JSON form of a score report."""
    return {name: scores.record() for name, scores in report.items()}


def pooled(reports: Sequence[Mapping[str, Scores]]) -> dict[str, Scores]:
    """Return the score report of all trips of several reports, as of seeds, by the categories that those have."""
    found: dict[str, Scores] = {}
    for name in sorted({name for report in reports for name in report}):
        parts = [report[name] for report in reports if name in report]
        categories = sorted({category for part in parts for category in part.table})
        table = {c: sum_of(part.table[c] for part in parts if c in part.table) for c in categories}
        found[name] = Scores(table, parts[0].by, parts[0].up_to)
    return found


@dataclass(frozen=True, slots=True)
class Repeated:
    """Both rates of a category over repeated runs, with their standard deviations."""

    category: Category
    runs: int
    score: float | None
    score_sd: float | None
    compliance: float | None
    compliance_sd: float | None


def repeated(runs: Sequence[Sequence[Trace]]) -> list[Repeated]:
    """Return mean and standard deviation of both rates over runs on the same problems, by category (appendix H).

    Raises `ValueError` where the runs are not on the same problems.
    """
    if len({frozenset(trace.problem.id for trace in run) for run in runs}) != 1:
        raise ValueError("repeated runs must be on the same problems")
    tables = [scores_of(run).table for run in runs]
    rows: list[Repeated] = []
    for category in tables[0]:
        scores = [table[category].score.rate for table in tables]
        shares = [table[category].compliance.rate for table in tables]
        spread = (_mean(scores), _deviation(scores), _mean(shares), _deviation(shares))
        rows.append(Repeated(category, len(runs), *spread))
    return rows


def stratified_interval(strata: Sequence[tuple[int, int]]) -> Interval:
    """Return a 95% interval of the mean of rates, each stratum (count, n) weighing the same.

    That of Clopper and Pearson for the effective number of trips (Kish, 1965), as many as would leave the mean as
    uncertain if all weighed the same: it holds the mean, and equals the exact one where all strata are of one size.
    """
    if not strata:
        return (0.0, 1.0)
    beta = stats().beta
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
