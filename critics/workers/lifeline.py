"""Children that die with their parent, however it dies, and take no more memory than a critic needs."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress

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
