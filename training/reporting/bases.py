"""Comparison of arms over several base models, each of which counts once.

Answers, problems and seeds of one base are not independent: another base may learn in another way. So a base's value is
the mean over its seeds, and intervals are over bases (two stages, bases as random effects): Student's t over the bases'
values (Student 1908). Fewer than two bases, or bases that do not differ at all, have no interval.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from critics.errors import InputError
from critics.problem import is_object
from training.estimates import LEVEL, stats
from training.figures import GREY, bars, drawing, panels_of, svg_of
from training.outcomes import Record
from training.records.run_folder import configuration
from training.reporting.panels import styles
from training.reporting.runs import Arm, Evaluation, provenance, read_arms
from training.reporting.sentences import points

COUNTED = ("certified", "right")
FIRST = "strict"
"""The arm that the others are compared with, where there is one; else the first."""
METHOD = "per base the mean over seeds; over bases Student's t interval and test (two stages)"


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

    def rate(self, evaluation: Evaluation, counted: str) -> float:
        """Return a rate of an evaluation on its problems; raises `InputError` where there are none."""
        cells = [evaluation.sampled]
        if self.at_least is not None or self.at_most is not None:
            low, high = self.at_least or 0, self.at_most or math.inf
            cells = [cell for hops, cell in evaluation.sampled["by_hops"].items() if low <= int(hops) <= high]
        n = sum(cell["n"] for cell in cells)
        if not n:
            raise InputError(f"{evaluation.path}: has no problems {self}; choose another --beyond")
        return sum(cell[counted] for cell in cells) / n


def compare_bases(runs: Sequence[Path], beyond: int | None = None) -> Record:
    """Compare the arms of runs that start from different base models; rates as the runs' sampled evaluations have them.

    `beyond`: the most hops that the bases were taught; then problems of more hops, and the others, are also told apart.
    `arms` are rates by round, `leads` differences after the last one, and `doses` arms whose filters let lucky traces
    through, where some do. Raises `InputError` for fewer than two bases, one base twice, or runs with different arms.
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
    names = list(bases[0].arms)
    first = FIRST if FIRST in names else names[0]
    parts = [Part()]
    if beyond is not None:
        hops = sorted(map(int, bases[0].arms[names[0]].rounds[-1][0].sampled["by_hops"]))
        parts += [Part(at_most=beyond), Part(at_least=beyond + 1), *(Part(each, each) for each in hops)]
    others = [name for name in names if name != first]
    wide = [(part, counted, other) for part in reversed(parts[:3]) for counted in COUNTED for other in others]
    primaries = {base.primary for base in bases}
    return {
        "bases": [{"name": b.name, "digest": b.digest, "seeds": list(b.arms[first].seeds)} for b in bases],
        "primary": next(iter(primaries)) if len(primaries) == 1 else None,
        "arms": [_arm(bases, name, counted, part) for part in parts for counted in COUNTED for name in names],
        "leads": [_lead(bases, first, other, counted, part) for part, counted, other in wide],
        "doses": list(_doses(bases, Part() if beyond is None else Part(at_least=beyond + 1))),
        "method": METHOD,
    }


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
    return Base(run.resolve().name, digest, primary, doses, {arm.name: arm for arm in read_arms(run)})


def _arm(bases: Sequence[Base], name: str, counted: str, part: Part) -> Record:
    """Return the rates of an arm on some problems, from the base model to the last round."""
    rounds = range(min(len(base.arms[name].rounds) for base in bases))
    found = [over_bases([_rate(base.arms[name], number, counted, part) for base in bases]) for number in rounds]
    return {"arm": name, "counted": counted, "problems": str(part), "rounds": found}


def _lead(bases: Sequence[Base], a: str, b: str, counted: str, part: Part) -> Record:
    """Return the difference of two arms after the last round, in rates from 0 to 1."""
    rates = [[_rate(base.arms[arm], -1, counted, part) for arm in (a, b)] for base in bases]
    difference = over_bases([mine - other for mine, other in rates])
    return {"a": a, "b": b, "counted": counted, "problems": str(part), "difference": difference}


def _doses(bases: Sequence[Base], part: Part) -> Iterator[Record]:
    """Yield the dose and the response of each arm of the critic's own filter, where some let lucky traces through.

    `rate` is the share of lucky traces that were kept, `lucky` their share of all that were kept, over all rounds, and
    `flaw` the reason of those kept first; None where they were drawn at random.
    """
    doses = {name: bases[0].doses.get(name, (0.0, None)) for name in bases[0].arms}
    if not any(rate for rate, _ in doses.values()):
        return
    for name, (rate, flaw) in doses.items():
        arms = [base.arms[name] for base in bases]
        if arms[0].keep == "strict":
            rates = {counted: over_bases([_rate(arm, -1, counted, part) for arm in arms]) for counted in COUNTED}
            lucky = over_bases([_lucky_share(arm) for arm in arms])
            yield {"arm": name, "rate": rate, "flaw": flaw, "lucky": lucky, **rates, "problems": str(part)}


def _lucky_share(arm: Arm) -> float:
    """Return the share of what an arm kept that is not certified, over its rounds and seeds."""
    rollouts = [rollout for each in arm.rollouts for rollout in each]
    kept = sum(rollout["kept"] for rollout in rollouts)
    return sum(rollout.get("kept_lucky", 0) for rollout in rollouts) / kept if kept else 0.0


def _rate(arm: Arm, number: int, counted: str, part: Part) -> float:
    """Return the mean over seeds of a rate on some problems."""
    rates = [part.rate(evaluation, counted) for evaluation in arm.rounds[number]]
    return sum(rates) / len(rates)


def over_bases(values: Sequence[float]) -> Record:
    """Return the mean of the bases' values with its 95% interval and tests over bases.

    `interval` and `p` (Student's t, two-sided, of the hypothesis that the mean over all such bases is 0) are None where
    there is one base, or where none differs from another. `p_signs` is the same by exact flips of the bases' signs
    (Fisher 1935), which needs no shape; never below 2 ** (1 - bases).
    """
    num = len(values)
    mean = sum(values) / num
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, num - 1) / num)
    found: Record = {"per_base": list(values), "mean": mean, "interval": None, "p": None}
    if num > 1 and error >= 1e-12:  # rounding alone leaves as much
        reach = float(stats().t.ppf((1 + LEVEL) / 2, num - 1)) * error
        found |= {"interval": [mean - reach, mean + reach], "p": 2 * float(stats().t.sf(abs(mean) / error, num - 1))}
    return {**found, "p_signs": _sign_flips(values)}


def _sign_flips(values: Sequence[float]) -> float:
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=len(values))
    ]
    return sum(total >= abs(sum(values)) - 1e-12 for total in sums) / len(sums)


def bases_table(found: Record) -> str:
    """Return the rates and the leads as Markdown, in percent and percentage points."""
    last = max(len(arm["rounds"]) for arm in found["arms"]) - 1
    primary = found["primary"] or "none was declared before the runs"
    lines = [
        f"{len(found['bases'])} bases; primary metric: {primary}; 95% intervals over bases. "
        f"{METHOD[0].upper()}{METHOD[1:]}.\n",
        "| arm | problems | rate | " + " | ".join(["start", *(f"round {r}" for r in range(1, last + 1))]) + " |",
        "|---|---|---|" + "--:|" * (last + 1),
    ]
    for arm in found["arms"]:
        rates = " | ".join(map(_percent, arm["rounds"]))
        lines.append(f"| {arm['arm']} | {arm['problems']} | {arm['counted']} | {rates} |")
    lines += [
        "",
        "| lead after the last round | problems | rate | points (95%) | p, t | p, signs | each base |",
        "|---|---|---|--:|--:|--:|---|",
    ]
    for lead in found["leads"]:
        own = lead["difference"]
        each = " ".join(f"{100 * value:+.1f}" for value in own["per_base"])
        p = "–" if own["p"] is None else f"{own['p']:.2g}"
        cells = (f"{lead['a']} over {lead['b']}", lead["problems"], lead["counted"], _points(own), p)
        lines.append(f"| {' | '.join(cells)} | {own['p_signs']:.2g} | {each} |")
    if found["doses"]:
        problems = found["doses"][0]["problems"]
        lines += ["", f"| lucky traces kept | which | of all kept | certified, {problems} | right |"]
        lines.append("|--:|---|--:|--:|--:|")
    for dose in found["doses"]:
        rates = " | ".join(_percent(dose[key]) for key in ("lucky", "certified", "right"))
        lines.append(f"| {100 * dose['rate']:.0f}% | {dose['flaw'] or 'at random'} | {rates} |")
    return "\n".join(lines) + "\n"


def _percent(found: Record) -> str:
    if found["interval"] is None:
        return f"{100 * found['mean']:.1f}"
    low, high = (100 * min(1.0, max(0.0, end)) for end in found["interval"])
    return f"{100 * found['mean']:.1f} ({low:.1f} to {high:.1f})"


def _points(found: Record) -> str:
    return points(found["mean"]) + ("" if found["interval"] is None else f" ({points(found['interval'])})")


def forest(found: Record) -> str:
    """Return the leads in certified answers as SVG: a point for each base, a diamond for their mean."""
    leads = [lead for lead in found["leads"] if lead["counted"] == "certified"]
    drawn = styles([leads[0]["a"], *(lead["b"] for lead in leads)])
    with drawing(text="path"):
        figure, [axes] = panels_of(width=7.2, height=0.6 + 0.36 * len(leads), count=1)
        figure.patch.set_facecolor("white")
        axes.axvline(0, color=GREY, lw=0.8)
        for y, lead in enumerate(leads):
            own, colour = lead["difference"], drawn[lead["b"]][0]
            if own["interval"] is not None:
                axes.plot([100 * end for end in own["interval"]], [y, y], color=colour, lw=1.6)
            axes.plot([100 * own["mean"]], [y], marker="D", color=colour, ms=6)
            axes.plot([100 * x for x in own["per_base"]], [y - 0.25] * len(own["per_base"]), "o", color=GREY, ms=3)
        axes.set_yticks(range(len(leads)), [f"{lead['a']} over {lead['b']}, {lead['problems']}" for lead in leads])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlabel(f"percentage points of certified answers, 95% over {len(found['bases'])} bases")
        return svg_of(figure)


def dose_figure(found: Record) -> str:
    """Return dose and response as SVG: certified answers after training by the lucky share of what was trained on."""
    flaws = sorted({dose["flaw"] for dose in found["doses"] if dose["rate"] and dose["flaw"]})
    drawn = styles(["at random", *flaws])
    with drawing(text="path"):
        figure, [axes] = panels_of(width=6.4, height=3.6, count=1)
        figure.patch.set_facecolor("white")
        for label, (colour, marker) in drawn.items():
            curve = [d for d in found["doses"] if not d["rate"] or (d["flaw"] or "at random") == label]
            curve.sort(key=lambda dose: dose["lucky"]["mean"])
            x, y = ([100 * dose[key]["mean"] for dose in curve] for key in ("lucky", "certified"))
            ends = [dose["certified"]["interval"] or [dose["certified"]["mean"]] * 2 for dose in curve]
            reach = bars([dose["certified"]["mean"] for dose in curve], ends)
            axes.errorbar(x, y, reach, color=colour, marker=marker, ms=5, lw=1.6, elinewidth=1, label=label)
        axes.set_xlabel("lucky traces among those trained on, %")
        axes.set_ylabel(f"certified, {found['doses'][0]['problems']}, %")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        return svg_of(figure)
