"""Timings that are taken in turns."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """Something to time: `run` returns the seconds that one unit of it took."""

    name: str
    run: Callable[[], float]


def interleaved(timings: Sequence[Timing], repeats: int) -> dict[str, float]:
    """Return the median seconds of each, taken in turns so that a busy moment hits all alike."""
    taken: dict[str, list[float]] = {timing.name: [] for timing in timings}
    for _ in range(repeats):
        for timing in timings:
            taken[timing.name].append(timing.run())
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def growth_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the slope of log time over log size by least squares."""
    return statistics.linear_regression(list(map(math.log, sizes)), list(map(math.log, seconds))).slope
