"""Hardware of a machine: memory, floating-point operations and bytes a second, published or measured."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
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
    flops: float
    """Dense matrix multiplications, operations a second: bfloat16 where the device has it."""
    bandwidth: float
    """Bytes a second from its memory."""
    measured: bool
    """True where the two were measured here; else they are the maker's."""


PUBLISHED = {
    "H200": (141, 989e12, 4.8e12),
    "H100 PCIe": (80, 756e12, 2.0e12),
    "H100": (80, 989e12, 3.35e12),
    "A100-SXM4-40GB": (40, 312e12, 1.55e12),
    "A100-PCIE-40GB": (40, 312e12, 1.55e12),
    "A100": (80, 312e12, 2.0e12),
    "L40S": (48, 362e12, 0.86e12),
    "A10G": (24, 70e12, 0.6e12),
    "A10": (24, 125e12, 0.6e12),
    "L4": (24, 121e12, 0.3e12),
    "4090": (24, 165e12, 1.0e12),
    "V100": (16, 125e12, 0.9e12),
    "T4": (16, 65e12, 0.32e12),
}
"""Gigabytes, dense 16-bit peak and bandwidth by the makers' data sheets; of several names that fit, the first."""
USABLE = 0.96
"""Share of a GPU's memory that its driver and its context leave; assumed."""


DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg")
"""Paths at which the drivers of NVIDIA, AMD and WSL show; to ask torch could wake the GPUs."""


def has_accelerator() -> bool:
    """Say whether a driver shows, without waking what it drives."""
    return any(Path(driver).exists() for driver in DRIVERS)


def driver_says(field: str) -> str:
    """Return a field of the first GPU from nvidia-smi, which starts no GPU; empty without one."""
    query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.split("\n")[0].strip()


def gpus_by_driver() -> str | None:
    """Return this machine's GPUs as `device_named` takes them, without starting one; None where none is known."""
    name = driver_says("name") if has_accelerator() else ""
    known = next((known for known in PUBLISHED if known in name), None)
    return None if known is None else f"{known}:{num_training_processes()}"


def device_named(text: str) -> tuple[Device, int]:
    """Return a device by its data sheet and how many of it, from such as `H100` or `A100:8`; raises `InputError`."""
    name, _, count = text.partition(":")
    if name not in PUBLISHED or not (count or "1").isdigit() or int(count or 1) == 0:
        raise InputError(f"--on {text!r}: write one of {', '.join(PUBLISHED)}, and perhaps how many, as in A100:8")
    gigabytes, flops, bandwidth = PUBLISHED[name]
    return Device(f"{name} (data sheet)", USABLE * gigabytes * 1e9, flops, bandwidth, measured=False), int(count or 1)


def device_here(dtype: str = "float32") -> Device:
    """Return the device of this process: GPU 0 by its data sheet where that is known, else as measured.

    A CPU is measured in `dtype`.
    """
    import torch

    if not torch.cuda.is_available():
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # as a fine-tuning has here
        try:
            return Device(HOST, available_memory(), *_speed("cpu", getattr(torch, dtype), 512), measured=True)
        finally:
            torch.set_num_threads(threads)
    cuda: Any = torch.cuda
    properties = cuda.get_device_properties(0)
    known = next((numbers for name, numbers in PUBLISHED.items() if name in properties.name), None)
    if known is not None:
        return Device(properties.name, properties.total_memory, *known[1:], measured=False)
    flops, bandwidth = _speed("cuda", torch.bfloat16, 4096)
    return Device(properties.name, properties.total_memory, flops, bandwidth, measured=True)


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


def _speed(device: str, dtype: object, size: int) -> tuple[float, float]:
    import torch

    matrix = torch.ones(size, size, device=device, dtype=dtype)  # type: ignore[arg-type]
    many = torch.ones(8 * 2**20, device=device, dtype=torch.float32)

    def multiply() -> None:
        torch.matmul(matrix, matrix)

    return 2 * size**3 / _seconds(multiply, device), 2 * many.nbytes / _seconds(many.clone, device)


def _seconds(work: Callable[[], object], device: str) -> float:
    """Return the shortest of a few runs; a CPU's own time, which others on the machine do not lengthen."""
    import torch

    times: list[float] = []
    clock = clock_of(device)
    for _ in range(6):
        began = clock()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(clock() - began)
    return min(times)


def clock_of(device: str) -> Callable[[], float]:
    """Return the clock by which a device's work is measured: the process's own time on a CPU."""
    return perf_counter if device == "cuda" else process_time


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
