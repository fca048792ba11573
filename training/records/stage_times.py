"""Times and memory of a run's stages: as planned in `log/plan.json`, as measured in `log/stage-times.jsonl`.

No result depends on either.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter

from training.records.store import write_json

FILE, PLAN = "stage-times.jsonl", "plan.json"
STAGES: Mapping[str, tuple[str, ...]] = {
    "rollout": ("roll_out", "write_references"),
    "curation": ("curate", "tell_trackers"),
    "fine-tuning": ("fine_tune_round",),
    "evaluation": ("ask_held_out", "evaluate"),
}
"""Stages as a plan names them, and their functions; certification goes on beside the rollout, and is in its time."""


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """Time and memory of a stage over all lines, one line at a time."""

    seconds: float
    gpu_hours: float
    """Hours of the GPUs that a line holds meanwhile; 0 without GPUs."""
    memory_bytes: float = 0.0
    """Memory of its largest process or GPU; 0: not planned."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Forecast of a run."""

    stages: Mapping[str, PlannedStage]
    at_once: int
    """Lines worked on at a time."""
    device: str
    engine: str
    source: str
    """Origin of the speeds."""

    @property
    def wall_s(self) -> float:
        """Seconds from start to end."""
        return sum(stage.seconds for stage in self.stages.values()) / self.at_once

    @property
    def gpu_hours(self) -> float:
        """GPU-hours of all stages."""
        return sum(stage.gpu_hours for stage in self.stages.values())


@dataclass(frozen=True, slots=True)
class StageTime:
    """One stage of a line, from the start of its processes to their end."""

    line: str
    stage: str
    """The stage's function."""
    seconds: float
    processes: int
    gpus: int
    """Number of GPUs of the line, which holds them all."""
    peak_memory_bytes: int
    """Peak memory of the process that took most, `training.hardware.peak_memory`."""


def add_time(run: Path, time: StageTime) -> None:
    """Append a time; a disk that fails is passed over."""
    with suppress(OSError):
        (run / "log").mkdir(parents=True, exist_ok=True)
        with (run / "log" / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(time)) + "\n")


def read_times(run: Path) -> list[StageTime]:
    """Return the times of a run, over all commands that worked on it; torn lines are passed over."""
    path = run / "log" / FILE
    found: list[StageTime] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        with suppress(ValueError, TypeError):
            found.append(StageTime(**json.loads(line)))
    return found


def write_plan(run: Path, plan: Plan) -> None:
    """Keep a run's plan."""
    write_json(run / "log" / PLAN, asdict(plan))


def read_plan(run: Path) -> Plan | None:
    """Return a run's plan; None where it was not kept, or not in this form."""
    path = run / "log" / PLAN
    try:
        return TypeAdapter(Plan).validate_json(path.read_bytes()) if path.exists() else None
    except ValueError:
        return None
