"""Generating formulas of AutoEval's data sets: strings a second in one process, balanced and without duplicates."""

import statistics
from time import perf_counter

from rollout.formulas.generator import generate
from rollout.formulas.languages import (
    FirstOrderFormulas,
    Formulas,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
)
from training.benches.timing import Row

NUM_STRINGS = 1_000
"""Of each data set: about 25 of every category."""
_DATASETS: tuple[type[Formulas], ...] = (
    PropositionalFormulas,
    ThreeCnfFormulas,
    FirstOrderFormulas,
    RegularExpressions,
)


def generation(repeats: int) -> list[Row]:
    """Measure problems a second over four data sets together; English names differ from numbered ones by a lookup."""
    num, rates = min(NUM_STRINGS, 100 * repeats), list[float]()
    for repeat in range(max(1, min(repeats, 5))):
        began = perf_counter()
        for kind in _DATASETS:
            for _ in generate(kind(), num, seed=repeat):
                pass
        rates.append(len(_DATASETS) * num / (perf_counter() - began))
    return [Row("strings_per_s", statistics.median(rates), "1/s", None, len(rates) * len(_DATASETS) * num)]
