"""Benchmarks: medians of interleaved repeats on natural inputs, baselines measured in the same run."""

import json
import os
import platform
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from critics.errors import InputError
from tools.bench.asp import asp
from tools.bench.decoding import decoding
from tools.bench.equivalence import equivalence
from tools.bench.kernel import kernel
from tools.bench.memory import memory
from tools.bench.pool import pool
from tools.bench.programs import programs
from tools.bench.real import real
from tools.bench.store import store
from tools.bench.training import training
from tools.gpu.cells import BenchRow

DEFAULT_REPEATS = 100


def bench(name: str, as_json: bool, *, repeats: int = DEFAULT_REPEATS) -> None:
    """Measure and print; raises `InputError` where there is no bench of that name."""
    if name not in BENCHES:
        raise InputError(f"bench {name!r}: must be one of {', '.join(BENCHES)}")
    show(name, BENCHES[name](repeats), as_json, repeats=repeats)


def show(name: str, rows: Sequence[BenchRow], as_json: bool, *, repeats: int) -> None:
    """Print what was measured, for people or as JSON with its provenance."""
    if as_json:
        shown = [asdict(row) | {"value": float(f"{row.value:.4g}")} for row in rows]
        print(json.dumps({"bench": name, "rows": shown, "provenance": provenance(repeats)}))
        return
    for row in rows:
        against = f"  against {row.baseline}" if row.baseline else ""
        print(f"{row.name:<24} {row.value:>10.4g} {row.unit:<6} n={row.n}{against}")


def provenance(repeats: int) -> dict[str, Any]:
    """Return what the numbers come from: code, machine, repeats, and the process's peak memory."""
    from training.rounds.run import commit

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "repeats": repeats,
        "seed": 0,
        "peak_memory_mib": round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1),
    }


BENCHES: dict[str, Callable[[int], list[BenchRow]]] = {
    "asp": asp,
    "decoding": decoding,
    "equivalence": equivalence,
    "kernel": kernel,
    "memory": memory,
    "pool": pool,
    "programs": programs,
    "real": real,
    "store": store,
    "training": training,
}
