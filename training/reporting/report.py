"""Report of a run for people: one HTML file with its figures that needs no network.

Everything that a model wrote is untrusted: the template escapes every text, and the page's script sets texts and never
markup. The Content-Security-Policy forbids all requests, and every script but the page's own by its hash: even markup
that came in would not run. Equal summaries and traces give equal bytes.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.figures import GREY, Difference, downwards, drawing, forest, percent_scale, styles, with_band, with_bars
from training.outcomes import GROUPINGS, Record, naturally, pooled
from training.records.store import write_text
from training.reporting.runs import STAGES
from training.reporting.sentences import Arms, facts, p_value, percent, points, widest_interval
from training.reporting.traces import COSTS, Survey, certified_examples, pairs, view

if TYPE_CHECKING:
    from markupsafe import Markup


METRICS = {"accuracy": "Right answers", "certified": "Certified answers"}
RETRY_METRICS = {
    "accuracy": "Right answers",
    "compiled": "Programs that compile",
    "tests_passed": "All tests pass",
    "certified": "Certified answers",
}
VERDICT_COLOURS = {
    "certified": "#5fb98a",
    "unproved": "#e8b84a",
    "refuted": "#e2836b",
    "vacuous": "#b893d6",
    "malformed": "#a9adb5",
    "timeout": "#79b4e0",
    "error": "#d0d3d8",
}
"""All of them light enough for black figures on them."""


def write_figure(report: Record, path: Path) -> None:
    """Save both rates by round as one SVG."""
    with drawing(width=9.2, height=3.4, columns=len(METRICS)) as made:
        for axes, (metric, title) in zip(made.grid[0], METRICS.items(), strict=True):
            _draw_rates(axes, report["arms"], metric)
            axes.set_title(title, loc="left", weight="bold")
    write_text(path, made.svg)


def rate_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each rate by round, under its title."""
    for metric, title in METRICS.items():
        with drawing(width=4.6, height=3.2, label=f"{title} by round for each arm, with 95% intervals") as made:
            _draw_rates(made.axes, arms, metric)
        yield title, made.svg


def forest_panel(report: Record) -> str | None:
    """Return the comparisons as a forest plot, the metric that was declared first on top; None where there are none."""
    order = {report["primary"]: 0, "certified": 1, "gain": 2}
    shown = sorted((c for c in report["comparisons"] if c["metric"] in order), key=lambda c: order[c["metric"]])
    if not shown:
        return None
    rows: list[Difference] = []
    for c in shown:
        what = "gain in accuracy" if c["metric"] == "gain" else c["metric"]
        label, interval = f"{what}{' (primary)' * c['primary']}: {c['a']} over {c['b']}", widest_interval(c)
        said = f"{points(c['difference'])} ({points(interval)})"
        rows.append(Difference(label, c["difference"], interval, styles(report["arms"])[c["b"]][0], said=said))
    label = "Differences between arms after the last round, with 95% intervals"
    with drawing(width=7.6, height=0.7 + 0.27 * len(rows), label=label) as made:
        forest(made.axes, rows, "percentage points, 95%")
    return made.svg


def funnel_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm, from attempts to training data."""
    for name, (colour, _) in styles(arms).items():
        funnels = {found["round"]: found["funnel"] for found in arms[name]["rounds"] if found["funnel"]}
        if funnels:
            label = f"{name}: attempts sampled, right, certified and kept"
            with drawing(width=3.6, height=0.45 + 0.95 * len(funnels), label=label) as made:
                _draw_funnel(made.axes, funnels, colour)
            yield name, made.svg


def _draw_funnel(axes: Any, funnels: Mapping[int, Mapping[str, int]], colour: str) -> None:
    """Draw a group of bars for each round, from all that was sampled to what was trained on."""
    top = max(*(funnel["sampled"] for funnel in funnels.values()), 1)
    ticks: dict[float, str] = {}
    for group, (number, funnel) in enumerate(funnels.items()):
        for place, stage in enumerate(STAGES):
            y = group * (len(STAGES) + 1.1) + place
            count = funnel[stage]
            axes.barh(y, count, height=0.82, color=colour, alpha=(0.28, 0.5, 0.75, 1.0)[place])
            share = f" ({100 * count / funnel['sampled']:.0f}%)" if place and funnel["sampled"] else ""
            axes.text(count + 0.02 * top, y, f"{count}{share}", va="center")
            ticks[y] = f"round {number}: {stage}" if place == 0 else stage
    downwards(axes, ticks)
    axes.set_xlim(0, 1.3 * top)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def verdict_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm: the verdicts on its attempts, round by round; shares from 6% on are written in."""
    for name, arm in arms.items():
        rounds = {found["round"]: found["verdicts"] for found in arm["rounds"] if found["verdicts"]}
        if not rounds:
            continue
        label = f"{name}: share of each verdict among the attempts, by round"
        with drawing(width=4.6, height=0.75 + 0.42 * len(rounds), label=label) as made:
            axes, left = made.axes, dict.fromkeys(rounds, 0.0)
            for verdict, colour in VERDICT_COLOURS.items():
                shares = {number: 100 * own.get(verdict, 0) / sum(own.values()) for number, own in rounds.items()}
                if any(shares.values()):
                    starts = list(left.values())
                    axes.barh(list(shares), list(shares.values()), 0.72, starts, color=colour, label=verdict)
                for number, share in shares.items():
                    if share >= 6:
                        middle = left[number] + share / 2
                        axes.text(middle, number, f"{share:.0f}%", ha="center", va="center", color="#000000")
                    left[number] += share
            axes.legend(
                loc="lower center", bbox_to_anchor=(0.45, 1), ncols=4, frameon=False,
                handlelength=0.9, handletextpad=0.4, columnspacing=1.0, fontsize=8,
            )  # fmt: skip
            downwards(axes, {number: f"round {number}" for number in rounds})
            axes.set_xlim(0, 100)
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
        yield name, made.svg


def retry_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each rate of dialogs over retries: each arm's last model, and the first start dashed."""
    if not all("by_retries" in arm["rounds"][-1] for arm in arms.values()):
        return
    first = next(iter(arms.values()))["rounds"][0]["by_retries"]  # arms that ask alike share it
    last = first[-1]["retries"]
    for metric, title in RETRY_METRICS.items():
        label = f"{title} over retries for each arm, before and after training"
        with drawing(width=4.6, height=3.2, label=label) as made:
            axes, start = made.axes, [100 * level[metric] for level in first]
            axes.plot([level["retries"] for level in first], start, color=GREY, ls="--", lw=1.4)
            curves = {name: arm["rounds"][-1]["by_retries"] for name, arm in arms.items()}
            _draw_curves(axes, curves, "retries", metric, last)
            axes.text(0.05, start[0] - 4, "start", va="top")
            axes.set_xlim(-0.25, last + 0.3 + 0.3 * max(1, last))
            axes.set_xticks(range(last + 1))
            axes.set_xlabel("retries")
        yield title, made.svg


def _draw_rates(axes: Any, arms: Arms, metric: str) -> None:
    """Draw one line for each arm, every panel on the same scale."""
    last = max(arm["rounds"][-1]["round"] for arm in arms.values())
    _draw_curves(axes, {name: arm["rounds"] for name, arm in arms.items()}, "round", metric, last)
    axes.set_xlim(-0.25, last + 0.2 + 0.27 * last)
    axes.set_xticks(range(last + 1), ["start", *(f"round {r}" for r in range(1, last + 1))])


def _draw_curves(axes: Any, curves: Mapping[str, Sequence[Record]], along: str, metric: str, last: int) -> None:
    """Draw a rate along rounds or retries with 95% bars, each curve labelled at its end."""
    drawn = styles(curves)
    for i, (name, (colour, marker)) in enumerate(drawn.items()):
        # Side by side rather than on top of each other: arms often share their start.
        x = [cell[along] + 0.05 * (i - (len(curves) - 1) / 2) for cell in curves[name]]
        rates, intervals = ([cell[key] for cell in curves[name]] for key in (metric, f"{metric}_interval"))
        style = {"marker": marker, "ms": 5, "lw": 1.8, "elinewidth": 1.2, "clip_on": False}
        with_bars(axes, x, rates, intervals, color=colour, **style)
    ends = sorted((100 * curve[-1][metric], name) for name, curve in curves.items())
    for y, (value, name) in zip(_apart([value for value, _ in ends]), ends, strict=True):
        axes.plot([last + 0.13, last + 0.2], [value, y], color=drawn[name][0], lw=1)
        axes.text(last + 0.23, y, f"{name} {value:.0f}%", va="center")
    percent_scale(axes)


def _apart(heights: Sequence[float], gap: float = 6.5) -> list[float]:
    """Return ascending label heights on 0..100, moved up and then down until none touch."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else max(height, 2.0))
    ceiling = 98.0
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - gap
    return placed


def trip_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield AutoEval's figure 3 for each data set of round trips: the start dashed, and each arm's last model."""
    start = next(iter(arms.values()))["rounds"][0].get("round_trips", {})
    for dataset, scores in start.items():
        by = "category (operators, or depth)" if scores["calibrated"]["by"] == "category" else "category"
        curves: dict[str, tuple[Any, Record]] = {"start": (scores["rows"], {"color": GREY, "ls": "--"})}
        for name, (colour, marker) in styles(arms).items():
            rows = arms[name]["rounds"][-1]["round_trips"][dataset]["rows"]
            curves[name] = rows, {"color": colour, "marker": marker, "ms": 4}
        for metric, said in (("score", "AutoEval score"), ("compliance", "Syntactic compliance")):
            title = f"{dataset}: {said} by {by}"
            label = f"{title}, before and after training, with 95% intervals"
            with drawing(width=4.6, height=3.2, label=label) as made:
                for name, (rows, style) in curves.items():
                    known = [row for row in rows if row[metric] is not None]
                    keys = ("category", metric, f"{metric}_interval")
                    x, rates, intervals = ([row[key] for row in known] for key in keys)
                    with_band(made.axes, x, rates, intervals, label=name, lw=1.6, **style)
                made.axes.legend(frameon=False, fontsize=8)
                percent_scale(made.axes)
            yield title, made.svg


PAGE = Path(__file__).with_name("page")
"""Templates, one for each section, with the style and the script; `report.html.jinja` puts them together."""
NUM_EXAMPLES = 2
MODELS = (("before training", 0), ("after", -1))
"""The first and the last model of each arm, and their rounds."""
NEGLIGIBLE = 0.005
"""Reasons rarer than this in every round are left out of the table."""


def render(report: Record, found: Survey, headlines: Sequence[str] = ()) -> str:
    """Return the page of a report with the traces of a survey.

    `headlines` are the sentences that open the page, the most important first.
    """
    from markupsafe import Markup

    script = (PAGE / "report.js").read_text(encoding="utf-8")
    arms, origin = report["arms"], report["provenance"]
    views = [view(shown) for shown in found.shown]
    models = [(name, label, arm["rounds"][n]) for name, arm in arms.items() for label, n in MODELS]
    drawn = {
        "rate_figures": rate_panels(arms),
        "retry_figures": retry_panels(arms),
        "trip_figures": trip_panels(arms),
        "funnel_figures": funnel_panels(arms),
        "verdict_figures": verdict_panels(arms),
    }
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            report=report,
            arms=arms,
            models=models,
            name=origin.get("name") or "A run",
            headlines=headlines,
            facts=facts(report),
            provenance={k: v for k, v in origin.items() if k != "base_provenance"},
            base=origin.get("base_provenance") or {},
            colours={arm: colour for arm, (colour, _) in styles(arms).items()},
            forest=Markup(found_forest) if (found_forest := forest_panel(report)) else None,
            **{name: [(title, Markup(svg)) for title, svg in figures] for name, figures in drawn.items()},
            **_rows(arms),
            squares=_square_rows(report),
            answers=models if all(each["answers"] for *_, each in models) else [],
            groups={name: _labels(arms, name) for name in GROUPINGS},
            views=views,
            num_traces=found.num_traces,
            trace_data=Markup(as_data(views)),
            certified=certified_examples(views, NUM_EXAMPLES),
            pairs=pairs(views, NUM_EXAMPLES),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def bases_page(found: Record, runs: Sequence[Path]) -> str:
    """Return the page of a comparison over bases: its answer, the forest, and what the bases are come first."""
    from markupsafe import Markup

    from training.reporting import bases

    tables = [
        ("Leads", bases.LEAD_COLUMNS, bases.lead_rows(found)),
        ("Rates", ("arm", "problems", "rate", *bases.round_columns(found)), bases.rate_rows(found)),
    ]
    answer, figure = bases.bases_answer(found), Markup(bases.bases_figure(found))
    template = _environment().get_template("bases.html.jinja")
    return template.render(found=found, tables=tables, answer=answer, figure=figure, runs=runs)


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made: Any = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"percent": percent, "points": points, "p_value": p_value, "with_contents": with_contents}
    made.globals |= {"curve": curve}
    return made


def with_contents(body: "Markup") -> "Markup":
    """Return sections behind a list of links to them; headings come from the templates alone, and texts are escaped."""
    from markupsafe import Markup

    titles: list[tuple[str, str]] = []

    def anchored(found: re.Match[str]) -> str:
        anchor = found[1] or re.sub(r"\W+", "-", found[2].lower()).strip("-")
        titles.append((anchor, found[2]))
        return f'<h2 id="{anchor}">{found[2]}</h2>'

    text = re.sub(r'<h2(?: id="([\w-]+)")?>([^<]+)</h2>', anchored, body)
    links = "".join(f'<li><a href="#{anchor}">{title}</a></li>' for anchor, title in titles)
    return Markup(f'<nav class="contents screen" aria-label="Contents"><ul>{links}</ul></nav>\n{text}')


def as_data(value: object) -> str:
    """Return JSON that cannot end the element it stands in: no `<`, `>` or `&` is left, and no lone surrogate."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def curve(upper: Record, lower: Record) -> str:
    """Return the path of an edge from one node down to another."""
    x1, y1, x2, y2 = upper["x"] + upper["w"] / 2, upper["y"] + upper["h"], lower["x"] + lower["w"] / 2, lower["y"]
    middle = (y1 + y2) / 2
    return f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"


# -- tables that need more than a loop


def _labels(arms: Arms, grouping: str) -> list[str]:
    """Return a grouping's labels, numbers ascending; none where there are fewer than two, which say nothing new."""
    found = {label for arm in arms.values() for each in arm["rounds"] for label in each.get(grouping, ())}
    return sorted(found, key=naturally) if len(found) > 1 else []


def _rows(arms: Arms) -> dict[str, list[Record]]:
    """Return the rows of two tables.

    `reasons`: why attempts were not certified, with the shares of each round's attempts. `costs` of all rollouts, and
    the tokens that a certified attempt took.
    """
    reasons, costs = list[Record](), list[Record]()
    for name, arm in arms.items():
        counts = [each["reasons"] for each in arm["rounds"] if each["reasons"]]
        shares = [{reason: num / sum(each.values()) for reason, num in each.items()} for each in counts]
        found = {reason for share in shares for reason in share} - {"proved"}
        for reason in sorted(found, key=lambda k: (-shares[0].get(k, 0), k)):
            own = [share.get(reason, 0.0) for share in shares]
            reasons += [{"arm": name, "reason": reason, "shares": own}] if max(own) >= NEGLIGIBLE else []
        if rounds := [each for each in arm["rounds"] if each.get("cost")]:
            total = pooled([each["cost"] for each in rounds], COSTS)
            certified = sum(each["funnel"]["certified"] for each in rounds)
            each_one = total["tokens"] / certified if certified else None
            kept = sum(each["kept"] for each in rounds)
            costs.append({"arm": name, **total, "certified": certified, "kept": kept, "tokens_each": each_one})
    return {"reasons": reasons, "costs": costs}


def _square_rows(report: Record) -> list[Record]:
    """Return a row for each model and temperature; empty unless some model was measured under both decodings."""
    found: dict[tuple[str, int, float], dict[str, Record]] = {}
    for cell in report["square"]:
        found.setdefault((cell["arm"], cell["round"], cell["temperature"]), {})[cell["decoding"]] = cell
    rows = [
        {"arm": arm, "model": MODELS[number > 0][0], "temperature": temperature, "of": cells}
        for (arm, number, temperature), cells in found.items()
    ]
    return rows if any(len(cells) > 1 for cells in found.values()) else []
