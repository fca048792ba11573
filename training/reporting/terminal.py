"""A summary as tables for the terminal."""

from collections.abc import Mapping
from typing import Any

from training.reporting.sentences import p_value, percent, points


def table(summary: Mapping[str, Any]) -> Any:
    """Return arms and rounds as a table for the terminal."""
    from rich.table import Table

    shown = Table("arm", "round")
    for column in ("n", "accuracy [95%]", "certified [95%]", "lucky", "greedy", "kept"):
        shown.add_column(column, justify="right")
    for name, arm in summary["arms"].items():
        for r in arm["rounds"]:
            shown.add_row(
                name if r["round"] == 0 else "",
                "start" if r["round"] == 0 else str(r["round"]),
                str(r["n"]),
                *(f"{percent(r[key])} \\[{percent(r[f'{key}_interval'])}]" for key in ("accuracy", "certified")),
                percent(r["lucky"]),
                percent(r["accuracy_greedy"]),
                str(r["kept"]),
                end_section=r is arm["rounds"][-1],
            )
    return shown


def comparison_table(summary: Mapping[str, Any]) -> Any:
    """Return the comparisons as a table for the terminal."""
    from rich.table import Table

    paired = all(c["paired"] for c in summary["comparisons"])
    shown = Table("metric", "between", caption="points; paired answers" if paired else "points; independent samples")
    for column in ("difference [95%]", "seeds too [95%]", "p", "p, Holm", "n", "detectable"):
        shown.add_column(column.replace("[", "\\["), justify="right")
    for c in summary["comparisons"]:
        shown.add_row(
            c["metric"],
            f"{c['a']} - {c['b']}",
            f"{points(c['difference'])} \\[{points(c['interval'])}]",
            points(c["interval_seeds"]),
            p_value(c["p"]),
            p_value(c["p_holm"]),
            str(c["n"]),
            "–" if c["detectable"] is None else f"{100 * c['detectable']:.1f}",
        )
    return shown
