"""The figure of a leaderboard: a row of panels for each data set, accuracies with their 95% intervals.

Where problems have hops, the panels are conditions and the axis counts hops (LogicGuide's figure 3); elsewhere the axis
has the conditions, and a second panel shows how often the answer is true, whatever the gold one (its figure 4, whose
content effects are in part such a bias). A model keeps its colour, an arm its line and marker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.estimates import Proportion
from training.figures import INKS, MARKERS, bars, drawing, grid_of, percent_scale, svg_of
from training.outcomes import Table
from training.records.store import write_text
from training.reporting.leaderboard import Entry, Group, groups_of, rate, says

LINES = ("-", "--", ":", "-.")
Measure = Callable[[Table], Proportion]


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: its title, the groups along the axis by their labels, and what is measured of each."""

    title: str
    groups: Mapping[str, Group]
    measure: Measure


def write_leaderboard(entries: Sequence[Entry], path: Path) -> None:
    """Save the figure as SVG on white, its text drawn as shapes; equal entries give equal bytes."""
    rows = panels(entries)
    width = max(map(len, rows))
    with drawing(text="path"):
        figure, grid = grid_of(len(rows), width, width=3.1, height=2.6)
        for row, line in zip(rows, grid, strict=True):
            for place, axes in enumerate(line):
                if place < len(row):
                    _draw(axes, row[place], entries)
                else:
                    axes.set_axis_off()
        handles, labels = _legend(entries)
        figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)), frameon=False)
        write_text(path, svg_of(figure))


def panels(entries: Sequence[Entry]) -> list[list[Panel]]:
    """Return the panels, a row for each data set."""
    whole = list(groups_of(entries))
    by_hops = list(groups_of(entries, by_hops=True))
    rows: list[list[Panel]] = []
    for dataset in dict.fromkeys(group.dataset for group in whole):
        conditions = [group for group in whole if group.dataset == dataset]
        hops = [group for group in by_hops if group.dataset == dataset]
        if hops:
            shown = conditions[1:] or conditions
            rows.append(
                [
                    Panel(group.label, {str(h.hops): h for h in hops if h.condition == group.condition}, _right)
                    for group in shown
                ]
            )
        else:
            labelled = {group.condition or "all": group for group in conditions}
            rows.append([Panel(f"{dataset}: right", labelled, _right), Panel(f"{dataset}: says true", labelled, _true)])
    return rows


def _right(rows: Table) -> Proportion:
    return rate(rows, "right")


def _true(rows: Table) -> Proportion:
    return says(rows, "true")


def _draw(axes: Any, panel: Panel, entries: Sequence[Entry]) -> None:
    """Draw each entry's points, a little apart so that intervals can be told from each other."""
    styles = _styles(entries)
    has_hops = all(group.hops for group in panel.groups.values())
    shown = [entry for entry in entries if any(len(group.of(entry.table)) for group in panel.groups.values())]
    step = min(0.1, 0.7 / max(1, len(shown)))
    for number, entry in enumerate(shown):
        shift = step * (number - (len(shown) - 1) / 2)
        measured = [panel.measure(group.of(entry.table)) for group in panel.groups.values()]
        rates = [(x + shift, found) for x, found in enumerate(measured) if found.n]
        if rates:
            colour, line, marker = styles[entry.model, entry.arm]
            y = [100 * found.rate for _, found in rates]
            reach = bars([found.rate for _, found in rates], [found.interval for _, found in rates])
            axes.errorbar(
                [x for x, _ in rates], y, yerr=reach, color=colour, marker=marker, ms=3.5, lw=1.2,
                ls=line if has_hops else "none", elinewidth=0.8, capsize=1.5, clip_on=False,
            )  # fmt: skip
    percent_scale(axes)
    axes.set_title(panel.title, loc="left", fontsize=9)
    axes.set_xticks(range(len(panel.groups)), list(panel.groups), fontsize=9 if has_hops else 7)
    axes.set_xlim(-0.6, len(panel.groups) - 0.4)
    if has_hops:
        axes.set_xlabel("hops")


def _styles(entries: Sequence[Entry]) -> dict[tuple[str, str], tuple[str, str, str]]:
    models = list(dict.fromkeys(entry.model for entry in entries))
    arms = list(dict.fromkeys(entry.arm for entry in entries))
    return {
        (model, arm): (INKS[i % len(INKS)], LINES[j % len(LINES)], MARKERS[j % len(MARKERS)])
        for i, model in enumerate(models)
        for j, arm in enumerate(arms)
    }


def _legend(entries: Sequence[Entry]) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    styles = _styles(entries)
    named = dict.fromkeys((entry.model, entry.arm) for entry in entries)
    handles = [
        Line2D([], [], color=colour, ls=line, marker=marker, ms=3.5, lw=1.2)
        for colour, line, marker in (styles[name] for name in named)
    ]
    return handles, [f"{model}, {arm}" for model, arm in named]
