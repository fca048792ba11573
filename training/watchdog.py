"""Watchdog: ends a run whose stage makes no progress, with a diagnosis, instead of holding its machines.

Each line of a run writes a small heartbeat file in `<run>/log/` each time that something got done; the watchdog looks
that the files change. It compares contents and its own clock alone, so that machines with other clocks can share a run
folder.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from critics.errors import RunFailed

Stage = Literal["starting", "sampling", "judging", "curating", "training", "evaluation"]
SUFFIX = ".heartbeat.json"
WRITE_S = 1.0
"""A file is written at most so often, unless what is waited for has changed."""

BUDGETS_S: Mapping[Stage, float] = {
    "starting": 900.0,  # a process that imports what it needs
    "sampling": 3_600.0,  # a work unit: a batch of problems
    "judging": 900.0,  # a verdict, for which a critic has seconds
    "curating": 3_600.0,
    "training": 3_600.0,  # an optimiser step, or what is before the first and after the last
    "evaluation": 3_600.0,
}
"""Seconds that a stage may go without progress; `certistar run --patience` is one number for all."""

REMEDIES: Mapping[Stage, str] = {
    "starting": "look at the disk that Python's packages are on, and at the driver of the GPU; or at the Ray cluster",
    "sampling": "look at the server or the GPU; or lower sampling.batch_size, or allow more time (--patience)",
    "judging": "a critic's worker hangs, which its time limit should have ended; report it with the named attempt",
    "curating": "look at the disk that the run folder is on",
    "training": "look at the GPUs and at what torchrun printed; or allow more time (--patience)",
    "evaluation": "look at the GPU; or lower evaluation.batch_size, or allow more time (--patience)",
}


class StageStalled(RunFailed):
    """A stage made no progress for its budget; the message says which, and what it was waiting for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a stage: something got done, and this is waited for now."""

    stage: Stage
    waiting_for: str
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """Content of a heartbeat file: a line's progress, when it was made and where."""

    line: str
    stage: Stage
    waiting_for: str
    done: int
    total: int | None
    beats: int
    since: str
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)


OnProgress = Callable[[Progress], None]
"""Called by a stage with its progress: `Heartbeat.beat`, or `unwatched`."""


def unwatched(_: Progress) -> None:
    """Do nothing."""


def line_name(arm: str, seed: int) -> str:
    """Return the name of a line of rounds in messages and heartbeats."""
    return f"{arm}-seed-{seed}".replace(" ", "-")


def base_name(path: str) -> str:
    """Return that of a base model's measurement, by its folder in the run: several of one seed may be at work."""
    return f"base-model{path.removeprefix('base').replace('/', '-')}"


@dataclass
class Heartbeat:
    """Heartbeat of a line: its file in the log folder. A failing disk is not its concern."""

    folder: Path
    name: str
    clock: Callable[[], float] = time.monotonic
    _beats: int = 0
    _last: tuple[str, str] | None = None
    _written: float = -WRITE_S

    @classmethod
    def at(cls, path: Path) -> "Heartbeat":
        """Return the heartbeat of a line from another process that works for it."""
        return cls(path.parent, path.name.removesuffix(SUFFIX))

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self.folder / f"{self.name}{SUFFIX}"

    def beat(self, progress: Progress) -> None:
        """Write down what is waited for."""
        self._beats += 1
        now, what = self.clock(), (progress.stage, progress.waiting_for)
        if what == self._last and now - self._written < WRITE_S:
            return
        self._last, self._written = what, now
        since = datetime.now(UTC).isoformat(timespec="seconds")
        beat = Beat(self.name, **asdict(progress), beats=self._beats, since=since)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            beside.write_text(json.dumps(asdict(beat)) + "\n")
            beside.replace(self.path)

    def stop(self) -> None:
        """Take the file away: nothing is waited for any more."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


@dataclass
class Watchdog:
    """Watchdog of a run: a heartbeat that does not change for its stage's budget is a stall."""

    folder: Path
    budgets_s: Mapping[Stage, float] = field(default_factory=lambda: BUDGETS_S)
    clock: Callable[[], float] = time.monotonic
    _seen: dict[Path, tuple[str, float]] = field(default_factory=dict[Path, tuple[str, float]])

    def __post_init__(self) -> None:
        for path in [*self.folder.glob(f"*{SUFFIX}"), *self.folder.glob(f".*{SUFFIX}.*")]:  # of a run that was killed
            with suppress(OSError):
                path.unlink()

    def check(self) -> None:
        """Raise `StageStalled` for the first line that has waited too long; call it every few seconds."""
        now = self.clock()
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                content = path.read_text()
            except OSError:  # the line ended; or its disk failed, of which the stages themselves have to tell
                continue
            if self._seen.get(path, ("", 0.0))[0] != content:
                self._seen[path] = (content, now)
            silent_s = now - self._seen[path][1]
            beat = Beat(**json.loads(content))
            if silent_s > self.budgets_s[beat.stage]:
                raise StageStalled(_diagnosis(beat, silent_s, self.folder))


def _diagnosis(beat: Beat, silent_s: float, folder: Path) -> str:
    total = "" if beat.total is None else f" of {beat.total}"
    return (
        f"{beat.line}: {beat.stage} made no progress for {silent_s:.0f} s, waiting for {beat.waiting_for} "
        f"({beat.done}{total} done; last progress {beat.since}, process {beat.pid} on {beat.host}); "
        f"{REMEDIES[beat.stage]}; {folder.parent} holds what is finished: run the command again"
    )
