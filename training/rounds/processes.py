"""The stages of a line, each in a process of its own: its memory comes back, and a crash takes it alone.

    this process --- a thread for each line ---> rollout + certification, curation, fine-tuning, evaluation

A stage that dies is started once more, because what it finished is on the disk; one that dies again ends the run.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty
from typing import Any

from training.configuration.run import ArmConfig, RunConfig
from training.rounds.child import Channel, Child, ChildDied
from training.rounds.line import Line, Progress, RunError, StageFunction
from training.rounds.questions import WHOLE, Portion
from training.watchdog import Beat, Heartbeat
from training.workers.choice import VISIBLE, open_workers, places

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
    gpus: Sequence[str] = ()
    base_digest: str | None = None
    _alive: set[Child] = field(default_factory=set)
    _is_ended: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Run a stage to its end, with all GPUs of the line, and return its result."""
        return self._run(_Task(stage, arguments, self.name, {VISIBLE: ",".join(self.gpus)} if self.gpus else {}))

    def spread(self, stage: StageFunction, *arguments: Any, most: int, beside: StageFunction | None = None) -> None:
        """Run a stage on each place of the line, and beside them another one, which is told when they have ended."""
        seats = places(self.config, cores=self.cores, gpus=self.gpus)[: max(1, most)]
        tasks = [
            _Task(stage, arguments, self.name + (f"-{number}" if number else ""), place, Portion(number, len(seats)))
            for number, place in enumerate(seats)
        ]
        ended = threading.Event()
        with ThreadPoolExecutor(len(tasks) + 1) as threads:
            working = [threads.submit(self._run_or_end, task) for task in tasks]
            following: list[Future[None]] = []
            if beside is not None:
                task = _Task(beside, arguments, f"{self.name}-{beside.__name__}")
                following.append(threads.submit(self._run_or_end, task, ended))
            wait(working)
            ended.set()
        _raise_the_cause([future.exception() for future in working + following])

    def kill(self) -> None:
        """End what runs at once, and start nothing any more."""
        self._is_ended = True  # before the lock, so that what starts now finds it or is found
        with self._changing:
            for child in self._alive:
                child.kill()

    def _run_or_end(self, task: "_Task", followed: threading.Event | None = None) -> None:
        try:
            self._run(task, followed)
        except BaseException:
            self.kill()  # the others would work in vain
            raise

    def _run(self, task: "_Task", followed: threading.Event | None = None) -> Any:
        what = f"{task.name}: {task.what}"
        for start in range(1, STARTS + 1):
            try:
                return self._run_once(task, followed)
            except ChildDied as death:
                if self._is_ended:
                    raise _EndedError(f"{what}: ended with the run") from death
                if start == STARTS:
                    raise RunError(
                        f"{what}: {death}, for the second time, perhaps for want of memory; {self.out} holds what is "
                        "finished: run the command again"
                    ) from death
                said = f"{what}: {death}; it is started once more"
                self.report(Progress(-task.told.pop("attempts", 0), said))  # which it will tell again
        raise AssertionError("the last death is raised")

    def _run_once(self, task: "_Task", followed: threading.Event | None) -> Any:
        heartbeat = Heartbeat(self.out / "log", task.name)
        heartbeat.beat(Beat("starting", f"the process of {task.what}"))
        try:
            child = self._start(task)
        except BaseException:
            heartbeat.stop()
            raise
        try:
            return self._result(child, task, followed)
        finally:
            child.kill()
            heartbeat.stop()
            with self._changing:
                self._alive.discard(child)

    def _start(self, task: "_Task") -> Child:
        if self._is_ended:
            raise _EndedError("the run is ended")
        work = _Work(self.config, self.out, self.arm, self.seed, self.cores, self.base_digest, task)
        child = Child(_work_on, work, environment=task.place)  # without the lock: who kills does not wait for a server
        with self._changing:
            self._alive.add(child)
            if self._is_ended:
                child.kill()
        return child

    def _result(self, child: Child, task: "_Task", followed: threading.Event | None) -> Any:
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
            task.told["attempts"] += value.attempts
            self.report(value)


@dataclass(frozen=True, slots=True)
class _Task:
    """A stage that is to be run, and where."""

    stage: StageFunction
    arguments: Sequence[Any]
    name: str
    """Of its heartbeat, and in messages."""
    place: Mapping[str, str] = field(default_factory=dict)
    portion: Portion = WHOLE
    told: Counter[str] = field(default_factory=Counter)
    """How many attempts its process has told of."""

    @property
    def what(self) -> str:
        """The stage, for messages."""
        return self.stage.__name__.replace("_", " ")


@dataclass(frozen=True, slots=True)
class _Work:
    """What the process of a stage is sent."""

    config: RunConfig
    out: Path
    arm: ArmConfig
    seed: int
    cores: int
    base_digest: str | None
    task: _Task


def _work_on(channel: Channel, work: _Work) -> Any:
    """Run a stage in this process, which is the stage's own."""

    def has_ended(timeout_s: float) -> bool:
        try:
            return channel.hear(timeout_s) == ROLLED_OUT
        except Empty:
            return False

    task, heartbeat = work.task, Heartbeat(work.out / "log", work.task.name)
    with open_workers(work.config, cores=work.cores) as workers:
        line = Line(work.config, work.out, work.arm, work.seed, workers, channel.tell, heartbeat.beat, heartbeat.path)
        line = replace(line, portion=task.portion, rollout_ended=has_ended, told_digest=work.base_digest)
        return task.stage(line, *task.arguments)


def _raise_the_cause(errors: Sequence[BaseException | None]) -> None:
    """Raise the first error that is not the mere end of the others."""
    raised = [error for error in errors if error is not None]
    raised.sort(key=lambda error: isinstance(error, _EndedError))
    if raised:
        raise raised[0]
