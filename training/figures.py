"""Figures drawn with matplotlib as SVG, all in one style: equal numbers give equal bytes."""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from typing import Any

from rollout.records.sampling import GUIDED

INK = "#15181e"
"""The ink of figures; inside the page it gives way to the page's own text colour, light or dark."""
GREY = "#868c96"
SPARE_COLOURS = ("#cc79a7", "#a57c00", "#56b4e9", "#7a6fd0")
INKS = ("#0072b2", "#d55e00", "#009e73", *SPARE_COLOURS)
ARM_COLOURS = {"strict": "#0072b2", GUIDED: "#009e73", "naive": "#d55e00"}
"""Okabe & Ito's palette for colour-blind readers; an arm keeps its colour in every figure and run."""
MARKERS = "os^DvP*X"


@dataclass
class Drawing:
    """A figure that is being drawn."""

    figure: Any
    grid: list[list[Any]]
    """Its panels, row by row."""
    svg: str = ""
    """There once it is drawn, without a date."""

    @property
    def axes(self) -> Any:
        """The first panel."""
        return self.grid[0][0]

    def legend(self, order: Iterable[str] | None = None, columns: int = 4) -> None:
        """Put one legend for all panels below them; `order` leaves labels out that it does not name."""
        shown = [axes.get_legend_handles_labels() for axes in self.figure.axes]
        known = {label: handle for each in reversed(shown) for handle, label in zip(*each, strict=True)}
        labels = [label for label in (known if order is None else order) if label in known]
        handles = [known[label] for label in labels]
        columns = min(columns, max(1, len(labels)))
        self.figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


@contextmanager
def drawing(
    *, width: float, height: float, rows: int = 1, columns: int = 1, label: str | None = None
) -> Generator[Drawing]:
    """Draw a figure of so many inches by matplotlib's defaults and ours; the user's settings are ignored.

    With a `label` it becomes an element of a page: in its text colour, and with no id that two could share. Else it is
    a file on white, its text drawn as shapes, alike wherever it is shown.
    """
    matplotlib: Any = import_module("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({
            "svg.fonttype": "path" if label is None else "none",
            "svg.hashsalt": "certistar",
            "text.parse_math": False,  # an arm may be called anything
            "font.size": 9,
            "axes.facecolor": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            **dict.fromkeys(["text.color", "xtick.color", "ytick.color", "axes.edgecolor", "axes.labelcolor"], INK),
        })  # fmt: skip
        figure = import_module("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
        if label is None:
            figure.patch.set_facecolor("white")
        else:
            figure.patch.set_alpha(0)
        made = Drawing(figure, [list(line) for line in figure.subplots(rows, columns, squeeze=False)])
        yield made
        buffer = StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        made.svg = buffer.getvalue() if label is None else _inlined(buffer.getvalue(), label)


def _inlined(svg: str, label: str) -> str:
    from markupsafe import escape

    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r' id="[A-Za-z][\w.]*_\d+"', "", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)


def styles(arms: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return each arm's colour and marker."""
    names = list(arms)
    free = [*SPARE_COLOURS, *(colour for arm, colour in ARM_COLOURS.items() if arm not in names)]
    unnamed = [arm for arm in names if arm not in ARM_COLOURS]
    colours = ARM_COLOURS | {arm: free[i % len(free)] for i, arm in enumerate(unnamed)}
    return {arm: (colours[arm], MARKERS[i % len(MARKERS)]) for i, arm in enumerate(names)}


def percent_scale(axes: Any) -> None:
    """Let the vertical axis run from 0 to 100%."""
    axes.set_ylim(0, 100)
    axes.set_yticks(range(0, 101, 20), [f"{y}%" for y in range(0, 101, 20)])
    axes.grid(axis="y", color=GREY, alpha=0.3, lw=0.6)


def downwards(axes: Any, ticks: Mapping[float, str]) -> None:
    """Label rows that are read from the top."""
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()


def with_bars(
    axes: Any, x: Sequence[float], rates: Sequence[float], intervals: Sequence[Sequence[float]], **style: Any
) -> None:
    """Draw rates in percent with bars for their intervals."""
    ends = [(rate, *interval) for rate, interval in zip(rates, intervals, strict=True)]
    reach = [[max(0.0, 100 * (at - low)) for at, low, _ in ends], [max(0.0, 100 * (up - at)) for at, _, up in ends]]
    axes.errorbar(x, [100 * rate for rate in rates], reach, **style)


def with_band(
    axes: Any, x: Sequence[Any], rates: Sequence[float], intervals: Sequence[Sequence[float]], **style: Any
) -> None:
    """Draw a line of rates in percent over a band of their intervals, where they have any."""
    axes.plot(x, [100 * rate for rate in rates], clip_on=False, **style)
    if intervals:
        lows, highs = ([100 * ends[i] for ends in intervals] for i in (0, 1))
        axes.fill_between(x, lows, highs, color=style["color"], alpha=0.12, lw=0)


@dataclass(frozen=True)
class Difference:
    """A row of a forest plot, in shares of one."""

    label: str
    mean: float
    interval: Sequence[float] | None
    colour: str
    parts: Sequence[float] = ()
    """The values that the mean is of."""
    said: str = ""


def forest(axes: Any, rows: Sequence[Difference], unit: str) -> None:
    """Draw differences in points: a diamond with its interval, its parts above it, what is said beside it."""
    axes.axvline(0, color=GREY, lw=0.8)
    for y, row in enumerate(rows):
        if row.interval is not None:
            axes.plot([100 * end for end in row.interval], [y, y], color=row.colour, lw=1.8)
        axes.plot([100 * row.mean], [y], marker="D", color=row.colour, ms=5)
        axes.plot([100 * x for x in row.parts], [y - 0.25] * len(row.parts), "o", color=GREY, ms=3)
        axes.text(1.02, y, row.said, va="center", transform=axes.get_yaxis_transform())
    downwards(axes, {y: row.label for y, row in enumerate(rows)})
    axes.set_xlabel(unit)
