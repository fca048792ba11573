"""AutoEval's scores (section 3.2), group-bys of the table of judged round trips, and errors that no score can see.

Undecided, malformed and leaking trips are counted apart. An undecided trip is no success: the score is the lower of two
bounds, and the upper one counts every undecided trip as a success. A critic's own failures (`errors`) are left out. A
trip whose formula always holds, or never does, is vacuous, and no success either; one that leaked was never asked for a
formula, and malformed is what came back as none.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from critics.formats.equivalence.language import Language
from critics.judge import Judging
from critics.problem import Problem, RecordError
from rollout.formulas.description import DescriptionError, understand
from rollout.formulas.prompt import Said, VerifiedPair
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace
from training.curation.filters import judged
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


def shuffled(traces: Iterable[Trace], *, seed: int) -> Iterator[Trace]:
    """Yield for each trip that arrived two attempts: its formula beside what came of another's description.

    The other one is of the same data set and category. An id ends with `/crossed` for what the description led to, and
    with `/originals` for both problems' own formulas: where those are equivalent, the description was no wrong one.
    """
    groups: dict[tuple[str, Category], list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.ending == "arrived":
            groups[trace.problem.dataset, trace.problem.meta.get("category")].append(trace)
    for listed in groups.values():
        order = sorted(listed, key=lambda trace: derived_seed(seed, "shuffle", trace.id))
        for own, other in zip(order, [*order[1:], *order[:1]], strict=True):
            if own.problem.id != other.problem.id:
                if other.problem.formal is None:
                    raise RecordError(f"trace {other.id}: its problem has no formula")
                yield _claiming(own, json.loads(other.completion)["right"], f"{own.id}~{other.id}/crossed")
                yield _claiming(own, other.problem.formal.goal, f"{own.id}~{other.id}/originals")


def _claiming(trace: Trace, right: str, name: str) -> Trace:
    """Return an attempt that claims of the trip's formula that it is equivalent to another one."""
    claim = {**json.loads(trace.completion), "right": right}
    return Trace(name, trace.problem, trace.format, json.dumps(claim, ensure_ascii=False))


def hallucination_rate(judged: Iterable[Trace]) -> Record:
    """Return what became of judged attempts of `shuffled`: p_H is the share that led to an equivalent formula.

    `n` pairs have originals that were shown to differ; the others are left out. `upper` is the upper end of the exact
    interval, every undecided pair counted as equivalent.
    """
    pairs: dict[str, dict[str, str]] = defaultdict(dict)
    for attempt in judged:
        pair, _, claim = attempt.id.rpartition("/")
        pairs[pair][claim] = attempt.judged.verdict
    wrong = [pair["crossed"] for pair in pairs.values() if pair.get("originals") == "refuted" and "crossed" in pair]
    return hallucinations(len(wrong), wrong.count("certified"), wrong.count("timeout"), len(pairs) - len(wrong))


def measure_false_positives(trips: Sequence[Trace], judging: Judging, *, seed: int) -> Record | None:
    """Return how often a wrong description came back right: p_H with its bound, and trips by their description.

    `descriptions` counts certified trips by what their description is, where any can be read. Nothing is sampled anew.
    None for trips of several rounds: what came back is not what the first description led to.
    """
    if not trips or (trips[0].strategy or {}).get("rounds", 1) > 1:
        return None
    found = hallucination_rate(judged(shuffled(trips, seed=seed), judging))
    arrived = [trace for trace in trips if trace.legs and trace.ending == "arrived"]
    readable = described_wrongly(arrived, judged(described(arrived), judging))
    return false_positives(found, readable if readable["right"] + readable["wrong"] else None)


def described(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Yield for each trip an attempt that claims of the formula what its description says, read word for word.

    Judged, they say which descriptions are right. A description in other words claims nothing, and is malformed.
    """
    for trace in traces:
        language = Language(json.loads(trace.completion)["language"])
        try:
            right = understand(trace.legs[0].text, language)
        except DescriptionError:
            right = ""
        yield _claiming(trace, right, trace.id)


def described_wrongly(trips: Iterable[Trace], descriptions: Iterable[Trace]) -> dict[str, int]:
    """Return how many certified trips had a wrong description; both are judged, in the same order.

    A description that could not be decided, or read, is told apart from one that is right and from one that is wrong.
    """
    counts = {"certified": 0, "right": 0, "wrong": 0, "unreadable": 0, "undecided": 0}
    names = {"certified": "right", "vacuous": "right", "refuted": "wrong", "malformed": "unreadable"}
    for trip, description in zip(trips, descriptions, strict=True):
        if trip.judged.is_certified:
            counts["certified"] += 1
            counts[names.get(description.judged.verdict, "undecided")] += 1
    return counts


def verifier_pairs(traces: Iterable[Trace]) -> list[VerifiedPair]:
    """Return the pairs that a model is asked about: those of trips that came back with a formula (section 3.2)."""
    asked = (t for t in traces if t.judged.verdict in ("certified", "refuted", "vacuous", "timeout"))
    claims = ((trace.id, json.loads(trace.completion)) for trace in asked)
    return [VerifiedPair(id_, Language(claim["language"]), claim["left"], claim["right"]) for id_, claim in claims]


CELLS = ("tp", "fp", "tn", "fn", "unreadable_equivalent", "unreadable_different", "undecided")
"""Answers of a model about pairs, against the critic's verdicts: true or false, positive (equivalent) or negative.

An answer that cannot be read misses an equivalent pair, and is counted apart where the pair differs; what the critic
did not decide has no truth to compare with.
"""


def verifier_record(counts: Mapping[str, int]) -> Record:
    """Return counts by cell with n, the pairs that the critic decided, and precision, recall and F1."""
    told = {cell: counts.get(cell, 0) for cell in CELLS}
    missed = told["fn"] + told["unreadable_equivalent"]
    rates = {
        "n": sum(told.values()) - told["undecided"],
        "precision": share(told["tp"], told["tp"] + told["fp"]),
        "recall": share(told["tp"], told["tp"] + missed),
        "f1": share(2 * told["tp"], 2 * told["tp"] + told["fp"] + missed),
    }
    return {**told, **rates}


def verifier_score(said: Mapping[str, Said], traces: Iterable[Trace]) -> Record:
    """Return how what a model said of pairs, by id, compares with the critic's verdicts."""
    truths = {trace.id: trace.judged.verdict for trace in traces}
    return verifier_record(Counter(_cell(word, truths[id_]) for id_, word in said.items()))


def _cell(said: str, truth: str) -> str:
    if truth not in ("certified", "vacuous", "refuted"):
        return "undecided"
    is_equivalent = truth != "refuted"
    if said == "unreadable":
        return "unreadable_equivalent" if is_equivalent else "unreadable_different"
    return {("yes", True): "tp", ("yes", False): "fp", ("no", True): "fn", ("no", False): "tn"}[said, is_equivalent]


def verifier_rows(said: Mapping[str, Said], traces: Sequence[Trace], by: str = "category") -> list[Record]:
    """Return a row for each category, or another key, of each data set; `STRATA` that do not vary have none."""
    table = trips_of(trace for trace in traces if trace.id in said)
    if table.empty:
        return []
    table["cell"] = [_cell(said[name], verdict) for name, verdict in zip(table["id"], table["verdict"], strict=True)]
    known = table[table[by].notna()]
    varied = known.groupby("dataset")[by].transform("nunique") > (0 if by == "category" else 1)
    return [
        {"dataset": dataset, "category": category, **verifier_record(Counter(own["cell"]))}
        for (dataset, category), own in known[varied].groupby(["dataset", by])
    ]
