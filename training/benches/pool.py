"""Certification in processes: two workers against one."""

import random
from collections.abc import Callable
from time import perf_counter
from typing import Any

from critics.judge import JudgePool
from training.benches.asp import program
from training.benches.timing import Row, Timing, interleaved

NUM_ATTEMPTS = 240
REPEATS = 5


def pool(repeats: int) -> list[Row]:
    """Measure wall time over the same attempts; the pools are warm, and take turns."""
    num = max(8, NUM_ATTEMPTS * min(repeats, 100) // 100)
    records = [_attempt(i) for i in range(num)]
    rounds = max(1, min(REPEATS, repeats))
    with JudgePool(jobs=1) as one, JudgePool(jobs=2) as two:
        timings = [Timing("one", _timed(one, records)), Timing("two", _timed(two, records))]
        for timing in timings:
            timing.run()
        seconds = interleaved(timings, rounds)
    return [
        Row("speedup_2", seconds["one"] / seconds["two"], "ratio", "one worker", rounds),
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


def _timed(workers: JudgePool, records: list[dict[str, Any]]) -> Callable[[], float]:
    def run() -> float:
        began = perf_counter()
        verdicts = list(workers.judge(records))
        taken = perf_counter() - began
        assert len(verdicts) == len(records)
        return taken

    return run
