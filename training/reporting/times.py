"""Times and memory of a run's stages: what was foretold beside what was measured."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from training.outcomes import Record
from training.records.stage_times import STAGES, Plan, StageTime, read_plan, read_times


def times_of(run: Path) -> Record | None:
    """Return times and memory of a run whose forecast was kept (`run --dry-run --out`), by stage; None for others.

    `ratio` and `memory_ratio` are what was foretold over what was measured; bytes are those of the largest process or
    GPU. What was not foretold or measured is None.
    """
    plan, times = read_plan(run), read_times(run)
    if plan is None or not times:
        return None
    found = [_figures(run, name, plan, [each for each in times if each.stage in STAGES[name]]) for name in STAGES]
    return {"source": plan.source, "engine": plan.engine, "device": plan.device, "stages": found}


def _figures(run: Path, name: str, plan: Plan, times: Sequence[StageTime]) -> Record:
    planned = plan.stages.get(name)
    peak = max((each.peak_memory_bytes for each in times), default=0)
    foretold, memory = (planned.seconds, planned.memory_bytes or None) if planned else (None, None)
    measured = round(sum(each.seconds for each in times), 3)
    held = max(peak, _trained_peak(run)) if name == "fine-tuning" else peak
    return {
        "stage": name,
        "predicted_s": foretold,
        "measured_s": measured,
        "predicted_bytes": memory,
        "measured_bytes": held,
        "gpu_hours": sum(each.seconds * each.gpus for each in times) / 3600,
        "ratio": foretold / measured if foretold and measured else None,
        "memory_ratio": memory / held if memory and held else None,
    }


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


def _trained_peak(run: Path) -> int:
    """Return the most that a fine-tuning's processes took, which torchrun may have started."""
    return max(_peaks(run / "log"), default=0)


def _peaks(log: Path) -> Iterator[int]:
    for path in sorted(log.glob("training-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a torn line, or an older one
                yield int(json.loads(line)["peak_memory_bytes"])


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _bytes(count: float | None) -> str:
    return "-" if count is None else f"{count / 2**30:.2f} GiB"
