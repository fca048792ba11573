"""Comparison of arms over several base models, each of which counts once.

Answers, problems and seeds of one base are not independent: another base may learn in another way. So a base's value is
the mean over its seeds, and intervals are over bases (two stages, bases as random effects): Student's t over the bases'
values (Student 1908). Fewer than two bases, or bases that do not differ at all, have no interval.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.figures import Difference, drawing, forest, styles
from training.outcomes import LEVEL, Record, Table, holm, markdown, mean, stats
from training.reporting.runs import Arm, outcomes_of, provenance, read_arms
from training.reporting.sentences import points, taught

COUNTED = ("certified", "right")
FIRST = "strict"
"""The arm that the others are compared with, where there is one; else the first."""
LEAD_COLUMNS = (
    "lead after the last round", "problems", "rate", "points (95%)", "p, t", "p, signs", "Holm", "without one base",
    "each base",
)  # fmt: skip
METHOD = "per base the mean over seeds; over bases Student's t interval and test (two stages)"


@dataclass(frozen=True, slots=True)
class Base:
    """A base model with the arms of the run that started from it."""

    name: str
    digest: str
    primary: str | None
    taught: str
    """Size, and what it was shown."""
    arms: Mapping[str, Arm]
    answers: Table
    """The outcomes table of sampled answers."""

    def rates(self, part: "Part") -> Mapping[tuple[str, int, str], float]:
        """Return the mean over seeds of each rate on some problems, by arm, round and what is counted."""
        hops = self.answers["hops"]
        own = self.answers[part.of(hops)] if part != Part() else self.answers
        if own.empty:
            raise InputError(f"{self.name}: has no problems {part}; choose another --beyond")
        means = own.groupby(["arm", "seed", "round"])[[*COUNTED]].agg(mean)
        pooled = means.groupby(["arm", "round"]).agg(mean)
        return {(arm, number, name): float(row[name]) for (arm, number), row in pooled.iterrows() for name in COUNTED}


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

    def of(self, hops: Any) -> Any:
        """Say of each number of hops whether it is in the range."""
        return (hops >= (self.at_least or 0)) & (hops <= (math.inf if self.at_most is None else self.at_most))


def compare_bases(runs: Sequence[Path], beyond: int | None = None, against: str | None = None) -> Record:
    """Compare the arms of runs that start from different base models; rates as the runs' sampled evaluations have them.

    `beyond`: the most hops that the bases were taught; then problems of more hops, and the others, are also told apart.
    `against`: the rival of the one comparison that was declared before the runs, which is corrected for no other.
    `arms` are rates by round, `leads` differences after the last one. Raises `InputError` for fewer than two bases, one
    base twice, or runs with different arms.
    """
    bases = _comparable([_read(run) for run in runs])
    names = list(bases[0].arms)
    first = FIRST if FIRST in names else names[0]
    parts = [Part()]
    if beyond is not None:
        hops = sorted(set(bases[0].answers["hops"]))
        parts += [Part(at_most=beyond), Part(at_least=beyond + 1), *(Part(each, each) for each in hops)]
    rates = {part: [base.rates(part) for base in bases] for part in parts}
    last = {name: min(len(base.arms[name].rounds) for base in bases) - 1 for name in names}
    ends = {name: [len(base.arms[name].rounds) - 1 for base in bases] for name in names}

    def after(part: Part, arm: str, counted: str) -> list[float]:
        """Return the rates of each base after its last round."""
        return [own[arm, end, counted] for own, end in zip(rates[part], ends[arm], strict=True)]

    arms: list[Record] = []
    for part, counted, name in product(parts, COUNTED, names):
        rounds = [over_bases([own[name, n, counted] for own in rates[part]]) for n in range(last[name] + 1)]
        arms.append({"arm": name, "counted": counted, "problems": str(part), "rounds": rounds})
    leads: list[Record] = []
    for part, counted, b in product(reversed(parts[:3]), COUNTED, (name for name in names if name != first)):
        pairs = zip(after(part, first, counted), after(part, b, counted), strict=True)
        difference = over_bases([own - other for own, other in pairs])
        leads.append({"a": first, "b": b, "counted": counted, "problems": str(part), "difference": difference})
    primaries = {base.primary for base in bases}
    primary = next(iter(primaries)) if len(primaries) == 1 else None
    part = parts[0] if beyond is None else parts[2]
    if against is not None and against not in names:
        raise InputError(f"--against {against}: the runs have the arms {names}")
    _correct(leads, (against, primary, str(part)))
    return {
        "bases": [
            {"name": b.name, "digest": b.digest, "taught": b.taught, "seeds": list(b.arms[first].seeds)} for b in bases
        ],
        "primary": primary,
        "arms": arms,
        "leads": leads,
        "method": METHOD,
    }


def _comparable(bases: list[Base]) -> list[Base]:
    """Return the bases; raises `InputError` for fewer than two, one twice, or other arms."""
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
    return bases


def _correct(leads: Sequence[Record], declared: tuple[str | None, str | None, str]) -> None:
    """Give each lead its sign-flip p by Holm over the rivals on the same rate and problems, and what one base decides.

    The lead that was declared is a family of its own.
    """
    families: dict[Any, list[Record]] = defaultdict(list)
    for lead in leads:
        own, values = lead["difference"], lead["difference"]["per_base"]
        kept = [[v for i, v in enumerate(values) if i != out] for out in range(len(values))]
        own["without_one"] = [{key: over_bases(rest)[key] for key in ("mean", "interval")} for rest in kept]
        lead["declared"] = (lead["b"], lead["counted"], lead["problems"]) == declared
        families[lead["declared"], lead["counted"], lead["problems"]].append(own)
    for family in families.values():
        for own, p in zip(family, holm([own["p_signs"] for own in family]), strict=True):
            own["p_holm"] = p


def _read(run: Path) -> Base:
    origin = provenance(run)
    digest, primary = origin.get("base_digest"), origin.get("primary")
    if not isinstance(digest, str):
        raise InputError(f"{run / 'lines.json'}: names no base model; run it again with this version")
    arms, answers = read_arms(run), outcomes_of(read_arms(run))
    sampled = answers[answers["mode"] == "sampled"]
    shown = taught(origin.get("base_provenance"))
    return Base(run.resolve().name, digest, primary, shown, {arm.name: arm for arm in arms}, sampled)


def over_bases(values: Sequence[float]) -> Record:
    """Return the mean of the bases' values with its 95% interval and tests over bases.

    `interval` and `p` (Student's t, two-sided, of the hypothesis that the mean over all such bases is 0) are None where
    there is one base, or where none differs from another. `p_signs` is the same by exact flips of the bases' signs
    (Fisher 1935), which needs no shape; never below 2 ** (1 - bases).
    """
    found: Record = {"per_base": list(values), "mean": mean(values), "interval": None, "p": None}
    if max(values) - min(values) >= 1e-12:  # rounding alone leaves as much
        tested = stats().ttest_1samp(values, 0)
        found |= {"interval": list(map(float, tested.confidence_interval(LEVEL))), "p": float(tested.pvalue)}
    flips = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in product((1, -1), repeat=len(values))]
    return {**found, "p_signs": sum(abs(total) >= abs(sum(values)) - 1e-12 for total in flips) / len(flips)}


def bases_table(found: Record) -> str:
    """Return the rates and the leads as Markdown, in percent and percentage points."""
    opening = (
        f"{len(found['bases'])} bases; primary metric: {found['primary'] or 'none was declared before the runs'}; "
        f"95% intervals over bases. {METHOD[0].upper()}{METHOD[1:]}."
    )
    rounds = round_columns(found)
    tables = [
        opening,
        markdown(["arm", "problems", "rate", *rounds], rate_rows(found), "lll" + "r" * len(rounds)),
        markdown(LEAD_COLUMNS, lead_rows(found), "lllrrrrll"),
    ]
    return "\n".join(text.rstrip("\n") + "\n" for text in tables)


def round_columns(found: Record) -> list[str]:
    """Return the names of the columns of rates."""
    last = max(len(arm["rounds"]) for arm in found["arms"]) - 1
    return ["start", *(f"round {r}" for r in range(1, last + 1))]


def rate_rows(found: Record) -> list[list[str]]:
    """Return each arm's rates by round, as tables write them."""
    return [[arm["arm"], arm["problems"], arm["counted"], *map(percents, arm["rounds"])] for arm in found["arms"]]


def lead_rows(found: Record) -> list[list[str]]:
    """Return the leads under `LEAD_COLUMNS`, as tables write them."""
    rows: list[list[str]] = []
    for lead in found["leads"]:
        own = lead["difference"]
        ps = ["–" if own["p"] is None else f"{own['p']:.2g}", f"{own['p_signs']:.2g}", f"{own['p_holm']:.2g}"]
        each = " ".join(f"{100 * value:+.1f}" for value in own["per_base"])
        name = f"{lead['a']} over {lead['b']}"
        rows.append([name, lead["problems"], lead["counted"], _lead(own), *ps, _without_one(own["without_one"]), each])
    return rows


def _lead(own: Record) -> str:
    return points(own["mean"]) + ("" if own["interval"] is None else f" ({points(own['interval'])})")


def bases_answer(found: Record) -> tuple[str, str]:
    """Return what the comparison over bases answers, and the numbers that it rests on.

    It is of the declared lead, or of the first one, which is then corrected for the others. `Yes` needs a lead whose
    interval is above 0 and whose sign-flip test, corrected, is below 5%.
    """
    lead = next((lead for lead in found["leads"] if lead["declared"]), found["leads"][0])
    own, num = lead["difference"], len(found["bases"])
    positive = own["interval"] is not None and own["interval"][0] > 0
    said = "Yes" if positive and own["p_holm"] < 1 - LEVEL else "Not shown"
    declared = "declared before the runs" if lead["declared"] else "no comparison was declared before the runs"
    return said, (
        f"{lead['a']} over {lead['b']}, {lead['counted']}, {lead['problems']}: {_lead(own)} points over {num} bases; "
        f"exact sign flips p = {own['p_holm']:.2g}; {declared}."
    )


def _without_one(left: Sequence[Record]) -> str:
    """Say between which means the lead lies without one of the bases, and how often the interval then has 0 in it."""
    means = [each["mean"] for each in left]
    spans = [each["interval"] for each in left if each["interval"] is not None]
    doubted = sum(low <= 0 <= high for low, high in spans)
    return f"{points(min(means))} to {points(max(means))}" + (f"; 0 in {doubted} of {len(left)}" if spans else "")


def percents(found: Record) -> str:
    """Return the mean of the bases' rates with its interval, in percent."""
    if found["interval"] is None:
        return f"{100 * found['mean']:.1f}"
    low, high = (100 * min(1.0, max(0.0, end)) for end in found["interval"])
    return f"{100 * found['mean']:.1f} ({low:.1f} to {high:.1f})"


def bases_figure(found: Record) -> str:
    """Return the leads in certified answers as SVG: a point for each base, a diamond for their mean."""
    leads = [lead for lead in found["leads"] if lead["counted"] == "certified"]
    drawn = styles([leads[0]["a"], *(lead["b"] for lead in leads)])
    rows: list[Difference] = []
    for lead in leads:
        own, label = lead["difference"], f"{lead['a']} over {lead['b']}, {lead['problems']}"
        rows.append(Difference(label, own["mean"], own["interval"], drawn[lead["b"]][0], own["per_base"]))
    with drawing(width=7.2, height=0.6 + 0.36 * len(leads)) as made:
        forest(made.axes, rows, f"percentage points of certified answers, 95% over {len(found['bases'])} bases")
    return made.svg
