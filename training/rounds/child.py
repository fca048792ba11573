"""A function in a process of its own, forked from a server that has the heavy imports behind it and did nothing else.

Importing torch, transformers and peft takes seconds and half a gigabyte. A fork of a process that did so takes
milliseconds and shares that memory, and what it takes of its own is back when it ends. The server starts no thread and
leaves the GPUs alone, since neither survives a fork: where there are any, each process imports for itself.

Each process has a pipe of its own to the one that asked for it: one that is killed leaves no lock behind, and one whose
parent is gone ends at once.
"""

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from critics.errors import RunFailed
from critics.lifeline import die_with_parent
from training.workers.outcome import portable

QUIET = "ignore:resource_tracker:UserWarning"
PRELOADED = "training.rounds.preloaded"
"""What is imported once for all processes of a run."""


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


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process has of the one that asked for it; the server may have been started elsewhere, long before."""

    environment: Mapping[str, str]
    folder: str

    def enter(self) -> None:
        """Take them on."""
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)


class Child:
    """The parent's end: a process that works on `function(channel, *arguments)`."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, environment: Mapping[str, str] | None = None):
        _prepare_environment()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOADED])
        self.connection, theirs = context.Pipe()
        here = Surroundings({**os.environ, **(environment or {})}, str(Path.cwd()))
        call = (theirs, here, function, arguments)
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

    def kill(self) -> None:
        """End the process at once; its own children die with it. One that a driver holds is listened to no more."""
        self._process.kill()
        with suppress(OSError), socket.fromfd(self.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as end:
            end.shutdown(socket.SHUT_RDWR)


def end_server() -> None:
    """End the server and all that it forked, so that nobody waits for it: it may hang as it imports or forks."""
    pid = forkserver._forkserver._forkserver_pid  # pyright: ignore - it has no public name
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


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


def _work(connection: Connection, surroundings: Surroundings, function: Callable[..., Any], arguments: Any) -> None:
    """Work, and send the result or the error."""
    die_with_parent()
    surroundings.enter()
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
