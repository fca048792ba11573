"""Costs of attempts (requests, tokens, and money where prices are given) and of a run's stages (time and memory)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from critics.errors import InputError
from rollout.records.digests import ServerUse
from rollout.records.traces import Trace
from training.outcomes import Record, pooled
from training.records.run_folder import STAGES, read_plan, read_times

SPENT = ("requests", "prompt_tokens", "completion_tokens", "uncounted")
"""Counts: tokens of prompts to models in this process nobody counts (0); `uncounted` are replies of a server that did
not say how many tokens they are, so that tokens and cost are too low by theirs."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens, in the currency of who named it."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of a number of tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


def said_cost(cost: float) -> str:
    """Return a cost for people: two decimals, or as many as a small one needs."""
    return f"{cost:.2f}" if cost >= 1 or not cost else f"{cost:.2g}"


def priced(spent: Iterable[Record], price: Price | None) -> Record:
    """Return the sum of what was spent, with its `cost` where there is a price."""
    total: Record = pooled(spent, SPENT)
    cost = {} if price is None else {"cost": price.of(total["prompt_tokens"], total["completion_tokens"])}
    return {**total, **cost}


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


def read_prices(texts: Sequence[str], labels: Sequence[str]) -> Mapping[str, Price]:
    """Read `--price` of each model: IN:OUT for all of them, or MODEL=IN:OUT; raises `InputError`."""
    prices: dict[str, Price] = {}
    for text in texts:
        label, _, numbers = text.rpartition("=")
        found = re.fullmatch(r"(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)", numbers)
        if found is None:
            raise InputError(f"--price {text!r}: write IN:OUT or MODEL=IN:OUT, the prices of a million tokens")
        if label and label not in labels:
            raise InputError(f"--price {text!r}: {label!r} is none of the models {', '.join(labels)}")
        price = Price(float(found[1]), float(found[2]))
        prices |= {label: price} if label else {each: price for each in labels if each not in prices}
    return prices


# -- stages of a run


def times_of(run: Path) -> Record | None:
    """Return times and memory of a run whose forecast was kept (`run --dry-run --out`), by stage; None for others.

    `ratio` and `memory_ratio` are what was foretold over what was measured; bytes are those of the largest process or
    GPU. What was not foretold or measured is None.
    """
    plan, times = read_plan(run), read_times(run)
    if plan is None or not times:
        return None
    stages: list[Record] = []
    for name, parts in STAGES.items():
        planned, own = plan.stages.get(name), [each for each in times if each.stage in parts]
        foretold, memory = (planned.seconds, planned.memory_bytes or None) if planned else (None, None)
        measured = round(sum(each.seconds for each in own), 3)
        peaks = [each.peak_memory_bytes for each in own] + (_trained_peaks(run) if name == "fine-tuning" else [])
        held = max(peaks, default=0)
        stages.append({
            "stage": name,
            "predicted_s": foretold,
            "measured_s": measured,
            "predicted_bytes": memory,
            "measured_bytes": held,
            "gpu_hours": sum(each.seconds * each.gpus for each in own) / 3600,
            "ratio": foretold / measured if foretold and measured else None,
            "memory_ratio": memory / held if memory and held else None,
        })  # fmt: skip
    return {"source": plan.source, "engine": plan.engine, "device": plan.device, "stages": stages}


def _trained_peaks(run: Path) -> list[int]:
    """Return the memory of a fine-tuning's processes, which torchrun may have started."""
    found: list[int] = []
    for path in sorted((run / "log").glob("training-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a torn line
                found.append(int(json.loads(line)["peak_memory_bytes"]))
    return found


def time_lines(times: Record) -> Iterator[str]:
    """Yield lines for people."""
    yield f"predicted: {times['source']}; engine: {times['engine']}"
    for row in times["stages"]:
        parts = [f"{row['stage']}: predicted {_time(row['predicted_s'])}, measured {_time(row['measured_s'])}"]
        parts += [f"ratio {row['ratio']:.2f}"] if row["ratio"] else []
        parts += [f"{row['gpu_hours']:.2g} GPU-hours"] if row["gpu_hours"] else []
        if row["measured_bytes"]:
            parts.append(f"memory predicted {_bytes(row['predicted_bytes'])}, measured {_bytes(row['measured_bytes'])}")
        parts += [f"ratio {row['memory_ratio']:.2f}"] if row["memory_ratio"] else []
        yield "; ".join(parts)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _bytes(count: float | None) -> str:
    return "-" if count is None else f"{count / 2**30:.2f} GiB"
