"""Power of McNemar's exact test: the smallest difference that a planned comparison can find.

Of n paired answers a share, the discordance, differ between two arms; the test asks whether they split evenly. The
power is exact (`training.outcomes.power`), of other problems under the planned seeds: how much another seed would
change cannot be known before there are any.
"""

from training.configuration.run import RunConfig
from training.outcomes import POWER, power

LEVEL = 0.05
DISCORDANCES = (0.2, 0.35, 0.5)
"""Assumed shares of differing pairs. Strict and its rivals differed on 0.41 to 0.45 of the demos' answers and 0.29 to
0.44 of their proofs; two arms that guess yes or no independently differ on 0.5."""


def detectable(n: int, discordance: float, *, level: float = LEVEL) -> float | None:
    """Return the smallest difference that n pairs find with 80% power, to a ten-thousandth; None: they find none."""
    if not discordance or power(n, discordance, discordance, level=level) < POWER:
        return None
    low, high = 0.0, discordance
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if power(n, discordance, middle, level=level) >= POWER else (middle, high)
    return high


def said(config: RunConfig) -> list[str]:
    """Return what people are told of a planned comparison; nothing where there is nothing to compare.

    Under several rivals also at the level of Holm's first step, the strictest that a comparison may have to meet.
    """
    rivals = len(config.arms) - 1
    if rivals < 1:
        return []
    n, seeds = config.evaluation.num_problems * len(config.seeds), len(config.seeds)
    lines: list[str] = []
    for level in dict.fromkeys((LEVEL, LEVEL / rivals)):
        found = ((share, detectable(n, share, level=level)) for share in DISCORDANCES)
        shown = (
            f"{'nothing' if least is None else f'{100 * least:.1f} points'} if {share:.0%} of the answers differ"
            for share, least in found
        )
        lines.append(f"comparison: {n} paired answers, {POWER:.0%} power at level {level:.3g}: {', '.join(shown)}")
    holm = f"the second line is Holm's first step over {rivals} comparisons; " if rivals > 1 else ""
    only = "one seed says nothing of" if seeds == 1 else f"{seeds} seeds say little of"
    return [*lines, f"  by McNemar's exact test; {holm}{only} how much another training run would differ"]
