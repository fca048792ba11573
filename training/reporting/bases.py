"""Comparison of arms over several base models, each of which counts once.

Answers, problems and seeds of one base are not independent: another base may learn in another way. So a base's value is
the mean over its seeds, and intervals are over bases (two stages, bases as random effects): Student's t over the bases'
values (Student 1908). With a run of one base they say nothing, and none are given.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError
from training.estimates import LEVEL, Interval, stats
from training.figures import GREY, drawing, panels_of, svg_of
from training.reporting.evaluations import Evaluation, Tally
from training.reporting.panels import styles
from training.reporting.results import Arm, provenance, read_arms

Counted = Literal["right", "certified"]
COUNTED: tuple[Counted, ...] = ("certified", "right")
FIRST = "strict"
"""The arm that the others are compared with, where there is one; else the first."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base model with the arms of the run that started from it."""

    name: str
    digest: str
    arms: Mapping[str, Arm]


@dataclass(frozen=True, slots=True)
class OverBases:
    """A value of each base, their mean, and its interval over bases."""

    per_base: tuple[float, ...]
    mean: float
    interval: Interval
    p: float
    """Two-sided, of the hypothesis that the mean over all such bases is 0."""


@dataclass(frozen=True, slots=True)
class ArmOverBases:
    """Rates of an arm on some problems, from the base model to the last round."""

    arm: str
    counted: Counted
    problems: str
    rounds: tuple[OverBases, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """Difference of two arms after the last round, in rates from 0 to 1."""

    a: str
    b: str
    counted: Counted
    problems: str
    difference: OverBases


@dataclass(frozen=True, slots=True)
class BasesSummary:
    """Arms compared over bases."""

    bases: tuple[Mapping[str, object], ...]
    arms: tuple[ArmOverBases, ...]
    leads: tuple[Lead, ...]
    method: str = "per base the mean over seeds; over bases Student's t interval and test (two stages)"

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def compare_bases(runs: Sequence[Path], beyond: int | None = None) -> BasesSummary:
    """Compare the arms of runs that start from different base models; rates as the runs' sampled evaluations have them.

    `beyond`: the most hops that the bases were taught; then problems of more hops, and the others, are also told apart.
    Raises `InputError` where there are fewer than two bases, one base twice, or runs with different arms.
    """
    bases = [_read(run) for run in runs]
    if len(bases) < 2:
        raise InputError(
            "--bases: one run says nothing about other bases; name two or more, each from a base of its own"
        )
    for i, base in enumerate(bases):
        if (other := next((b for b in bases[:i] if b.digest == base.digest), None)) is not None:
            raise InputError(f"--bases: {other.name} and {base.name} start from the same base model, which counts once")
        if list(base.arms) != list(bases[0].arms):
            raise InputError(
                f"--bases: {bases[0].name} has the arms {list(bases[0].arms)}, {base.name} {list(base.arms)}"
            )
    parts = ("all",) if beyond is None else ("all", f"up to {beyond} hops", f"beyond {beyond} hops")
    names = list(bases[0].arms)
    first = FIRST if FIRST in names else names[0]
    arms = [_arm(bases, name, counted, part) for name in names for counted in COUNTED for part in parts]
    leads = [
        _lead(bases, first, other, counted, part)
        for part in reversed(parts) for counted in COUNTED for other in names if other != first
    ]  # fmt: skip
    about = tuple({"name": b.name, "digest": b.digest, "seeds": b.arms[first].seeds} for b in bases)
    return BasesSummary(about, tuple(arms), tuple(leads))


def _read(run: Path) -> Base:
    digest = provenance(run).get("base_digest")
    if not isinstance(digest, str):
        raise InputError(f"{run / 'lines.json'}: names no base model; run it again with this version")
    return Base(run.resolve().name, digest, {arm.name: arm for arm in read_arms(run)})


def _arm(bases: Sequence[Base], name: str, counted: Counted, part: str) -> ArmOverBases:
    rounds = range(min(len(base.arms[name].lines[0].rounds) for base in bases))
    found = tuple(over_bases([_rate(base.arms[name], number, counted, part) for base in bases]) for number in rounds)
    return ArmOverBases(name, counted, part, found)


def _lead(bases: Sequence[Base], a: str, b: str, counted: Counted, part: str) -> Lead:
    rates = [[_rate(base.arms[arm], -1, counted, part) for arm in (a, b)] for base in bases]
    return Lead(a, b, counted, part, over_bases([mine - other for mine, other in rates]))


def _rate(arm: Arm, number: int, counted: Counted, part: str) -> float:
    """Return the mean over seeds of a rate on some problems."""
    rates = [_of(line.rounds[number], counted, part) for line in arm.lines]
    return sum(rates) / len(rates)


def _of(evaluation: Evaluation, counted: Counted, part: str) -> float:
    cells = list(_cells(evaluation, part))
    n = sum(cell["n"] for cell in cells)
    if not n:
        raise InputError(f"{evaluation.path}: has no problems {part}; choose another --beyond")
    return sum(cell[counted] for cell in cells) / n


def _cells(evaluation: Evaluation, part: str) -> Iterator[Tally]:
    if part == "all":
        yield evaluation.sampled.counts
        return
    words = part.split()
    limit = int(words[-2])
    for hops, cell in evaluation.sampled.groups["by_hops"].items():
        if (int(hops) > limit) == (words[0] == "beyond"):
            yield cell


def over_bases(values: Sequence[float]) -> OverBases:
    """Return the mean of the bases' values with its 95% interval and test over bases; both say nothing of one base."""
    num = len(values)
    mean = sum(values) / num
    if num < 2:
        return OverBases(tuple(values), mean, (-math.inf, math.inf), 1.0)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / (num - 1) / num)
    reach = float(stats().t.ppf((1 + LEVEL) / 2, num - 1)) * error
    p = 2 * float(stats().t.sf(abs(mean) / error, num - 1)) if error else float(mean == 0)
    return OverBases(tuple(values), mean, (mean - reach, mean + reach), p)


def bases_table(summary: BasesSummary) -> str:
    """Return the rates and the leads as Markdown, in percent and percentage points."""
    num = len(summary.bases)
    last = max(len(arm.rounds) for arm in summary.arms) - 1
    lines = [
        f"{num} bases; 95% intervals over bases. {summary.method[0].upper()}{summary.method[1:]}.\n",
        "| arm | problems | rate | " + " | ".join(["start", *(f"round {r}" for r in range(1, last + 1))]) + " |",
        "|---|---|---|" + "--:|" * (last + 1),
    ]
    for arm in summary.arms:
        rates = " | ".join(_percent(found) for found in arm.rounds)
        lines.append(f"| {arm.arm} | {arm.problems} | {arm.counted} | {rates} |")
    lines += [
        "",
        "| lead after the last round | problems | rate | points (95%) | p | each base |",
        "|---|---|---|--:|--:|---|",
    ]
    for lead in summary.leads:
        found = lead.difference
        each = " ".join(f"{100 * value:+.1f}" for value in found.per_base)
        lines.append(
            f"| {lead.a} over {lead.b} | {lead.problems} | {lead.counted} | {_points(found)} | {found.p:.2g} | {each} |"
        )
    return "\n".join(lines) + "\n"


def _percent(found: OverBases) -> str:
    low, high = (100 * min(1.0, max(0.0, end)) for end in found.interval)
    return f"{100 * found.mean:.1f} ({low:.1f} to {high:.1f})"


def _points(found: OverBases) -> str:
    low, high = (100 * end for end in found.interval)
    return f"{100 * found.mean:+.1f} ({low:+.1f} to {high:+.1f})"


def forest(summary: BasesSummary, counted: Counted = "certified") -> str:
    """Return a forest plot of the leads as SVG: each base a point, the mean over bases a diamond with its interval."""
    leads = [lead for lead in summary.leads if lead.counted == counted]
    drawn = styles([leads[0].a, *(lead.b for lead in leads)])
    with drawing(text="path"):
        figure, [axes] = panels_of(width=7.2, height=0.6 + 0.36 * len(leads), count=1)
        figure.patch.set_facecolor("white")
        axes.axvline(0, color=GREY, lw=0.8)
        for y, lead in enumerate(leads):
            found, colour = lead.difference, drawn[lead.b][0]
            low, high = (100 * end for end in found.interval)
            axes.plot([low, high], [y, y], color=colour, lw=1.6)
            axes.plot([100 * found.mean], [y], marker="D", color=colour, ms=6)
            axes.plot([100 * x for x in found.per_base], [y - 0.25] * len(found.per_base), "o", color=GREY, ms=3)
        axes.set_yticks(range(len(leads)), [f"{lead.a} over {lead.b}, {lead.problems}" for lead in leads])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlabel(f"percentage points of {counted} answers, 95% over {len(summary.bases)} bases")
        return svg_of(figure)
