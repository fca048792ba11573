"""Figures like AutoEval's 3 to 6: rates over complexity, correlation with benchmarks, predictive power. As SVG."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, Literal

from training.autoeval.benchmarks import PredictivePower, correlation
from training.autoeval.errors import VerifierScore
from training.autoeval.scores import Category, Scores
from training.estimates import Estimate
from training.figures import GREY, INK, MARKERS, SPARE_COLOURS, drawing, inlined, panels_of, percent_scale, svg_of
from training.records.store import write_text

Pairs = Mapping[str, Sequence[float]]
"""For each model AutoEval's score and a benchmark's."""
Metric = Literal["compliance", "score", "f1"]
METRICS: tuple[tuple[Metric, str], ...] = (
    ("compliance", "Syntactic compliance"),
    ("score", "AutoEval score"),
    ("f1", "F1 as verifier"),
)
INKS = ("#0072b2", "#d55e00", "#009e73", *SPARE_COLOURS)
AXES = {"operators": "operators", "depth": "depth of the parse tree"}


@dataclass(frozen=True, slots=True)
class Curves:
    """Rates of one model on one data set over its categories."""

    scores: Scores
    f1: Mapping[Category, VerifierScore] = field(default_factory=dict[Category, VerifierScore])
    """As verifier, where it was asked."""

    def points(self, metric: Metric) -> dict[Category, Estimate]:
        """Return what is known of a rate, by category; an F1 score has no interval."""
        if metric == "f1":
            found = {c: Estimate(score.f1, (nan, nan)) for c, score in self.f1.items()}
        else:
            found = {c: own.score if metric == "score" else own.compliance for c, own in self.scores.table.items()}
        return {category: point for category, point in found.items() if point.rate is not None}


def write_scores(
    tables: Mapping[str, Mapping[str, Curves]], path: Path, *, by: Mapping[str, str] | None = None
) -> None:
    """Save figure 3: a column for each data set, a row for each rate that any model has, a line for each model.

    `tables[DATA SET][MODEL]` are its curves; `by[DATA SET]` is what their categories count.
    """
    curves = [own for table in tables.values() for own in table.values()]
    metrics: list[tuple[Metric, str]] = [
        (key, title) for key, title in METRICS if any(own.points(key) for own in curves)
    ]
    inks = _inks({model for table in tables.values() for model in table})
    with drawing(text="path"):
        figure, grid = _grid(len(metrics), len(tables))
        for (metric, title), line in zip(metrics, grid, strict=True):
            for (dataset, table), axes in zip(tables.items(), line, strict=True):
                _draw_curves(axes, table, metric, inks)
                axes.set_title(f"{dataset}: {title}", loc="left", fontsize=9)
                axes.set_xlabel(AXES.get((by or {}).get(dataset, "operators"), (by or {}).get(dataset, "")))
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, max(1, len(labels))), frameon=False)
        write_text(path, svg_of(figure))


def correlation_panels(benchmarks: Mapping[str, Mapping[str, Pairs]]) -> Iterator[tuple[str, str]]:
    """Yield figure 4 for a page, benchmark by benchmark; `benchmarks[NAME][SOURCE]` are pairs of scores by model."""
    inks = list(dict.fromkeys(source for sources in benchmarks.values() for source in sources))
    for name, sources in benchmarks.items():
        with drawing(text="none"):
            figure, [axes] = panels_of(width=3.4, height=3.0, count=1)
            _draw_pairs(axes, sources, inks)
            label = f"{name}: {_correlated([*sources.values()])}; a point for each model"
            yield name, inlined(svg_of(figure), label)


def power_panel(powers: Mapping[str, PredictivePower]) -> str:
    """Return figure 5 for a page."""
    with drawing(text="none"):
        figure, [axes] = panels_of(width=5.6, height=0.8 + 0.32 * len(powers), count=1)
        _draw_powers(axes, powers)
        return inlined(svg_of(figure), "predictive power of AutoEval for each benchmark, with 95% intervals")


def _correlated(sources: Sequence[Pairs]) -> str:
    pairs = {model: row for scores in sources for model, row in scores.items()}
    found = correlation({m: row[0] for m, row in pairs.items()}, {m: row[1] for m, row in pairs.items()})
    return f"ρ = {found.rho:.2f}, {'p < 0.001' if found.p < 0.001 else f'p = {found.p:.3f}'}"


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


def _draw_powers(axes: Any, powers: Mapping[str, PredictivePower]) -> None:
    for place, found in enumerate(powers.values()):
        low, high = found.interval
        errors = [[max(0.0, found.power - low)], [max(0.0, high - found.power)]]
        axes.barh(place, found.power, xerr=errors, height=0.7, color=INKS[0], alpha=0.75, ecolor=INK)
        axes.text(0.02, place, f"{found.power:.2f}", va="center", fontsize=8, color="white")
    axes.axvline(0.5, color=GREY, lw=0.8, ls="--")
    axes.set_yticks(range(len(powers)), list(powers))
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("predictive power of AutoEval", color=GREY)


def _grid(rows: int, columns: int) -> tuple[Any, list[list[Any]]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2 * columns, 0.5 + 2.5 * rows), layout="constrained")
    figure.patch.set_facecolor("white")
    return figure, [list(line) for line in figure.subplots(rows, columns, squeeze=False)]


def _draw_curves(axes: Any, table: Mapping[str, Curves], metric: Metric, inks: Mapping[str, tuple[str, str]]) -> None:
    for model, own in table.items():
        points = own.points(metric)
        colour, marker = inks[model]
        y = [100 * (point.rate or 0.0) for point in points.values()]
        axes.plot(list(points), y, color=colour, marker=marker, ms=3, lw=1.3, label=model, clip_on=False)
        if points and metric != "f1":
            lows, highs = zip(*(point.interval for point in points.values()), strict=True)
            axes.fill_between(
                list(points), [100 * v for v in lows], [100 * v for v in highs], color=colour, alpha=0.12, lw=0
            )
    percent_scale(axes)


def _inks(models: set[str]) -> dict[str, tuple[str, str]]:
    return {model: (INKS[i % len(INKS)], MARKERS[i % len(MARKERS)]) for i, model in enumerate(sorted(models))}
