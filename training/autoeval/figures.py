"""AutoEval's figures as SVG: rates over complexity, deviations, differences, correlations, predictive power."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from training.autoeval.benchmarks import MIN_MODELS, correlation
from training.autoeval.scores import Category
from training.figures import GREY, INK, INKS, MARKERS, Drawing, downwards, drawing, percent_scale, with_band
from training.outcomes import Record

Pairs = Mapping[str, Sequence[float]]
"""For each model AutoEval's score and a benchmark's."""
_Row = TypeVar("_Row")
_Own = TypeVar("_Own")
METRICS = {"compliance": "Syntactic compliance", "score": "AutoEval score", "f1": "F1 as verifier"}
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

    def points(self, metric: str) -> dict[Category, Record]:
        """Return the rows in which a rate is known, by category."""
        rows = self.f1 if metric == "f1" else self.scores
        return {row["category"]: row for row in rows if row[metric] is not None}


def scores_figure(tables: Mapping[str, Mapping[str, Curves]], by: Mapping[str, str]) -> str:
    """Return figure 3: a column for each data set, a row for each rate that any model has, a line for each model.

    `tables[DATA SET][MODEL]` are its curves; `by[DATA SET]` is what their categories count.
    """
    curves = [own for table in tables.values() for own in table.values()]

    def draw(axes: Any, metric: str, own: Curves, style: Record) -> None:
        points = own.points(metric)
        ends = [row[f"{metric}_interval"] for row in points.values()] if metric != "f1" else []
        with_band(axes, list(points), [row[metric] for row in points.values()], ends, **style)

    return _panels(
        [(metric, title) for metric, title in METRICS.items() if any(own.points(metric) for own in curves)],
        tables,
        by,
        draw,
    )


def deviation_figure(tables: Mapping[str, Mapping[str, Sequence[Record]]], by: Mapping[str, str]) -> str:
    """Return figure 8: both rates over the categories, mean and standard deviation over runs."""

    def draw(axes: Any, rate: str, rows: Sequence[Record], style: Record) -> None:
        known = [row for row in rows if row[rate] is not None and row[f"{rate}_sd"] is not None]
        x, means, deviations = ([row[key] for row in known] for key in ("category", rate, f"{rate}_sd"))
        ends = [(max(0.0, m - sd), min(1.0, m + sd)) for m, sd in zip(means, deviations, strict=True)]
        with_band(axes, x, means, ends, **style)

    return _panels([(rate, f"{METRICS[rate]}, mean and sd") for rate in ("compliance", "score")], tables, by, draw)


def differences_figure(
    tables: Mapping[str, Mapping[str, tuple[Curves, Curves]]], by: Mapping[str, str], title: str
) -> str:
    """Return figure 16: what one way of asking has more than another, in points, category by category."""

    def draw(axes: Any, metric: str, pair: tuple[Curves, Curves], style: Record) -> None:
        one, other = (curves.points(metric) for curves in pair)
        shared = [category for category in one if category in other]
        axes.plot(shared, [100 * (one[c][metric] - other[c][metric]) for c in shared], **style)

    def scale(axes: Any) -> None:
        axes.axhline(0, color=GREY, lw=0.8)
        axes.set_ylim(-100, 100)

    rows = [(metric, f"{METRICS[metric]}, {title}") for metric in ("compliance", "score")]
    return _panels(rows, tables, by, draw, scale)


def _panels(
    rows: Sequence[tuple[_Row, str]],
    tables: Mapping[str, Mapping[str, _Own]],
    by: Mapping[str, str],
    draw: Callable[[Any, _Row, _Own, Record], None],
    scale: Callable[[Any], None] = percent_scale,
) -> str:
    """Return a figure with a row for each (what is drawn, title), a column for each data set, and every model's line.

    `draw(axes, row, own, style)` draws what a model has; `scale(axes)` is called when all are drawn.
    """
    inks = _inks(tables)
    with _grid(len(rows), len(tables)) as made:
        for (row, title), line in zip(rows, made.grid, strict=True):
            for (dataset, table), axes in zip(tables.items(), line, strict=True):
                for model, own in table.items():
                    draw(axes, row, own, {**inks[model], "lw": 1.3})
                scale(axes)
                axes.set_title(f"{dataset}: {title}", loc="left", fontsize=9)
                axes.set_xlabel(AXES.get(by[dataset], by[dataset]))
        made.legend(inks)
    return made.svg


def operators_figure(tables: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> str:
    """Return figure 17: AutoEval's score beside a benchmark's, a point for each number of operators, fewest first.

    `tables[BENCHMARK][MODEL]` are the points; arrows go from one number to the next.
    """
    inks = _inks(tables)
    with _grid(1, len(tables)) as made:
        for (benchmark, table), axes in zip(tables.items(), made.grid[0], strict=True):
            for model, points in table.items():
                axes.plot(*zip(*points, strict=True), lw=0, **inks[model])
                arrow = {"arrowstyle": "->", "color": inks[model]["color"], "lw": 0.8, "alpha": 0.6}
                for start, end in pairwise(points):
                    axes.annotate("", end, start, arrowprops=arrow)
            every = [point for points in table.values() for point in points]
            axes.set_title(f"{benchmark}: {_correlated(every)}", loc="left", fontsize=9)
            _unit_square(axes, "AutoEval score")
        made.legend(inks)
    return made.svg


def _grid(rows: int, columns: int) -> AbstractContextManager[Drawing]:
    return drawing(rows=rows, columns=columns, width=3.2 * columns, height=0.5 + 2.5 * rows)


def _inks(tables: Mapping[str, Mapping[str, object]]) -> dict[str, Record]:
    """Return the label, colour and marker of each model."""
    models = sorted({model for table in tables.values() for model in table})
    places = [(model, i % len(INKS), i % len(MARKERS)) for i, model in enumerate(models)]
    return {model: {"label": model, "color": INKS[i], "marker": MARKERS[j], "ms": 3} for model, i, j in places}


def _unit_square(axes: Any, x: str) -> None:
    axes.set_xlabel(x, color=GREY)
    axes.set_ylabel("score on the benchmark", color=GREY)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)


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
    with _grid(1, len(tables)) as made:
        for (dataset, table), axes in zip(tables.items(), made.grid[0], strict=True):
            starts = {(model, side): 0 for model in table for side in (1, -1)}
            for cell, label, colour, side in _ANSWERS:
                for place, (model, score) in enumerate(table.items()):
                    num = side * score[cell]
                    axes.barh(place, num, left=starts[model, side], color=colour, label=label if not place else None)
                    starts[model, side] += num
            axes.axvline(0, color=INK, lw=0.8)
            downwards(axes, dict(enumerate(table)))
            axes.set_title(f"{dataset}: answers as verifier", loc="left", fontsize=9)
            axes.set_xlabel("different pairs, and equivalent ones", color=GREY)
        made.legend(columns=3)
    return made.svg


def counts_figure(tables: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Return figures 9 and 10: how many formulas there are of each value; a row for each data set.

    `tables[DATA SET][METRIC]` are the counts.
    """
    with _grid(len(tables), max(map(len, tables.values()))) as made:
        for (dataset, metrics), line in zip(tables.items(), made.grid, strict=True):
            for (metric, counts), axes in zip(metrics.items(), line, strict=False):
                width = 0.08 if metric == "density" else 0.8
                axes.bar(list(map(float, counts)), list(counts.values()), color=INKS[0], width=width)
                axes.set_title(f"{dataset}: {AXES.get(metric, metric)}", loc="left", fontsize=9)
            for axes in line[len(metrics) :]:
                axes.axis("off")
    return made.svg


def correlation_panels(benchmarks: Mapping[str, Mapping[str, Pairs]]) -> Iterator[tuple[str, str]]:
    """Yield figure 4 for a page, benchmark by benchmark; `benchmarks[NAME][SOURCE]` are pairs of scores by model."""
    order = list(dict.fromkeys(source for sources in benchmarks.values() for source in sources))
    for name, sources in benchmarks.items():
        said = _correlated(list({model: row for own in sources.values() for model, row in own.items()}.values()))
        with drawing(width=3.4, height=3.0, label=f"{name}: {said}; a point for each model") as made:
            axes = made.axes
            for source, scores in sources.items():
                place, (x, y) = order.index(source) % len(INKS), zip(*scores.values(), strict=True)
                axes.scatter(x, y, s=20, color=INKS[place], marker=MARKERS[place], label=source, lw=0, clip_on=False)
            if len(sources) > 1:
                axes.legend(loc="best", frameon=False, fontsize=8, handletextpad=0.2)
            axes.text(0.03, 0.97, said, transform=axes.transAxes, va="top")
            _unit_square(axes, "calibrated AutoEval score")
        yield name, made.svg


def _correlated(points: Sequence[Sequence[float]]) -> str:
    if len(points) < MIN_MODELS or any(len({point[end] for point in points}) == 1 for end in (0, 1)):
        return f"{len(points)} points, no correlation"
    found = correlation(*({str(i): point[end] for i, point in enumerate(points)} for end in (0, 1)))
    p = found["p"]
    return f"ρ = {found['rho']:.2f}, {'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}"


def power_panel(powers: Mapping[str, Record]) -> str:
    """Return figure 5 for a page."""
    label = "predictive power of AutoEval for each benchmark, with 95% intervals"
    with drawing(width=5.6, height=0.8 + 0.32 * len(powers), label=label) as made:
        axes = made.axes
        for place, found in enumerate(powers.values()):
            power, (low, high) = found["power"], found["interval"]
            errors = [[max(0.0, power - low)], [max(0.0, high - power)]]
            axes.barh(place, power, xerr=errors, height=0.7, color=INKS[0], alpha=0.75, ecolor=INK)
            axes.text(0.02, place, f"{power:.2f}", va="center", fontsize=8, color="white")
        axes.axvline(0.5, color=GREY, lw=0.8, ls="--")
        downwards(axes, dict(enumerate(powers)))
        axes.set_xlim(0, 1)
        axes.set_xlabel("predictive power of AutoEval", color=GREY)
    return made.svg
