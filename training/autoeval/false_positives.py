"""False positives of round trips, as they are reported: trips that came back right from a wrong description.

Two mistakes, the second of which happens to undo the first (section 3.2). `training.autoeval.errors` measures them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from training.estimates import exact_interval


@dataclass(frozen=True, slots=True)
class Hallucinations:
    """Wrong descriptions and what became of them: p_H is the share that led to an equivalent formula all the same."""

    n: int
    """Pairs whose originals were shown to differ."""
    hallucinated: int
    undecided: int
    left_out: int
    """Pairs that mean the same, or were not shown to differ."""

    @property
    def rate(self) -> float | None:
        """The share; None of no pairs."""
        return self.hallucinated / self.n if self.n else None

    @property
    def upper(self) -> float:
        """The upper end of the exact interval, every undecided pair counted as equivalent."""
        return exact_interval(self.hallucinated + self.undecided, self.n)[1]

    def record(self) -> dict[str, object]:
        """Return the JSON form, with the exact 95% interval."""
        return {
            "n": self.n,
            "hallucinated": self.hallucinated,
            "undecided": self.undecided,
            "rate": self.rate,
            "interval": list(exact_interval(self.hallucinated, self.n)),
            "upper": self.upper,
            "left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class FalsePositives:
    """Wrong descriptions that came back right, measured in two ways."""

    p_h: Hallucinations
    descriptions: Mapping[str, int] | None = None
    """Certified trips by what their description is; None where no description can be read."""

    def record(self) -> dict[str, object]:
        """Return the JSON form, with a bound where p_H is known.

        The paper's chance of a false positive is (1 - p_I)(1 - p_A) p_H, and at most p_H, whatever the legs are worth.
        """
        bound = {"bound": self.p_h.upper} if self.p_h.n else {}
        described = {} if self.descriptions is None else {"descriptions": dict(self.descriptions)}
        return {"p_h": self.p_h.record(), **bound, **described}


def read_false_positives(record: Mapping[str, Any]) -> FalsePositives:
    """Read the JSON form back."""
    counts = (record["p_h"][key] for key in ("n", "hallucinated", "undecided", "left_out"))
    return FalsePositives(Hallucinations(*counts), record.get("descriptions"))


def pooled_false_positives(reports: Sequence[FalsePositives]) -> FalsePositives:
    """Return the report of all trips of several reports, as of seeds."""
    rates = [report.p_h for report in reports]
    total = Hallucinations(
        sum(rate.n for rate in rates),
        sum(rate.hallucinated for rate in rates),
        sum(rate.undecided for rate in rates),
        sum(rate.left_out for rate in rates),
    )
    counts = [report.descriptions for report in reports if report.descriptions is not None]
    return FalsePositives(total, {key: sum(d[key] for d in counts) for key in counts[0]} if counts else None)
