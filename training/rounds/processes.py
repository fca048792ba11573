"""The stages of a line, each in a process of its own: its memory comes back, and a crash takes it alone.

    this process --- a thread for each line ---> rollout + certification, curation, fine-tuning, evaluation

A stage that dies is started once more, because what it finished is on the disk; one that dies again ends the run.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty
from typing import Any

from training.configuration.run import ArmConfig, RunConfig
from training.rounds.heartbeat import Heartbeat
from training.rounds.line import Line, Progress, RunError, StageFunction
from training.workers.choice import open_workers, visible_gpus
from training.workers.process import Channel, Child, ChildDied

ROLLED_OUT = "rolled out"
"""What a certification is told when no further attempt will come."""
STARTS = 2
"""How often a stage is started before its death ends the run."""
POLL_S = 0.1


class _EndedError(RunError):
    """A stage ended because another one failed; the other's error is the one to be told."""


@dataclass(eq=False)
class StageProcesses:
    """Starts the stages of one line, on the GPUs that are its own; see `training.rounds.line.Stages`."""

    config: RunConfig
    out: Path
    arm: ArmConfig
    seed: int
    name: str
    report: Callable[[Progress], None]
    cores: int
    environment: dict[str, str] = field(default_factory=dict)
    _alive: set[Child] = field(default_factory=set)
    _is_ended: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Run a stage to its end and return its result."""
        return self._run(stage, self.name, arguments, None)

    def overlap(self, first: StageFunction, second: StageFunction, *arguments: Any) -> None:
        """Run two stages at once, the second of which takes up what the first does until it has ended."""
        ended = threading.Event()
        name = f"{self.name}-{second.__name__}"
        with ThreadPoolExecutor(1) as beside:
            following = beside.submit(self._follow, second, name, arguments, ended)
            try:
                self.run(first, *arguments)
            except BaseException:
                self.kill()
                if (cause := following.exception()) and not isinstance(cause, _EndedError):
                    raise cause from None
                raise
            ended.set()
            following.result()

    def kill(self) -> None:
        """End what runs at once, and start nothing any more."""
        with self._changing:
            self._is_ended = True
            for child in self._alive:
                child.kill()

    def _follow(self, stage: StageFunction, name: str, arguments: Sequence[Any], ended: threading.Event) -> None:
        try:
            self._run(stage, name, arguments, ended)
        except BaseException:
            self.kill()  # what it follows would work in vain
            raise

    def _run(self, stage: StageFunction, name: str, arguments: Sequence[Any], followed: threading.Event | None) -> Any:
        heartbeat = Heartbeat(self.out / "log", name)
        what = f"{self.name}: {stage.__name__.replace('_', ' ')}"
        for start in range(1, STARTS + 1):
            child = self._start(stage, name, arguments)
            try:
                return self._result(child, followed)
            except ChildDied as death:
                if self._is_ended:
                    raise _EndedError(f"{what}: ended with the run") from death
                if start == STARTS:
                    raise RunError(
                        f"{what}: {death}, for the second time, perhaps for want of memory; {self.out} holds what is "
                        "finished: run the command again"
                    ) from death
                self.report(Progress(message=f"{what}: {death}; it is started once more"))
            finally:
                child.kill()
                heartbeat.stop()
                with self._changing:
                    self._alive.discard(child)
        raise AssertionError("the last death is raised")

    def _start(self, stage: StageFunction, name: str, arguments: Sequence[Any]) -> Child:
        with self._changing:
            if self._is_ended:
                raise _EndedError("the run is ended")
            call = (_work_on, self.config, self.out, self.arm, self.seed, name, self.cores, stage, *arguments)
            child = Child(*call, environment=self.environment)
            self._alive.add(child)
            return child

    def _result(self, child: Child, followed: threading.Event | None) -> Any:
        """Pass on what a stage tells until its result; tell it when what it follows has ended."""
        while True:
            if followed is not None:
                if followed.is_set():
                    child.tell(ROLLED_OUT)
                    followed = None
                elif not child.connection.poll(POLL_S):
                    continue
            is_result, value = child.receive()
            if is_result:
                return value
            self.report(value)


def _work_on(
    channel: Channel,
    config: RunConfig,
    out: Path,
    arm: ArmConfig,
    seed: int,
    name: str,
    cores: int,
    stage: StageFunction,
    *arguments: Any,
) -> Any:
    """Run a stage in this process, which is the stage's own."""

    def has_ended(timeout_s: float) -> bool:
        try:
            return channel.hear(timeout_s) == ROLLED_OUT
        except Empty:
            return False

    heartbeat = Heartbeat(out / "log", name)
    with open_workers(config, cores=cores, gpus=visible_gpus()) as workers:
        line = Line(config, out, arm, seed, workers, channel.tell, heartbeat.beat, heartbeat.path)
        return stage(replace(line, rollout_ended=has_ended), *arguments)
