"""Landlock: a process gives up the file system, and TCP, for good; Linux only, without privileges.

A ruleset that handles every kind of access and allows none. Where the kernel has Landlock at all, it has the file
system; TCP comes with ABI 4, signals and abstract sockets with ABI 6. The numbers are the same on every architecture.
"""

import ctypes
import errno
import os
import platform
import sys
from dataclasses import dataclass

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


_SET_SECCOMP, _FILTER_MODE = 22, 2
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Offsets in what a filter is shown; arguments have 8 bytes each, the lower half first."""
_PROT_EXEC = 4
_FOREIGN = 0x40000000
"""From here on x86-64 has the calls of x32, the same work under other numbers."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit: int
    write: int
    mapping: tuple[int, ...]
    """mmap, mprotect"""
    harmless: tuple[int, ...]


_MACHINES = {
    # munmap brk rt_sigaction rt_sigprocmask rt_sigreturn sched_yield mremap madvise nanosleep getpid exit
    # gettimeofday getrusage times sigaltstack gettid time futex restart_syscall clock_gettime clock_getres
    # clock_nanosleep exit_group getrandom membarrier rseq
    "x86_64": _Machine(0xC000003E, 1, (9, 10), (
        11, 12, 13, 14, 15, 24, 25, 28, 35, 39, 60, 96, 98, 100, 131, 186, 201, 202, 219, 228, 229, 230, 231, 318,
        324, 334,
    )),
    "aarch64": _Machine(0xC00000B7, 64, (222, 226), (
        215, 214, 134, 135, 139, 124, 216, 233, 101, 172, 93, 169, 165, 153, 132, 178, 98, 128, 113, 114, 115, 94, 278,
        283, 293,
    )),
}  # fmt: skip


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def keep_only_computing(descriptor: int) -> None:
    """Give up, for good, all system calls but those above; `descriptor` alone can still be written to.

    Needs `no_new_privs`. Raises `OSError` where the kernel or the machine is not known to do it.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(f"no list of system calls for {platform.machine()}")
    instructions = _instructions(machine, descriptor)
    program = _Program(len(instructions), (_Instruction * len(instructions))(*instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def _instructions(machine: _Machine, descriptor: int) -> list[_Instruction]:
    """Return the filter: another architecture kills, and what is not listed is refused."""
    listed = [
        _Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        _Instruction(_JUMP_EQUAL, 1, 0, machine.audit),
        _Instruction(_RETURN, 0, 0, _KILL),
        _Instruction(_LOAD, 0, 0, _NUMBER),
        _Instruction(_JUMP_AT_LEAST, 0, 1, _FOREIGN),
        _Instruction(_RETURN, 0, 0, _KILL),
    ]
    for number in machine.harmless:
        listed += [_Instruction(_JUMP_EQUAL, 0, 1, number), _Instruction(_RETURN, 0, 0, _ALLOW)]
    for number in machine.mapping:
        # Attack: write machine code and run it.
        listed += [
            _Instruction(_JUMP_EQUAL, 0, 4, number),
            _Instruction(_LOAD, 0, 0, _ARGUMENTS + 2 * 8),
            _Instruction(_JUMP_SET, 1, 0, _PROT_EXEC),
            _Instruction(_RETURN, 0, 0, _ALLOW),
            _Instruction(_RETURN, 0, 0, _REFUSE),
        ]
    return [
        *listed,
        _Instruction(_JUMP_EQUAL, 0, 3, machine.write),
        _Instruction(_LOAD, 0, 0, _ARGUMENTS),
        _Instruction(_JUMP_EQUAL, 0, 1, descriptor),
        _Instruction(_RETURN, 0, 0, _ALLOW),
        _Instruction(_RETURN, 0, 0, _REFUSE),
    ]
