"""Panels of a report: rates, funnels, verdicts, and dialogs over their retries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.figures import GREY, MARKERS, SPARE_COLOURS, bars, drawing, inlined, panels_of, percent_scale, svg_of
from training.outcomes import Record
from training.records.store import write_text
from training.reporting.runs import STAGES
from training.reporting.sentences import Arms, points, widest_interval

COLOURS = {"strict": "#0072b2", "guided": "#009e73", "naive": "#d55e00"}
"""Okabe & Ito's palette for colour-blind readers; an arm keeps its colour in every figure and run."""
METRICS = (("accuracy", "Right answers"), ("certified", "Certified answers"))
RETRY_METRICS = (
    ("accuracy", "Right answers"),
    ("compiled", "Programs that compile"),
    ("tests_passed", "All tests pass"),
    ("certified", "Certified answers"),
)
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
    """Save both rates by round as one SVG on white, its text drawn as shapes, alike wherever it is shown."""
    with drawing(text="path"):
        figure, panels = panels_of(width=9.2, height=3.4, count=len(METRICS))
        figure.patch.set_facecolor("white")
        for axes, (metric, title) in zip(panels, METRICS, strict=True):
            _draw_rates(axes, report["arms"], metric)
            axes.set_title(title, loc="left", weight="bold")
        write_text(path, svg_of(figure))


def rate_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each rate by round, under its title."""
    for metric, title in METRICS:
        with drawing(text="none"):
            figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
            _draw_rates(axes, arms, metric)
            yield title, inlined(svg_of(figure), f"{title} by round for each arm, with 95% intervals")


def forest_panel(report: Record) -> str | None:
    """Return the comparisons as a forest plot, the metric that was declared first on top; None where there are none."""
    order = {report["primary"]: 0, "certified": 1, "gain": 2}
    shown = [c for c in report["comparisons"] if c["metric"] in order]
    shown.sort(key=lambda c: order[c["metric"]])
    if not shown:
        return None
    drawn = styles(report["arms"])
    with drawing(text="none"):
        figure, [axes] = panels_of(width=7.6, height=0.7 + 0.27 * len(shown), count=1)
        axes.axvline(0, color=GREY, lw=0.8)
        for y, c in enumerate(shown):
            colour, (low, high) = drawn[c["b"]][0], widest_interval(c)
            axes.plot([100 * low, 100 * high], [y, y], color=colour, lw=1.8)
            axes.plot([100 * c["difference"]], [y], marker="D", color=colour, ms=5)
            said = f"{points(c['difference'])} ({points((low, high))})"
            axes.text(1.02, y, said, va="center", transform=axes.get_yaxis_transform())
        axes.set_yticks(range(len(shown)), [_row(c) for c in shown])
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlabel("percentage points, 95%")
        return inlined(svg_of(figure), "Differences between arms after the last round, with 95% intervals")


def _row(c: Record) -> str:
    what = "gain in accuracy" if c["metric"] == "gain" else c["metric"]
    return f"{what}{' (primary)' * c['primary']}: {c['a']} over {c['b']}"


def funnel_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm, from attempts to training data."""
    drawn = styles(arms)
    for name, arm in arms.items():
        funnels = [(found["round"], found["funnel"]) for found in arm["rounds"] if found["funnel"]]
        if funnels:
            with drawing(text="none"):
                figure, [axes] = panels_of(width=3.6, height=0.45 + 0.95 * len(funnels), count=1)
                _draw_funnel(axes, funnels, drawn[name][0])
                yield name, inlined(svg_of(figure), f"{name}: attempts sampled, right, certified and kept")


def verdict_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm: the verdicts on its attempts, round by round."""
    for name, arm in arms.items():
        rounds = [(found["round"], found["verdicts"]) for found in arm["rounds"] if found["verdicts"]]
        if rounds:
            with drawing(text="none"):
                figure, [axes] = panels_of(width=4.6, height=0.75 + 0.42 * len(rounds), count=1)
                _draw_verdicts(axes, rounds)
                yield name, inlined(svg_of(figure), f"{name}: share of each verdict among the attempts, by round")


def _draw_verdicts(axes: Any, rounds: Sequence[tuple[int, Mapping[str, int]]]) -> None:
    """Draw one bar for each round, divided by verdict; shares from 6% on are written in."""
    for number, verdicts in rounds:
        left, total = 0.0, sum(verdicts.values())
        for verdict, colour in VERDICT_COLOURS.items():
            share = 100 * verdicts.get(verdict, 0) / total
            axes.barh(
                number, share, left=left, height=0.72, color=colour, label=verdict if number == rounds[0][0] else ""
            )
            if share >= 6:
                axes.text(left + share / 2, number, f"{share:.0f}%", ha="center", va="center", color="#000000")
            left += share
    shown = {verdict for _, verdicts in rounds for verdict in verdicts if verdicts[verdict]}
    handles, labels = axes.get_legend_handles_labels()
    chosen = [(h, x) for h, x in zip(handles, labels, strict=True) if x in shown]
    axes.legend(
        *zip(*chosen, strict=True), loc="lower center", bbox_to_anchor=(0.45, 1), ncols=4, frameon=False,
        handlelength=0.9, handletextpad=0.4, columnspacing=1.0, fontsize=8,
    )  # fmt: skip
    axes.set_yticks([number for number, _ in rounds], [f"round {number}" for number, _ in rounds])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def retry_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield one figure for each rate of dialogs over retries: the last model of each arm, and the base model dashed."""
    if not all("by_retries" in arm["rounds"][-1] for arm in arms.values()):
        return
    for metric, title in RETRY_METRICS:
        with drawing(text="none"):
            figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
            _draw_retries(axes, arms, metric)
            yield title, inlined(svg_of(figure), f"{title} over retries for each arm, before and after training")


def styles(arms: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return each arm's colour and marker."""
    names = list(arms)
    free = [*SPARE_COLOURS, *(colour for arm, colour in COLOURS.items() if arm not in names)]
    unnamed = [arm for arm in names if arm not in COLOURS]
    colours = COLOURS | {arm: free[i % len(free)] for i, arm in enumerate(unnamed)}
    return {arm: (colours[arm], MARKERS[i % len(MARKERS)]) for i, arm in enumerate(names)}


def _draw_retries(axes: Any, arms: Arms, metric: str) -> None:
    """Draw the start of the first arm dashed, which arms that ask alike share, and each arm's last model."""
    first = next(iter(arms.values()))["rounds"][0]["by_retries"]
    last = first[-1]["retries"]
    axes.plot([p["retries"] for p in first], [100 * p[metric] for p in first], color=GREY, ls="--", lw=1.4)
    ends: list[tuple[float, str]] = []
    drawn = styles(arms)
    for i, (name, (colour, marker)) in enumerate(drawn.items()):
        curve = arms[name]["rounds"][-1]["by_retries"]
        x = [p["retries"] + 0.05 * (i - (len(arms) - 1) / 2) for p in curve]
        y = [100 * p[metric] for p in curve]
        axes.errorbar(
            x, y, _bars(curve, metric), color=colour, marker=marker, ms=4, lw=1.6, elinewidth=0.9, clip_on=False
        )
        ends.append((y[-1], name))
    for y, (value, name) in zip(_apart([y for y, _ in sorted(ends)]), sorted(ends), strict=True):
        axes.plot([last + 0.13, last + 0.25], [value, y], color=drawn[name][0], lw=1)
        axes.text(last + 0.3, y, f"{name} {value:.0f}%", va="center")
    axes.text(0.05, 100 * first[0][metric] - 4, "start", va="top")
    axes.set_xlim(-0.25, last + 0.3 + 0.3 * max(1, last))
    axes.set_xticks(range(last + 1))
    axes.set_xlabel("retries")
    percent_scale(axes)


def _draw_rates(axes: Any, arms: Arms, metric: str) -> None:
    """Draw one line for each arm with 95% bars, every panel on the same scale, labelled at its end."""
    ends: list[tuple[float, str]] = []
    last = max(arm["rounds"][-1]["round"] for arm in arms.values())
    for i, (name, (colour, marker)) in enumerate(styles(arms).items()):
        rounds = arms[name]["rounds"]
        # Side by side rather than on top of each other: arms often share their start.
        x = [found["round"] + 0.05 * (i - (len(arms) - 1) / 2) for found in rounds]
        y = [100 * found[metric] for found in rounds]
        axes.errorbar(
            x, y, _bars(rounds, metric), color=colour, marker=marker, ms=5, lw=1.8, elinewidth=1.2, clip_on=False
        )
        ends.append((y[-1], name))
    for y, (value, name) in zip(_apart([y for y, _ in sorted(ends)]), sorted(ends), strict=True):
        axes.plot([last + 0.13, last + 0.2], [value, y], color=styles(arms)[name][0], lw=1)
        axes.text(last + 0.23, y, f"{name} {value:.0f}%", va="center")
    axes.set_xlim(-0.25, last + 0.2 + 0.27 * last)
    axes.set_xticks(range(last + 1), ["start", *(f"round {r}" for r in range(1, last + 1))])
    percent_scale(axes)


def _bars(cells: Sequence[Record], metric: str) -> list[list[float]]:
    return bars([cell[metric] for cell in cells], [cell[f"{metric}_interval"] for cell in cells])


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


def _draw_funnel(axes: Any, funnels: Sequence[tuple[int, Mapping[str, int]]], colour: str) -> None:
    """Draw a group of bars for each round, from all that was sampled to what was trained on."""
    top = max(max(funnel["sampled"] for _, funnel in funnels), 1)
    ticks: dict[float, str] = {}
    for group, (number, funnel) in enumerate(funnels):
        for place, stage in enumerate(STAGES):
            y = group * (len(STAGES) + 1.1) + place
            count = funnel[stage]
            axes.barh(y, count, height=0.82, color=colour, alpha=(0.28, 0.5, 0.75, 1.0)[place])
            share = f" ({100 * count / funnel['sampled']:.0f}%)" if place and funnel["sampled"] else ""
            axes.text(count + 0.02 * top, y, f"{count}{share}", va="center")
            ticks[y] = f"round {number}: {stage}" if place == 0 else stage
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * top)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def trip_panels(arms: Arms) -> Iterator[tuple[str, str]]:
    """Yield AutoEval's figure 3 for each data set of round trips: the start dashed, and each arm's last model."""
    start = next(iter(arms.values()))["rounds"][0].get("round_trips", {})
    for dataset, scores in start.items():
        for metric, said in (("score", "AutoEval score"), ("compliance", "Syntactic compliance")):
            with drawing(text="none"):
                figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
                _draw_trips(axes, scores["rows"], metric, color=GREY, ls="--", label="start")
                for name, (colour, marker) in styles(arms).items():
                    rows = arms[name]["rounds"][-1]["round_trips"][dataset]["rows"]
                    _draw_trips(axes, rows, metric, color=colour, marker=marker, ms=4, label=name)
                axes.legend(frameon=False, fontsize=8)
                percent_scale(axes)
                by = scores["calibrated"]["by"]
                title = f"{dataset}: {said} by {'category (operators, or depth)' if by == 'category' else 'category'}"
                yield title, inlined(svg_of(figure), f"{title}, before and after training, with 95% intervals")


def _draw_trips(axes: Any, rows: Sequence[Record], metric: str, **style: Any) -> None:
    known = [row for row in rows if row[metric] is not None]
    x, lows, highs = (
        [row["category"] for row in known],
        *zip(*(row[f"{metric}_interval"] for row in known), strict=True),
    )
    axes.plot(x, [100 * row[metric] for row in known], lw=1.6, clip_on=False, **style)
    axes.fill_between(
        x, [100 * low for low in lows], [100 * high for high in highs], color=style["color"], alpha=0.12, lw=0
    )
