"""Parameters of the cost model on this machine (docs/results/scaling), fitted to points that are measured here.

python -m tools.capacity_bench [--json]
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from critics.judge import judge_record
from rollout.decoding.rows import Request, RequestLimits
from rollout.records.sampling import ALL_OFF
from tools.bench.catalogue import DEFAULT_REPEATS, show
from tools.bench.kernel import certified_attempts
from tools.calibration import Fit, Point, fit, miss_left_out
from tools.gpu.cells import BenchRow
from tools.gpu.decoding import PADDING
from training.records.open_store import OpenStore
from training.records.store import line_of

ROWS = (1, 2, 4, 8, 16)
"""Attempts written at once."""
NUM_NEW = 32
BATCHES = (10, 30, 100, 300, 1_000)
"""Records a sync."""
NUM_RECORDS = 1_000
NUM_ATTEMPTS = 200
REPEATS = 5
_NEVER_ENDS = -1


def capacity(repeats: int) -> list[BenchRow]:
    """Measure a decoding step and its rows, a sync and its records, and a critic's seconds; medians of repeats."""
    rounds = max(1, min(REPEATS, repeats))
    attempts = _attempts(max(20, NUM_ATTEMPTS * min(repeats, 100) // 100))
    decoding, store = _decoding(rounds), _store(attempts, rounds)
    critic = _critic(attempts, rounds)
    return [
        *_rows("decoding", ("step_ms", "row_ms"), 1e3, "ms", decoding, rounds),
        *_rows("store", ("sync_ms", "record_ms"), 1e3, "ms", store, rounds),
        BenchRow("critic_ms", statistics.fmean(critic) * 1e3, "ms", None, len(critic)),
        BenchRow("critic_spread", statistics.stdev(map(log, critic)), "log", None, len(critic)),
        BenchRow(
            "trace_bytes", statistics.fmean(len(line_of(record)) for record in attempts), "B", None, len(attempts)
        ),
    ]


def _rows(name: str, costs: Sequence[str], scale: float, unit: str, points: list[Point], rounds: int) -> list[BenchRow]:
    found: Fit = fit(points)
    named = zip(costs, found.costs, strict=True)
    missed = BenchRow(
        f"{name}_miss", miss_left_out(points), "share", "the worst point, by a fit of the others", len(points)
    )
    return [*(BenchRow(f"{name}_{cost}", value * scale, unit, None, rounds) for cost, value in named), missed]


def _decoding(rounds: int) -> list[Point]:
    """CPU seconds of the loop for several batch sizes: passes, and rows of passes."""
    import torch

    from tools.bench.decoding import random_llama
    from tools.gpu.decoding import OpeningEngine, vocabulary

    torch.set_num_threads(1)
    size = 4_000
    model, engine = random_llama(size), OpeningEngine(vocabulary(size))
    runs = {rows: partial(_decode, model, engine, rows) for rows in ROWS}
    seconds = _medians(runs, rounds)
    return [Point((NUM_NEW, NUM_NEW * rows), seconds[rows]) for rows in ROWS]


def _decode(model: Any, engine: Any, rows: int) -> float:
    from rollout.decoding.sampling import DecodingLoop

    requests = [Request([2 + row] * 32, row, None) for row in range(rows)]
    loop = DecodingLoop(model, engine, RequestLimits(1.0, NUM_NEW, _NEVER_ENDS, PADDING), ALL_OFF)
    began = process_time()
    loop.run(requests, rows)
    return process_time() - began


def _store(records: list[dict[str, Any]], rounds: int) -> list[Point]:
    """Wall seconds of appending, for several batch sizes: syncs, and records."""
    written = [records[i % len(records)] | {"id": f"r{i}"} for i in range(NUM_RECORDS)]
    seconds = _medians({size: partial(_append, written, size) for size in BATCHES}, rounds)
    return [Point((-(-NUM_RECORDS // size), NUM_RECORDS), seconds[size]) for size in BATCHES]


def _append(records: list[dict[str, Any]], size: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        opened = OpenStore(Path(folder) / "traces.open.jsonl")
        os.sync()
        began = perf_counter()
        for start in range(0, len(records), size):
            opened.append(records[start : start + size])
        return perf_counter() - began


def _critic(records: list[dict[str, Any]], rounds: int) -> list[float]:
    """CPU seconds of judging each attempt."""
    times: list[list[float]] = [[] for _ in records]
    for _ in range(rounds):
        for taken, record in zip(times, records, strict=True):
            began = process_time()
            verdict = judge_record(record)
            taken.append(process_time() - began)
            assert verdict["verdict"] == "certified"
    return [statistics.median(taken) for taken in times]


def _attempts(num: int) -> list[dict[str, Any]]:
    """Return reference attempts at PrOntoQA problems of five hops."""
    attempts = [attempt for attempt, _ in certified_attempts(num)]
    return [
        {"id": a.id, "problem": a.problem.record(), "format": a.format, "completion": a.completion} for a in attempts
    ]


def _medians(runs: dict[int, Callable[[], float]], rounds: int) -> dict[int, float]:
    """Return the median of each, after one that is not counted, in turns."""
    for run in runs.values():
        run()
    taken = {key: [] for key in runs}
    for _ in range(rounds):
        for key, run in runs.items():
            taken[key].append(run())
    return {key: statistics.median(seconds) for key, seconds in taken.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Fit the cost model to this machine.")
    parser.add_argument("--json", action="store_true")
    show("capacity", capacity(DEFAULT_REPEATS), parser.parse_args().json, repeats=DEFAULT_REPEATS)


if __name__ == "__main__":
    main()
