"""The outcomes table: one row an attempt. Every rate, panel, comparison and table of a paper is a group-by of it.

`training.rounds.evaluation.outcomes` makes it of judged traces; an evaluation keeps its columns (`evaluation.json`),
and reports read them back.

A pair is one (seed, problem) answered by two arms. Pairs are never broken up, and problems are resampled
within each seed, so intervals and p-values speak of other problems under *these* seeds. `seeds_interval`
resamples the seeds as well: with two or three of them it is a rough statement about other training runs.
Pairs of one problem under several seeds are counted as separate answers.
"""

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, TypeAlias

from training.records.store import Record

LEVEL = 0.95
_Z = 1.959963984540054
"""The 97.5% quantile of the normal distribution."""
POWER = 0.80
NEGLIGIBLE = 1e-9
"""Probability of an outcome that is left out of a sum over all of them."""
REPLICATES = 20_000
"""Bootstrap replicates: the ends of a 95% interval are then settled to about a hundredth of its width."""

Interval: TypeAlias = tuple[float, float]
Test: TypeAlias = Literal["mcnemar", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Proportion:
    """A count out of n independent answers."""

    count: int
    n: int

    def __post_init__(self) -> None:
        """Refuse counts that cannot be."""
        if not 0 <= self.count <= self.n:
            raise ValueError(f"a proportion of {self.count} out of {self.n}: the count must lie in 0..n")

    @property
    def rate(self) -> float:
        """The share; NaN where n is 0, because no answer is not a wrong answer."""
        return self.count / self.n if self.n else math.nan

    @property
    def interval(self) -> Interval:
        """The 95% score interval (Wilson 1927), which stays in [0, 1]; all of [0, 1] where n is 0."""
        return wilson(self.count, self.n)


@lru_cache(maxsize=4096)
def exact_interval(count: int, n: int) -> Interval:
    """Return the 95% interval of Clopper and Pearson (1934); all of [0, 1] where n is 0."""
    if not n:
        return (0.0, 1.0)
    found = stats().binomtest(count, n).proportion_ci(LEVEL, method="exact")
    return (float(found.low), float(found.high))


def wilson(count: int, n: int) -> Interval:
    """Return the score interval at 95% (Wilson 1927), which needs nothing but arithmetic."""
    if not n:
        return (0.0, 1.0)
    rate, scale = count / n, 2 * (n + _Z**2)
    middle = (2 * n * rate + _Z**2) / scale
    reach = _Z / scale * math.sqrt(4 * n * rate * (1 - rate) + _Z**2)
    return (0.0 if count == 0 else middle - reach, 1.0 if count == n else middle + reach)


def widest(pairs: Interval, seeds: Interval | None) -> Interval:
    """Return the shortest interval that holds that of the pairs and, where there is one, that of seeds and pairs.

    Where no pair differs under any seed, resampling seeds gives a width of 0, which would claim too much.
    """
    low, high = seeds or pairs
    return (min(pairs[0], low), max(pairs[1], high))


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Difference of two arms over n pairs of answers."""

    difference: float
    """Mean of a minus mean of b over all pairs."""
    interval: Interval
    """95%, by a bootstrap of the pairs within each seed."""
    p: float
    """Two-sided, of the hypothesis that a and b could be swapped within any pair."""
    n: int
    detectable: float | None
    """The smallest true difference that n pairs find with 80% power; None where that cannot be told."""
    per_seed: tuple[float, ...]
    """The difference within each seed, by ascending seed."""
    test: Test
    interval_seeds: Interval | None = None
    """95%, by a bootstrap of the seeds and of the pairs within each; None for a single seed."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        seeds = None if self.interval_seeds is None else list(self.interval_seeds)
        ends = {"interval": list(self.interval), "interval_seeds": seeds, "per_seed": list(self.per_seed)}
        return {"difference": self.difference, **dict.fromkeys(("interval", "interval_seeds")), **asdict(self), **ends}


def compare_paired(
    a: Sequence[int], b: Sequence[int], seeds: Sequence[int], *, test: Test, replicates: int = REPLICATES
) -> PairedComparison:
    """Compare outcomes of the same answers: pair i is (a[i], b[i]) under seed seeds[i].

    `mcnemar` wants outcomes 0 or 1, `sign-flip` gains -1, 0 or 1. The random numbers of the bootstrap
    are seeded, so equal pairs give equal results. Raises ValueError for no pairs or unequal lengths.
    """
    if not len(a) == len(b) == len(seeds):
        raise ValueError(f"not paired: {len(a)} outcomes of a, {len(b)} of b, {len(seeds)} seeds")
    if not a:
        raise ValueError("no pairs to compare")
    low = 0 if test == "mcnemar" else -1
    strange = sorted({x for x in (*a, *b) if x not in range(low, 2)})
    if strange:
        raise ValueError(f"outcomes for {test} must be integers in {low}..1, not {strange[0]!r}")
    differences = [x - y for x, y in zip(a, b, strict=True)]
    return PairedComparison(
        difference=mean(differences),
        interval=mean_interval(differences, seeds, bound=1 - low, replicates=replicates),
        p=mcnemar(differences) if test == "mcnemar" else sign_flip(differences),
        n=len(differences),
        detectable=detectable(len(differences), mean(list(map(abs, differences))), most=1.0)
        if test == "mcnemar"
        else detectable_difference(differences),
        per_seed=tuple(mean(group) for group in by_seed(differences, seeds).values()),
        test=test,
        interval_seeds=seeds_interval(differences, seeds, replicates=replicates),
    )


def _quantiles() -> float:
    """Return z_0.975 + z_0.80: how many standard errors a difference must have to be found so often."""
    norm = stats().norm
    return float(norm.ppf((1 + LEVEL) / 2) + norm.ppf(POWER))


def stats() -> Any:
    """Return `scipy.stats`, which takes half a second to import and has no types."""
    return import_module("scipy.stats")


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for being one family, in their order (Holm 1979): valid under any dependence."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    corrected, largest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[i]))
        corrected[i] = largest
    return corrected


def seeds_interval(
    differences: Sequence[int], seeds: Sequence[int], *, replicates: int = REPLICATES
) -> Interval | None:
    """Return the 95% interval of the mean by a bootstrap of seeds, and of the pairs within each drawn seed.

    The two-stage bootstrap of Davison & Hinkley (1997, section 3.8). With few seeds it is too short: three seeds
    have no more than ten different draws. None for one seed. A seed drawn c times is c independent resamples of its
    pairs, whose counts add up to one multinomial draw of c times as many.
    """
    import numpy as np

    groups = list(by_seed(differences, seeds).values())
    if len(groups) < 2:
        return None
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(groups), [1 / len(groups)] * len(groups), size=replicates)
    totals = np.zeros(replicates)
    for group, times in zip(groups, drawn.T, strict=True):
        values, counts = np.unique(group, return_counts=True)
        totals += rng.multinomial(times * len(group), counts / len(group)) @ values
    return _ends(totals / (drawn @ [len(group) for group in groups]))


def _ends(means: Any) -> Interval:
    import numpy as np

    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (float(low), float(high))


def rate_interval(rates: Sequence[float]) -> Interval:
    """Return the 95% bootstrap interval of the mean of rates in [0, 1], one of each problem; all of it for none."""
    if not rates:
        return (0.0, 1.0)
    low, high = mean_interval([2 * rate - 1 for rate in rates], [0] * len(rates), bound=1)
    return (max(0.0, (low + 1) / 2), min(1.0, (high + 1) / 2))


def mean_interval(
    differences: Sequence[float], seeds: Sequence[int], *, bound: int, replicates: int = REPLICATES
) -> Interval:
    """Return the 95% percentile bootstrap interval of the mean, pairs resampled within each seed.

    Stratified bootstrap after Davison & Hinkley (1997, section 3.2). Differences take few values, so a
    resample of a seed is one multinomial draw of how often each value occurs. Where no seed's
    differences vary there is nothing to resample, and an interval of width 0 would claim too much:
    then up to 1 - 0.025^(1/n) of all pairs, the share that n alike pairs may have missed (Clopper &
    Pearson 1934), is granted to lie at -bound or at bound, the extremes of one difference.
    """
    import numpy as np

    groups = by_seed(differences, seeds).values()
    if all(len(set(group)) == 1 for group in groups):
        centre = mean(differences)
        missed = 1 - ((1 - LEVEL) / 2) ** (1 / len(differences))
        return (centre - missed * (bound + centre), centre + missed * (bound - centre))
    rng = np.random.default_rng(0)
    totals = np.zeros(replicates)
    for group in groups:
        values, counts = np.unique(group, return_counts=True)
        totals += rng.multinomial(len(group), counts / len(group), size=replicates) @ values
    return _ends(totals / len(differences))


def mcnemar(differences: Iterable[int]) -> float:
    """Return the exact two-sided p of McNemar's test (1947): the discordant pairs as fair coin flips."""
    signs = Counter(difference > 0 for difference in differences if difference)
    return float(stats().binomtest(signs[True], signs.total()).pvalue) if signs else 1.0


def sign_flip(differences: Sequence[int]) -> float:
    """Return the exact two-sided p of Fisher's sign-flip randomisation test on the sum (1935, section 21).

    Under the hypothesis every difference keeps its size and has either sign with equal chance. Sizes are
    small integers, so the distribution of the sum over all sign patterns is a convolution of one scaled
    binomial per size: nothing is sampled, and p may be as small as it is.
    """
    import numpy as np

    sizes = Counter(abs(difference) for difference in differences if difference)
    span = sum(size * count for size, count in sizes.items())
    pmf: Any = np.ones(1)  # of the sum of the sizes whose sign is positive; the sum of all is twice that - span
    for size, count in sizes.items():
        spread = np.zeros(size * count + 1)
        spread[::size] = stats().binom.pmf(np.arange(count + 1), count, 0.5)
        pmf = np.convolve(pmf, spread)
    sums = 2 * np.arange(span + 1) - span
    return min(1.0, float(pmf[np.abs(sums) >= abs(sum(differences))].sum()))


def detectable_difference(differences: Sequence[int]) -> float | None:
    """Return the true difference that as many such pairs would find with 80% power at 5% two-sided.

    The normal approximation (z_0.975 + z_0.80) sd / sqrt(n), with the sd of the differences seen; None
    where it is 0 or cannot be had, since pairs that never vary do not tell how finely they measure.
    """
    centre = mean(differences)
    squares = sum((difference - centre) ** 2 for difference in differences)
    if len(differences) < 2 or squares == 0:
        return None
    deviation = math.sqrt(squares / (len(differences) - 1))
    return _quantiles() * deviation / math.sqrt(len(differences))


def power(n: int, discordance: float, difference: float, *, level: float = 1 - LEVEL) -> float:
    """Return how often McNemar's exact test of n pairs finds a true difference at `level`, two-sided.

    Summed over every number of differing pairs and every split of it; nothing is simulated.
    """
    import numpy as np

    binom = stats().binom
    if not 0 <= abs(difference) <= discordance <= 1 or n < 1:
        raise ValueError(f"difference {difference}, discordance {discordance}, n {n}: need |difference| <= discordance")
    if not discordance:
        return 0.0
    low, high = (int(binom.ppf(q, n, discordance)) for q in (NEGLIGIBLE, 1 - NEGLIGIBLE))
    differing = np.arange(low, high + 1)
    critical = binom.ppf(level / 2, differing, 0.5)
    critical -= binom.cdf(critical, differing, 0.5) > level / 2  # the largest count that is rare enough, or -1
    share = (discordance + difference) / (2 * discordance)
    found = binom.cdf(critical, differing, share) + binom.sf(differing - critical - 1, differing, share)
    return float((binom.pmf(differing, n, discordance) * found).sum())


def detectable(n: int, discordance: float, *, most: float | None = None, level: float = 1 - LEVEL) -> float | None:
    """Return the smallest true difference that n pairs find with 80% power, to a ten-thousandth; None: they find none.

    `discordance` is the share of pairs that differ; `most`: more do where the difference, up to this, needs them.
    """
    low, high = 0.0, discordance if most is None else most
    if not high or power(n, max(discordance, high), high, level=level) < POWER:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        is_found = power(n, max(discordance, middle), middle, level=level) >= POWER
        low, high = (low, middle) if is_found else (middle, high)
    return high


def by_seed(values: Sequence[float], seeds: Sequence[int]) -> Mapping[int, list[float]]:
    """Return the values of each seed, seeds ascending, order within a seed kept."""
    groups: dict[int, list[float]] = {seed: [] for seed in sorted(set(seeds))}
    for value, seed in zip(values, seeds, strict=True):
        groups[seed].append(value)
    return groups


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return sum(values) / len(values)


Table: TypeAlias = Any
"""A pandas.DataFrame of Python objects: None stays None, and a sum of flags is an int that JSON can hold."""
FLAGS = ("right", "certified", "lucky", "answered", "no_answer", "abstained", "wrong_formal", "exhausted")
"""The columns of 0 and 1."""
GROUPINGS: Mapping[str, str] = {
    "by_hops": "hops",
    "by_condition": "condition",
    "by_dataset": "dataset",
    "by_answer": "gold",
}
"""Keys of an evaluation, and the columns that they group attempts by."""
RATES: Mapping[str, str] = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
"""The rates of every attempt, and the counts that they are made of."""


def table_of(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return rows as a table."""
    return import_module("pandas").DataFrame(list(rows), dtype=object)


def pooled(cells: Iterable[Mapping[str, int]], names: Iterable[str]) -> dict[str, int]:
    """Return the sums of counts, such as those of several seeds."""
    listed = list(cells)
    return {name: sum(cell[name] for cell in listed) for name in names}


def rates(cells: Iterable[Mapping[str, int]], made_of: Mapping[str, str] = RATES) -> Record:
    """Return n, the rates of counts together, and their 95% intervals (Wilson 1927)."""
    counts = pooled(cells, ("n", *made_of.values()))
    shares = {name: Proportion(counts[count], counts["n"]) for name, count in made_of.items()}
    told = {name: share.rate for name, share in shares.items()}
    return {"n": counts["n"], **told, **{f"{name}_interval": list(s.interval) for name, s in shares.items()}}


def naturally(label: str) -> tuple[bool, int, str]:
    """Sort labels: numbers ascending, then words."""
    return (not label.isdecimal(), int(label) if label.isdecimal() else 0, label)


def markdown(head: Sequence[str], rows: Iterable[Iterable[str]], align: str = "") -> str:
    """Return a table in Markdown, a line for each row; `align` has an r for each column of numbers, else an l."""
    told = [f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows)]
    if align:
        told[1] = f"|{'|'.join('--:' if each == 'r' else '---' for each in align)}|\n"
    return "".join(told)


def console(*, stderr: bool = False) -> Any:
    """Return a `rich` console that cuts no table off where nobody's terminal is in the way."""
    from rich.console import Console

    made = Console(stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 1_000
    return made


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], align: str, **options: Any) -> Any:
    """Return a `rich` table; `align` has an r for each column of numbers, else an l; an empty row draws a line.

    Texts are no markup.
    """
    from rich.markup import escape
    from rich.table import Table

    made = Table(**options)
    for name, side in zip(head, align, strict=True):
        made.add_column(escape(name), justify="right" if side == "r" else "left", overflow="fold")
    for row in rows:
        if row:
            made.add_row(*map(escape, row))
        else:
            made.add_section()
    return made


def latex(made: Any) -> str:
    """Return a `rich` table as LaTeX, with the rules of booktabs."""
    from rich.text import Text

    frame: Any = import_module("pandas").DataFrame

    columns = {column.header: [Text.from_markup(cell).plain for cell in column.cells] for column in made.columns}
    sides = "".join("r" if column.justify == "right" else "l" for column in made.columns)
    return frame(columns).to_latex(index=False, column_format=sides, escape=True)


def percent(found: Proportion | float | Sequence[float] | None, nothing: str = "–") -> str:
    """Return `51.3%`, of an interval of rates `48.0–54.6%`, or `nothing` where nothing was measured."""
    if isinstance(found, Sequence):
        return f"{100 * found[0]:.1f}–{found[1]:.1%}"
    rate = (found.rate if found.n else None) if isinstance(found, Proportion) else found
    return nothing if rate is None else f"{rate:.1%}"


def between(interval: Interval) -> str:
    """Return `48.0% to 54.6%`."""
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def with_interval(found: Proportion | float | None, interval: Interval | None = None) -> str:
    """Return `51.3% (48.0% to 54.6%)`, or a dash where nothing was measured; a proportion knows its interval."""
    ends = found.interval if isinstance(found, Proportion) else interval
    said = percent(found)
    return said if said == "–" or ends is None else f"{said} ({between(ends)})"
