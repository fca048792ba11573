"""Power of McNemar's exact test: what a planned comparison can find, before it costs anything.

Of n paired answers a share, the discordance, differ between two arms; the test asks whether they split evenly. Power
is summed over every number of differing pairs and every split of it, nothing is simulated (Miettinen 1968 gives the
approximation; this is the exact, unconditional sum). It speaks of other problems under the planned seeds: how much
another seed would change cannot be known before there are any.
"""

from dataclasses import dataclass
from typing import Any

from training.configuration.run import RunConfig
from training.outcomes import POWER, power

LEVEL = 0.05
DISCORDANCES = (0.2, 0.35, 0.5)
"""Assumed shares of differing pairs. Strict and its rivals differed on 0.41 to 0.45 of the demos' answers and 0.29 to
0.44 of their proofs; two arms that guess yes or no independently differ on 0.5."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The smallest true difference that would be found with 80% power; None: not even the largest possible one."""

    n: int
    discordance: float
    level: float
    detectable: float | None

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "n": self.n,
            "discordance": self.discordance,
            "level": self.level,
            "power": POWER,
            "detectable": self.detectable,
        }


def detectable(n: int, discordance: float, *, level: float = LEVEL) -> float | None:
    """Return the smallest difference that n pairs find with 80% power, to a ten-thousandth; None: they find none."""
    if not discordance or power(n, discordance, discordance, level=level) < POWER:
        return None
    low, high = 0.0, discordance
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if power(n, discordance, middle, level=level) >= POWER else (middle, high)
    return high


def outlooks(config: RunConfig) -> list[Outlook]:
    """Return what the configured comparison of two of its arms would find, for each assumed discordance.

    Under several rivals the level is that of Holm's first step, the strictest that a comparison may have to meet.
    """
    n = config.evaluation.num_problems * len(config.seeds)
    rivals = len(config.arms) - 1
    levels = dict.fromkeys((LEVEL, LEVEL / max(1, rivals)))
    return [Outlook(n, share, level, detectable(n, share, level=level)) for level in levels for share in DISCORDANCES]


def said(config: RunConfig) -> list[str]:
    """Return what people are told of a planned comparison; nothing where there is nothing to compare."""
    if len(config.arms) < 2:
        return []
    found = outlooks(config)
    lines: list[str] = []
    for level in dict.fromkeys(one.level for one in found):
        shown = ", ".join(_shown(one) for one in found if one.level == level)
        lines.append(f"comparison: {found[0].n} paired answers, {POWER:.0%} power at level {level:.3g}: {shown}")
    assumed = "by McNemar's exact test summed over all outcomes; "
    if len(lines) > 1:
        assumed += f"the second line is Holm's first step over {len(config.arms) - 1} comparisons; "
    seeds = len(config.seeds)
    only = "one seed says nothing of" if seeds == 1 else f"{seeds} seeds say little of"
    return [*lines, f"  {assumed}{only} how much another training run would differ"]


def _shown(one: Outlook) -> str:
    what = "nothing" if one.detectable is None else f"{100 * one.detectable:.1f} points"
    return f"{what} if {one.discordance:.0%} of the answers differ"
