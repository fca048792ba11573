"""Held-out measurement: accuracy, certified and lucky rates by hops, with every outcome for pairing."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from critics.problem import Problem
from rollout.policy import Policy
from rollout.problems.splits import content_key
from rollout.traces import Sampling
from rollout.worker import sample
from training.filters import is_certified, is_lucky, is_right

Judging = Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]
"""Attempts in, verdict records out, in the same order."""


def measure(
    policy: Policy,
    problems: Sequence[Problem],
    sampling: Sampling,
    judging: Judging,
    *,
    seed: int,
    format_: str,
    batch_size: int,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Sample one attempt for each problem and return a mode of evaluation.json (counts, by hops, outcomes)."""
    records: list[dict[str, Any]] = []
    for start in range(0, len(problems), batch_size):
        batch = problems[start : start + batch_size]
        records += [t.record() for t in sample(policy, batch, sampling, seed=seed, format_=format_)]
        progress(len(batch))
    for record, verdict in zip(records, judging(records), strict=True):
        record["judgement"] = verdict
    return {
        "decoding": sampling.decoding,
        "temperature": sampling.temperature,
        "seed": seed,
        **_counts(records),
        "by_hops": _by_hops(records),
        "outcomes": {
            "ids": [r["problem"]["id"] for r in records],
            "right": [int(is_right(r)) for r in records],
            "certified": [int(is_certified(r)) for r in records],
            "hops": [r["problem"]["meta"].get("hops") for r in records],
        },
    }


def problems_digest(problems: Sequence[Problem]) -> str:
    """Return one digest for a list of problems by their content."""
    return hashlib.sha256("\n".join(content_key(problem) for problem in problems).encode()).hexdigest()


def _counts(records: Sequence[dict[str, Any]]) -> dict[str, int]:
    return {
        "n": len(records),
        "right": sum(map(is_right, records)),
        "certified": sum(map(is_certified, records)),
        "lucky": sum(map(is_lucky, records)),
    }


def _by_hops(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        groups[str(record["problem"]["meta"].get("hops", "unknown"))].append(record)
    return {hops: _counts(group) for hops, group in sorted(groups.items())}
