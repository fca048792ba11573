"""Tables of a summary for the terminal."""

from typing import Any

from critics.replay.grades import grades_said
from training.reporting.sentences import p_value, percent, points
from training.reporting.summary import Rates, Summary


def table(summary: Summary) -> Any:
    """Return arms and rounds as a `rich` table."""
    from rich.table import Table

    shown = Table("arm", "round")
    for column in ("n", "accuracy [95%]", "certified [95%]", "by grade", "lucky", "greedy", "kept"):
        shown.add_column(column, justify="right")
    for name, arm in summary.arms.items():
        for found in arm.rounds:
            shown.add_row(
                "" if found.number else name,
                str(found.number or "start"),
                str(found.rates.n),
                *_rates(found.rates),
                grades_said(found.grades) or "–",
                percent(found.rates["lucky"].rate),
                percent(found.otherwise["accuracy_greedy"]),
                str(found.kept),
                end_section=found is arm.rounds[-1],
            )
    return shown


def _rates(rates: Rates) -> list[str]:
    shares = [rates["accuracy"], rates["certified"]]
    return [f"{percent(share.rate)} \\[{percent(share.interval)}]" for share in shares]


def comparison_table(summary: Summary) -> Any:
    """Return the comparisons as a `rich` table."""
    from rich.table import Table

    paired = all(c.paired for c in summary.comparisons)
    shown = Table("metric", "between", caption="points; paired answers" if paired else "points; independent samples")
    for column in ("difference [95%]", "seeds too [95%]", "p", "p, Holm", "n", "detectable"):
        shown.add_column(column.replace("[", "\\["), justify="right")
    for c in summary.comparisons:
        shown.add_row(
            c.metric,
            f"{c.a} - {c.b}",
            f"{points(c.found.difference)} \\[{points(c.found.interval)}]",
            points(c.found.interval_seeds),
            p_value(c.found.p),
            p_value(c.p_holm),
            str(c.found.n),
            "–" if c.found.detectable is None else f"{100 * c.found.detectable:.1f}",
        )
    return shown
