"""One selective curve of several that were measured on different problems: how often it is answered, and is right.

python -m tools.pooled_curve CURVE.json... --out DIR      writes pooled.json, pooled.md and pooled.svg
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from training.figures import drawing, with_bars
from training.outcomes import Proportion, Record, exact_interval, markdown, pooled, with_interval
from training.records.store import write_json, write_text


def point(n: int, answered: int, right: int) -> Record:
    """Return answers given to n problems, and how many of them are right, with 95% intervals.

    They are Wilson's, and the exact one of accuracy as well.
    """
    coverage, accuracy = Proportion(answered, n), Proportion(right, answered)
    return {
        "n": n,
        "answered": answered,
        "right": right,
        "coverage": coverage.rate if n else None,
        "coverage_interval": list(coverage.interval),
        "accuracy": accuracy.rate if answered else None,
        "accuracy_interval": list(accuracy.interval),
        "accuracy_exact": list(exact_interval(right, answered)),
    }


def curve_table(rows: Sequence[Record]) -> str:
    """Return the curve as a Markdown table."""
    labels = [label for label in rows[0] if label != "k"]
    head = ["k"]
    for label in labels:
        head += [f"{label.replace('_', ' ')}: answered", "right"]
    cells = ([with_interval(r[of][name], r[of][f"{name}_interval"]) for of in labels for name in _AXES] for r in rows)
    return markdown(head, ([str(row["k"]), *own] for row, own in zip(rows, cells, strict=True)))


def curve_figure(rows: Sequence[Record]) -> str:
    """Return the curve as SVG: coverage to the right, selective accuracy upwards, k below the points."""
    labels = [label for label in rows[0] if label != "k"]
    with drawing(width=6.4, height=4.0) as made:
        axes = made.axes
        for label, colour, marker in zip(labels, _COLOURS, "os^vD", strict=False):
            points = [(row["k"], row[label]) for row in rows if row[label]["answered"]]
            coverage, rates, intervals = ([found[key] for _, found in points] for key in (*_AXES, "accuracy_interval"))
            style = {"ms": 4, "lw": 1.4, "elinewidth": 0.7, "color": colour, "marker": marker, "clip_on": False}
            x = [100 * share for share in coverage]
            with_bars(axes, x, rates, intervals, label=label.replace("_", " "), **style)
            for (k, _), at, rate in zip(points, x, rates, strict=True):
                style = {"xytext": (2, -9), "textcoords": "offset points", "fontsize": 6, "color": colour}
                axes.annotate(f"{k}", (at, 100 * rate), **style)
        axes.set_xlim(0, 100)
        axes.set_ylim(40, 101)
        axes.set_xlabel("coverage: problems answered (%)")
        axes.set_ylabel("right among those answered (%)")
        axes.legend(frameon=False, loc="lower left")
    return made.svg


_AXES = ("coverage", "accuracy")
_COLOURS = ("#1b7f5c", "#3b5bdb", "#9a9a9a", "#c2671b", "#7048a8")


def pooled_curve(curves: Sequence[Sequence[Record]]) -> list[Record]:
    """Return one curve of several that were measured in the same way."""
    found: list[Record] = []
    for rows in zip(*curves, strict=True):
        (k,) = {row["k"] for row in rows}
        labels = [label for label in rows[0] if label != "k"]
        counts = {label: pooled([row[label] for row in rows], ("n", "answered", "right")) for label in labels}
        found.append({"k": k, **{label: point(**own) for label, own in counts.items()}})
    return found


def read_curve(path: Path) -> list[Record]:
    """Read a curve.json: a row for each k, with a point for each way of answering."""
    return json.loads(path.read_text(encoding="utf-8"))["curve"]


def main() -> None:
    """Pool the curves that are named."""
    parser = argparse.ArgumentParser(description="Pool selective curves.")
    parser.add_argument("curves", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = pooled_curve([read_curve(path) for path in asked.curves])
    write_json(asked.out / "pooled.json", {"curve": rows})
    write_text(asked.out / "pooled.md", curve_table(rows))
    write_text(asked.out / "pooled.svg", curve_figure(rows))


if __name__ == "__main__":
    main()
