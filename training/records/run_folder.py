"""A run folder: its lines of rounds, its resolved configuration, and the times and memory of its stages.

No result depends on the times in `log/stage-times.jsonl`.
"""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from critics.errors import InputError, RunFailed
from training.records.store import make_folder, not_written

DERIVED = "derived.jsonl"
"""The file of a dataset folder that holds the kept derived traces, so that their certificates can be re-checked."""
REFUSED = "refused.json"
"""File in a round whose adapter is not promoted."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One arm under one seed."""

    run: Path
    arm: str
    seed: int
    path: Path
    base: Path
    """Folder with the evaluation of the model before any fine-tuning."""

    def round_folder(self, number: int) -> Path:
        """Return the folder of a round, from 0."""
        return self.path / f"round-{number:03d}"


class Provenance(TypedDict, total=False):
    """Origin of a run's numbers: configuration, code, libraries and base model (`training.rounds.run`)."""

    config: str
    config_digest: str
    commit: str | None
    versions: Mapping[str, str | None]
    seeds: list[int]
    held_out_split: str
    base: str
    base_digest: str
    inputs: Mapping[str, str]
    base_provenance: object
    name: str
    primary: str | None
    """The name and the primary metric of the run, as a report has them."""
    runs: Mapping[str, "Provenance"]
    differences: Mapping[str, list[object]]
    """Provenance of each of several runs, and keys in which their configurations differ."""
    unfinished_seeds: list[int]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Lines and rounds of a run, and its provenance."""

    path: Path
    lines: tuple[RunLine, ...]
    num_rounds: int
    provenance: Provenance


def read_run(run: Path) -> RunFolder:
    """Read `lines.json`; raises `InputError` where it is missing or not JSON."""
    if run.is_dir() and not any((run / name).exists() for name in ("lines.json", "config.yaml")):
        raise InputError(f"{run}: holds no run; name a folder that `certistar run` wrote")
    record = read_file(run / "lines.json")
    lines = tuple(RunLine(run, e["arm"], e["seed"], run / e["path"], run / e["base"]) for e in record["lines"])
    return RunFolder(run, lines, record["num_rounds"], record.get("provenance", {}))


def configuration(run: Path) -> dict[str, Any]:
    """Return the resolved configuration of a run; nothing where it has none."""
    import yaml

    path = run / "config.yaml"
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None) or {}


def filters(run: Path) -> dict[str, str]:
    """Return the filter of each arm, as the configuration has them."""
    arms = configuration(run).get("arms") or ()
    return {str(arm.get("name")): arm["keep"] for arm in arms if arm.get("keep")}


def scores_files(folder: Path) -> list[Path]:
    """Return the files of benchmarks' scores in a folder, at any depth."""
    return sorted(folder.rglob("scores.json"))


def read_file(path: Path) -> dict[str, Any]:
    """Read a file of a run folder; raises `InputError` that says what to do where it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if not path.parent.is_dir():
            raise InputError(f"{path.parent}: there is no such folder; name one that `certistar run` wrote") from None
        raise InputError(
            f"{path} is missing: the run is not finished; run `certistar run` again to finish it"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON ({error}); delete it and run `certistar run` again") from None


@contextmanager
def locked(out: Path) -> Generator[None]:
    """Hold the run folder's lock; raises `RunFailed` where another process writes there."""
    from filelock import FileLock, Timeout

    make_folder(out)
    lock = FileLock(out / ".lock", blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise RunFailed(f"{out}: another process is working in this run folder") from error
    except OSError as error:
        raise not_written(out, error) from error
    try:
        yield
    finally:
        lock.release()


FILE = "stage-times.jsonl"
STAGES: Mapping[str, tuple[str, ...]] = {
    "rollout": ("roll_out", "write_references"),
    "curation": ("curate", "tell_trackers"),
    "fine-tuning": ("fine_tune_round",),
    "evaluation": ("ask_held_out", "evaluate"),
}
"""Stages and their functions; certification goes on beside the rollout, and is in its time."""


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
