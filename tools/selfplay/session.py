"""A session of the search over all formats, for a time or a number of iterations, in processes that can be killed.

python -m tools.selfplay.session [--seconds 600 | --iterations N] [--format F]... [--seed 0] [--out FILE] [--jobs N]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool
from tools.selfplay.search import BATCH, Search, advance, begin, tallies, try_record
from tools.selfplay.seeds import formats
from training.records.store import write_records

Record = dict[str, Any]
TURN_S = 5.0
FIRST = 5
"""Attempts of a format's first turn, when nobody knows how long its critic takes."""


def self_play(
    wanted: Sequence[str],
    *,
    seed: int,
    seconds: float | None,
    iterations: int | None,
    jobs: int,
    timeout_s: float,
    out: Path | None,
    said: Callable[[str], None],
) -> tuple[list[Record], list[Record]]:
    """Search, and return the tally of every format and what was found; findings are written as they come.

    With `iterations`, so many a format, and the same again for the same seed; else `seconds` in all, of which every
    format gets its share.
    """
    unknown = [name for name in wanted if name not in formats()]
    if unknown:
        raise InputError(f"--format: there are no seeds for {unknown[0]!r}; these have some: {', '.join(formats())}")
    searches = [begin(name, seed) for name in wanted or formats()]
    found: list[Record] = []
    with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=try_record) as pool:
        turns = _in_turn(searches, iterations) if seconds is None else _by_time(searches, seconds)
        for search, num in turns:
            for finding in advance(search, pool.judge, num):
                found.append(finding)
                said(f"{finding['finding']}: {finding['attempt']['id']}: {finding['verdict']['answer']}")
                if out is not None:
                    write_records(out, found)
    return tallies(searches), found


def _in_turn(searches: Sequence[Search], iterations: int | None) -> Iterator[tuple[Search, int]]:
    for search in searches:
        left = BATCH if iterations is None else iterations
        while left > 0:
            yield search, min(BATCH, left)
            left -= BATCH


def _by_time(searches: Sequence[Search], seconds: float) -> Iterator[tuple[Search, int]]:
    """Yield the search that had the least time so far, until the time is over; a turn takes a few seconds."""
    used = dict.fromkeys(range(len(searches)), 0.0)
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        place = min(used, key=lambda one: (used[one], one))
        done = searches[place].tally.iterations
        rate = done / used[place] if done else FIRST / TURN_S
        yield searches[place], max(1, min(BATCH, int(rate * min(TURN_S, end - now))))
        used[place] += time.monotonic() - now


def main() -> int:
    """Print the tally of each format; return 1 where a cheat was certified."""
    parser = argparse.ArgumentParser(description="Search for attempts that our critics wrongly certify.")
    parser.add_argument("--format", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    tallies_, found = self_play(
        asked.format,
        seed=asked.seed,
        seconds=None if asked.iterations is not None else asked.seconds,
        iterations=asked.iterations,
        jobs=asked.jobs,
        timeout_s=asked.timeout,
        out=asked.out,
        said=lambda told: print(told, file=sys.stderr),
    )
    for tally in tallies_:
        print(json.dumps(tally))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
