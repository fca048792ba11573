"""Progress of a run, read from its folder alone: lines, stages, verdicts so far and the last attempt.

Anyone who can read the folder can look: the terminal that started the run, `certistar report --serve`, or another
machine. Files that are being written are read as far as they go; nothing here writes.
"""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from training.outcomes import Record
from training.records.run_folder import RunFolder, RunLine, read_run
from training.records.store import fits, is_stored
from training.watchdog import SUFFIX, base_name, line_name

TAIL_BYTES = 256_000
"""Read from the end of a growing file to find its last record."""
DONE = "done"


def progress_of(run: Path) -> Record:
    """Return the progress of a run folder: its lines, and the attempt that was written last; None before the first.

    `stage` is what a line works on or waits with, `done` after its last round; `done` of `total` is how far that stage
    is, where it is being worked on. `verdicts` are of all finished rollouts, rates of the last evaluation. Raises
    InputError where it is no run folder.
    """
    layout = read_run(run)
    beats = {path.name.removesuffix(SUFFIX): _read_or_nothing(path) for path in (run / "log").glob(f"*{SUFFIX}")}
    lines = [_line(layout, line, beats) for line in layout.lines]
    return {"name": run.resolve().name, "lines": lines, "last": _last_attempt(layout)}


def _line(layout: RunFolder, line: RunLine, beats: Mapping[str, Record]) -> Record:
    """Return one arm under one seed; the heartbeat knows best what it works on, else the first file that is missing."""
    rounds = [line.round_folder(number) for number in range(layout.num_rounds)]
    finished = [folder for folder in rounds if (folder / "evaluation.json").exists()]
    verdicts: Counter[str] = Counter()
    for folder in rounds:
        verdicts.update(_read_or_nothing(folder / "dataset" / "summary.json").get("verdicts") or {})
    measured = (line.base / "evaluation.json").exists()
    base = base_name(line.base.relative_to(layout.path).as_posix())
    beat = beats.get(line_name(line.arm, line.seed) if measured else base, {})
    mode = _read_or_nothing((finished or [line.base])[-1] / "evaluation.json").get("modes", {}).get("sampled", {})
    if len(finished) == layout.num_rounds:
        stage = DONE
    elif beaten := beat.get("stage"):
        stage = f"{beaten}" if measured else f"base model: {beaten}"
    elif not measured:
        stage = "waiting for its base model"
    elif ((folder := rounds[len(finished)]) / "adapter").exists():
        stage = "before evaluation"
    elif (folder / "dataset" / "summary.json").exists():
        stage = "before training"
    else:
        stage = "before curating" if is_stored(folder / "traces.jsonl") else "waiting"
    return {
        "arm": line.arm,
        "seed": line.seed,
        "rounds_done": len(finished),
        "num_rounds": layout.num_rounds,
        "stage": stage,
        "done": int(beat.get("done") or 0),
        "total": beat.get("total"),
        "verdicts": dict(sorted(verdicts.items())),
        "accuracy": mode["right"] / mode["n"] if mode.get("n") else None,
        "certified": mode["certified"] / mode["n"] if mode.get("n") else None,
    }


def _read_or_nothing(path: Path) -> Record:
    """Return a file's record; nothing where it is not there, or going away."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return cast("Record", record) if isinstance(record, dict) else {}


def _last_attempt(layout: RunFolder) -> Record | None:
    """Return what was written last in an open store of attempts."""

    def modified(path: Path) -> float:
        with suppress(OSError):  # it may be going away
            return path.stat().st_mtime
        return 0.0

    opened = [path for line in layout.lines for path in line.path.glob("round-*/traces.open.jsonl")]
    for path in sorted(opened, key=modified, reverse=True):
        attempt = _tail(path)
        if attempt is not None and "problem" in attempt:
            judged = _tail(path.with_name("verdicts.open.jsonl"), attempt.get("id")) or {}
            verdict: Any = judged.get("judgement") or {}
            messages: Any = attempt.get("messages") or [{}]
            text = attempt.get("completion", messages[-1].get("content", ""))
            return {
                "id": str(attempt.get("id")),
                "question": str(attempt["problem"].get("question", "")),
                "text": str(text)[-600:],
                "verdict": verdict.get("verdict"),
                "reason": verdict.get("reason"),
            }
    return None


def _tail(path: Path, wanted: object = None) -> Record | None:
    """Return the last whole record near the end of a growing file, or there the last with an id."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return None
    records = (json.loads(line) for line in reversed(lines) if fits(line))
    return next((record for record in records if wanted is None or record.get("id") == wanted), None)
