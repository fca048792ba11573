"""AutoEval's figures as SVG: rates over complexity, deviations, differences, correlations, predictive power."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from typing import Any, Literal, TypeVar

from training.autoeval.benchmarks import MIN_MODELS, correlation
from training.autoeval.scores import Category
from training.estimates import Estimate
from training.figures import (
    GREY,
    INK,
    INKS,
    MARKERS,
    drawing,
    grid_of,
    inlined,
    panels_of,
    percent_scale,
    svg_of,
)
from training.outcomes import Record

Pairs = Mapping[str, Sequence[float]]
"""For each model AutoEval's score and a benchmark's."""
Metric = Literal["compliance", "score", "f1"]
_Row = TypeVar("_Row")
_Own = TypeVar("_Own")
METRICS: tuple[tuple[Metric, str], ...] = (
    ("compliance", "Syntactic compliance"),
    ("score", "AutoEval score"),
    ("f1", "F1 as verifier"),
)
AXES = {
    "depth": "depth of the parse tree",
    "binding": "quantifiers that bind",
    "states": "states of the minimal automaton",
    "edges": "edges of the minimal automaton",
    "density": "density of the minimal automaton",
}


@dataclass(frozen=True, slots=True)
class Curves:
    """Rates of one model on one data set over its categories."""

    scores: Sequence[Record]
    """Rows of scores, one a category."""
    f1: Sequence[Record] = ()
    """As verifier, where it was asked."""

    def points(self, metric: Metric) -> dict[Category, Estimate]:
        """Return what is known of a rate, by category; an F1 score has no interval."""
        rows = self.f1 if metric == "f1" else self.scores
        return {
            row["category"]: Estimate(row[metric], tuple(row.get(f"{metric}_interval", (nan, nan))))
            for row in rows
            if row[metric] is not None
        }


def scores_figure(tables: Mapping[str, Mapping[str, Curves]], by: Mapping[str, str]) -> str:
    """Return figure 3: a column for each data set, a row for each rate that any model has, a line for each model.

    `tables[DATA SET][MODEL]` are its curves; `by[DATA SET]` is what their categories count.
    """
    curves = [own for table in tables.values() for own in table.values()]
    metrics: list[tuple[Metric, str]] = [
        (key, title) for key, title in METRICS if any(own.points(key) for own in curves)
    ]

    def draw(axes: Any, metric: Metric, own: Curves, model: str, ink: tuple[str, str]) -> None:
        _draw_line(axes, own.points(metric), model, ink)

    return _panels(metrics, tables, by, draw)


def deviation_figure(tables: Mapping[str, Mapping[str, Sequence[Record]]], by: Mapping[str, str]) -> str:
    """Return figure 8: both rates over the categories, mean and standard deviation over runs."""

    def draw(axes: Any, rate: str, rows: Sequence[Record], model: str, ink: tuple[str, str]) -> None:
        points = {
            row["category"]: Estimate(m, (max(0.0, m - s), min(1.0, m + s)))
            for row in rows
            if (m := row[rate]) is not None and (s := row[f"{rate}_sd"]) is not None
        }
        _draw_line(axes, points, model, ink)

    rates = (("compliance", "Syntactic compliance, mean and sd"), ("score", "AutoEval score, mean and sd"))
    return _panels(rates, tables, by, draw)


def differences_figure(
    tables: Mapping[str, Mapping[str, tuple[Curves, Curves]]], by: Mapping[str, str], title: str
) -> str:
    """Return figure 16: what one way of asking has more than another, in points, category by category."""

    def draw(axes: Any, metric: Metric, pair: tuple[Curves, Curves], model: str, ink: tuple[str, str]) -> None:
        one, other = (curves.points(metric) for curves in pair)
        shared = [category for category in one if category in other]
        y = [100 * ((one[c].rate or 0.0) - (other[c].rate or 0.0)) for c in shared]
        axes.plot(shared, y, color=ink[0], marker=ink[1], ms=3, lw=1.3, label=model)

    def scale(axes: Any) -> None:
        axes.axhline(0, color=GREY, lw=0.8)
        axes.set_ylim(-100, 100)

    return _panels([(metric, f"{name}, {title}") for metric, name in METRICS[:2]], tables, by, draw, scale)


def _panels(
    rows: Sequence[tuple[_Row, str]],
    tables: Mapping[str, Mapping[str, _Own]],
    by: Mapping[str, str],
    draw: Callable[[Any, _Row, _Own, str, tuple[str, str]], None],
    scale: Callable[[Any], None] = percent_scale,
) -> str:
    """Return a figure with a row for each (what is drawn, title), a column for each data set, and every model's line.

    `draw(axes, row, own, model, ink)` draws what a model has; `scale(axes)` is called when all are drawn.
    """
    inks = _inks({model for table in tables.values() for model in table})
    with drawing(text="path"):
        figure, grid = grid_of(len(rows), len(tables))
        for (row, title), line in zip(rows, grid, strict=True):
            for (dataset, table), axes in zip(tables.items(), line, strict=True):
                for model, own in table.items():
                    draw(axes, row, own, model, inks[model])
                scale(axes)
                axes.set_title(f"{dataset}: {title}", loc="left", fontsize=9)
                axes.set_xlabel(AXES.get(by[dataset], by[dataset]))
        return _finished(figure, inks)


def operators_figure(tables: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> str:
    """Return figure 17: AutoEval's score beside a benchmark's, a point for each number of operators, fewest first.

    `tables[BENCHMARK][MODEL]` are the points; arrows go from one number to the next.
    """
    inks = _inks({model for table in tables.values() for model in table})
    with drawing(text="path"):
        figure, grid = grid_of(1, len(tables))
        for (benchmark, table), axes in zip(tables.items(), grid[0], strict=True):
            for model, points in table.items():
                colour, marker = inks[model]
                axes.plot(*zip(*points, strict=True), color=colour, marker=marker, ms=3, lw=0, label=model)
                for (x, y), (to_x, to_y) in pairwise(points):
                    arrow = {"arrowstyle": "->", "color": colour, "lw": 0.8, "alpha": 0.6}
                    axes.annotate("", (to_x, to_y), (x, y), arrowprops=arrow)
            every = [point for points in table.values() for point in points]
            axes.set_title(f"{benchmark}: {_correlated_points(every)}", loc="left", fontsize=9)
            axes.set_xlabel("AutoEval score", color=GREY)
            axes.set_ylabel("score on the benchmark", color=GREY)
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
        return _finished(figure, inks)


_ANSWERS = (
    ("tp", "equivalent: said so", "#0072b2", 1),
    ("fn", "said to differ", "#56b4e9", 1),
    ("unreadable_equivalent", "unreadable", "#cccccc", 1),
    ("tn", "different: said so", "#009e73", -1),
    ("fp", "said to be equivalent", "#d55e00", -1),
    ("unreadable_different", "unreadable", "#cccccc", -1),
)
"""Cells of a verifier's answers with their colours: of equivalent pairs to the right, of different ones to the left."""


def verifiers_figure(tables: Mapping[str, Mapping[str, Record]]) -> str:
    """Return figures 21 and 22 as bars: how a model's answers about pairs compare with the critic's.

    `tables[DATA SET][MODEL]` are the counts.
    """
    with drawing(text="path"):
        figure, grid = grid_of(1, len(tables))
        for (dataset, table), axes in zip(tables.items(), grid[0], strict=True):
            starts = {(model, side): 0 for model in table for side in (1, -1)}
            for cell, label, colour, side in _ANSWERS:
                for place, (model, score) in enumerate(table.items()):
                    num = side * score[cell]
                    axes.barh(place, num, left=starts[model, side], color=colour, label=label if not place else None)
                    starts[model, side] += num
            axes.axvline(0, color=INK, lw=0.8)
            axes.set_yticks(range(len(table)), list(table))
            axes.invert_yaxis()
            axes.set_title(f"{dataset}: answers as verifier", loc="left", fontsize=9)
            axes.set_xlabel("different pairs, and equivalent ones", color=GREY)
        handles, labels = grid[0][0].get_legend_handles_labels()
        known = dict(zip(labels, handles, strict=True))
        figure.legend(list(known.values()), list(known), loc="outside lower center", ncols=3, frameon=False)
        return svg_of(figure)


def counts_figure(tables: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Return figures 9 and 10: how many formulas there are of each value; a row for each data set.

    `tables[DATA SET][METRIC]` are the counts.
    """
    columns = max(map(len, tables.values()))
    with drawing(text="path"):
        figure, grid = grid_of(len(tables), columns)
        for (dataset, metrics), line in zip(tables.items(), grid, strict=True):
            for (metric, counts), axes in zip(metrics.items(), line, strict=False):
                width = 0.08 if metric == "density" else 0.8
                axes.bar(list(map(float, counts)), list(counts.values()), color=INKS[0], width=width)
                axes.set_title(f"{dataset}: {AXES.get(metric, metric)}", loc="left", fontsize=9)
            for axes in line[len(metrics) :]:
                axes.axis("off")
        return svg_of(figure)


def correlation_panels(benchmarks: Mapping[str, Mapping[str, Pairs]]) -> Iterator[tuple[str, str]]:
    """Yield figure 4 for a page, benchmark by benchmark; `benchmarks[NAME][SOURCE]` are pairs of scores by model."""
    inks = list(dict.fromkeys(source for sources in benchmarks.values() for source in sources))
    for name, sources in benchmarks.items():
        with drawing(text="none"):
            figure, [axes] = panels_of(width=3.4, height=3.0, count=1)
            _draw_pairs(axes, sources, inks)
            label = f"{name}: {_correlated([*sources.values()])}; a point for each model"
            yield name, inlined(svg_of(figure), label)


def power_panel(powers: Mapping[str, Record]) -> str:
    """Return figure 5 for a page."""
    with drawing(text="none"):
        figure, [axes] = panels_of(width=5.6, height=0.8 + 0.32 * len(powers), count=1)
        _draw_powers(axes, powers)
        return inlined(svg_of(figure), "predictive power of AutoEval for each benchmark, with 95% intervals")


def _correlated(sources: Sequence[Pairs]) -> str:
    return _correlated_points(list({model: row for scores in sources for model, row in scores.items()}.values()))


def _correlated_points(points: Sequence[Sequence[float]]) -> str:
    if len(points) < MIN_MODELS or any(len({point[end] for point in points}) == 1 for end in (0, 1)):
        return f"{len(points)} points, no correlation"
    found = correlation({str(i): p[0] for i, p in enumerate(points)}, {str(i): p[1] for i, p in enumerate(points)})
    p = found["p"]
    return f"ρ = {found['rho']:.2f}, {'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}"


def _draw_pairs(axes: Any, sources: Mapping[str, Pairs], order: Sequence[str] = ("",)) -> None:
    for source, scores in sources.items():
        place = order.index(source) % len(INKS)
        x, y = [row[0] for row in scores.values()], [row[1] for row in scores.values()]
        axes.scatter(x, y, s=20, color=INKS[place], marker=MARKERS[place], label=source, lw=0, clip_on=False)
    if len(sources) > 1:
        axes.legend(loc="best", frameon=False, fontsize=8, handletextpad=0.2)
    axes.text(0.03, 0.97, _correlated([*sources.values()]), transform=axes.transAxes, va="top")
    axes.set_xlabel("calibrated AutoEval score", color=GREY)
    axes.set_ylabel("score on the benchmark", color=GREY)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)


def _draw_powers(axes: Any, powers: Mapping[str, Record]) -> None:
    for place, found in enumerate(powers.values()):
        power, (low, high) = found["power"], found["interval"]
        errors = [[max(0.0, power - low)], [max(0.0, high - power)]]
        axes.barh(place, power, xerr=errors, height=0.7, color=INKS[0], alpha=0.75, ecolor=INK)
        axes.text(0.02, place, f"{power:.2f}", va="center", fontsize=8, color="white")
    axes.axvline(0.5, color=GREY, lw=0.8, ls="--")
    axes.set_yticks(range(len(powers)), list(powers))
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("predictive power of AutoEval", color=GREY)


def _draw_line(axes: Any, points: Mapping[Category, Estimate], model: str, ink: tuple[str, str]) -> None:
    """Draw rates in percent with their intervals, where they have any."""
    colour, marker = ink
    y = [100 * (point.rate or 0.0) for point in points.values()]
    axes.plot(list(points), y, color=colour, marker=marker, ms=3, lw=1.3, label=model, clip_on=False)
    lows, highs = ([100 * point.interval[end] for point in points.values()] for end in (0, 1))
    if points and not isnan(lows[0]):
        axes.fill_between(list(points), lows, highs, color=colour, alpha=0.12, lw=0)


def _finished(figure: Any, inks: Mapping[str, tuple[str, str]]) -> str:
    """Return a figure with one legend for all its panels."""
    known: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        known |= {label: handle for label, handle in zip(labels, handles, strict=True) if label not in known}
    shown = {model: known[model] for model in inks if model in known}
    figure.legend(
        list(shown.values()), list(shown), loc="outside lower center", ncols=min(4, max(1, len(shown))), frameon=False
    )
    return svg_of(figure)


def _inks(models: set[str]) -> dict[str, tuple[str, str]]:
    return {model: (INKS[i % len(INKS)], MARKERS[i % len(MARKERS)]) for i, model in enumerate(sorted(models))}
