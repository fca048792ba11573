"""The trace store: records a second, synced to the disk and not; opened and read with their checksums; packed."""

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from critics.problem import Problem
from rollout.records.traces import Trace
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow
from training.records.open_store import OpenStore
from training.records.store import line_of, pack, read_records

NUM_RECORDS = 5_000
BATCH = 100
REPEATS = 5


def store(repeats: int) -> list[BenchRow]:
    """Measure appending in batches of 100, each on the disk when the call returns, against appending without."""
    num = max(BATCH, NUM_RECORDS * min(repeats, 100) // 100)
    records = [_trace(i).record() for i in range(num)]
    batches = [records[start : start + BATCH] for start in range(0, num, BATCH)]
    rounds = max(1, min(REPEATS, repeats))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.open.jsonl"
        timings = [
            Timing("synced", lambda: _fresh(path, lambda: _append(path, batches))),
            Timing("unsynced", lambda: _fresh(path, lambda: _write(path, batches))),
        ]
        seconds = interleaved(timings, rounds)
        reading = [
            Timing("read", lambda: _timed(lambda: _go_through(path))),
            Timing("open", lambda: _timed(lambda: OpenStore(path))),
        ]
        seconds |= interleaved(reading, rounds)
        size = path.stat().st_size
        began = perf_counter()
        packed = pack(path)
        seconds["pack"] = perf_counter() - began
        packed_size = packed.stat().st_size
    return [
        BenchRow("records_per_s", num / seconds["synced"], "1/s", None, rounds),
        BenchRow("records_per_s_unsynced", num / seconds["unsynced"], "1/s", None, rounds),
        BenchRow(
            "sync_ratio", seconds["synced"] / seconds["unsynced"], "ratio", "the same lines without fsync", rounds
        ),
        BenchRow("read_records_per_s", num / seconds["read"], "1/s", None, rounds),
        BenchRow("open_records_per_s", num / seconds["open"], "1/s", None, rounds),
        BenchRow("bytes_per_record", size / num, "B", None, num),
        BenchRow("pack_records_per_s", num / seconds["pack"], "1/s", None, 1),
        BenchRow("packed_share", packed_size / size, "ratio", "the plain file", num),
    ]


def _trace(number: int) -> Trace:
    context = f"Every wumpus is a tumpus. Rex is wumpus number {number}. " * 6
    problem = Problem(f"p{number}", "bench", context, "True or false: Rex is a tumpus?", answer="true")
    ids = tuple((number * 31 + i) % 4096 for i in range(150))
    return Trace(f"p{number}#0", problem, "guided", "[[infer:(tumpus rex)]] " * 12, completion_ids=ids)


def _go_through(path: Path) -> None:
    for _ in read_records(path, checksum=True):
        pass


def _append(path: Path, batches: Iterable[list[Any]]) -> None:
    opened = OpenStore(path)
    for batch in batches:
        opened.append(batch)


def _write(path: Path, batches: Iterable[list[Any]]) -> None:
    with path.open("ab") as file:
        for batch in batches:
            file.write("".join(map(line_of, batch)).encode())
            file.flush()


def _fresh(path: Path, act: Callable[[], object]) -> float:
    path.unlink(missing_ok=True)
    os.sync()
    return _timed(act)


def _timed(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began
