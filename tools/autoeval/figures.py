"""The paper's other figures, drawn of finished evaluations: 4, 5, 8 to 10, 16, 17, 21 and 22."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from tools.autoeval.predicts import MIN_MODELS, correlation
from training.autoeval.joined import AXES, METRICS, Measured, draw_rates, inks_of, panels, points_of, read_folder
from training.figures import GREY, INK, INKS, MARKERS, downwards, drawing
from training.outcomes import Record, table_of
from training.records.run_folder import scores_files
from training.records.store import write_text

RATES = ("compliance", "score")


def draw(folders: Sequence[Path], out: Path) -> list[str]:
    """Draw what there is in the folders of evaluations; return the names of the files in `out`."""
    found = [own for folder in folders for own in read_folder(folder)]
    raw = [json.loads(path.read_text(encoding="utf-8")) for folder in folders for path in scores_files(folder)]
    made = {
        "deviation.svg": deviations(found),
        "few-shot.svg": few_shot(found),
        "operators.svg": operators(found, raw),
        "verifiers.svg": verifiers(found),
    }
    drawn = {name: svg for name, svg in made.items() if svg is not None}
    for name, svg in drawn.items():
        write_text(out / name, svg)
    return list(drawn)


def deviations(found: Sequence[Measured]) -> str | None:
    """Return figure 8: both rates over the categories, mean and standard deviation over runs."""
    rows: list[Record] = []
    for own, dataset in ((each, name) for each in found for name in each.scores):
        for row, rate in product(own.repeated, RATES):
            if (mean := row[rate]) is not None and (sd := row[f"{rate}_sd"]) is not None:
                at = {"dataset": dataset, "line": own.model, "axis": own.by, "category": row["category"]}
                ends = [max(0.0, mean - sd), min(1.0, mean + sd)]
                rows.append({**at, "metric": rate, "rate": mean, "interval": ends})
    titles = {rate: f"{METRICS[rate]}, mean and sd" for rate in RATES}
    return panels(table_of(rows), titles, draw_rates) if rows else None


def few_shot(found: Sequence[Measured]) -> str | None:
    """Return figure 16: what few-shot has more than zero-shot, in points, category by category."""
    table = points_of(found)
    if table.empty:
        return None
    table = table[(table["by"] == "category") & table["metric"].isin(RATES)]
    keys = ["dataset", "model", "axis", "category", "metric"]
    zero, few = (table[table["prompt"] == prompt][[*keys, "rate"]] for prompt in ("zero-shot", "few-shot"))
    both = few.merge(zero, on=keys, suffixes=("", "_zero"))
    if both.empty:
        return None
    rows = both.assign(line=both["model"], rate=both["rate"] - both["rate_zero"])

    def line(axes: Any, own: Any, style: Record) -> None:
        axes.plot(list(own["category"]), [100 * each for each in own["rate"]], **style)

    def scale(axes: Any) -> None:
        axes.axhline(0, color=GREY, lw=0.8)
        axes.set_ylim(-100, 100)

    return panels(rows, {rate: f"{METRICS[rate]}, few-shot minus zero-shot" for rate in RATES}, line, scale)


def operators(found: Sequence[Measured], raw: Sequence[Record]) -> str | None:
    """Return figure 17: the first-order score beside FOLIO's premises, a point for each number of operators.

    Arrows go from one number to the next. `raw` are scores.json files, those of `premises` among them.
    """
    trips = {own.model: own.scores["autoeval-fol"]["rows"] for own in found if "autoeval-fol" in own.scores}
    tables: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for own in (each for each in raw if str(each["benchmark"]).startswith("folio-")):
        known = {row["category"]: row["score"] for row in trips.get(own["model"], ()) if row["score"] is not None}
        rows = sorted((row for row in own["rows"] if row["category"] in known), key=lambda row: row["category"])
        for key in ("score", "bleu", "rouge", "meteor"):
            points = [(known[row["category"]], row[key]) for row in rows if isinstance(row.get(key), float)]
            name = "FOLIO(A)" if key == "score" else f"FOLIO(I): {key.upper()}"
            if points:
                tables.setdefault(name, {})[own["model"]] = points
    if not tables:
        return None
    inks = inks_of(model for table in tables.values() for model in table)
    with drawing(columns=len(tables), width=3.2 * len(tables), height=3.0) as made:
        for (name, table), axes in zip(tables.items(), made.grid[0], strict=True):
            for model, points in table.items():
                axes.plot(*zip(*points, strict=True), lw=0, **inks[model])
                arrow = {"arrowstyle": "->", "color": inks[model]["color"], "lw": 0.8, "alpha": 0.6}
                for start, end in pairwise(points):
                    axes.annotate("", end, start, arrowprops=arrow)
            every = [point for points in table.values() for point in points]
            axes.set_title(f"{name}: {_correlated(every)}", loc="left", fontsize=9)
            _unit_square(axes, "AutoEval score")
        made.legend(inks)
    return made.svg


_ANSWERS = (
    ("tp", "equivalent: said so", "#0072b2", 1),
    ("fn", "said to differ", "#56b4e9", 1),
    ("unreadable_equivalent", "unreadable", "#cccccc", 1),
    ("tn", "different: said so", "#009e73", -1),
    ("fp", "said to be equivalent", "#d55e00", -1),
    ("unreadable_different", "unreadable", "#cccccc", -1),
)
"""Cells of a verifier's answers with their colours: of equivalent pairs to the right, of different ones to the left."""


def verifiers(found: Sequence[Measured]) -> str | None:
    """Return figures 21 and 22 as bars: how a model's answers about pairs compare with the critic's."""
    tables: dict[str, dict[str, Record]] = {}
    for own in found:
        for dataset, counts in own.judged().items():
            tables.setdefault(dataset, {})[own.model] = counts
    if not tables:
        return None
    with drawing(columns=len(tables), width=3.2 * len(tables), height=3.0) as made:
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
    columns = max(map(len, tables.values()))
    with drawing(rows=len(tables), columns=columns, width=3.2 * columns, height=0.5 + 2.5 * len(tables)) as made:
        for (dataset, metrics), line in zip(tables.items(), made.grid, strict=True):
            for (metric, counts), axes in zip(metrics.items(), line, strict=False):
                width = 0.08 if metric == "density" else 0.8
                axes.bar(list(map(float, counts)), list(counts.values()), color=INKS[0], width=width)
                axes.set_title(f"{dataset}: {AXES.get(metric, metric)}", loc="left", fontsize=9)
            for axes in line[len(metrics) :]:
                axes.axis("off")
    return made.svg


def correlation_figures(benchmarks: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> str:
    """Return figure 4, a panel a benchmark; `benchmarks[NAME][SOURCE]` are pairs of scores by model."""
    order = list(dict.fromkeys(source for sources in benchmarks.values() for source in sources))
    with drawing(columns=len(benchmarks), width=3.4 * len(benchmarks), height=3.0) as made:
        for (name, sources), axes in zip(benchmarks.items(), made.grid[0], strict=True):
            for source, scores in sources.items():
                place, (x, y) = order.index(source) % len(INKS), zip(*scores.values(), strict=True)
                axes.scatter(x, y, s=20, color=INKS[place], marker=MARKERS[place], label=source, lw=0, clip_on=False)
            every = list({model: row for own in sources.values() for model, row in own.items()}.values())
            axes.set_title(f"{name}: {_correlated(every)}", loc="left", fontsize=9)
            _unit_square(axes, "calibrated AutoEval score")
        made.legend(order)
    return made.svg


def power_figure(powers: Mapping[str, Record]) -> str:
    """Return figure 5: the predictive power for each benchmark with its 95% interval."""
    with drawing(width=5.6, height=0.8 + 0.32 * len(powers)) as made:
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


def _correlated(points: Sequence[Sequence[float]]) -> str:
    if len(points) < MIN_MODELS or any(len({point[end] for point in points}) == 1 for end in (0, 1)):
        return f"{len(points)} points, no correlation"
    found = correlation(*({str(i): point[end] for i, point in enumerate(points)} for end in (0, 1)))
    p = found["p"]
    return f"ρ = {found['rho']:.2f}, {'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}"


def _unit_square(axes: Any, x: str) -> None:
    axes.set_xlabel(x, color=GREY)
    axes.set_ylabel("score on the benchmark", color=GREY)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
