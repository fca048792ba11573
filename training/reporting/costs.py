"""Costs of attempts (requests, tokens, and money where prices are given) and of a run's stages (time and memory)."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rollout.records.digests import ServerUse
from rollout.records.traces import Trace
from training.outcomes import Record, pooled
from training.records.run_folder import STAGES, read_times

SPENT = ("requests", "prompt_tokens", "completion_tokens", "uncounted")
"""Counts: tokens of prompts to models in this process nobody counts (0); `uncounted` are replies of a server that did
not say how many tokens they are, so that tokens and cost are too low by theirs."""


def spent_on(traces: Iterable[Trace]) -> Record:
    """Return the requests and tokens of attempts, whenever they were made."""
    found: list[Record] = []
    for trace in traces:
        uses: list[ServerUse | None] = [getattr(each, "server", None) for each in (trace, *trace.steps)]
        total = spent_in(use for use in uses if use is not None)
        total["requests"] = total["requests"] or max(1, len(trace.steps))
        total["completion_tokens"] = total["completion_tokens"] or trace.num_tokens
        found.append(total)
    return pooled(found, SPENT)


def spent_in(uses: Iterable[ServerUse | None]) -> Record:
    """Return the cost of replies that are not attempts; None: a model in this process, whose tokens are not counted."""
    keys = ("calls", "prompt_tokens", "completion_tokens", "uncounted")
    told = (use or ServerUse(calls=1) for use in uses)
    return pooled((dict(zip(SPENT, (use.get(key, 0) for key in keys), strict=True)) for use in told), SPENT)


def time_lines(run: Path) -> Iterator[str]:
    """Yield time, GPU-hours and memory of a run's stages for people; memory is that of the largest process or GPU."""
    times = read_times(run)
    for name, parts in STAGES.items() if times else ():
        own = [each for each in times if each.stage in parts]
        peaks = [each.peak_memory_bytes for each in own] + (_trained_peaks(run) if name == "fine-tuning" else [])
        said = [f"{name}: {_time(sum(each.seconds for each in own))}"]
        hours = sum(each.seconds * each.gpus for each in own) / 3600
        said += [f"{hours:.2g} GPU-hours"] if hours else []
        said += [f"{most / 2**30:.2f} GiB"] if (most := max(peaks, default=0)) else []
        yield ", ".join(said)


def _trained_peaks(run: Path) -> list[int]:
    """Return the memory of a fine-tuning's processes, which torchrun may have started."""
    found: list[int] = []
    for path in sorted((run / "log").glob("training-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a torn line
                found.append(int(json.loads(line)["peak_memory_bytes"]))
    return found


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
