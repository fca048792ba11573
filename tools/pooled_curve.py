"""One selective curve of several that `certistar answer --curve` measured on different problems.

python -m tools.pooled_curve CURVE.json... --out DIR      writes pooled.json, pooled.md and pooled.svg
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from training.outcomes import Record, pooled
from training.records.store import write_json, write_text
from training.reporting.samples import curve_figure, curve_table, point


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
    """Read the curve.json of `certistar answer --curve`."""
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
