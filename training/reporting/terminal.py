"""Tables of a report for the terminal."""

from typing import Any

from critics.replay.grades import grades_said
from training.outcomes import Record
from training.reporting.sentences import p_value, percent, points


def table(report: Record) -> Any:
    """Return arms and rounds as a `rich` table."""
    from rich.table import Table

    shown = Table("arm", "round")
    for column in ("n", "accuracy [95%]", "certified [95%]", "by grade", "lucky", "greedy", "kept"):
        shown.add_column(column, justify="right")
    for name, arm in report["arms"].items():
        for found in arm["rounds"]:
            shown.add_row(
                "" if found["round"] else name,
                str(found["round"] or "start"),
                str(found["n"]),
                *(f"{percent(found[r])} \\[{percent(found[f'{r}_interval'])}]" for r in ("accuracy", "certified")),
                grades_said(found["grades"]) or "–",
                percent(found["lucky"]),
                percent(found["accuracy_greedy"]),
                str(found["kept"]),
                end_section=found is arm["rounds"][-1],
            )
    return shown


def comparison_table(report: Record) -> Any:
    """Return the comparisons as a `rich` table."""
    from rich.table import Table

    paired = all(c["paired"] for c in report["comparisons"])
    shown = Table("metric", "between", caption="points; paired answers" if paired else "points; independent samples")
    for column in ("difference [95%]", "seeds too [95%]", "p", "p, Holm", "n", "detectable"):
        shown.add_column(column.replace("[", "\\["), justify="right")
    for c in report["comparisons"]:
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
