"""Answers to questions, compared with the right ones: AutoEval's tables 15 to 20.

Precision and recall are the paper's: over answers that could be read, with the others counted apart. In the accuracy an
answer that could not be read is a wrong one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rollout.records.traces import Trace
from training.estimates import Estimate, Proportion
from training.tables import markdown, percent

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts of answers by the gold label and by what was said, over one run or several."""

    counts: Mapping[tuple[str, str], int]
    num_problems: int
    """Each asked once in a run."""

    @property
    def labels(self) -> list[str]:
        """The labels, true before false and unknown, letters in their order."""
        found = {gold for gold, _ in self.counts} | {said for _, said in self.counts if said != UNREADABLE}
        return sorted(
            found, key=lambda label: (("true", "false", "unknown").index(label) if label.islower() else 0, label)
        )

    @property
    def n(self) -> int:
        """The answers that were asked for, in all runs."""
        return sum(self.counts.values())

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(num for (gold, said), num in self.counts.items() if gold == said)

    @property
    def unreadable(self) -> int:
        """How many could not be read."""
        return sum(num for (_, said), num in self.counts.items() if said == UNREADABLE)

    @property
    def accuracy(self) -> Estimate:
        """The share of right answers; the interval is that of one run, because runs ask the same problems."""
        rate = self.right / self.n if self.n else None
        right = round((rate or 0.0) * self.num_problems)
        return Estimate(rate, Proportion(right, self.num_problems).interval)

    def count(self, gold: str, said: str) -> int:
        """Return one cell."""
        return self.counts.get((gold, said), 0)

    def precision(self, label: str) -> float | None:
        """Return the share of a label's answers that are right."""
        return _share(self.count(label, label), sum(n for (_, said), n in self.counts.items() if said == label))

    def recall(self, label: str) -> float | None:
        """Return the share of a label's problems that are answered so, among those with an answer."""
        given = sum(n for (gold, said), n in self.counts.items() if gold == label and said != UNREADABLE)
        return _share(self.count(label, label), given)

    def f1(self, label: str) -> float | None:
        """Return the harmonic mean of both."""
        precision, recall = self.precision(label), self.recall(label)
        return 2 * precision * recall / (precision + recall) if precision and recall else None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "n": self.n,
            "problems": self.num_problems,
            "right": self.right,
            "no_answer": self.unreadable,
            "score": self.accuracy.rate,
            "score_interval": list(self.accuracy.interval),
            "counts": [{"gold": gold, "said": said, "count": n} for (gold, said), n in sorted(self.counts.items())],
            "labels": {
                label: {"precision": self.precision(label), "recall": self.recall(label), "f1": self.f1(label)}
                for label in self.labels
            },
        }


def confusion(runs: Sequence[Iterable[Trace]]) -> Confusion:
    """Return the counts of judged answers; a problem without a gold answer counts for nothing."""
    counts = Counter[tuple[str, str]]()
    problems: set[str] = set()
    for trace in (trace for run in runs for trace in run):
        if trace.problem.answer is not None:
            problems.add(trace.problem.id)
            counts[trace.problem.answer, trace.judged.answer or UNREADABLE] += 1
    return Confusion(counts, len(problems))


def read_confusion(counts: Iterable[tuple[str, str, int]], num_problems: int) -> Confusion:
    """Return the counts that a file keeps."""
    return Confusion({(gold, said): num for gold, said, num in counts}, num_problems)


def by_logic(runs: Sequence[Sequence[Trace]]) -> dict[str, Confusion]:
    """Return the counts for each logic that the problems name; empty where they name none."""
    logics = sorted({str(logic) for run in runs for trace in run if (logic := trace.problem.meta.get("logic"))})
    return {
        logic: confusion([[trace for trace in run if trace.problem.meta.get("logic") == logic] for run in runs])
        for logic in logics
    }


def label_table(found: Mapping[str, Confusion]) -> str:
    """Return tables 15 to 18 in Markdown: a row for each model, of one question set with the same labels."""
    labels = next(iter(found.values())).labels
    cells = [(gold, said) for gold in labels for said in labels]
    head = ["model", "n", "accuracy", *(f"{g[:1].upper()}{s[:1].upper()}" for g, s in cells), "no answer"]
    head += [f"{label}: {what}" for label in labels for what in ("precision", "recall")]
    return markdown(head, (_label_row(model, own, labels, cells) for model, own in found.items()))


def _label_row(model: str, own: Confusion, labels: Sequence[str], cells: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield from (model, str(own.n), percent(own.accuracy, ""))
    yield from (str(own.count(gold, said)) for gold, said in cells)
    yield str(own.unreadable)
    for label in labels:
        yield from (_decimal(own.precision(label)), _decimal(own.recall(label)))


def yes_no_table(found: Mapping[str, Confusion]) -> str:
    """Return tables 19 and 20 in Markdown: a row for each model; A is the positive label."""
    head = ["model", "n", "accuracy", "TP", "FP", "TN", "FN", "NP", "NN", "TPR", "TNR", "precision", "F1"]
    return markdown(head, (_yes_no_row(model, own) for model, own in found.items()))


def _yes_no_row(model: str, own: Confusion) -> Iterator[str]:
    yield from (model, str(own.n), percent(own.accuracy, ""))
    cells = (("A", "A"), ("B", "A"), ("B", "B"), ("A", "B"), ("A", UNREADABLE), ("B", UNREADABLE))
    yield from (str(own.count(gold, said)) for gold, said in cells)
    yield from map(_decimal, (own.recall("A"), own.recall("B"), own.precision("A"), own.f1("A")))


def _decimal(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2f}"


def _share(count: int, n: int) -> float | None:
    return count / n if n else None
