"""AutoEval's scores (section 3.2): group-bys of the table of judged round trips, a row a trip.

Undecided, malformed and leaking trips are counted apart. An undecided trip is no success: the score is the lower of two
bounds, and the upper one counts every undecided trip as a success. A critic's own failures (`errors`) are left out. A
trip whose formula always holds, or never does, is vacuous, and no success either; one that leaked was never asked for a
formula, and malformed is what came back as none.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from critics.problem import Problem
from rollout.records.traces import Trace
from training.outcomes import LEVEL, Interval, Record, Table, exact_interval, pooled, stats, table_of

Category: TypeAlias = Any
"""Category of a problem in its data set: a number, or a name."""
Scores: TypeAlias = Record
"""Scores of a data set: the `calibrated` one, and `rows`, one a category, with counts, score and compliance."""
SIGNS = ("conjunctions", "disjunctions", "negations")
STRATA = ("binding", "depth", *SIGNS, "states", "edges", "density")
"""Keys that sort trips beside their category: quantifiers that bind, depth, signs, and of the minimal automaton
states, edges and density (appendix I)."""
FATES = ("equivalent", "different", "undecided", "malformed", "leaked", "vacuous", "errors")
_FATES = {
    "certified": "equivalent",
    "refuted": "different",
    "timeout": "undecided",
    "vacuous": "vacuous",
    "malformed": "malformed",
}


def fate(trace: Trace) -> str:
    """Return which of `FATES` a judged trip met."""
    return "leaked" if trace.ending == "leak" else _FATES.get(trace.judged.verdict, "errors")


def value_of(problem: Problem, by: str) -> Category:
    """Return what a problem's formula is sorted by under a key; it says nothing of signs that it does not have."""
    meta = problem.meta
    return meta.get(by, 0 if by in SIGNS and "operators" in meta and meta.get("language") != "regex" else None)


def trips_of(traces: Iterable[Trace]) -> Table:
    """Return the table of judged trips: id, data set, fate, and all that they are sorted by."""
    return table_of(
        {
            "id": trace.id,
            "dataset": trace.problem.dataset,
            "verdict": trace.judged.verdict,
            "fate": fate(trace),
            **{by: value_of(trace.problem, by) for by in ("category", *STRATA)},
        }
        for trace in traces
    )


def counts_record(counts: Mapping[str, int]) -> Record:
    """Return counts by fate with both rates, their exact 95% intervals, and the bounds that undecided trips leave."""
    told: Record = {name: counts.get(name, 0) for name in FATES}
    n, right = sum(told.values()) - told["errors"], told["equivalent"]
    asked = n - told["leaked"]
    rates: Record = {}
    for name, count, of in (("compliance", asked - told["malformed"], asked), ("score", right, n)):
        rates |= {name: share(count, of), f"{name}_interval": list(exact_interval(count, of))}
    return {"n": n, **told, **rates, "score_bounds": [share(right, n), share(right + told["undecided"], n)]}


def rows_of(trips: Table, by: str = "category") -> list[Record]:
    """Return the parameterised scores: a row for each category; a problem whose meta lacks `by` is in none."""
    if trips.empty:
        return []
    groups = trips[trips[by].notna()].groupby(by)
    return [{"category": category, **counts_record(Counter(own["fate"]))} for category, own in groups]


def scores(rows: Sequence[Record], by: str = "category", up_to: float | None = None) -> Scores:
    """Return the scores of categories, and from them the calibrated one: S_cal(D, d), every category weighs the same.

    `up_to` is the d, the last category that it counts. Its interval is exact (Clopper and Pearson) where all categories
    have as many trips, too wide rather than too narrow because their chances differ; else `stratified_interval`.
    """
    counted = [row for row in rows if row["n"] and (up_to is None or row["category"] <= up_to)]
    told: Record = {"by": by, "up_to": up_to, "categories": len(counted), **counts_record(pooled(counted, FATES))}
    is_balanced = len({row["n"] for row in counted}) <= 1
    interval = exact_interval(told["equivalent"], told["n"])
    if not is_balanced:
        interval = stratified_interval([(row["equivalent"], row["n"]) for row in counted])
    bounds = [_mean([row["score_bounds"][end] for row in counted]) for end in (0, 1)]
    told |= {"score": bounds[0], "score_interval": list(interval), "score_bounds": bounds}
    return {"calibrated": {**told, "interval_method": "exact" if is_balanced else "stratified"}, "rows": list(rows)}


def scores_of(traces: Iterable[Trace], by: str = "category", up_to: float | None = None) -> Scores:
    """Return the scores of one data set's judged trips."""
    return scores(rows_of(trips_of(traces), by), by, up_to)


def strata_of(trips: Sequence[Trace]) -> dict[str, list[Record]]:
    """Return the rows by each key of `STRATA` that has several values among the trips."""
    table = trips_of(trips)
    return {by: rows for by in STRATA if len(rows := rows_of(table, by)) > 1}


def score_report(traces: Sequence[Trace]) -> dict[str, Scores]:
    """Return the scores of each data set."""
    table = trips_of(traces)
    return {} if table.empty else {str(name): scores(rows_of(own)) for name, own in table.groupby("dataset")}


def pooled_scores(reports: Sequence[Mapping[str, Scores]]) -> dict[str, Scores]:
    """Return the score report of all trips of several reports, as of seeds, by the categories that those have."""
    found: dict[str, Scores] = {}
    for name in sorted({name for report in reports for name in report}):
        parts = [report[name] for report in reports if name in report]
        counts = table_of(row for part in parts for row in part["rows"])
        groups: Any = () if counts.empty else counts.groupby("category")
        rows = [{"category": category, **counts_record(own[[*FATES]].sum())} for category, own in groups]
        found[name] = scores(rows, parts[0]["calibrated"]["by"], parts[0]["calibrated"]["up_to"])
    return found


def repeated(runs: Sequence[Sequence[Trace]]) -> list[Record]:
    """Return mean and standard deviation of both rates over runs on the same problems, by category (appendix H).

    Raises `ValueError` where the runs are not on the same problems.
    """
    import statistics

    if len({frozenset(trace.problem.id for trace in run) for run in runs}) != 1:
        raise ValueError("repeated runs must be on the same problems")
    found: list[Record] = []
    for same in zip(*(rows_of(trips_of(run)) for run in runs), strict=True):
        row: Record = {"category": same[0]["category"], "runs": len(runs)}
        for rate in ("score", "compliance"):
            known = [own[rate] for own in same if own[rate] is not None]
            row |= {rate: _mean(known), f"{rate}_sd": statistics.stdev(known) if len(known) > 1 else None}
        found.append(row)
    return found


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


# -- wrong descriptions that came back right


def hallucinations(n: int, hallucinated: int, undecided: int, left_out: int) -> Record:
    """Return wrong descriptions and what became of them, `hallucinated` being an equivalent formula all the same."""
    return {
        "n": n,
        "hallucinated": hallucinated,
        "undecided": undecided,
        "rate": share(hallucinated, n),
        "interval": list(exact_interval(hallucinated, n)),
        "upper": exact_interval(hallucinated + undecided, n)[1],
        "left_out": left_out,
    }


def false_positives(rate: Record, descriptions: Mapping[str, int] | None) -> Record:
    """Return both measures, with a bound where p_H is known.

    The paper's chance of a false positive is (1 - p_I)(1 - p_A) p_H, and at most p_H, whatever the legs are worth.
    """
    bound = {"bound": rate["upper"]} if rate["n"] else {}
    return {"p_h": rate, **bound, **({} if descriptions is None else {"descriptions": dict(descriptions)})}


def pooled_false_positives(reports: Sequence[Record]) -> Record:
    """Return the report of all trips of several reports, as of seeds."""
    total = pooled([report["p_h"] for report in reports], ("n", "hallucinated", "undecided", "left_out"))
    counts = [report["descriptions"] for report in reports if "descriptions" in report]
    return false_positives(hallucinations(**total), pooled(counts, counts[0]) if counts else None)


def share(count: int, n: int) -> float | None:
    """Return count / n; None of nothing."""
    return count / n if n else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
