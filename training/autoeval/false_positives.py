"""How often a wrong description came back right: p_H from crossed descriptions, and descriptions that can be read.

judged trips -> each formula with what came of another's description -> p_H and the paper's bound
             -> descriptions in words that a program reads          -> certified trips with a wrong one
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from critics.judge import Judging
from training.autoeval.errors import false_positive_probability, hallucination_rate, shuffled
from training.autoeval.scores import exact_interval
from training.lessons.round_trips import described, false_positives

Record = dict[str, Any]


def measure_false_positives(trips: Sequence[Record], judging: Judging, *, seed: int) -> Record:
    """Return p_H with its bound, and how many certified trips had a right or a wrong description, where that is known.

    Nothing is sampled anew. Empty for trips of several rounds: what came back is not what the first description led to.
    """
    if not trips or trips[0]["strategy"]["rounds"] > 1:
        return {}
    found = _with_bound(hallucination_rate(_judged(shuffled(trips, seed=seed), judging)))
    arrived = [trace for trace in trips if trace["legs"] and trace["ending"] == "arrived"]
    readable = false_positives(arrived, _judged(described(arrived), judging))
    return {**found, "descriptions": readable} if readable["right"] + readable["wrong"] else found


def pooled_false_positives(reports: Sequence[Mapping[str, Any]]) -> Record:
    """Return the report of all trips of several reports, as of seeds."""
    rates = [report["p_h"] for report in reports]
    total = {key: sum(rate[key] for rate in rates) for key in ("n", "hallucinated", "undecided", "left_out")}
    n, hits = total["n"], total["hallucinated"]
    rate = {
        **total,
        "rate": hits / n if n else None,
        "interval": list(exact_interval(hits, n)),
        "upper": exact_interval(hits + total["undecided"], n)[1],
    }
    described_ = [report["descriptions"] for report in reports if "descriptions" in report]
    if not described_:
        return _with_bound(rate)
    return {**_with_bound(rate), "descriptions": {key: sum(d[key] for d in described_) for key in described_[0]}}


def _with_bound(rate: Record) -> Record:
    return {"p_h": rate, **({"bound": false_positive_probability(0, 0, rate["upper"])} if rate["n"] else {})}


def _judged(attempts: Iterable[Record], judging: Judging) -> list[Record]:
    listed = list(attempts)
    return [{**trace, "judgement": verdict} for trace, verdict in zip(listed, judging(listed), strict=True)]
