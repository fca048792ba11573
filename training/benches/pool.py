"""Certification in processes: two workers against one."""

import random
from collections.abc import Callable, Iterable
from math import ceil
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from critics.judge import JudgePool, judge_record
from training.benches.asp import program
from training.benches.timing import Row, Timing, interleaved

NUM_ATTEMPTS = 240
REPEATS = 5


def pool(repeats: int) -> list[Row]:
    """Measure wall time over the same attempts; the pools are warm, and take turns.

    `plain_speedup_2` is what two processes gain on this machine that nobody watches: cores that share what they have
    keep both ratios from 2.
    """
    num = max(8, NUM_ATTEMPTS * min(repeats, 100) // 100)
    records = [_attempt(i) for i in range(num)]
    rounds = max(1, min(REPEATS, repeats))
    plain = get_context("spawn").Pool
    with JudgePool(jobs=1) as one, JudgePool(jobs=2) as two, plain(1) as alone, plain(2) as both:
        timings = [
            *(Timing(name, _timed(workers.judge, records)) for name, workers in (("one", one), ("two", two))),
            Timing("alone", _timed(lambda listed: alone.map(judge_record, listed, num), records)),
            Timing("both", _timed(lambda listed: both.map(judge_record, listed, ceil(num / 2)), records)),
        ]
        for timing in timings:
            timing.run()
        seconds = interleaved(timings, rounds)
    return [
        Row("speedup_2", seconds["one"] / seconds["two"], "ratio", "one worker", rounds),
        Row("plain_speedup_2", seconds["alone"] / seconds["both"], "ratio", "one process without a pool", rounds),
        Row("attempts_per_s_2", num / seconds["two"], "1/s", None, rounds),
    ]


def _attempt(number: int) -> dict[str, Any]:
    problem = {"id": f"p{number}", "dataset": "bench", "context": "", "question": "", "options": None, "answer": None}
    return {
        "id": f"a{number}",
        "problem": {**problem, "formal": None, "meta": {}},
        "format": "asp",
        "completion": program(random.Random(f"bench pool {number}")),
    }


def _timed(
    judging: Callable[[list[dict[str, Any]]], Iterable[dict[str, Any]]], records: list[dict[str, Any]]
) -> Callable[[], float]:
    def run() -> float:
        began = perf_counter()
        verdicts = list(judging(records))
        taken = perf_counter() - began
        assert len(verdicts) == len(records)
        return taken

    return run
