"""Round trips in a report: AutoEval's scores by category, before training and after, undecided and malformed apart."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from training.autoeval.scores import pooled
from training.figures import GREY, drawing, inlined, panels_of, percent_scale, styles, svg_of

Record = Mapping[str, Any]
MODELS = (("before training", 0), ("after", -1))
FATES = ("equivalent", "different", "undecided", "malformed", "leaked", "vacuous", "errors")


def trips_record(modes: Sequence[Record]) -> dict[str, Any]:
    """Return scores and false positives of evaluations pooled over seeds; nothing where they are not of round trips."""
    if not all(mode.get("round_trips") for mode in modes):
        return {}
    found: dict[str, Any] = {"round_trips": pooled([mode["round_trips"] for mode in modes])}
    if all(mode.get("false_positives") for mode in modes):
        from training.autoeval.false_positives import pooled_false_positives

        found["false_positives"] = pooled_false_positives([mode["false_positives"] for mode in modes])
    return found


def trip_rows(summary: Record) -> list[dict[str, Any]]:
    """Return a table's rows: each arm's first and last model on each data set."""
    return [
        {"arm": name, "model": label, "dataset": dataset, **found["calibrated"]}
        for name, arm in summary["arms"].items()
        for label, place in MODELS
        for dataset, found in arm["rounds"][place].get("round_trips", {}).items()
    ]


def category_rows(summary: Record) -> list[dict[str, Any]]:
    """Return a table's rows: the scores by category of each arm's first and last model on each data set."""
    return [
        {"arm": name, "model": label, "dataset": dataset, "rows": found["rows"]}
        for name, arm in summary["arms"].items()
        for label, place in MODELS
        for dataset, found in arm["rounds"][place].get("round_trips", {}).items()
    ]


def false_positive_rows(summary: Record) -> list[dict[str, Any]]:
    """Return a table's rows: how often a wrong description came back right, of each arm's first and last model."""
    return [
        {"arm": name, "model": label, **found}
        for name, arm in summary["arms"].items()
        for label, place in MODELS
        if (found := arm["rounds"][place].get("false_positives"))
    ]


def trip_panels(summary: Record) -> Iterator[tuple[str, str]]:
    """Yield a figure for each data set, like AutoEval's figure 3: the start dashed, and each arm's last model."""
    first = next(iter(summary["arms"].values()))["rounds"][0].get("round_trips", {})
    for dataset in first:
        for metric, said in (("score", "AutoEval score"), ("compliance", "Syntactic compliance")):
            with drawing(text="none"):
                figure, [axes] = panels_of(width=4.6, height=3.2, count=1)
                _draw(axes, summary["arms"], dataset, metric)
                title = f"{dataset}: {said} by {AXES.get(first[dataset]['calibrated']['by'], 'category')}"
                yield title, inlined(svg_of(figure), f"{title}, before and after training, with 95% intervals")


AXES = {"category": "category (operators, or depth)"}


def _draw(axes: Any, arms: Record, dataset: str, metric: str) -> None:
    start = next(iter(arms.values()))["rounds"][0]["round_trips"][dataset]["rows"]
    _line(axes, start, metric, color=GREY, ls="--", label="start")
    for name, (colour, marker) in styles(arms).items():
        rows = arms[name]["rounds"][-1]["round_trips"][dataset]["rows"]
        _line(axes, rows, metric, color=colour, marker=marker, ms=4, label=name)
    axes.legend(frameon=False, fontsize=8)
    percent_scale(axes)


def _line(axes: Any, rows: Sequence[Record], metric: str, **style: Any) -> None:
    known = [row for row in rows if row[metric] is not None]
    x = [row["category"] for row in known]
    axes.plot(x, [100 * row[metric] for row in known], lw=1.6, clip_on=False, **style)
    lows, highs = ([100 * row[f"{metric}_interval"][end] for row in known] for end in (0, 1))
    axes.fill_between(x, lows, highs, color=style["color"], alpha=0.12, lw=0)
