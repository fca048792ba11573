"""Landlock: a process gives up the file system, and TCP, for good; Linux only, without privileges.

A ruleset that handles every kind of access and allows none. Where the kernel has Landlock at all, it has the file
system; TCP comes with ABI 4, signals and abstract sockets with ABI 6. The numbers are the same on every architecture.
"""

import ctypes
import os
import sys

_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION = 1
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Kinds of access to files that an ABI knows; from the fifth on 16."""
NETWORK_ABI, SCOPE_ABI = 4, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


def abi() -> int:
    """Return the kernel's ABI; 0 where there is no Landlock, or where it is switched off or forbidden."""
    if sys.platform != "linux":
        return 0
    return max(0, _system_call(_CREATE_RULESET, None, 0, _VERSION))


def give_up_files() -> None:
    """Deny this process, for good, all that Landlock can deny; raises `OSError` where it is missing.

    Needs `no_new_privs`. What is open already stays open.
    """
    found = abi()
    if found < 1:
        raise OSError("this kernel has no Landlock")
    rights = (1 << _FILE_RIGHTS.get(found, 16)) - 1
    rules = _Ruleset(rights, 3 if found >= NETWORK_ABI else 0, 3 if found >= SCOPE_ABI else 0)
    size = 24 if found >= SCOPE_ABI else 16 if found >= NETWORK_ABI else 8
    ruleset = _system_call(_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    try:
        if _system_call(_RESTRICT_SELF, ruleset, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _system_call(number: int, first: object, second: int, third: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    wanted = ctypes.c_long(first) if isinstance(first, int) else first
    return int(libc.syscall(ctypes.c_long(number), wanted, ctypes.c_size_t(second), ctypes.c_long(third)))
