"""Times and memory of a run's stages: what was foretold beside what was measured."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from training.records.stage_times import STAGES, Plan, StageTime, read_plan, read_times


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One stage over all lines; bytes are those of its largest process or GPU."""

    stage: str
    predicted_s: float | None
    """None: not foretold."""
    measured_s: float
    predicted_bytes: float | None
    measured_bytes: int
    gpu_hours: float
    """Measured; 0 without GPUs."""

    @property
    def ratio(self) -> float | None:
        """Predicted over measured time."""
        return self.predicted_s / self.measured_s if self.predicted_s and self.measured_s else None

    @property
    def memory_ratio(self) -> float | None:
        """Predicted over measured memory."""
        return self.predicted_bytes / self.measured_bytes if self.predicted_bytes and self.measured_bytes else None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        own = {name: getattr(self, name) for name in self.__slots__}
        return {**own, "ratio": self.ratio, "memory_ratio": self.memory_ratio}

    def line(self) -> str:
        """Return a line for people."""
        parts = [f"{self.stage}: predicted {_time(self.predicted_s)}, measured {_time(self.measured_s)}"]
        parts += [f"ratio {self.ratio:.2f}"] if self.ratio else []
        parts += [f"{self.gpu_hours:.2g} GPU-hours"] if self.gpu_hours else []
        if self.measured_bytes:
            parts.append(f"memory predicted {_bytes(self.predicted_bytes)}, measured {_bytes(self.measured_bytes)}")
        parts += [f"ratio {self.memory_ratio:.2f}"] if self.memory_ratio else []
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class RunTimes:
    """All stages of a run, and where the forecast came from."""

    source: str
    engine: str
    device: str
    stages: Sequence[StageFigures]

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        named: dict[str, object] = {"source": self.source, "engine": self.engine, "device": self.device}
        return {**named, "stages": [stage.record() for stage in self.stages]}

    def lines(self) -> list[str]:
        """Return lines for people."""
        return [f"predicted: {self.source}; engine: {self.engine}", *(stage.line() for stage in self.stages)]


def times_of(run: Path) -> RunTimes | None:
    """Return the figures of a run whose forecast was kept (`run --dry-run --out`); None for others."""
    plan, times = read_plan(run), read_times(run)
    if plan is None or not times:
        return None
    found = [_figures(run, name, plan, [each for each in times if each.stage in STAGES[name]]) for name in STAGES]
    return RunTimes(plan.source, plan.engine, plan.device, found)


def _figures(run: Path, name: str, plan: Plan, times: Sequence[StageTime]) -> StageFigures:
    planned = plan.stages.get(name)
    peak = max((each.peak_memory_bytes for each in times), default=0)
    return StageFigures(
        name,
        None if planned is None else planned.seconds,
        round(sum(each.seconds for each in times), 3),
        planned.memory_bytes or None if planned else None,
        max(peak, _trained_peak(run)) if name == "fine-tuning" else peak,
        sum(each.seconds * each.gpus for each in times) / 3600,
    )


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
