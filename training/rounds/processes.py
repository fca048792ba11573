"""The stages of a line, each in a process of its own: its memory comes back, and a crash takes it alone.

    this process --- a thread for each line ---> rollout + certification, curation, fine-tuning, evaluation

A stage that dies is started once more, because what it finished is on the disk; one that dies again ends the run.

A process is forked from a server that has the heavy imports behind it and did nothing else. Importing torch,
transformers and peft takes seconds and half a gigabyte; a fork of a process that did so takes milliseconds and shares
that memory. The server starts no thread and leaves the GPUs alone, since neither survives a fork: where there are any,
each process imports for itself. Each process has a pipe of its own to the one that asked for it: one that is killed
leaves no lock behind, and one whose parent is gone ends at once.

A run has many stages, and each would load the same model. So a process that samples outlives its stage: its slot keeps
it for the next one there, and meanwhile its engine, or its model, leaves the GPU to fine-tuning.
"""

import multiprocessing
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any, cast

from critics.errors import RunFailed
from critics.workers.own_time import die_with_parent
from rollout.decoding.rows import is_out_of_memory
from rollout.records.digests import FileState, known_digests, learn_digests
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.compute import sampling_explanation
from training.hardware import available_memory, peak_memory
from training.records.run_folder import StageTime, add_time
from training.rounds.line import WHOLE, Line, Notice, Shard, StageFunction
from training.watchdog import Heartbeat, Progress, line_name
from training.workers.choice import VISIBLE, open_workers, places
from training.workers.requests import portable

STARTS = 2
"""Number of times that a stage is started before its death ends the run."""
KEPT_SHARE = 0.25
"""Share of the free memory that an idle process's model may take."""
QUIET = "ignore:resource_tracker:UserWarning"
PRELOADED = "training.rounds.preloaded"
"""Module that is imported once for all processes of a run."""


class ChildDied(RunFailed):
    """A process ended without an answer: it was killed, or it crashed."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A process's end of the pipe."""

    connection: Connection
    work: "SimpleQueue[Any]"
    """Functions with their arguments, as the parent asks for them."""

    def tell(self, message: object) -> None:
        """Send the parent something before the result."""
        self.connection.send(("told", message))


class Child:
    """The parent's end: a process that works on `function(channel, *arguments)`, or with `stays` on one after another.

    One that stays is given its work by `ask`.
    """

    def __init__(self, *work: Any, environment: Mapping[str, str] | None = None, stays: bool = False) -> None:
        # Set what the server and Python's resource tracker read as they start.
        # Else the server looks into the working folder first, and takes a user's `training/` for ours.
        os.environ["PYTHONSAFEPATH"] = "1"
        # CUDA must not be initialised before a fork, which asking it for its devices would do.
        os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
        # The locks of a stage that is killed are cleaned up by the tracker, which need not be said.
        warnings = os.environ.get("PYTHONWARNINGS", "")
        if QUIET not in warnings:
            os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [warnings, QUIET]))
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOADED])
        self.connection, theirs = context.Pipe()
        self._stays = stays
        call = (theirs, {**os.environ, **(environment or {})}, str(Path.cwd()), stays)
        self._process = context.Process(target=_begin, args=call)
        try:
            self._process.start()
        except (EOFError, OSError) as error:
            self.connection.close()  # if there is a process all the same, it ends
            raise ChildDied(f"the server that processes are forked from was killed ({error!r})") from error
        finally:
            theirs.close()
        if work:
            self.ask(*work)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Give the process work; one that has ended hears nothing, which `result` tells."""
        with suppress(OSError):
            self.connection.send((function, arguments))

    def result(self, hear: Callable[[Any], None] = lambda _: None) -> Any:
        """Wait for the result; `hear` is given what the process tells before.

        Raises what it failed of, and `ChildDied` where it cannot say.
        """
        kind, value = "told", cast("Any", None)
        while kind == "told":
            try:
                kind, value = self.connection.recv()
            except (EOFError, OSError) as error:
                self._process.join()
                raise ChildDied(f"its process ended with status {self._process.exitcode}") from error
            if kind == "told":
                hear(value)
        if not self._stays:
            self._process.join()
        if kind == "failed":
            raise value
        return value

    def ask_to_end(self) -> None:
        """Send SIGTERM, at which a fine-tuning writes a checkpoint first; what does nothing about it ends at once."""
        self._process.terminate()

    def kill(self) -> None:
        """End the process at once; its own children die with it. One that a driver holds is listened to no more."""
        self._process.kill()
        with suppress(OSError), socket.fromfd(self.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.shutdown(socket.SHUT_RDWR)


def end_server() -> None:
    """End the server and all that it forked; waiting for it could take forever, since it may hang in an import."""
    server: Any = forkserver
    pid = server._forkserver._forkserver_pid  # it has no public name
    if pid is not None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            # Else the next process may be asked of it while it dies. Python takes its status as it starts the next one.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


def _begin(connection: Connection, environment: Mapping[str, str], folder: str, stays: bool) -> None:
    """Work where the parent is, since the server may have been started elsewhere."""
    die_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and kills this process
    channel = Channel(connection, SimpleQueue[Any]())
    Thread(target=_listen, args=(channel,), daemon=True).start()
    from training.logs import quieten

    quieten()
    import torch

    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # two busy threads on two busy cores were measured five times slower than one
    serve(channel, stays=stays)


def _listen(channel: Channel) -> None:
    while True:
        try:
            channel.work.put(channel.connection.recv())
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGKILL)  # the parent is gone


def serve(channel: Channel, *, stays: bool) -> None:
    """Work on what the parent asks for, and send the result or the error; with `stays` until the process is killed."""
    if stays:
        from rollout.policies import models

        models.keep()
    while True:
        function, arguments = channel.work.get()
        try:
            answer = ("result", function(channel, *arguments))
        except Exception as error:  # noqa: BLE001 - the parent raises it
            answer = ("failed", portable(error))
        if stays:
            from training.workers.strategies import forget_models

            forget_models(room=available_memory() * KEPT_SHARE)
        channel.connection.send(answer)
        if not stays:
            return


@dataclass(eq=False)
class Slot:
    """Place for one line at a time: its GPUs, and the idle processes that the next stages there work in."""

    gpus: Sequence[str] = ()
    keeps: bool = False
    """Processes that sample outlive their stage."""
    _idle: list[tuple[Mapping[str, str], Child]] = field(default_factory=list[tuple[Mapping[str, str], Child]])
    """With the environment of each; several share one where they have no GPU of their own."""
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _is_ended: bool = False

    def take(self, place: Mapping[str, str]) -> Child | None:
        """Take and return an idle process with this environment; None where there is none."""
        with self._changing:
            found = next((pair for pair in reversed(self._idle) if pair[0] == place), None)
            if found is not None:
                self._idle.remove(found)
            return None if found is None else found[1]

    def keep(self, place: Mapping[str, str], child: Child) -> None:
        """Keep a process until the next stage of its place, or end it if that will not come."""
        with self._changing:
            self._idle.append((place, child))
        if self._is_ended:
            self.kill()

    def kill(self) -> None:
        """End all of them, and those that come later."""
        self._is_ended = True  # before the lock, so that what is kept now finds it or is found
        with self._changing:
            idle, self._idle = self._idle, []
        for _, child in idle:
            child.kill()


class _EndedError(RunFailed):
    """A stage was ended because another one failed, whose error is the one to report."""


@dataclass(eq=False)
class StageProcesses:
    """Starts the stages of one line, on the GPUs that are its own; see `training.rounds.line.Stages`."""

    config: RunConfig
    out: Path
    arm: ArmConfig
    seed: int
    name: str
    report: Callable[[Notice], None]
    cores: int
    slot: Slot = field(default_factory=Slot)
    base_digest: str | None = None
    _alive: set[Child] = field(default_factory=set[Child])
    _is_ended: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Run a stage to its end, with all GPUs of the line, and return its result."""
        task = _StageTask(stage, arguments, self.name, {VISIBLE: ",".join(self.slot.gpus)} if self.slot.gpus else {})
        with self._timed([task]):
            return self._run(task)

    def spread(self, stage: StageFunction, *arguments: Any, most: int, beside: StageFunction | None = None) -> Any:
        """Run a stage on each place of the line, and beside them another one."""
        seats = places(self.config, cores=self.cores, gpus=self.slot.gpus)[: max(1, most)]
        tasks = [
            _StageTask(
                stage,
                arguments,
                self.name + (f"-{number}" if number else ""),
                place,
                Shard(number, len(seats)),
                stays=self.slot.keeps,
            )
            for number, place in enumerate(seats)
        ]
        following = [] if beside is None else [_StageTask(beside, arguments, f"{self.name}-{beside.__name__}")]
        with self._timed(tasks), ThreadPoolExecutor(len(tasks) + 1) as threads:
            futures = [threads.submit(self._run_or_end, task) for task in [*tasks, *following]]
            raised = [error for future in futures if (error := future.exception()) is not None]
            if raised:  # the cause, and not the mere end of the others
                raise min(raised, key=lambda error: isinstance(error, _EndedError))
        return futures[-1].result() if following else None

    @contextmanager
    def _timed(self, tasks: Sequence["_StageTask"]) -> Generator[None]:
        """Keep how long a stage took, and its memory, where it was done."""
        began = perf_counter()
        yield
        seconds, peak = round(perf_counter() - began, 3), max(task.told["peak"] for task in tasks)
        name, stage = line_name(self.arm.name, self.seed), tasks[0].stage.__name__
        add_time(self.out, StageTime(name, stage, seconds, len(tasks), len(self.slot.gpus), peak))

    def ask_to_end(self) -> None:
        """Ask what runs to end, and start nothing any more."""
        self._is_ended = True
        with self._changing:
            for child in self._alive:
                child.ask_to_end()

    def kill(self) -> None:
        """End what runs at once, and start nothing any more."""
        self._is_ended = True  # before the lock, so that what starts now finds it or is found
        with self._changing:
            for child in self._alive:
                child.kill()

    def _run_or_end(self, task: "_StageTask") -> Any:
        try:
            return self._run(task)
        except BaseException:
            self.kill()  # the others would work in vain
            raise

    def _run(self, task: "_StageTask") -> Any:
        what = f"{task.name}: {task.what}"
        for start in range(1, STARTS + 1):
            try:
                return self._run_once(task)
            except ChildDied as death:
                if self._is_ended:
                    raise _EndedError(f"{what}: ended with the run") from death
                if start == STARTS:
                    raise RunFailed(
                        f"{what}: {death}, for the second time, perhaps for want of memory; {self.out} holds what is "
                        "finished: run the command again"
                    ) from death
                said = f"{what}: {death}; it is started once more"
                self.report(Notice(-task.told.pop("attempts", 0), said))  # which it will tell again
        raise AssertionError("the last death is raised")

    def _run_once(self, task: "_StageTask") -> Any:
        heartbeat, child, has_ended = Heartbeat(self.out / "log", task.name), None, False
        heartbeat.beat(Progress("starting", f"the process of {task.what}"))
        try:
            child = self._start(task)
            answer = child.result(partial(self._hear, task))
            has_ended = True
            return answer
        finally:
            if child is not None:
                with self._changing:
                    self._alive.discard(child)
                if has_ended and task.stays:
                    self.slot.keep(task.place, child)
                else:
                    child.kill()
            heartbeat.stop()

    def _start(self, task: "_StageTask") -> Child:
        if self._is_ended:
            raise _EndedError("the run is ended")
        # Without the lock: who kills does not wait for a server.
        child = self.slot.take(task.place) if task.stays else None
        child = child or Child(environment=task.place, stays=task.stays)
        known = known_digests()
        child.ask(
            _work_on, _LineTask(self.config, self.out, self.arm, self.seed, self.cores, self.base_digest, known, task)
        )
        with self._changing:
            self._alive.add(child)
            if self._is_ended:
                child.kill()
        return child

    def _hear(self, task: "_StageTask", news: Notice) -> None:
        """Pass on what a stage tells."""
        task.told["attempts"] += news.attempts
        task.told["peak"] = max(task.told["peak"], news.peak_memory_bytes)
        if not news.peak_memory_bytes:
            self.report(news)


@dataclass(frozen=True, slots=True)
class _StageTask:
    """A stage that is to be run, and where."""

    stage: StageFunction
    arguments: Sequence[Any]
    name: str
    """Name of its heartbeat, also used in messages."""
    place: Mapping[str, str] = field(default_factory=dict[str, str])
    shard: Shard = WHOLE
    told: Counter[str] = field(default_factory=Counter[str])
    """Number of `attempts` that its process has told of, and its `peak` memory."""
    stays: bool = False
    """True if its process goes on when it has ended."""

    @property
    def what(self) -> str:
        """The stage, for messages."""
        return self.stage.__name__.replace("_", " ")


@dataclass(frozen=True, slots=True)
class _LineTask:
    """A task with the line that it is of, as its process is sent it."""

    config: RunConfig
    out: Path
    arm: ArmConfig
    seed: int
    cores: int
    base_digest: str | None
    digests: Mapping[FileState, str]
    task: _StageTask


def _work_on(channel: Channel, work: _LineTask) -> Any:
    """Run a stage in this process, which is the stage's own."""
    learn_digests(work.digests)
    task, heartbeat = work.task, Heartbeat(work.out / "log", work.task.name)
    with open_workers(work.config, cores=work.cores) as workers:
        line = Line(work.config, work.out, work.arm, work.seed, workers, channel.tell, heartbeat.beat, heartbeat.path)
        line = replace(line, shard=task.shard, told_digest=work.base_digest)
        try:
            result = task.stage(line, *task.arguments)
        except Exception as error:
            if isinstance(error, RunFailed) or not is_out_of_memory(error):
                raise
            raise RunFailed(f"{task.name}: {task.what}: {sampling_explanation(work.config)}") from error
    channel.tell(Notice(peak_memory_bytes=peak_memory()))
    return result
