"""The figures of a report, drawn with matplotlib as SVG: equal numbers give equal bytes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from training.records.store import write_text

INK = "#15181e"
"""The ink of figures; inside the page it gives way to the page's own text colour, light or dark."""
GREY = "#868c96"
COLOURS = {"strict": "#0072b2", "guided": "#009e73", "naive": "#d55e00"}
"""Okabe & Ito's palette for colour-blind readers; an arm keeps its colour in every figure and run."""
SPARE_COLOURS = ("#cc79a7", "#a57c00", "#56b4e9", "#7a6fd0")
MARKERS = "os^DvP*X"
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
STAGES = ("sampled", "right", "certified", "kept")


def write_figure(summary: Mapping[str, Any], path: Path) -> None:
    """Save both rates by round as one SVG on white, its text drawn as shapes, alike wherever it is shown."""
    with drawing(text="path"):
        figure, panels = panels_of(width=9.2, height=3.4, count=len(METRICS))
        figure.patch.set_facecolor("white")
        for axes, (metric, title) in zip(panels, METRICS, strict=True):
            _draw_rates(axes, summary["arms"], metric)
            axes.set_title(title, loc="left", weight="bold")
        write_text(path, svg_of(figure))


def styles(arms: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return each arm's colour and marker."""
    free = [*SPARE_COLOURS, *(colour for arm, colour in COLOURS.items() if arm not in arms)]
    unnamed = [arm for arm in arms if arm not in COLOURS]
    colours = COLOURS | {arm: free[i % len(free)] for i, arm in enumerate(unnamed)}
    return {arm: (colours[arm], MARKERS[i % len(MARKERS)]) for i, arm in enumerate(arms)}


def rate_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a figure for each rate by round, under its title."""
    for metric, title in METRICS:
        with drawing(text="none"):
            figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
            _draw_rates(axes, summary["arms"], metric)
            yield title, inlined(svg_of(figure), f"{title} by round for each arm, with 95% intervals")


def funnel_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm, from attempts to training data."""
    drawn = styles(summary["arms"])
    for name, arm in summary["arms"].items():
        funnels = [(r["round"], r["funnel"]) for r in arm["rounds"] if r["funnel"]]
        if funnels:
            with drawing(text="none"):
                figure, [axes] = panels_of(width=3.6, height=0.45 + 0.95 * len(funnels), count=1)
                _draw_funnel(axes, funnels, drawn[name][0])
                yield name, inlined(svg_of(figure), f"{name}: attempts sampled, right, certified and kept")


def verdict_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a figure for each arm: the verdicts on its attempts, round by round."""
    for name, arm in summary["arms"].items():
        rounds = [(r["round"], r["verdicts"]) for r in arm["rounds"] if r.get("verdicts")]
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


def retry_panels(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield one figure for each rate of dialogs over retries: the last model of each arm, and the base model dashed."""
    if not all(arm["rounds"][-1].get("by_retries") for arm in summary["arms"].values()):
        return
    for metric, title in RETRY_METRICS:
        with drawing(text="none"):
            figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
            _draw_retries(axes, summary["arms"], metric)
            yield title, inlined(svg_of(figure), f"{title} over retries for each arm, before and after training")


def _draw_retries(axes: Any, arms: Mapping[str, Any], metric: str) -> None:
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
        low = [max(0.0, 100 * (p[metric] - p[f"{metric}_interval"][0])) for p in curve]
        high = [max(0.0, 100 * (p[f"{metric}_interval"][1] - p[metric])) for p in curve]
        axes.errorbar(x, y, [low, high], color=colour, marker=marker, ms=4, lw=1.6, elinewidth=0.9, clip_on=False)
        ends.append((y[-1], name))
    for y, (value, name) in zip(_apart([y for y, _ in sorted(ends)]), sorted(ends), strict=True):
        axes.plot([last + 0.13, last + 0.25], [value, y], color=drawn[name][0], lw=1)
        axes.text(last + 0.3, y, f"{name} {value:.0f}%", va="center")
    axes.text(0.05, 100 * first[0][metric] - 4, "start", color=GREY, va="top")
    axes.set_xlim(-0.25, last + 0.3 + 0.3 * max(1, last))
    axes.set_xticks(range(last + 1))
    axes.set_xlabel("retries")
    percent_scale(axes)


def percent_scale(axes: Any) -> None:
    """Let the vertical axis run from 0 to 100%."""
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 20), [f"{y}%" for y in range(0, 101, 20)])
    axes.grid(axis="y", color=GREY, alpha=0.3, lw=0.6)


def _draw_rates(axes: Any, arms: Mapping[str, Any], metric: str) -> None:
    """Draw one line for each arm with 95% bars, every panel on the same scale, labelled at its end."""
    ends: list[tuple[float, str]] = []
    last = max(arm["rounds"][-1]["round"] for arm in arms.values())
    for i, (name, (colour, marker)) in enumerate(styles(arms).items()):
        rounds = arms[name]["rounds"]
        # Side by side rather than on top of each other: arms often share their start.
        x = [r["round"] + 0.05 * (i - (len(arms) - 1) / 2) for r in rounds]
        y = [100 * r[metric] for r in rounds]
        low = [100 * (r[metric] - r[f"{metric}_interval"][0]) for r in rounds]
        high = [100 * (r[f"{metric}_interval"][1] - r[metric]) for r in rounds]
        errors = [[max(0.0, e) for e in low], [max(0.0, e) for e in high]]
        axes.errorbar(x, y, errors, color=colour, marker=marker, ms=5, lw=1.8, elinewidth=1.2, clip_on=False)
        ends.append((y[-1], name))
    for y, (value, name) in zip(_apart([y for y, _ in sorted(ends)]), sorted(ends), strict=True):
        axes.plot([last + 0.13, last + 0.2], [value, y], color=styles(arms)[name][0], lw=1)
        axes.text(last + 0.23, y, f"{name} {value:.0f}%", va="center")
    axes.set_xlim(-0.25, last + 0.2 + 0.27 * last)
    axes.set_xticks(range(last + 1), ["start", *(f"round {r}" for r in range(1, last + 1))])
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


def panels_of(*, width: float, height: float, count: int) -> tuple[Any, list[Any]]:
    """Return a figure of inches and its axes, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


@contextmanager
def drawing(*, text: str) -> Iterator[None]:
    """Draw by matplotlib's defaults and ours, whatever the user's own settings; `text` is svg.fonttype."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({
            "svg.fonttype": text,
            "svg.hashsalt": "certistar",
            "text.parse_math": False,  # an arm may be called anything
            "font.size": 9,
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            **dict.fromkeys(["text.color", "xtick.color", "ytick.color", "axes.edgecolor"], INK),
        })  # fmt: skip
        yield


def svg_of(figure: Any) -> str:
    """Return a figure as SVG without a date."""
    from io import StringIO

    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def inlined(svg: str, label: str) -> str:
    """Return a figure as an element of the page: in its text colour, and with no id that two could share."""
    from markupsafe import escape

    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z][\w.]*_\d+"', "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
