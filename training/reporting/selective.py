"""Selective accuracy against coverage: the share of problems that are answered, and of the answers that are right.

Both are of the same attempts: with a proof, or by majority vote, and by the majority on as many problems as the proofs
answer, those with the clearest vote first. Gold answers enter here and nowhere before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rollout.records.selection import AnswerRule, ProvedAnswer, majority, outcome
from rollout.records.traces import Trace
from training.estimates import Proportion, exact_interval
from training.figures import bars, drawing, panels_of, svg_of
from training.outcomes import Record
from training.tables import with_interval

BUDGETS = (1, 2, 4, 8, 16, 32)


def point(n: int, answered: int, right: int) -> Record:
    """Return answers given to n problems, and how many of them are right, with 95% intervals.

    They are Wilson's, and the exact one of accuracy as well.
    """
    coverage, accuracy = Proportion(answered, n), Proportion(right, answered)
    return {
        "n": n,
        "answered": answered,
        "right": right,
        "coverage": coverage.rate if n else None,
        "coverage_interval": list(coverage.interval),
        "accuracy": accuracy.rate if answered else None,
        "accuracy_interval": list(accuracy.interval),
        "accuracy_exact": list(exact_interval(right, answered)),
    }


def selective(gold: Mapping[str, str], answers: Mapping[str, str | None]) -> Record:
    """Return the point of answers to problems whose gold answer is known."""
    given = {name: answer for name, answer in answers.items() if answer is not None}
    return point(len(answers), len(given), sum(gold[name] == answer for name, answer in given.items()))


def selective_curve(
    gold: Mapping[str, str],
    attempts: Mapping[str, Sequence[Trace]],
    rules: Mapping[str, AnswerRule],
    budget: int,
) -> list[Record]:
    """Return a row for each number of attempts up to `budget`: `k`, and a point for each way of answering.

    Problems without a gold answer are left out.
    """
    known = {name: made for name, made in attempts.items() if name in gold}
    rows: list[Record] = []
    for k in [k for k in BUDGETS if k < budget] + [budget]:
        of_k = {name: made[:k] for name, made in known.items()}
        points: Record = {}
        for label, rule in rules.items():
            found = {name: outcome(made, rule) for name, made in of_k.items()}
            points[label] = selective(
                gold, {n: o.answer if isinstance(o, ProvedAnswer) else None for n, o in found.items()}
            )
        num_proved = next(iter(points.values()))["answered"]
        votes = {name: majority(made) for name, made in of_k.items()}
        points["majority"] = selective(gold, {name: vote and vote[0] for name, vote in votes.items()})
        clearest = sorted((name for name, vote in votes.items() if vote), key=lambda name: -_share(votes[name]))
        same = {name: votes[name] if name in clearest[:num_proved] else None for name in votes}
        equal = selective(gold, {name: vote and vote[0] for name, vote in same.items()})
        rows.append({"k": k, **points, "majority_at_equal_coverage": equal})
    return rows


def _share(vote: tuple[str, float] | None) -> float:
    return 0.0 if vote is None else vote[1]


def _labels(row: Record) -> list[str]:
    return [label for label in row if label != "k"]


def curve_table(rows: Sequence[Record]) -> str:
    """Return the curve as a Markdown table."""
    labels = _labels(rows[0])
    lines = [f"| k | {' | '.join(f'{_title(label)}: answered | right' for label in labels)} |"]
    lines.append("| --- " * (1 + 2 * len(labels)) + "|")
    for row in rows:
        shares = ((row[label][name], row[label][f"{name}_interval"]) for label in labels for name in _AXES)
        lines.append(f"| {row['k']} | {' | '.join(with_interval(*each) for each in shares)} |")
    return "\n".join(lines) + "\n"


def curve_figure(rows: Sequence[Record]) -> str:
    """Return the curve as SVG: coverage to the right, selective accuracy upwards, k beside the points."""
    with drawing(text="path"):
        figure, [axes] = panels_of(width=6.4, height=4.0, count=1)
        for label, colour, marker in zip(_labels(rows[0]), _COLOURS, _MARKERS, strict=False):
            _draw(axes, [(row["k"], row[label]) for row in rows if row[label]["answered"]], label, colour, marker)
        axes.set_xlim(0, 100)
        axes.set_ylim(40, 101)
        axes.set_xlabel("coverage: problems answered (%)")
        axes.set_ylabel("right among those answered (%)")
        axes.legend(frameon=False, loc="lower left")
        return svg_of(figure)


def _draw(axes: Any, points: Sequence[tuple[int, Record]], label: str, colour: str, marker: str) -> None:
    """Draw one way of answering with 95% bars, the number of attempts below its points."""
    x, y = ([100 * found[name] for _, found in points] for name in _AXES)
    reach = bars([found["accuracy"] for _, found in points], [found["accuracy_interval"] for _, found in points])
    axes.errorbar(
        x, y, reach, label=_title(label), clip_on=False, ms=4, lw=1.4, elinewidth=0.7, color=colour, marker=marker
    )
    for (k, _), right, up in zip(points, x, y, strict=True):
        axes.annotate(f"{k}", (right, up), (2, -9), textcoords="offset points", fontsize=6, color=colour)


_AXES = ("coverage", "accuracy")
_COLOURS = ("#1b7f5c", "#3b5bdb", "#9a9a9a", "#c2671b", "#7048a8")
_MARKERS = ("o", "s", "^", "v", "D")


def _title(label: str) -> str:
    return label.replace("_", " ")
