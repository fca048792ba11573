"""A cost model's parameters by least squares from measured points, and how far a point that was left out is missed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds that something took, and how often each cost came up in it."""

    counts: tuple[float, ...]
    """As many of each cost: steps and rows, or syncs and records."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Seconds of each cost."""

    costs: tuple[float, ...]

    def seconds(self, counts: Sequence[float]) -> float:
        """Return what the model says for a point that may not have been measured."""
        return sum(cost * count for cost, count in zip(self.costs, counts, strict=True))

    def miss(self, point: Point) -> float:
        """Return predicted over measured, less one: 0.1 is a tenth too slow."""
        return self.seconds(point.counts) / point.seconds - 1


def fit(points: Sequence[Point]) -> Fit:
    """Return the costs, none below zero, with the least sum of squared relative errors.

    Relative, because a batch of one and a batch of a thousand are to be foretold equally well. Raises `ValueError`
    with fewer points than costs: such a fit agrees with everything.
    """
    from scipy.optimize import nnls

    num_costs = len(points[0].counts) if points else 0
    if len(points) <= num_costs:
        raise ValueError(f"{len(points)} points cannot say {num_costs} costs; measure at least {num_costs + 1}")
    counts = np.array([[count / point.seconds for count in point.counts] for point in points])
    costs, _ = nnls(counts, np.ones(len(points)))
    return Fit(tuple(float(cost) for cost in costs))


def miss_left_out(points: Sequence[Point]) -> float:
    """Return the largest miss, as an absolute share, of a point by the fit of all the others."""
    others = [[*points[:i], *points[i + 1 :]] for i in range(len(points))]
    return max(abs(fit(rest).miss(point)) for rest, point in zip(others, points, strict=True))
