"""Figures drawn with matplotlib as SVG, all in one style: equal numbers give equal bytes."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

INK = "#15181e"
"""The ink of figures; inside the page it gives way to the page's own text colour, light or dark."""
GREY = "#868c96"
SPARE_COLOURS = ("#cc79a7", "#a57c00", "#56b4e9", "#7a6fd0")
INKS = ("#0072b2", "#d55e00", "#009e73", *SPARE_COLOURS)
MARKERS = "os^DvP*X"


def percent_scale(axes: Any) -> None:
    """Let the vertical axis run from 0 to 100%."""
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 20), [f"{y}%" for y in range(0, 101, 20)])
    axes.grid(axis="y", color=GREY, alpha=0.3, lw=0.6)


def panels_of(*, width: float, height: float, count: int) -> tuple[Any, list[Any]]:
    """Return a figure of inches and its axes, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.patch.set_alpha(0)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def bars(rates: Sequence[float], intervals: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return how far intervals reach below and above their rates, in percent."""
    ends = [(rate, *interval) for rate, interval in zip(rates, intervals, strict=True)]
    return [[max(0.0, 100 * (at - low)) for at, low, _ in ends], [max(0.0, 100 * (up - at)) for at, _, up in ends]]


def grid_of(rows: int, columns: int, *, width: float = 3.2, height: float = 2.5) -> tuple[Any, list[list[Any]]]:
    """Return a figure with panels of so many inches, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, 0.5 + height * rows), layout="constrained")
    figure.patch.set_facecolor("white")
    return figure, [list(line) for line in figure.subplots(rows, columns, squeeze=False)]


@contextmanager
def drawing(*, text: str) -> Generator[None]:
    """Draw by matplotlib's defaults and ours and ignore the user's settings; `text` is svg.fonttype."""
    matplotlib: Any = import_module("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({
            "svg.fonttype": text,
            "svg.hashsalt": "certistar",
            "text.parse_math": False,  # an arm may be called anything
            "font.size": 9,
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            **dict.fromkeys(["text.color", "xtick.color", "ytick.color", "axes.edgecolor", "axes.labelcolor"], INK),
        })  # fmt: skip
        yield


def svg_of(figure: Any) -> str:
    """Return a figure as SVG without a date."""
    from io import StringIO

    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def inlined(svg: str, label: str) -> str:
    """Return a figure as an element of the page: in its text colour, and with no id that two could share."""
    from markupsafe import escape

    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z][\w.]*_\d+"', "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
