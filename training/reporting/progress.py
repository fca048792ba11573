"""How far a run is, read from its folder alone: lines, stages, verdicts so far and the last attempt.

Whoever can read the folder can look: the terminal that started the run, `certistar view`, or another machine. Files
that are being written are read as far as they go; nothing here writes.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.records.store import fits, is_stored
from training.reporting.results import read
from training.watchdog import SUFFIX, base_name, line_name

TAIL_BYTES = 256_000
"""Read from the end of a growing file to find its last record."""
DONE = "done"


@dataclass(frozen=True, slots=True)
class LineProgress:
    """One arm under one seed."""

    arm: str
    seed: int
    rounds_done: int
    num_rounds: int
    stage: str
    """What it works on or waits with; `done` after its last round."""
    done: int = 0
    total: int | None = None
    """Of the stage, where it is being worked on."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """Of all finished rollouts."""
    accuracy: float | None = None
    certified: float | None = None
    """Held out, of the last evaluation; None before the first."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RunProgress:
    """All lines of a run, and the attempt that was judged last."""

    name: str
    lines: tuple[LineProgress, ...]
    last: Mapping[str, Any] | None

    @property
    def is_finished(self) -> bool:
        """Whether every line is done."""
        return all(line.stage == DONE for line in self.lines)

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"name": self.name, "lines": [line.record() for line in self.lines], "last": self.last}


def progress_of(run: Path) -> RunProgress:
    """Look into a run folder; raises InputError where it is none."""
    layout = read(run / "lines.json")
    beats = _heartbeats(run / "log")
    lines = tuple(_line(run, entry, layout["num_rounds"], beats) for entry in layout["lines"])
    return RunProgress(run.resolve().name, lines, _last_attempt(run, layout))


def _line(run: Path, entry: Mapping[str, Any], num_rounds: int, beats: Mapping[str, Mapping[str, Any]]) -> LineProgress:
    base, rounds = run / entry["base"], [run / entry["path"] / f"round-{r:03d}" for r in range(num_rounds)]
    finished = [folder for folder in rounds if (folder / "evaluation.json").exists()]
    verdicts: Counter[str] = Counter()
    for folder in rounds:
        verdicts.update(_read_or_nothing(folder / "dataset" / "summary.json").get("verdicts") or {})
    beat = beats.get(_beaten_by(entry, base), {})
    stage = DONE if len(finished) == num_rounds else _stage(base, rounds[len(finished)], beat)
    mode = _read_or_nothing((finished or [base])[-1] / "evaluation.json").get("modes", {}).get("sampled", {})
    n = mode.get("n") or 0
    return LineProgress(
        arm=entry["arm"],
        seed=entry["seed"],
        rounds_done=len(finished),
        num_rounds=num_rounds,
        stage=stage,
        done=int(beat.get("done") or 0),
        total=beat.get("total"),
        verdicts=dict(sorted(verdicts.items())),
        accuracy=mode["right"] / n if n else None,
        certified=mode["certified"] / n if n else None,
    )


def _beaten_by(entry: Mapping[str, Any], base: Path) -> str:
    """Return whose heartbeat tells of a line: its base model's until that is measured."""
    is_measured = (base / "evaluation.json").exists()
    return line_name(entry["arm"], entry["seed"]) if is_measured else base_name(entry["base"])


def _stage(base: Path, folder: Path, beat: Mapping[str, Any]) -> str:
    """Return what is worked on: the heartbeat knows best, else the first file that is missing tells."""
    measured = (base / "evaluation.json").exists()
    if beat.get("stage"):
        return str(beat["stage"]) if measured else f"base model: {beat['stage']}"
    if not measured:
        return "waiting for its base model"
    if (folder / "adapter").exists():
        return "before evaluation"
    if (folder / "dataset" / "summary.json").exists():
        return "before training"
    return "before curating" if is_stored(folder / "traces.jsonl") else "waiting"


def _heartbeats(log: Path) -> dict[str, dict[str, Any]]:
    return {path.name.removesuffix(SUFFIX): _read_or_nothing(path) for path in log.glob(f"*{SUFFIX}")}


def _read_or_nothing(path: Path) -> dict[str, Any]:
    """Return a file's record; nothing where it is not there, or going away."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _last_attempt(run: Path, layout: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what was written last in an open store of attempts, with its verdict if it has one by now."""
    opened = [path for e in layout["lines"] for path in (run / e["path"]).glob("round-*/traces.open.jsonl")]
    for path in sorted(opened, key=_modified, reverse=True):
        attempt = _tail(path)
        if attempt is not None and "problem" in attempt:
            verdict = (_tail(path.with_name("verdicts.open.jsonl"), attempt.get("id")) or {}).get("judgement") or {}
            messages = attempt.get("messages") or [{}]
            return {
                "id": str(attempt.get("id")),
                "question": str(attempt["problem"].get("question", "")),
                "text": str(attempt.get("completion", messages[-1].get("content", "")))[-600:],
                "verdict": verdict.get("verdict"),
                "reason": verdict.get("reason"),
            }
    return None


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _tail(path: Path, wanted: object = None) -> dict[str, Any] | None:
    """Return the last whole record near the end of a growing file, or there the last with an id."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        if fits(line):
            record = json.loads(line)
            if wanted is None or record.get("id") == wanted:
                return record
    return None
