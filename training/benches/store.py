"""The trace store: records a second, synced to the disk and not; opened and read with their checksums; packed."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from training.benches.timing import Row, Timing, interleaved
from training.records.shards import pack
from training.records.store import OpenStore, line_of, read_records

NUM_RECORDS = 5_000
BATCH = 100
REPEATS = 5


def store(repeats: int) -> list[Row]:
    """Measure appending in batches of 100, each on the disk when the call returns, against appending without."""
    num = max(BATCH, NUM_RECORDS * min(repeats, 100) // 100)
    records = [_record(i) for i in range(num)]
    rounds = max(1, min(REPEATS, repeats))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.open.jsonl"
        timings = [
            Timing("synced", lambda: _fresh(path, lambda: _append(path, records))),
            Timing("unsynced", lambda: _fresh(path, lambda: _write(path, records))),
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
    return [
        Row("records_per_s", num / seconds["synced"], "1/s", None, rounds),
        Row("records_per_s_unsynced", num / seconds["unsynced"], "1/s", None, rounds),
        Row("sync_ratio", seconds["synced"] / seconds["unsynced"], "ratio", "the same lines without fsync", rounds),
        Row("read_records_per_s", num / seconds["read"], "1/s", None, rounds),
        Row("open_records_per_s", num / seconds["open"], "1/s", None, rounds),
        Row("bytes_per_record", size / num, "B", None, num),
        Row("pack_records_per_s", num / seconds["pack"], "1/s", None, 1),
        Row("packed_share", packed.packed_bytes / packed.plain_bytes, "ratio", "the plain file", num),
    ]


def _record(number: int) -> dict[str, Any]:
    """Return a record of a trace's size."""
    context = f"Every wumpus is a tumpus. Rex is wumpus number {number}. " * 6
    problem = {"id": f"p{number}", "context": context, "question": "True or false: Rex is a tumpus?", "answer": "true"}
    return {
        "id": f"p{number}#0",
        "problem": problem,
        "format": "guided",
        "completion": "[[infer:(tumpus rex)]] " * 12,
        "completion_ids": [(number * 31 + i) % 4096 for i in range(150)],
        "sample": 0,
    }


def _go_through(path: Path) -> None:
    for _ in read_records(path, checksum=True):
        pass


def _append(path: Path, records: list[dict[str, Any]]) -> None:
    opened = OpenStore(path)
    for start in range(0, len(records), BATCH):
        opened.append(records[start : start + BATCH])


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("ab") as file:
        for start in range(0, len(records), BATCH):
            file.write("".join(line_of(record) for record in records[start : start + BATCH]).encode())
            file.flush()


def _fresh(path: Path, act: Callable[[], object]) -> float:
    path.unlink(missing_ok=True)
    os.sync()
    return _timed(act)


def _timed(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return perf_counter() - began
