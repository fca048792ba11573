"""Time that work takes for itself: without the time in which it stood in line for a processor.

A busy machine must change no verdict, so the limits on critics are of this time and not of the clock on the wall. Linux
tells how long a thread stood in line (`/proc/PID/schedstat`); elsewhere the time is the wall's.

Children die with their parent, however it dies, and take no more memory than a critic needs.
"""

import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

Answer = TypeVar("Answer")

DEFAULT_TIMEOUT_S = 10.0
"""Seconds of own time for one attempt."""

_NANOSECONDS = 1e9
_NEARLY = 0.9


class _Lines(threading.local):
    """Seconds in line that are counted beside this thread's own: of children that ended, and of the one that lives."""

    ended_s = 0.0
    child: int | None = None
    child_s = 0.0


_lines = _Lines()


def own_time() -> float:
    """Return a clock's seconds, which stand still while this thread or its counted child waits for a processor."""
    if _lines.child is not None:
        _lines.child_s = max(_lines.child_s, computed_and_waited(str(_lines.child))[1])
    return monotonic() - computed_and_waited("thread-self")[1] - _lines.ended_s - _lines.child_s


@contextmanager
def counting(child: int) -> Generator[None]:
    """Let `own_time` stand still while a child process waits for a processor too."""
    _lines.child, _lines.child_s = child, 0.0
    try:
        yield
    finally:
        _lines.ended_s += _lines.child_s
        _lines.child, _lines.child_s = None, 0.0


def within_own_time(seconds: float, ask: Callable[[int], Answer], is_given_up: Callable[[Answer], bool]) -> Answer:
    """Return what a solver answers within so much time of its own.

    `ask` takes the milliseconds on the wall that a solver stops after. One that gave up there, and stood in line for
    part of them, is asked again with twice as many.
    """
    limit_s = seconds
    while True:
        wall, own = monotonic(), own_time()
        answer = ask(max(1, round(1000 * limit_s)))
        took_s, own_s = monotonic() - wall, own_time() - own
        if not is_given_up(answer) or took_s < _NEARLY * limit_s or own_s >= _NEARLY * seconds:
            return answer
        limit_s *= 2


def z3_check(solver: Any, assumptions: Sequence[Any], seconds: float) -> Any:
    """Return what a solver of Z3 says within so much time of its own."""

    def ask(milliseconds: int) -> Any:
        solver.set("timeout", milliseconds)
        return solver.check(*assumptions)

    return within_own_time(seconds, ask, lambda result: str(result) == "unknown")


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """End this process by SIGPROF once what runs within has taken so much time of its own; main threads only.

    The system ends a process that computes too long, also one that never returns to Python. What sleeps too long is
    ended by a handler of SIGALRM.
    """
    begun, is_within = own_time(), True

    def look(*_: object) -> None:
        left = seconds - (own_time() - begun)
        if is_within and left > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
        elif is_within:
            os.kill(os.getpid(), signal.SIGPROF)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        is_within = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)


def computed_and_waited(process: str) -> tuple[float, float]:
    """Return the seconds that a main thread computed and stood in line; zeros where the system does not tell."""
    try:
        computed, waited, _ = map(int, Path(f"/proc/{process}/schedstat").read_bytes().split())
    except (OSError, ValueError):
        return 0.0, 0.0
    return computed / _NANOSECONDS, waited / _NANOSECONDS


_PR_SET_PDEATHSIG = 1
ADDRESS_SPACE = 4 * 2**30
"""Bytes of one worker: several times what solvers take on natural programs, a small part of what bombs would."""


def confine() -> None:
    """Die with the parent, and let allocations beyond `ADDRESS_SPACE` fail; leave no core dump."""
    die_with_parent()
    for limit, wanted in ((resource.RLIMIT_AS, ADDRESS_SPACE), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(limit)
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        # Where the system does not know the limit (macOS and its address space), the time limit is left.
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (allowed, hard))


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process when its parent ends; elsewhere the pools' own clean-up must do.

    `parent` is who started it, where that is known: a parent that ended before this was called is noticed only then.
    """
    if sys.platform == "linux":
        parent = os.getppid() if parent is None else parent
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
