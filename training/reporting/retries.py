"""Dialogs over their retries, as in figure 5 of LLM-ARC, and feedback against plain resampling with the same budget."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.estimates import Proportion, compare_paired
from training.records.store import read_records

COUNTS = {"accuracy": "right", "compiled": "compiled", "tests_passed": "tests_passed", "certified": "certified"}
MODELS = (("before training", 0), ("after", -1))


def curve(seeds: Sequence[Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Pool what each seed's evaluation has under `by_retries`: rates with their intervals for 0, 1, .. retries."""
    return [_point(level) for level in zip(*seeds, strict=True)]


def _point(cells: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    n = sum(cell["n"] for cell in cells)
    rates = {name: Proportion(sum(cell[key] for cell in cells), n) for name, key in COUNTS.items()}
    intervals = {f"{name}_interval": list(rate.interval) for name, rate in rates.items()}
    return {"retries": cells[0]["retries"], "n": n, **{name: r.rate for name, r in rates.items()}, **intervals}


def feedback_record(seeds: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Compare, dialog by dialog and after all retries, feedback (first) with resampling (second) of each seed."""
    records: list[dict[str, Any]] = []
    for metric, key in COUNTS.items():
        told, resampled = ([x for pair in seeds for x in _final(pair[side], key)] for side in (0, 1))
        numbers = [number for number, pair in enumerate(seeds) for _ in _final(pair[0], key)]
        records.append({"metric": metric, **compare_paired(told, resampled, numbers, test="mcnemar").record()})
    return records


def _final(mode: Mapping[str, Any], key: str) -> list[int]:
    return mode["by_retries"][-1]["outcomes"][key]


def pooled_failures(paths: Sequence[Path]) -> dict[str, int]:
    """Count what the dialogs of several rollouts failed at, by the classes of LLM-ARC's section on errors."""
    from rollout.actor_critic.failures import failure_counts

    totals: Counter[str] = Counter()
    for path in paths:
        if path.exists():
            totals.update(failure_counts(read_records(path, checksum=True)))
    return dict(totals)


def failure_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each class with its share of the first and the last rollout's dialogs, arm by arm; most frequent first."""
    rows: list[dict[str, Any]] = []
    for name, arm in summary["arms"].items():
        first, last = (arm.get("failures", {}).get(key, {}) for key in ("first", "last"))
        classes = [key for key in first if key != "attempts" and (first[key] or last.get(key))]
        for key in sorted(classes, key=lambda key: (key != "failed", -first[key])):
            shares = [counts[key] / counts["attempts"] for counts in (first, last) if counts.get("attempts")]
            if len(shares) == 2:
                rows.append({"arm": name, "what": key, "first": shares[0], "last": shares[1]})
    return rows


def retry_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a table's rows: each arm before and after training, with feedback and, where measured, without."""
    rows: list[dict[str, Any]] = []
    for arm, model, record in _measured(summary):
        for key, asked in (("by_retries", "with feedback"), ("by_retries_resampled", "resampled")):
            rows += [{"arm": arm, "model": model, "asked": asked, **point} for point in record.get(key, ())]
    return rows


def feedback_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the comparisons of feedback with resampling."""
    found = _measured(summary)
    return [{"arm": arm, "model": model, **c} for arm, model, record in found for c in record.get("feedback", ())]


def _measured(summary: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for name, arm in summary["arms"].items():
        for model, place in MODELS:
            yield name, model, arm["rounds"][place]
