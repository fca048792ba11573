"""Selective accuracy against coverage: the share of problems that are answered, and of the answers that are right.

Both are of the same attempts: with a proof, or by majority vote, and by the majority on as many problems as the proofs
answer, those with the clearest vote first. Gold answers enter here and nowhere before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.records.selection import Answered, AnswerRule, majority, outcome
from rollout.records.traces import Trace
from training.estimates import Interval, Proportion, exact_interval
from training.figures import drawing, panels_of, svg_of
from training.tables import with_interval

BUDGETS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Point:
    """Answers given to n problems, and how many of them are right."""

    n: int
    answered: int
    right: int

    @property
    def coverage(self) -> Proportion:
        """The share of the problems that are answered."""
        return Proportion(self.answered, self.n)

    @property
    def accuracy(self) -> Proportion:
        """The share of the answers that are right."""
        return Proportion(self.right, self.answered)

    def record(self) -> dict[str, object]:
        """Return the JSON form, with 95% intervals: Wilson's, and the exact one for accuracy."""
        return {
            "n": self.n,
            "answered": self.answered,
            "right": self.right,
            "coverage": self.coverage.rate if self.n else None,
            "coverage_interval": list(self.coverage.interval),
            "accuracy": self.accuracy.rate if self.answered else None,
            "accuracy_interval": list(self.accuracy.interval),
            "accuracy_exact": list(exact_interval(self.right, self.answered)),
        }


@dataclass(frozen=True, slots=True)
class CurveRow:
    """Results of at most k attempts at each problem, under the name of each way of answering."""

    k: int
    points: Mapping[str, Point]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"k": self.k, **{label: point.record() for label, point in self.points.items()}}


def selective_curve(
    gold: Mapping[str, str],
    attempts: Mapping[str, Sequence[Trace]],
    rules: Mapping[str, AnswerRule],
    budget: int,
) -> list[CurveRow]:
    """Return a row for each number of attempts up to `budget`; problems without a gold answer are left out."""
    known = {name: made for name, made in attempts.items() if name in gold}
    rows: list[CurveRow] = []
    for k in [k for k in BUDGETS if k < budget] + [budget]:
        of_k = {name: made[:k] for name, made in known.items()}
        found = {label: {name: outcome(made, rule) for name, made in of_k.items()} for label, rule in rules.items()}
        points = {
            label: _point(gold, {n: o.answer if isinstance(o, Answered) else None for n, o in outcomes.items()})
            for label, outcomes in found.items()
        }
        num_proved = next(iter(points.values())).answered
        votes = {name: majority(made) for name, made in of_k.items()}
        points["majority"] = _point(gold, {name: vote and vote[0] for name, vote in votes.items()})
        clearest = sorted((name for name in votes if votes[name]), key=lambda name: -_share(votes[name]))
        chosen = set(clearest[:num_proved])
        same = {name: vote[0] if vote and name in chosen else None for name, vote in votes.items()}
        points["majority_at_equal_coverage"] = _point(gold, same)
        rows.append(CurveRow(k, points))
    return rows


def _point(gold: Mapping[str, str], answers: Mapping[str, str | None]) -> Point:
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return Point(len(answers), len(given), sum(gold[name] == answer for name, answer in given.items()))


def _share(vote: tuple[str, float] | None) -> float:
    return 0.0 if vote is None else vote[1]


def curve_table(rows: Sequence[CurveRow]) -> str:
    """Return the curve as a Markdown table."""
    labels = list(rows[0].points)
    lines = [f"| k | {' | '.join(f'{_title(label)}: answered | right' for label in labels)} |"]
    lines.append("| --- " * (1 + 2 * len(labels)) + "|")
    for row in rows:
        cells = [f"{with_interval(point.coverage)} | {with_interval(point.accuracy)}" for point in row.points.values()]
        lines.append(f"| {row.k} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def curve_figure(rows: Sequence[CurveRow]) -> str:
    """Return the curve as SVG: coverage to the right, selective accuracy upwards, k beside the points."""
    with drawing(text="path"):
        figure, [axes] = panels_of(width=6.4, height=4.0, count=1)
        for label, colour, marker in zip(rows[0].points, _COLOURS, _MARKERS, strict=False):
            points = [(row.k, row.points[label]) for row in rows if row.points[label].answered]
            _draw(axes, points, label, colour, marker)
        axes.set_xlim(0, 100)
        axes.set_ylim(40, 101)
        axes.set_xlabel("coverage: problems answered (%)")
        axes.set_ylabel("right among those answered (%)")
        axes.legend(frameon=False, loc="lower left")
        return svg_of(figure)


def _draw(axes: Any, points: Sequence[tuple[int, Point]], label: str, colour: str, marker: str) -> None:
    """Draw one way of answering with 95% bars, the number of attempts below its points."""
    x, y = [100 * p.coverage.rate for _, p in points], [100 * p.accuracy.rate for _, p in points]
    ends: list[Interval] = [p.accuracy.interval for _, p in points]
    bars = [[abs(up - 100 * end[side]) for up, end in zip(y, ends, strict=True)] for side in (0, 1)]
    style = {"color": colour, "marker": marker}
    axes.errorbar(x, y, bars, label=_title(label), clip_on=False, ms=4, lw=1.4, elinewidth=0.7, **style)
    for (k, _), right, up in zip(points, x, y, strict=True):
        axes.annotate(f"{k}", (right, up), (2, -9), textcoords="offset points", fontsize=6, color=colour)


_COLOURS = ("#1b7f5c", "#3b5bdb", "#9a9a9a", "#c2671b", "#7048a8")
_MARKERS = ("o", "s", "^", "v", "D")


def _title(label: str) -> str:
    return label.replace("_", " ")
