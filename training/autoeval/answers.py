"""Answers to questions, compared with the right ones: AutoEval's tables 15 to 20.

Precision and recall are the paper's: over answers that could be read, with the others counted apart. In the accuracy an
answer that could not be read is a wrong one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rollout.records.traces import Trace
from training.autoeval.scores import share
from training.estimates import Proportion
from training.outcomes import Record
from training.tables import markdown, percent

UNREADABLE = "unreadable"
_ORDER = ("true", "false", "unknown")


def confusion(runs: Sequence[Iterable[Trace]]) -> Record:
    """Return the counts of judged answers; a problem without a gold answer counts for nothing."""
    known = [trace for run in runs for trace in run if trace.problem.answer is not None]
    counts = Counter((str(trace.problem.answer), trace.judged.answer or UNREADABLE) for trace in known)
    return confusion_record(counts, len({trace.problem.id for trace in known}))


def confusion_record(counts: Mapping[tuple[str, str], int], num_problems: int) -> Record:
    """Return counts by gold label and what was said, over one run or several, with their rates.

    The interval of the accuracy is that of one run, because runs ask the same problems.
    """
    n, right = sum(counts.values()), sum(num for (gold, said), num in counts.items() if gold == said)
    found = {gold for gold, _ in counts} | {said for _, said in counts if said != UNREADABLE}
    labels = sorted(found, key=lambda label: (_ORDER.index(label) if label.islower() else 0, label))
    of_one_run = Proportion(round((share(right, n) or 0.0) * num_problems), num_problems)
    return {
        "n": n,
        "problems": num_problems,
        "right": right,
        "no_answer": sum(num for (_, said), num in counts.items() if said == UNREADABLE),
        "score": share(right, n),
        "score_interval": list(of_one_run.interval),
        "counts": [{"gold": gold, "said": said, "count": num} for (gold, said), num in sorted(counts.items())],
        "labels": {label: _rates(counts, label) for label in labels},
    }


def _rates(counts: Mapping[tuple[str, str], int], label: str) -> Record:
    """Return the share of a label's answers that are right, that of its problems so answered, and both in one."""
    right = counts.get((label, label), 0)
    precision = share(right, sum(num for (_, said), num in counts.items() if said == label))
    recall = share(right, sum(num for (gold, said), num in counts.items() if gold == label and said != UNREADABLE))
    both = 2 * precision * recall / (precision + recall) if precision and recall else None
    return {"precision": precision, "recall": recall, "f1": both}


def by_logic(runs: Sequence[Sequence[Trace]]) -> dict[str, Record]:
    """Return the counts for each logic that the problems name; empty where they name none."""
    logics = sorted({str(logic) for run in runs for trace in run if (logic := trace.problem.meta.get("logic"))})
    return {
        logic: confusion([[trace for trace in run if trace.problem.meta.get("logic") == logic] for run in runs])
        for logic in logics
    }


def label_table(found: Mapping[str, Record]) -> str:
    """Return tables 15 to 18 in Markdown: a row for each model, of one question set with the same labels."""
    labels = list(next(iter(found.values()))["labels"])
    cells = [(gold, said) for gold in labels for said in labels]
    head = ["model", "n", "accuracy", *(f"{g[:1].upper()}{s[:1].upper()}" for g, s in cells), "no answer"]
    head += [f"{label}: {what}" for label in labels for what in ("precision", "recall")]
    rows: list[list[str]] = []
    for model, own in found.items():
        rates = (own["labels"].get(label, {}).get(what) for label in labels for what in ("precision", "recall"))
        rows.append([*_opening(model, own, cells), str(own["no_answer"]), *map(_decimal, rates)])
    return markdown(head, rows)


def yes_no_table(found: Mapping[str, Record]) -> str:
    """Return tables 19 and 20 in Markdown: a row for each model; A is the positive label."""
    head = ["model", "n", "accuracy", "TP", "FP", "TN", "FN", "NP", "NN", "TPR", "TNR", "precision", "F1"]
    cells = (("A", "A"), ("B", "A"), ("B", "B"), ("A", "B"), ("A", UNREADABLE), ("B", UNREADABLE))
    rows: list[list[str]] = []
    for model, own in found.items():
        a, b = (own["labels"].get(label, {}) for label in "AB")
        rates = (a.get("recall"), b.get("recall"), a.get("precision"), a.get("f1"))
        rows.append([*_opening(model, own, cells), *map(_decimal, rates)])
    return markdown(head, rows)


def _opening(model: str, own: Record, cells: Sequence[tuple[str, str]]) -> Iterator[str]:
    counts = {(cell["gold"], cell["said"]): cell["count"] for cell in own["counts"]}
    yield from (model, str(own["n"]), percent(own["score"], ""))
    yield from (str(counts.get(cell, 0)) for cell in cells)


def _decimal(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2f}"
