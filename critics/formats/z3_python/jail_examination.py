"""Examination of the jail: every layer is entered by a child of its own, which then tries what it forbids.

Done once per process, at the first script. A kernel without Landlock, a container that forbids seccomp, another
system than Linux or another processor has no jail, and then no untrusted script runs (verdict `error`, `no_jail`).
"""

import ctypes
import os
import resource
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache

from critics.formats.z3_python.jail import LAYERS, JailAnswer, Overran, run_jailed
from critics.formats.z3_python.landlock import NETWORK_ABI, abi

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
