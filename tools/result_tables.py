"""Tables of the committed results, written from their `report.json`: `python -m tools.result_tables`.

A page that quotes a number names a table, and tests compare the two; nobody copies numbers by hand.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from training.records.store import write_text
from training.reporting.sentences import p_value, percent, points

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def main() -> None:
    """Write `table.md` beside every `report.json` of the results."""
    for path in reports():
        write_text(path.with_name("table.md"), table(json.loads(path.read_text(encoding="utf-8"))))


def reports() -> list[Path]:
    """Return the reports of runs whose results are committed."""
    return sorted(RESULTS.glob("*/report.json"))


def table(report: Mapping[str, Any]) -> str:
    """Return arms, comparisons and the square of a report as Markdown."""
    return (
        "\n\n".join("\n".join(part) for part in (_arms(report), _comparisons(report), _square(report)) if part) + "\n"
    )


def _arms(report: Mapping[str, Any]) -> list[str]:
    lines = [
        "| arm | sampling | n | kept | right: start | last | greedily: start | last | certified: start | last |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, arm in report["arms"].items():
        first, last = arm["rounds"][0], arm["rounds"][-1]
        kept = ", ".join(f"{found['kept']:,}" for found in arm["rounds"][1:])
        rates = [_rate(first, "accuracy"), _rate(last, "accuracy")]
        rates += [percent(found.get("accuracy_greedy")) for found in (first, last)]
        rates += [_rate(first, "certified"), _rate(last, "certified")]
        lines.append(f"| {name} | {arm['decoding']} | {last['n']} | {kept} | {' | '.join(rates)} |")
    return lines


def _rate(found: Mapping[str, Any], name: str) -> str:
    return f"{percent(found[name])} ({percent(found[f'{name}_interval'])})"


def _comparisons(report: Mapping[str, Any]) -> list[str]:
    if not report["comparisons"]:
        return []
    lines = ["| metric | between | points (95%) | p | p, Holm | n |", "|---|---|--:|--:|--:|--:|"]
    for c in report["comparisons"]:
        what = c["metric"] + " (primary)" * bool(c.get("primary"))
        found = f"{points(c['difference'])} ({points(c.get('interval_seeds') or c['interval'])})"
        p = f"{p_value(c['p'])} | {p_value(c['p_holm']) if 'p_holm' in c else '–'}"
        lines.append(f"| {what} | {c['a']} over {c['b']} | {found} | {p} | {c['n']} |")
    return lines


def _square(report: Mapping[str, Any]) -> list[str]:
    cells = report.get("square") or []
    if len({cell["decoding"] for cell in cells}) < 2:
        return []
    return [
        "| arm | round | decoding | temperature | n | right | certified |",
        "|---|--:|---|--:|--:|--:|--:|",
        *_square_rows(cells),
    ]


def _square_rows(cells: list[Mapping[str, Any]]) -> Iterator[str]:
    for cell in cells:
        rates = f"{_rate(cell, 'accuracy')} | {_rate(cell, 'certified')}"
        named = f"{cell['arm']} | {cell['round']} | {cell['decoding']} | {cell['temperature']:g}"
        yield f"| {named} | {cell['n']} | {rates} |"


if __name__ == "__main__":
    main()
