"""Comparison of arms over several base models, each of which counts once.

Answers, problems and seeds of one base are not independent: another base may learn in another way. So a base's value is
the mean over its seeds, and intervals are over bases (two stages, bases as random effects): Student's t over the bases'
values (Student 1908). Fewer than two bases, or bases that do not differ at all, have no interval.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError
from critics.problem import is_object
from training.estimates import LEVEL, Interval, stats
from training.figures import GREY, drawing, panels_of, svg_of
from training.records.run_folder import configuration
from training.reporting.evaluations import Evaluation, Tally
from training.reporting.panels import styles
from training.reporting.results import Arm, provenance, read_arms
from training.reporting.sentences import points

Counted = Literal["right", "certified"]
COUNTED: tuple[Counted, ...] = ("certified", "right")
FIRST = "strict"
"""The arm that the others are compared with, where there is one; else the first."""


@dataclass(frozen=True, slots=True)
class Base:
    """A base model with the arms of the run that started from it."""

    name: str
    digest: str
    primary: str | None
    doses: Mapping[str, tuple[float, str | None]]
    """For each arm the share of lucky traces that its filter lets through, and the flaw that it does not see."""
    arms: Mapping[str, Arm]


@dataclass(frozen=True, slots=True)
class Part:
    """Problems within a range of hops; all problems where neither end is given."""

    at_least: int | None = None
    at_most: int | None = None

    def __str__(self) -> str:
        """Return what tables call it."""
        if self.at_least is not None and self.at_least == self.at_most:
            return f"{self.at_least} hop{'s' * (self.at_least > 1)}"
        if self.at_least is not None:
            return f"beyond {self.at_least - 1} hops"
        return "all" if self.at_most is None else f"up to {self.at_most} hops"

    def counts(self, evaluation: Evaluation) -> Iterator[Tally]:
        """Yield the counts of an evaluation that are of its problems."""
        if self.at_least is None and self.at_most is None:
            yield evaluation.sampled.counts
            return
        for hops, cell in evaluation.sampled.groups["by_hops"].items():
            if (self.at_least or 0) <= int(hops) <= (self.at_most or math.inf):
                yield cell


@dataclass(frozen=True, slots=True)
class OverBases:
    """A value of each base, their mean, and its interval over bases."""

    per_base: tuple[float, ...]
    mean: float
    interval: Interval | None
    """None where there is one base, or where no base differs from another, which tells nothing of others."""
    p: float | None
    """Two-sided, of the hypothesis that the mean over all such bases is 0: Student's t."""
    p_signs: float
    """The same by exact flips of the bases' signs (Fisher 1935), which needs no shape; never below 2 ** (1 - bases)."""


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
class Dose:
    """Result of an arm whose filter lets lucky traces through."""

    arm: str
    rate: float
    """Share of the lucky traces that were kept."""
    flaw: str | None
    """The reason of those kept first; None where they were drawn at random."""
    lucky: OverBases
    """Share of lucky traces among all that were kept, over all rounds."""
    certified: OverBases
    right: OverBases
    problems: str


@dataclass(frozen=True, slots=True)
class BasesSummary:
    """Arms compared over bases."""

    bases: tuple[Mapping[str, object], ...]
    primary: str | None
    """The metric that all runs declared before they began; None where they did not, or not the same."""
    arms: tuple[ArmOverBases, ...]
    leads: tuple[Lead, ...]
    doses: tuple[Dose, ...] = ()
    """Empty where every filter is as good as its critic."""
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
    parts: tuple[Part, ...] = (
        (Part(),)
        if beyond is None
        else (Part(), Part(at_most=beyond), Part(at_least=beyond + 1), *(Part(h, h) for h in _hops(bases[0])))
    )
    measured = Part() if beyond is None else Part(at_least=beyond + 1)
    names = list(bases[0].arms)
    first = FIRST if FIRST in names else names[0]
    arms = [_arm(bases, name, counted, part) for part in parts for counted in COUNTED for name in names]
    leads = [
        _lead(bases, first, other, counted, part)
        for part in reversed(parts[:3]) for counted in COUNTED for other in names if other != first
    ]  # fmt: skip
    about = tuple({"name": b.name, "digest": b.digest, "seeds": b.arms[first].seeds} for b in bases)
    primaries = {base.primary for base in bases}
    primary = next(iter(primaries)) if len(primaries) == 1 else None
    return BasesSummary(about, primary, tuple(arms), tuple(leads), tuple(_doses(bases, measured)))


def _read(run: Path) -> Base:
    origin = provenance(run)
    digest, primary = origin.get("base_digest"), origin.get("primary")
    if not isinstance(digest, str):
        raise InputError(f"{run / 'lines.json'}: names no base model; run it again with this version")
    doses = {
        str(arm.get("name")): (float(arm.get("false_positives") or 0), arm.get("flaw"))
        for arm in configuration(run).get("arms") or ()
        if is_object(arm)
    }
    arms = {arm.name: arm for arm in read_arms(run)}
    return Base(run.resolve().name, digest, primary if isinstance(primary, str) else None, doses, arms)


def _hops(base: Base) -> list[int]:
    last = next(iter(base.arms.values())).lines[0].rounds[-1]
    return sorted(int(hops) for hops in last.sampled.groups["by_hops"])


def _arm(bases: Sequence[Base], name: str, counted: Counted, part: Part) -> ArmOverBases:
    rounds = range(min(len(base.arms[name].lines[0].rounds) for base in bases))
    found = tuple(over_bases([_rate(base.arms[name], number, counted, part) for base in bases]) for number in rounds)
    return ArmOverBases(name, counted, str(part), found)


def _lead(bases: Sequence[Base], a: str, b: str, counted: Counted, part: Part) -> Lead:
    rates = [[_rate(base.arms[arm], -1, counted, part) for arm in (a, b)] for base in bases]
    return Lead(a, b, counted, str(part), over_bases([mine - other for mine, other in rates]))


def _doses(bases: Sequence[Base], part: Part) -> Iterator[Dose]:
    """Yield the dose and the response of each arm of the critic's own filter, where some let lucky traces through."""
    doses = {name: bases[0].doses.get(name, (0.0, None)) for name in bases[0].arms}
    if not any(rate for rate, _ in doses.values()):
        return
    for name, (rate, flaw) in doses.items():
        arms = [base.arms[name] for base in bases]
        if arms[0].keep == "strict":
            right, certified = ([_rate(arm, -1, counted, part) for arm in arms] for counted in ("right", "certified"))
            lucky = over_bases([_lucky_share(arm) for arm in arms])
            yield Dose(name, rate, flaw, lucky, over_bases(certified), over_bases(right), str(part))


def _lucky_share(arm: Arm) -> float:
    """Return the share of what an arm kept that is not certified, over its rounds and seeds."""
    kept = sum(rollout.funnel["kept"] for line in arm.lines for rollout in line.rollouts)
    return sum(rollout.kept_lucky for line in arm.lines for rollout in line.rollouts) / kept if kept else 0.0


def _rate(arm: Arm, number: int, counted: Counted, part: Part) -> float:
    """Return the mean over seeds of a rate on some problems."""
    rates = [_of(line.rounds[number], counted, part) for line in arm.lines]
    return sum(rates) / len(rates)


def _of(evaluation: Evaluation, counted: Counted, part: Part) -> float:
    cells = list(part.counts(evaluation))
    n = sum(cell["n"] for cell in cells)
    if not n:
        raise InputError(f"{evaluation.path}: has no problems {part}; choose another --beyond")
    return sum(cell[counted] for cell in cells) / n


def over_bases(values: Sequence[float]) -> OverBases:
    """Return the mean of the bases' values with its 95% interval and tests over bases."""
    num = len(values)
    mean = sum(values) / num
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, num - 1) / num)
    if num < 2 or error < 1e-12:  # rounding alone leaves as much
        return OverBases(tuple(values), mean, None, None, _sign_flips(values))
    reach = float(stats().t.ppf((1 + LEVEL) / 2, num - 1)) * error
    p = 2 * float(stats().t.sf(abs(mean) / error, num - 1))
    return OverBases(tuple(values), mean, (mean - reach, mean + reach), p, _sign_flips(values))


def _sign_flips(values: Sequence[float]) -> float:
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=len(values))
    ]
    return sum(total >= abs(sum(values)) - 1e-12 for total in sums) / len(sums)


def bases_table(summary: BasesSummary) -> str:
    """Return the rates and the leads as Markdown, in percent and percentage points."""
    num = len(summary.bases)
    last = max(len(arm.rounds) for arm in summary.arms) - 1
    primary = summary.primary or "none was declared before the runs"
    lines = [
        f"{num} bases; primary metric: {primary}; 95% intervals over bases. "
        f"{summary.method[0].upper()}{summary.method[1:]}.\n",
        "| arm | problems | rate | " + " | ".join(["start", *(f"round {r}" for r in range(1, last + 1))]) + " |",
        "|---|---|---|" + "--:|" * (last + 1),
    ]
    for arm in summary.arms:
        rates = " | ".join(_percent(found) for found in arm.rounds)
        lines.append(f"| {arm.arm} | {arm.problems} | {arm.counted} | {rates} |")
    lines += [
        "",
        "| lead after the last round | problems | rate | points (95%) | p, t | p, signs | each base |",
        "|---|---|---|--:|--:|--:|---|",
    ]
    for lead in summary.leads:
        found = lead.difference
        each = " ".join(f"{100 * value:+.1f}" for value in found.per_base)
        p = "–" if found.p is None else f"{found.p:.2g}"
        lines.append(
            f"| {lead.a} over {lead.b} | {lead.problems} | {lead.counted} | {_points(found)} | {p} | "
            f"{found.p_signs:.2g} | {each} |"
        )
    if summary.doses:
        lines += [
            "",
            f"| lucky traces kept | which | of all kept | certified, {summary.doses[0].problems} | right |",
            "|--:|---|--:|--:|--:|",
        ]
    for dose in summary.doses:
        rates = " | ".join(map(_percent, (dose.lucky, dose.certified, dose.right)))
        lines.append(f"| {100 * dose.rate:.0f}% | {dose.flaw or 'at random'} | {rates} |")
    return "\n".join(lines) + "\n"


def _percent(found: OverBases) -> str:
    if found.interval is None:
        return f"{100 * found.mean:.1f}"
    low, high = (100 * min(1.0, max(0.0, end)) for end in found.interval)
    return f"{100 * found.mean:.1f} ({low:.1f} to {high:.1f})"


def _points(found: OverBases) -> str:
    return points(found.mean) + ("" if found.interval is None else f" ({points(found.interval)})")


def forest(summary: BasesSummary) -> str:
    """Return the leads in certified answers as SVG: a point for each base, a diamond for their mean."""
    leads = [lead for lead in summary.leads if lead.counted == "certified"]
    drawn = styles([leads[0].a, *(lead.b for lead in leads)])
    with drawing(text="path"):
        figure, [axes] = panels_of(width=7.2, height=0.6 + 0.36 * len(leads), count=1)
        figure.patch.set_facecolor("white")
        axes.axvline(0, color=GREY, lw=0.8)
        for y, lead in enumerate(leads):
            found, colour = lead.difference, drawn[lead.b][0]
            if found.interval is not None:
                axes.plot([100 * end for end in found.interval], [y, y], color=colour, lw=1.6)
            axes.plot([100 * found.mean], [y], marker="D", color=colour, ms=6)
            axes.plot([100 * x for x in found.per_base], [y - 0.25] * len(found.per_base), "o", color=GREY, ms=3)
        axes.set_yticks(range(len(leads)), [f"{lead.a} over {lead.b}, {lead.problems}" for lead in leads])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlabel(f"percentage points of certified answers, 95% over {len(summary.bases)} bases")
        return svg_of(figure)


def dose_figure(summary: BasesSummary) -> str:
    """Return dose and response as SVG: certified answers after training by the lucky share of what was trained on."""
    flaws = sorted({dose.flaw for dose in summary.doses if dose.rate and dose.flaw})
    drawn = styles(["at random", *flaws])
    with drawing(text="path"):
        figure, [axes] = panels_of(width=6.4, height=3.6, count=1)
        figure.patch.set_facecolor("white")
        for label, (colour, marker) in drawn.items():
            curve = [d for d in summary.doses if not d.rate or (d.flaw or "at random") == label]
            curve.sort(key=lambda dose: dose.lucky.mean)
            x, y = [100 * dose.lucky.mean for dose in curve], [100 * dose.certified.mean for dose in curve]
            ends = [dose.certified.interval or (dose.certified.mean, dose.certified.mean) for dose in curve]
            below = [max(0.0, at - 100 * low) for at, (low, _) in zip(y, ends, strict=True)]
            above = [max(0.0, 100 * high - at) for at, (_, high) in zip(y, ends, strict=True)]
            axes.errorbar(x, y, [below, above], color=colour, marker=marker, ms=5, lw=1.6, elinewidth=1, label=label)
        axes.set_xlabel("lucky traces among those trained on, %")
        axes.set_ylabel(f"certified, {summary.doses[0].problems}, %")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        return svg_of(figure)
