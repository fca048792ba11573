"""Hardware of a machine: cores, memory, and the operations a second that a GPU's maker publishes."""

import os
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from critics.errors import InputError

GIB = 2**30
HOST = "CPU, one thread"


@dataclass(frozen=True, slots=True)
class Device:
    """One accelerator, or the share of a CPU that one process has."""

    name: str
    memory: float
    """Bytes."""
    flops: float = 0.0
    """Dense 16-bit matrix multiplications by the maker's data sheet, operations a second; 0: not known here."""


PUBLISHED = {
    "H200": (141, 989e12),
    "H100 PCIe": (80, 756e12),
    "H100": (80, 989e12),
    "A100-SXM4-40GB": (40, 312e12),
    "A100-PCIE-40GB": (40, 312e12),
    "A100": (80, 312e12),
    "L40S": (48, 362e12),
    "A10G": (24, 70e12),
    "A10": (24, 125e12),
    "L4": (24, 121e12),
    "4090": (24, 165e12),
    "V100": (16, 125e12),
    "T4": (16, 65e12),
}
"""Gigabytes and dense 16-bit peak by the makers' data sheets; of several names that fit, the first."""
USABLE = 0.96
"""Share of a GPU's memory that its driver and its context leave; assumed."""


DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
"""Paths at which the drivers of NVIDIA, AMD and WSL show; to ask torch could wake the GPUs."""


def has_accelerator() -> bool:
    """Say whether a driver shows, without waking what it drives."""
    return any(Path(driver).exists() for driver in DRIVERS)


def device_named(text: str) -> tuple[Device, int]:
    """Return a device by its data sheet and how many of it, from such as `H100` or `A100:8`; raises `InputError`."""
    name, _, count = text.partition(":")
    if name not in PUBLISHED or not (count or "1").isdigit() or int(count or 1) == 0:
        raise InputError(f"--on {text!r}: write one of {', '.join(PUBLISHED)}, and perhaps how many, as in A100:8")
    gigabytes, flops = PUBLISHED[name]
    return Device(f"{name} (data sheet)", USABLE * gigabytes * 1e9, flops), int(count or 1)


def device_here() -> Device:
    """Return the device of this process: GPU 0, or a CPU."""
    import torch

    if not torch.cuda.is_available():
        return Device(HOST, available_memory())
    cuda: Any = torch.cuda
    properties = cuda.get_device_properties(0)
    flops = next((flops for name, (_, flops) in PUBLISHED.items() if name in properties.name), 0.0)
    return Device(properties.name, properties.total_memory, flops)


def num_cores() -> int:
    """Return how many cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def memory_of_a_core() -> float:
    """Return a core's part of the whole memory of the machine, or of its container."""
    return min([_machine_bytes(), *(limit for limit, _ in _container_bytes())]) / num_cores()


def _machine_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container_bytes() -> list[tuple[int, int]]:
    """Return the limit of this process's container, and how much of it is used; nothing without one."""
    found: list[tuple[int, int]] = []
    for folder, names in (("", ("max", "current")), ("memory/", ("limit_in_bytes", "usage_in_bytes"))):
        with suppress(OSError, ValueError):
            limit, used = (int(Path(f"/sys/fs/cgroup/{folder}memory.{name}").read_text("ascii")) for name in names)
            found.append((limit, used))
    return found


def num_training_processes() -> int:
    """Return one process a GPU, and one without."""
    import torch

    return max(1, torch.cuda.device_count())


def peak_memory() -> int:
    """Return the most bytes that this process held so far: of tensors on a GPU, else all that is resident."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def available_memory() -> float:
    """Return the bytes that a process could still take, by the machine and by the limit of its container."""
    available = _machine_bytes()
    with suppress(OSError, KeyError, ValueError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        available = min(available, 1024 * int(lines["MemAvailable"].split()[0]))
    return float(min([available, *(limit - used for limit, used in _container_bytes())]))
