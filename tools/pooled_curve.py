"""One selective curve of several that `certistar answer --curve` measured on different problems.

python -m tools.pooled_curve CURVE.json... --out DIR      writes pooled.json, pooled.md and pooled.svg
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from training.records.store import write_json, write_text
from training.reporting.selective import CurveRow, Point, curve_figure, curve_table


def pooled_curve(curves: Sequence[Sequence[CurveRow]]) -> list[CurveRow]:
    """Return one curve of several that were measured in the same way."""
    pooled: list[CurveRow] = []
    for rows in zip(*curves, strict=True):
        (k,) = {row.k for row in rows}
        pooled.append(CurveRow(k, {label: _sum([row.points[label] for row in rows]) for label in rows[0].points}))
    return pooled


def _sum(points: Sequence[Point]) -> Point:
    return Point(sum(p.n for p in points), sum(p.answered for p in points), sum(p.right for p in points))


def read_curve(path: Path) -> list[CurveRow]:
    """Read the curve.json of `certistar answer --curve`."""
    rows = json.loads(path.read_text(encoding="utf-8"))["curve"]
    return [
        CurveRow(
            row["k"],
            {label: Point(p["n"], p["answered"], p["right"]) for label, p in row.items() if label != "k"},
        )
        for row in rows
    ]


def main() -> None:
    """Pool the curves that are named."""
    parser = argparse.ArgumentParser(description="Pool selective curves.")
    parser.add_argument("curves", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    rows = pooled_curve([read_curve(path) for path in asked.curves])
    write_json(asked.out / "pooled.json", {"curve": [row.record() for row in rows]})
    write_text(asked.out / "pooled.md", curve_table(rows))
    write_text(asked.out / "pooled.svg", curve_figure(rows))


if __name__ == "__main__":
    main()
