"""The jail: a child process with small limits, that answers through one pipe and never outlives its time.

    returned = run_jailed(lambda: b"42", limit_s=2.0)

No Python of a script's runs: an interpreter of a listed part of the language reads it (`interpreter`). What that
interpreter and Z3 compute could still take all memory, bring the solver down or never end. So both run in a forked
child, which gives up its descriptors but one pipe, its environment, and the right to open files, start processes and
take more than `MEMORY`. Its parent reads no more than `MAX_ANSWER` and no longer than `limit_s`, in which a wait for a
processor does not count. Whoever reads must distrust the bytes.
"""

import os
import resource
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import TypeAlias

from critics.workers.own_time import counting, die_with_parent, own_time

MEMORY = 768 * 2**20
"""Bytes that a child may take beyond what it starts with; natural scripts take 30 MiB."""
MAX_ANSWER = 4 * 2**20
"""Bytes read from a child."""
_CHUNK = 2**16
RAISED, UNLIMITED = 3, 4
"""Exit statuses of a child whose task raised, and of one that could not be limited and did not begin."""


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


def run_jailed(task: Callable[[], bytes], *, limit_s: float) -> Ended:
    """Run `task` in a child with limits, and return what it said within `limit_s` seconds.

    A child that cannot be limited ends before the task begins. The child is gone when this returns.
    """
    deadline, parent = own_time() + limit_s, os.getpid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _live_and_die(task, writing, parent)
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


def _live_and_die(task: Callable[[], bytes], writing: int, parent: int) -> None:
    """Be the child; never returns, and runs none of the parent's handlers at exit."""
    status = UNLIMITED
    try:
        os.setsid()
        die_with_parent()
        if os.getppid() == parent:
            _give_up(writing)
            status = RAISED
            _write(writing, task())
            status = 0
    except BaseException:  # noqa: BLE001 - nobody is above, and the parent's handlers are not for this process
        pass
    finally:
        os._exit(status)


def _give_up(kept: int) -> None:
    """Close every descriptor but one, forget the environment, and take small limits; raises `OSError`."""
    memory = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - a Path would keep it open
        if int(name) != kept:
            with suppress(OSError):
                os.close(int(name))
    os.environ.clear()
    wanted = {
        resource.RLIMIT_AS: memory + MEMORY,
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
