"""Preemption: what a scheduler's SIGTERM does to a run, so that its next start loses nothing.

A fine-tuning finishes its step, writes a checkpoint and ends. Everything else ends at once, since it is on the disk
work unit by work unit. The command ends with the status of a temporary failure, by which a script requeues the job.
"""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from critics.errors import RunFailed

STATUS = 75
"""Exit status: EX_TEMPFAIL of sysexits.h, try again."""
GRACE_S = 30.0
"""Seconds that a fine-tuning may take to write its checkpoint; it is killed then."""
_asked = threading.Event()


class Preempted(RunFailed):
    """A run ended because it was asked to (SIGTERM); the same command goes on."""


def is_asked() -> bool:
    """Say whether this process got SIGTERM within `noticed`."""
    return _asked.is_set()


@contextmanager
def noticed() -> Generator[None]:
    """Take SIGTERM as a request, which `is_asked` tells of; it is forgotten afterwards."""
    try:
        with handled(_asked.set):
            yield
    finally:
        _asked.clear()


@contextmanager
def raised() -> Generator[None]:
    """Raise `Preempted` in the main thread on SIGTERM."""

    def end() -> None:
        raise Preempted("asked to end (SIGTERM); what is finished is kept: run the same command again to go on")

    with handled(end):
        yield


@contextmanager
def handled(handler: Callable[[], object]) -> Generator[None]:
    """Set a handler where Python allows it, which is in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
