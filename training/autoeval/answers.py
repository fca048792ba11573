"""Answers to questions, compared with the right ones: AutoEval's tables 15 to 20."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rollout.records.traces import Trace
from training.autoeval.scores import share
from training.estimates import Proportion
from training.outcomes import Record

UNREADABLE = "unreadable"
_ORDER = ("true", "false", "unknown")


def confusion(runs: Sequence[Iterable[Trace]]) -> Record:
    """Return the counts of judged answers; a problem without a gold answer counts for nothing."""
    known = [trace for run in runs for trace in run if trace.problem.answer is not None]
    counts = Counter((str(trace.problem.answer), trace.judged.answer or UNREADABLE) for trace in known)
    return confusion_record(counts, len({trace.problem.id for trace in known}))


def confusion_record(counts: Mapping[tuple[str, str], int], num_problems: int) -> Record:
    """Return counts by gold label and what was said, over one run or several, with their rates.

    Precision and recall are the paper's: over answers that could be read, with the others counted apart. In the
    accuracy an answer that could not be read is a wrong one; its interval is that of one run, because runs ask the same
    problems.
    """
    n, right = sum(counts.values()), sum(num for (gold, said), num in counts.items() if gold == said)
    found = {gold for gold, _ in counts} | {said for _, said in counts if said != UNREADABLE}
    labels = sorted(found, key=lambda label: (_ORDER.index(label) if label.islower() else 0, label))
    rates: dict[str, Record] = {}
    for label in labels:
        own = counts.get((label, label), 0)
        precision = share(own, sum(num for (_, said), num in counts.items() if said == label))
        recall = share(own, sum(num for (gold, said), num in counts.items() if gold == label and said != UNREADABLE))
        both = 2 * precision * recall / (precision + recall) if precision and recall else None
        rates[label] = {"precision": precision, "recall": recall, "f1": both}
    of_one_run = Proportion(round((share(right, n) or 0.0) * num_problems), num_problems)
    return {
        "n": n,
        "problems": num_problems,
        "right": right,
        "no_answer": sum(num for (_, said), num in counts.items() if said == UNREADABLE),
        "score": share(right, n),
        "score_interval": list(of_one_run.interval),
        "counts": [{"gold": gold, "said": said, "count": num} for (gold, said), num in sorted(counts.items())],
        "labels": rates,
    }


def by_logic(runs: Sequence[Sequence[Trace]]) -> dict[str, Record]:
    """Return the counts for each logic that the problems name; empty where they name none."""
    logics = sorted({str(logic) for run in runs for trace in run if (logic := trace.problem.meta.get("logic"))})
    return {
        logic: confusion([[trace for trace in run if trace.problem.meta.get("logic") == logic] for run in runs])
        for logic in logics
    }
