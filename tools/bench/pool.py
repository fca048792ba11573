"""Certification in processes: two workers against one."""

import random
from collections.abc import Callable
from math import ceil
from multiprocessing import get_context
from time import perf_counter
from typing import Any

from critics.judge import JudgePool, judge_record
from critics.problem import Attempt, Problem
from tools.bench.asp import program
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow

NUM_ATTEMPTS = 240
REPEATS = 5


def pool(repeats: int) -> list[BenchRow]:
    """Measure wall time over the same attempts; the pools are warm, and take turns.

    `plain_speedup_2` is what two processes gain on this machine that nobody watches: cores that share what they have
    keep both ratios from 2.
    """
    num = max(8, NUM_ATTEMPTS * min(repeats, 100) // 100)
    records = [_attempt(i).record() for i in range(num)]
    rounds = max(1, min(REPEATS, repeats))
    plain = get_context("spawn").Pool
    with JudgePool(jobs=1) as one, JudgePool(jobs=2) as two, plain(1) as alone, plain(2) as both:
        timings = [
            Timing("one", _timed(lambda: list(one.judge(records)), num)),
            Timing("two", _timed(lambda: list(two.judge(records)), num)),
            Timing("alone", _timed(lambda: alone.map(judge_record, records, num), num)),
            Timing("both", _timed(lambda: both.map(judge_record, records, ceil(num / 2)), num)),
        ]
        for timing in timings:
            timing.run()
        seconds = interleaved(timings, rounds)
    return [
        BenchRow("speedup_2", seconds["one"] / seconds["two"], "ratio", "one worker", rounds),
        BenchRow("plain_speedup_2", seconds["alone"] / seconds["both"], "ratio", "one process without a pool", rounds),
        BenchRow("attempts_per_s_2", num / seconds["two"], "1/s", None, rounds),
    ]


def _attempt(number: int) -> Attempt:
    problem = Problem(f"p{number}", "bench", "", "")
    return Attempt(f"a{number}", problem, "asp", program(random.Random(f"bench pool {number}")))


def _timed(judge_all: Callable[[], list[Any]], num: int) -> Callable[[], float]:
    def run() -> float:
        began = perf_counter()
        verdicts = judge_all()
        taken = perf_counter() - began
        assert len(verdicts) == num
        return taken

    return run
