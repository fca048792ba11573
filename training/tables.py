"""Tables for people, and rates with their intervals as every table and command writes them."""

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from training.outcomes import Interval, Proportion


def markdown(head: Sequence[str], rows: Iterable[Iterable[str]], align: str = "") -> str:
    """Return a table in Markdown, a line for each row; `align` has an r for each column of numbers, else an l."""
    told = [f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows)]
    if align:
        told[1] = f"|{'|'.join('--:' if each == 'r' else '---' for each in align)}|\n"
    return "".join(told)


def console(*, stderr: bool = False) -> Any:
    """Return a `rich` console that cuts no table off where nobody's terminal is in the way."""
    from rich.console import Console

    made = Console(stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = 1_000
    return made


def grid(head: Sequence[str], rows: Iterable[Sequence[str]], align: str, **options: Any) -> Any:
    """Return a `rich` table; `align` has an r for each column of numbers, else an l; an empty row draws a line.

    Texts are no markup.
    """
    from rich.markup import escape
    from rich.table import Table

    made = Table(**options)
    for name, side in zip(head, align, strict=True):
        made.add_column(escape(name), justify="right" if side == "r" else "left", overflow="fold")
    for row in rows:
        if row:
            made.add_row(*map(escape, row))
        else:
            made.add_section()
    return made


def latex(made: Any) -> str:
    """Return a `rich` table as LaTeX, with the rules of booktabs."""
    from rich.text import Text

    frame: Any = import_module("pandas").DataFrame

    columns = {column.header: [Text.from_markup(cell).plain for cell in column.cells] for column in made.columns}
    sides = "".join("r" if column.justify == "right" else "l" for column in made.columns)
    return frame(columns).to_latex(index=False, column_format=sides, escape=True)


def percent(found: Proportion | float | None, nothing: str = "–") -> str:
    """Return `51.3%`, or `nothing` where nothing was measured."""
    rate = (found.rate if found.n else None) if isinstance(found, Proportion) else found
    return nothing if rate is None else f"{rate:.1%}"


def between(interval: Interval) -> str:
    """Return `48.0% to 54.6%`."""
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def with_interval(found: Proportion | float | None, interval: Interval | None = None) -> str:
    """Return `51.3% (48.0% to 54.6%)`, or a dash where nothing was measured; a proportion knows its interval."""
    ends = found.interval if isinstance(found, Proportion) else interval
    said = percent(found)
    return said if said == "–" or ends is None else f"{said} ({between(ends)})"
