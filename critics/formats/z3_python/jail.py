"""The jail: a child process that computes and can do nothing else, and that never outlives its time.

    returned = run_jailed(lambda: b"42", limit_s=2.0)

The child is forked, so it starts with what is loaded; then it gives up, in this order, its descriptors, environment,
chance of new privileges, files (Landlock), resources and system calls (seccomp). One pipe is left, and its parent
reads no more from it than `MAX_ANSWER` and no longer than `limit_s`, in which a wait for a processor does not count.
Whoever reads must distrust the bytes.

It does not hide the parent's memory, a copy of which the child has and cannot send anywhere but through that pipe;
nor does it stop what a flaw in the kernel allows.

Every layer is examined once per process, at the first script: a child of its own enters it and tries what it forbids. A
kernel without Landlock, a container that forbids seccomp, another system than Linux or another processor has no jail,
and then no untrusted script runs (verdict `error`, `no_jail`).
"""

import ctypes
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import sleep
from typing import TypeAlias

from critics.formats.z3_python.landlock import NETWORK_ABI, abi, give_up_files, keep_only_computing
from critics.workers.own_time import counting, die_with_parent, own_time

_SET_NO_NEW_PRIVS = 38
MEMORY = 768 * 2**20
"""Bytes that a child may take beyond what it starts with; natural scripts take 30 MiB."""
MAX_ANSWER = 4 * 2**20
"""Bytes read from a child."""
_CHUNK = 2**16
RAISED = 3
"""The exit status of a child whose task raised."""


@dataclass(frozen=True, slots=True)
class JailAnswer:
    """The task ended by itself and said this."""

    answer: bytes


@dataclass(frozen=True, slots=True)
class Overran:
    """The time ran out, or the answer was too long; the child was killed."""


@dataclass(frozen=True, slots=True)
class JailDied:
    """The child ended otherwise."""

    status: int
    """Its exit status, or minus the signal that ended it."""


Ended: TypeAlias = JailAnswer | Overran | JailDied


@dataclass(frozen=True, slots=True)
class Cell:
    """Facts that the layers need about the child that enters them."""

    descriptor: int
    """Descriptor to which the answer is written; all others are closed."""
    memory: int
    """Bytes of addresses at the start, which no later layer could ask for."""


def close_descriptors(cell: Cell) -> None:
    """Close everything but one descriptor, standard input and output included."""
    try:
        listed = [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 - a Path would keep it open
    except OSError:
        listed = list(range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 2**16)))
    for descriptor in listed:
        if descriptor != cell.descriptor:
            with suppress(OSError):
                os.close(descriptor)


def clear_environment(_cell: Cell) -> None:
    """Forget all variables, keys and tokens among them."""
    os.environ.clear()


def limit_resources(cell: Cell) -> None:
    """Allow some memory, and no files, processes, locked pages, queues or core dumps."""
    wanted = {
        resource.RLIMIT_AS: cell.memory + MEMORY,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in wanted.items():
        _, hard = resource.getrlimit(limit)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (allowed, allowed))


def give_up_privileges(_cell: Cell) -> None:
    """Gain nothing from now on by starting a program, which the next two layers ask for."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")


LAYERS: Mapping[str, Callable[[Cell], None]] = {
    "descriptors": close_descriptors,
    "environment": clear_environment,
    "privileges": give_up_privileges,
    "landlock": lambda _cell: give_up_files(),
    "limits": limit_resources,
    "seccomp": lambda cell: keep_only_computing(cell.descriptor),
}
"""In the order in which they are entered; each raises `OSError` where it cannot be had."""


def run_jailed(task: Callable[[], bytes], *, limit_s: float, layers: Iterable[str] = tuple(LAYERS)) -> Ended:
    """Run `task` in a child behind `layers`, and return what it said within `limit_s` seconds.

    A layer that cannot be entered ends the child before the task begins. The child is gone when this returns.
    """
    deadline, parent = own_time() + limit_s, os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _live_and_die(task, layers, writing, parent)
    answer = status = None
    try:
        os.close(writing)
        with counting(child):
            answer = _read(reading, deadline)
            status = None if answer is None else _wait(child, deadline)
    finally:
        os.close(reading)
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if answer is None or status is None:
        return Overran()
    return JailAnswer(answer) if status == 0 else JailDied(status)


def _live_and_die(task: Callable[[], bytes], layers: Iterable[str], writing: int, parent: int) -> None:
    """Be the child; never returns, and runs none of the parent's handlers at exit."""
    status = RAISED
    try:
        os.setsid()
        die_with_parent()
        if os.getppid() == parent:
            cell = Cell(writing, _memory())
            for name in layers:
                LAYERS[name](cell)
            _write(writing, task())
            status = 0
    except BaseException:  # noqa: BLE001 - nobody is above, and the parent's handlers are not for this process
        status = RAISED
    finally:
        os._exit(status)


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def _write(descriptor: int, answer: bytes) -> None:
    written = 0
    while written < len(answer):
        written += os.write(descriptor, answer[written : written + _CHUNK])


def _read(descriptor: int, deadline: float) -> bytes | None:
    """Return everything up to the end; None where the time runs out first, or where it is too much."""
    poll, chunks, total = select.poll(), list[bytes](), 0
    poll.register(descriptor, select.POLLIN)
    while (left := deadline - own_time()) > 0 and total <= MAX_ANSWER:
        if poll.poll(left * 1000):
            chunk = os.read(descriptor, _CHUNK)
            if not chunk:
                return b"".join(chunks)
            chunks.append(chunk)
            total += len(chunk)
    return None


def _wait(child: int, deadline: float) -> int | None:
    """Return how the child ended, as an exit status or minus a signal; None where it goes on beyond the deadline."""
    pause_s = 0.0001
    while True:
        now = own_time()
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if now > deadline:
            # Attack: say something, close the pipe, and stay.
            return None
        sleep(pause_s)
        pause_s = min(0.01, 2 * pause_s)


_GET_NO_NEW_PRIVS = 39
_LIMIT_S = 5.0
"""For one trial, which takes milliseconds on a machine that is not busy."""
_TRIES = 3
"""Tries of a trial without an answer: a busy machine, or one short of processes for a moment, still has its jail."""
FRIGHTENING = "CERTISTAR_RUN_UNTRUSTED_SCRIPTS_WITHOUT_A_JAIL"
"""The variable that lets scripts run with those layers only that can be had; its value must be `yes`."""


def _resources_are_limited() -> bool:
    nothing = (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE)
    finite = resource.getrlimit(resource.RLIMIT_AS)[1] != resource.RLIM_INFINITY
    return finite and all(resource.getrlimit(limit) == (0, 0) for limit in nothing)


def _descriptors_are_closed() -> bool:
    def is_open(descriptor: int) -> bool:
        try:
            os.fstat(descriptor)
        except OSError:
            return False
        return True

    return sum(map(is_open, range(1024))) == 1


def _environment_is_empty() -> bool:
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    return not os.environ and libc.getenv(b"PATH") is None


def _no_privileges_are_left() -> bool:
    return ctypes.CDLL(None).prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1


def _files_are_shut() -> bool:
    if abi() >= NETWORK_ABI and not _fails(_connect):
        return False
    return all(_fails(lambda path=path: os.close(os.open(path, os.O_RDONLY))) for path in ("/", __file__, "/proc/self"))


def _connect() -> None:
    with socket.socket() as connection, suppress(ConnectionRefusedError, TimeoutError):
        connection.settimeout(1)
        connection.connect(("127.0.0.1", 9))


def _calls_are_refused() -> bool:
    # Harmless ones first: where these are not refused, the others are not tried.
    hostile: tuple[Callable[[], object], ...] = (
        os.getcwd,
        os.pipe,
        socket.socket,
        lambda: os.open("/dev/null", os.O_RDONLY),
        lambda: os.kill(os.getpid(), 0),
        lambda: os.read(0, 1),
        lambda: os.write(1023, b""),
        os.fork,
        lambda: os.execv("/bin/true", ["true"]),
    )
    return all(map(_fails, hostile))


def _fails(action: Callable[[], object]) -> bool:
    try:
        action()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


TRIALS: Mapping[str, Callable[[], bool]] = {
    "limits": _resources_are_limited,
    "descriptors": _descriptors_are_closed,
    "environment": _environment_is_empty,
    "privileges": _no_privileges_are_left,
    "landlock": _files_are_shut,
    "seccomp": _calls_are_refused,
}
"""Trials of the layers by a child inside; run with those that the layer asks for and no others."""
_NEEDED: Mapping[str, tuple[str, ...]] = {"landlock": ("privileges",), "seccomp": ("privileges",)}


def holds(layer: str) -> bool:
    """Say whether a layer can be entered here and forbids what it should."""
    trial, layers = TRIALS[layer], (*_NEEDED.get(layer, ()), layer)
    for _ in range(_TRIES):
        ended = run_jailed(lambda: b"held" if trial() else b"broken", limit_s=_LIMIT_S, layers=layers)
        if isinstance(ended, JailAnswer):
            return ended == JailAnswer(b"held")
    return False


def kills_in_time() -> bool:
    """Say whether a child that never ends is ended."""

    def forever() -> bytes:
        while True:
            pass

    return any(run_jailed(forever, limit_s=0.02) == Overran() for _ in range(_TRIES))


def missing_layers() -> tuple[str, ...]:
    """Return the names of what does not hold on this machine; examined once per process."""
    return _missing_layers(os.getpid())


@lru_cache(maxsize=1)
def _missing_layers(_process: int) -> tuple[str, ...]:
    if not hasattr(os, "fork"):
        return (*LAYERS, "deadline")
    missing = [layer for layer in LAYERS if not holds(layer)]
    return (*missing, *([] if kills_in_time() else ["deadline"]))


def usable_layers() -> tuple[str, ...] | None:
    """Return the layers to run scripts behind; None where some are missing and nobody has asked for less."""
    missing = missing_layers()
    if missing and (os.environ.get(FRIGHTENING) != "yes" or not hasattr(os, "fork")):
        return None
    return tuple(layer for layer in LAYERS if layer not in missing)
