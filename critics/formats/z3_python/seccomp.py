"""Seccomp: a process keeps the few system calls that computing takes; every other one fails from then on.

What is left: memory that cannot be executed, time, its own signals, locks among its own threads, the end, and
writing to one descriptor. There is no opening, reading, sending, starting, killing or asking. x86-64 and aarch64.
"""

import ctypes
import errno
import platform
from dataclasses import dataclass

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
