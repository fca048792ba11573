"""Progress of a run, read from its folder alone: lines, stages, verdicts so far and the last attempt.

Anyone who can read the folder can look: the terminal that started the run, `certistar view`, or another machine. Files
that are being written are read as far as they go; nothing here writes.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from training.records.run_folder import RunFolder, RunLine, read_run
from training.records.store import fits, is_stored
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
    verdicts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of all finished rollouts."""
    accuracy: float | None = None
    certified: float | None = None
    """Held out, of the last evaluation; None before the first."""


@dataclass(frozen=True, slots=True)
class LastAttempt:
    """The attempt that was written last, and its verdict if it has one by now."""

    id: str
    question: str
    text: str
    verdict: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RunProgress:
    """All lines of a run, and the attempt that was judged last."""

    name: str
    lines: tuple[LineProgress, ...]
    last: LastAttempt | None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Beat:
    """Heartbeat of a line: the stage at work, and how far it is."""

    stage: str | None = None
    done: int = 0
    total: int | None = None


def progress_of(run: Path) -> RunProgress:
    """Read the progress of a run folder; raises InputError where it is not one."""
    layout = read_run(run)
    beats = _heartbeats(run / "log")
    lines = tuple(_line(layout, line, beats) for line in layout.lines)
    return RunProgress(run.resolve().name, lines, _last_attempt(layout))


def _line(layout: RunFolder, line: RunLine, beats: Mapping[str, _Beat]) -> LineProgress:
    rounds = [line.round_folder(number) for number in range(layout.num_rounds)]
    finished = [folder for folder in rounds if (folder / "evaluation.json").exists()]
    verdicts: Counter[str] = Counter()
    for folder in rounds:
        verdicts.update(_read_or_nothing(folder / "dataset" / "summary.json").get("verdicts") or {})
    beat = beats.get(_beaten_by(layout, line), _Beat())
    mode = _read_or_nothing((finished or [line.base])[-1] / "evaluation.json").get("modes", {}).get("sampled", {})
    n = mode.get("n") or 0
    return LineProgress(
        arm=line.arm,
        seed=line.seed,
        rounds_done=len(finished),
        num_rounds=layout.num_rounds,
        stage=DONE if len(finished) == layout.num_rounds else _stage(line.base, rounds[len(finished)], beat),
        done=beat.done,
        total=beat.total,
        verdicts=dict(sorted(verdicts.items())),
        accuracy=mode["right"] / n if n else None,
        certified=mode["certified"] / n if n else None,
    )


def _beaten_by(layout: RunFolder, line: RunLine) -> str:
    """Return whose heartbeat tells of a line: its base model's until that is measured."""
    if (line.base / "evaluation.json").exists():
        return line_name(line.arm, line.seed)
    return base_name(line.base.relative_to(layout.path).as_posix())


def _stage(base: Path, folder: Path, beat: _Beat) -> str:
    """Return what is worked on: the heartbeat knows best, else the first file that is missing tells."""
    measured = (base / "evaluation.json").exists()
    if beat.stage:
        return beat.stage if measured else f"base model: {beat.stage}"
    if not measured:
        return "waiting for its base model"
    if (folder / "adapter").exists():
        return "before evaluation"
    if (folder / "dataset" / "summary.json").exists():
        return "before training"
    return "before curating" if is_stored(folder / "traces.jsonl") else "waiting"


def _heartbeats(log: Path) -> dict[str, _Beat]:
    beats: dict[str, _Beat] = {}
    for path in log.glob(f"*{SUFFIX}"):
        told = _read_or_nothing(path)
        stage = told.get("stage")
        beat = _Beat(None if stage is None else str(stage), int(told.get("done") or 0), told.get("total"))
        beats[path.name.removesuffix(SUFFIX)] = beat
    return beats


def _read_or_nothing(path: Path) -> dict[str, Any]:
    """Return a file's record; nothing where it is not there, or going away."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", record) if isinstance(record, dict) else {}


def _last_attempt(layout: RunFolder) -> LastAttempt | None:
    """Return what was written last in an open store of attempts."""
    opened = [path for line in layout.lines for path in line.path.glob("round-*/traces.open.jsonl")]
    for path in sorted(opened, key=_modified, reverse=True):
        attempt = _tail(path)
        if attempt is not None and "problem" in attempt:
            judged = _tail(path.with_name("verdicts.open.jsonl"), attempt.get("id")) or {}
            verdict: Any = judged.get("judgement") or {}
            messages: Any = attempt.get("messages") or [{}]
            return LastAttempt(
                str(attempt.get("id")),
                str(attempt["problem"].get("question", "")),
                str(attempt.get("completion", messages[-1].get("content", "")))[-600:],
                verdict.get("verdict"),
                verdict.get("reason"),
            )
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
