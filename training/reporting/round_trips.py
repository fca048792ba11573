"""Round trips in a report: AutoEval's scores by category, before training and after, undecided and malformed apart."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from training.autoeval.scores import Counts
from training.figures import GREY, drawing, inlined, panels_of, percent_scale, svg_of
from training.reporting.panels import styles
from training.reporting.summary import Summary

AXES = {"category": "category (operators, or depth)"}
_Metric = Literal["score", "compliance"]
METRICS: tuple[tuple[_Metric, str], ...] = (("score", "AutoEval score"), ("compliance", "Syntactic compliance"))


def trip_panels(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield a figure for each data set, like AutoEval's figure 3: the start dashed, and each arm's last model."""
    for dataset, scores in next(iter(summary.arms.values())).rounds[0].trips.items():
        for metric, said in METRICS:
            with drawing(text="none"):
                figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
                _draw(axes, summary, dataset, metric)
                title = f"{dataset}: {said} by {AXES.get(scores.by, 'category')}"
                yield title, inlined(svg_of(figure), f"{title}, before and after training, with 95% intervals")


def _draw(axes: Any, summary: Summary, dataset: str, metric: _Metric) -> None:
    start = next(iter(summary.arms.values())).rounds[0]
    _line(axes, start.trips[dataset].table, metric, color=GREY, ls="--", label="start")
    for name, (colour, marker) in styles(summary.arms).items():
        table = summary.arms[name].rounds[-1].trips[dataset].table
        _line(axes, table, metric, color=colour, marker=marker, ms=4, label=name)
    axes.legend(frameon=False, fontsize=8)
    percent_scale(axes)


def _line(axes: Any, table: Mapping[Any, Counts], metric: _Metric, **style: Any) -> None:
    found = {category: counts.score if metric == "score" else counts.compliance for category, counts in table.items()}
    known = {category: (share.rate, *share.interval) for category, share in found.items() if share.rate is not None}
    rates, lows, highs = ([100 * row[place] for row in known.values()] for place in range(3))
    axes.plot(list(known), rates, lw=1.6, clip_on=False, **style)
    axes.fill_between(list(known), lows, highs, color=style["color"], alpha=0.12, lw=0)
