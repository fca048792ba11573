"""Selective accuracy against coverage: how often an answer is given, and how often it is then right.

Both are of the same attempts: with a proof, or by majority vote, and by the majority on as many problems as the proofs
answer, those with the clearest vote first. Gold answers enter here and nowhere before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rollout.selection import Answered, AnswerRule, majority, outcome
from training.estimates import LEVEL, Proportion
from training.figures import drawing, panels_of, svg_of

Record = dict[str, Any]
BUDGETS = (1, 2, 4, 8, 16, 32)


def selective_curve(
    gold: Mapping[str, str], attempts: Mapping[str, Sequence[Record]], rules: Mapping[str, AnswerRule], budget: int
) -> list[Record]:
    """Return a row for each number of attempts up to `budget`; problems without a gold answer are left out."""
    known = {name: made for name, made in attempts.items() if name in gold}
    rows: list[Record] = []
    for k in [k for k in BUDGETS if k < budget] + [budget]:
        of_k = {name: made[:k] for name, made in known.items()}
        row: Record = {"k": k}
        for label, rule in rules.items():
            row[label] = _point(gold, {name: _answer(made, rule) for name, made in of_k.items()})
        votes = {name: majority(made) for name, made in of_k.items()}
        row["majority"] = _point(gold, {name: vote and vote[0] for name, vote in votes.items()})
        clearest = sorted((name for name in votes if votes[name]), key=lambda name: -_share(votes[name]))
        chosen = set(clearest[: row[next(iter(rules))]["answered"]])
        same = {name: vote[0] if vote and name in chosen else None for name, vote in votes.items()}
        row["majority_at_equal_coverage"] = _point(gold, same)
        rows.append(row)
    return rows


def pooled_curve(curves: Sequence[Sequence[Record]]) -> list[Record]:
    """Return one curve of several, measured in the same way on different problems."""
    pooled: list[Record] = []
    for rows in zip(*curves, strict=True):
        (k,) = {row["k"] for row in rows}
        of_k: Record = {"k": k}
        for label in (label for label in rows[0] if label != "k"):
            points = [row[label] for row in rows]
            of_k[label] = point_of(*(sum(point[key] for point in points) for key in ("right", "answered", "n")))
        pooled.append(of_k)
    return pooled


def point_of(num_right: int, num_answered: int, num: int) -> Record:
    """Return coverage and selective accuracy with their 95% intervals: Wilson's, and the exact one for the second."""
    coverage, accuracy = Proportion(num_answered, num), Proportion(num_right, num_answered)
    return {
        "n": num,
        "answered": num_answered,
        "right": num_right,
        "coverage": coverage.rate if num else None,
        "coverage_interval": list(coverage.interval),
        "accuracy": accuracy.rate if num_answered else None,
        "accuracy_interval": list(accuracy.interval),
        "accuracy_exact": list(_exact(num_right, num_answered)),
    }


def curve_table(rows: Sequence[Record]) -> str:
    """Return the curve as a Markdown table."""
    labels = [label for label in rows[0] if label != "k"]
    lines = [f"| k | {' | '.join(f'{_title(label)}: answered | right' for label in labels)} |"]
    lines.append("| --- " * (1 + 2 * len(labels)) + "|")
    for row in rows:
        cells = [f"{_rate(row[label], 'coverage')} | {_rate(row[label], 'accuracy')}" for label in labels]
        lines.append(f"| {row['k']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def curve_figure(rows: Sequence[Record]) -> str:
    """Return the curve as SVG: coverage to the right, selective accuracy upwards, k beside the points."""
    labels = [label for label in rows[0] if label != "k"]
    with drawing(text="path"):
        figure, [axes] = panels_of(width=6.4, height=4.0, count=1)
        for label, colour, marker in zip(labels, _COLOURS, _MARKERS, strict=False):
            _draw(
                axes, [{"k": row["k"], **row[label]} for row in rows if row[label]["answered"]], label, colour, marker
            )
        axes.set_xlim(0, 100)
        axes.set_ylim(40, 101)
        axes.set_xlabel("coverage: problems answered (%)")
        axes.set_ylabel("right among those answered (%)")
        axes.legend(frameon=False, loc="lower left")
        return svg_of(figure)


def _draw(axes: Any, points: Sequence[Record], label: str, colour: str, marker: str) -> None:
    """Draw one way of answering with 95% bars, the number of attempts below its points."""
    x, y = [100 * p["coverage"] for p in points], [100 * p["accuracy"] for p in points]
    bars = [[100 * abs(p["accuracy"] - p["accuracy_interval"][side]) for p in points] for side in (0, 1)]
    style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 4, "lw": 1.4, "elinewidth": 0.7}
    axes.errorbar(x, y, bars, label=_title(label), clip_on=False, **style)
    for point, right, up in zip(points, x, y, strict=True):
        axes.annotate(f"{point['k']}", (right, up), (2, -9), textcoords="offset points", fontsize=6, color=colour)


_COLOURS = ("#1b7f5c", "#3b5bdb", "#9a9a9a", "#c2671b", "#7048a8")
_MARKERS = ("o", "s", "^", "v", "D")


def _answer(attempts: Sequence[Record], rule: AnswerRule) -> str | None:
    found = outcome(attempts, rule)
    return found.answer if isinstance(found, Answered) else None


def _point(gold: Mapping[str, str], answers: Mapping[str, str | None]) -> Record:
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return point_of(sum(gold[name] == answer for name, answer in given.items()), len(given), len(answers))


def _share(vote: tuple[str, float] | None) -> float:
    return 0.0 if vote is None else vote[1]


def _exact(count: int, num: int) -> tuple[float, float]:
    if not num:
        return (0.0, 1.0)
    from scipy.stats import binomtest

    found = binomtest(count, num).proportion_ci(LEVEL, method="exact")
    return (float(found.low), float(found.high))


def _title(label: str) -> str:
    return label.replace("_", " ")


def _rate(point: Record, key: str) -> str:
    if point[key] is None:
        return "–"
    low, high = point[f"{key}_interval"]
    return f"{point[key]:.1%} ({low:.1%} to {high:.1%})"
