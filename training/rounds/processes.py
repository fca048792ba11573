"""The stages of a line, each in a process of its own: its memory comes back, and a crash takes it alone.

    this process --- a thread for each line ---> rollout + certification, curation, fine-tuning, evaluation

A stage that dies is started once more, because what it finished is on the disk; one that dies again ends the run.

A process is forked from a server that has the heavy imports behind it and did nothing else. Importing torch,
transformers and peft takes seconds and half a gigabyte; a fork of a process that did so takes milliseconds and shares
that memory. The server starts no thread and leaves the GPUs alone, since neither survives a fork: where there are any,
each process imports for itself. Each process has a pipe of its own to the one that asked for it: one that is killed
leaves no lock behind, and one whose parent is gone ends at once.
"""

import multiprocessing
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any

from critics.errors import RunFailed
from critics.workers.own_time import die_with_parent
from rollout.decoding.rows import is_out_of_memory
from rollout.records.digests import FileState, known_digests, learn_digests
from training.configuration.run import ArmConfig, RunConfig
from training.finetuning.out_of_memory import sampling_explanation
from training.hardware import peak_memory
from training.records.stage_times import StageTime, add_time
from training.rounds.line import WHOLE, Line, Notice, Shard, StageFunction
from training.rounds.residents import Residents, StageEnded, work_on_all
from training.watchdog import Heartbeat, Progress, line_name
from training.workers.choice import VISIBLE, open_workers, places
from training.workers.requests import portable

ROLLED_OUT = "rolled out"
"""Message to a certification when no further attempt will come."""
STARTS = 2
"""Number of times that a stage is started before its death ends the run."""
POLL_S = 0.1
QUIET = "ignore:resource_tracker:UserWarning"
PRELOADED = "training.rounds.preloaded"
"""Module that is imported once for all processes of a run."""


class ChildDied(RunFailed):
    """A process ended without an answer: it was killed, or it crashed."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A process's end of the pipe."""

    connection: Connection
    _told: "SimpleQueue[Any]"

    def tell(self, message: object) -> None:
        """Send the parent something before the result."""
        self.connection.send(("told", message))

    def hear(self, timeout_s: float | None = None) -> Any:
        """Return the next thing that the parent sent; raises `queue.Empty` where nothing came in time."""
        return self._told.get(timeout=timeout_s)


class Child:
    """The parent's end: a process that works on `function(channel, *arguments)`."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, environment: Mapping[str, str] | None = None):
        _prepare_environment()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOADED])
        self.connection, theirs = context.Pipe()
        call = (theirs, {**os.environ, **(environment or {})}, str(Path.cwd()), function, arguments)
        self._process = context.Process(target=_work, args=call)
        try:
            self._process.start()
        except (EOFError, OSError) as error:
            self.connection.close()  # if there is a process all the same, it ends
            raise ChildDied(f"the server that processes are forked from was killed ({error!r})") from error
        finally:
            theirs.close()

    def receive(self) -> tuple[bool, Any]:
        """Wait for what the process tells, as (False, it), and in the end for its result, as (True, it).

        Raises what it failed of, and `ChildDied` where it cannot say.
        """
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError) as error:
            self._process.join()
            raise ChildDied(f"its process ended with status {self._process.exitcode}") from error
        if kind == "told":
            return False, value
        self._process.join()
        if kind == "failed":
            raise value
        return True, value

    def result(self) -> Any:
        """Wait for the result."""
        is_result, value = self.receive()
        while not is_result:
            is_result, value = self.receive()
        return value

    def tell(self, message: object) -> None:
        """Send the process something; one that has ended hears nothing."""
        try:
            self.connection.send(message)
        except OSError:
            return

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


def _prepare_environment() -> None:
    """Set what the server and Python's resource tracker read as they start."""
    # Else the server looks into the working folder first, and takes a user's `training/` for ours.
    os.environ["PYTHONSAFEPATH"] = "1"
    # CUDA must not be initialised before a fork, which asking it for its devices would do.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    # The locks of a stage that is killed are cleaned up by the tracker, which need not be said.
    warnings = os.environ.get("PYTHONWARNINGS", "")
    if QUIET not in warnings:
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [warnings, QUIET]))


def _work(
    connection: Connection, environment: Mapping[str, str], folder: str, function: Callable[..., Any], arguments: Any
) -> None:
    """Work where the parent is, since the server may have been started elsewhere, and send the result or the error."""
    die_with_parent()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted too, and kills this process
    told: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(connection, told), daemon=True).start()
    _settle()
    try:
        answer = ("result", function(Channel(connection, told), *arguments))
    except Exception as error:  # noqa: BLE001 - the parent raises it
        answer = ("failed", portable(error))
    connection.send(answer)


def _listen(connection: Connection, told: "SimpleQueue[Any]") -> None:
    while True:
        try:
            told.put(connection.recv())
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGKILL)  # the parent is gone


def _settle() -> None:
    from training.logs import quieten

    quieten()
    import torch

    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # two busy threads on two busy cores were measured five times slower than one


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
    gpus: Sequence[str] = ()
    base_digest: str | None = None
    residents: Residents | None = None
    """Place where processes that sample wait for the next stage; None: they end with theirs."""
    _alive: set[Child] = field(default_factory=set[Child])
    _is_ended: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def run(self, stage: StageFunction, *arguments: Any) -> Any:
        """Run a stage to its end, with all GPUs of the line, and return its result."""
        task = _StageTask(stage, arguments, self.name, {VISIBLE: ",".join(self.gpus)} if self.gpus else {})
        with self._timed([task]):
            return self._run(task)

    def spread(self, stage: StageFunction, *arguments: Any, most: int, beside: StageFunction | None = None) -> Any:
        """Run a stage on each place of the line, and beside them another one, which hears when they have ended."""
        seats = places(self.config, cores=self.cores, gpus=self.gpus)[: max(1, most)]
        tasks = [
            _StageTask(
                stage,
                arguments,
                self.name + (f"-{number}" if number else ""),
                place,
                Shard(number, len(seats)),
                outlived=self.residents is not None,
            )
            for number, place in enumerate(seats)
        ]
        ended = threading.Event()
        with self._timed(tasks), ThreadPoolExecutor(len(tasks) + 1) as threads:
            working = [threads.submit(self._run_or_end, task) for task in tasks]
            following: list[Future[Any]] = []
            if beside is not None:
                task = _StageTask(beside, arguments, f"{self.name}-{beside.__name__}")
                following.append(threads.submit(self._run_or_end, task, ended))
            wait(working)
            ended.set()
            _raise_the_cause([future.exception() for future in working + following])
        return following[0].result() if following else None

    @contextmanager
    def _timed(self, tasks: Sequence["_StageTask"]) -> Generator[None]:
        """Keep how long a stage took, and its memory, where it was done."""
        began = perf_counter()
        yield
        seconds, peak = round(perf_counter() - began, 3), max(task.told["peak"] for task in tasks)
        name, stage = line_name(self.arm.name, self.seed), tasks[0].stage.__name__
        add_time(self.out, StageTime(name, stage, seconds, len(tasks), len(self.gpus), peak))

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

    def _run_or_end(self, task: "_StageTask", followed: threading.Event | None = None) -> Any:
        try:
            return self._run(task, followed)
        except BaseException:
            self.kill()  # the others would work in vain
            raise

    def _run(self, task: "_StageTask", followed: threading.Event | None = None) -> Any:
        what = f"{task.name}: {task.what}"
        for start in range(1, STARTS + 1):
            try:
                return self._run_once(task, followed)
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

    def _run_once(self, task: "_StageTask", followed: threading.Event | None) -> Any:
        heartbeat = Heartbeat(self.out / "log", task.name)
        heartbeat.beat(Progress("starting", f"the process of {task.what}"))
        try:
            child = self._start(task)
        except BaseException:
            heartbeat.stop()
            raise
        has_ended = False
        try:
            answer = self._result(child, task, followed)
            has_ended = True
            return answer
        finally:
            with self._changing:
                self._alive.discard(child)
            if has_ended and task.outlived and self.residents is not None:
                self.residents.keep(task.place, child)
            else:
                child.kill()
            heartbeat.stop()

    def _start(self, task: "_StageTask") -> Child:
        if self._is_ended:
            raise _EndedError("the run is ended")
        known = known_digests()
        work = _LineTask(self.config, self.out, self.arm, self.seed, self.cores, self.base_digest, known, task)
        child = self._child(work)  # without the lock: who kills does not wait for a server
        with self._changing:
            self._alive.add(child)
            if self._is_ended:
                child.kill()
        return child

    def _child(self, work: "_LineTask") -> Child:
        """Return a process that works on it: one of its own, or the resident of its place."""
        place = work.task.place
        if not work.task.outlived or self.residents is None:
            return Child(_work_on, work, environment=place)
        child: Child = self.residents.take(place) or Child(work_on_all, _work_on, environment=place)
        child.tell(work)
        return child

    def _result(self, child: Child, task: "_StageTask", followed: threading.Event | None) -> Any:
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
            if isinstance(value, StageEnded):
                return value.value()
            task.told["attempts"] += value.attempts
            task.told["peak"] = max(task.told["peak"], value.peak_memory_bytes)
            if not value.peak_memory_bytes:
                self.report(value)


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
    outlived: bool = False
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

    def has_ended(timeout_s: float) -> bool:
        try:
            return channel.hear(timeout_s) == ROLLED_OUT
        except Empty:
            return False

    learn_digests(work.digests)
    task, heartbeat = work.task, Heartbeat(work.out / "log", work.task.name)
    with open_workers(work.config, cores=work.cores) as workers:
        line = Line(work.config, work.out, work.arm, work.seed, workers, channel.tell, heartbeat.beat, heartbeat.path)
        line = replace(line, shard=task.shard, rollout_ended=has_ended, told_digest=work.base_digest)
        try:
            result = task.stage(line, *task.arguments)
        except Exception as error:
            if isinstance(error, RunFailed) or not is_out_of_memory(error):
                raise
            raise RunFailed(f"{task.name}: {task.what}: {sampling_explanation(work.config)}") from error
    channel.tell(Notice(peak_memory_bytes=peak_memory()))
    return result


def _raise_the_cause(errors: Sequence[BaseException | None]) -> None:
    """Raise the first error that is not the mere end of the others."""
    raised = [error for error in errors if error is not None]
    raised.sort(key=lambda error: isinstance(error, _EndedError))
    if raised:
        raise raised[0]
