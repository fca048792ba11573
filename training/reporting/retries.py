"""Dialogs over their retries, as in figure 5 of LLM-ARC, and feedback against plain resampling with the same budget."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rollout.records.traces import read_trace
from training.estimates import PairedComparison, compare_paired
from training.records.store import read_records
from training.reporting.evaluations import Evaluation, Mode, Tally
from training.reporting.summary import DIALOG_RATES, Dialogs, Rate, Retries, Summary, pooled_rates, pooled_suites
from training.tables import percent


def dialogs_of(evaluations: Sequence[Evaluation]) -> Dialogs:
    """Return what dialogs come to with fewer retries, and without feedback, pooled over seeds; nothing for others."""
    told = [evaluation.sampled for evaluation in evaluations]
    resampled = [found for evaluation in evaluations if (found := evaluation.modes.get("resampled"))]
    without = _curve(resampled) if len(resampled) == len(told) else ()
    return Dialogs(_curve(told), without, _feedback(told, resampled) if without else {})


def _curve(modes: Sequence[Mode]) -> Sequence[Retries]:
    if not all(mode.levels for mode in modes):
        return ()
    levels = zip(*(mode.levels for mode in modes), strict=True)
    return [_level(same[0].retries, [level.counts for level in same]) for same in levels]


def _level(retries: int, counts: Sequence[Tally]) -> Retries:
    return Retries(retries, pooled_rates(counts, DIALOG_RATES), pooled_suites(counts))


def retry_rows(modes: Iterable[tuple[str, str, Mode]]) -> list[list[str]]:
    """Return figure 5 of LLM-ARC as a table, a row for each number of retries of each model and arm of dialogs."""
    head = ["model", "arm", "retries", "accuracy", "compiled", "solver passed", "tests passed", "certified"]
    rows = [[*head, "tests a problem", "share of tests passed", "wrong and unchanged"]]
    for model, arm, mode in modes:
        for level in _curve([mode]):
            rates = [level.rates[name] for name in ("accuracy", "compiled", "tests_passed", "certified")]
            suites = level.suites
            passed, tests, unchanged = (suites.passed, suites.tests, suites.unchanged) if suites else (None, None, None)
            shown = [percent(rate, "-") for rate in (*rates[:2], passed, *rates[2:])]
            number = f"{suites.per_problem:.2f}" if suites else "-"
            rows.append([model, arm, str(level.retries), *shown, number, percent(tests, "-"), percent(unchanged, "-")])
    return rows


def _feedback(told: Sequence[Mode], resampled: Sequence[Mode]) -> dict[Rate, PairedComparison]:
    """Compare, dialog by dialog and after all retries, feedback with resampling."""
    found: dict[Rate, PairedComparison] = {}
    for metric, key in DIALOG_RATES.items():
        own, other = ([x for mode in modes for x in mode.levels[-1].outcomes[key]] for modes in (told, resampled))
        seeds = [number for number, mode in enumerate(told) for _ in mode.levels[-1].outcomes[key]]
        found[metric] = compare_paired(own, other, seeds, test="mcnemar")
    return found


def pooled_failures(paths: Sequence[Path]) -> dict[str, int]:
    """Count what the dialogs of several rollouts failed at, by the classes of LLM-ARC's section on errors."""
    from rollout.actor_critic.failures import failure_counts

    totals: Counter[str] = Counter()
    for path in paths:
        if path.exists():
            totals.update(failure_counts(map(read_trace, read_records(path, checksum=True))))
    return dict(totals)


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A class of failures with its share of the first and the last rollout's dialogs."""

    arm: str
    what: str
    first: float
    last: float


def failure_rows(summary: Summary) -> list[FailureRow]:
    """Return the rows of the table of failures, arm by arm, most frequent first."""
    rows: list[FailureRow] = []
    for name, arm in summary.arms.items():
        first, last = (arm.failures.get(key, {}) for key in ("first", "last"))
        if not first.get("attempts") or not last.get("attempts"):
            continue
        classes = [key for key in first if key != "attempts" and (first[key] or last.get(key))]
        rows += [
            FailureRow(name, key, first[key] / first["attempts"], last[key] / last["attempts"])
            for key in sorted(classes, key=lambda key: (key != "failed", -first[key]))
        ]
    return rows
