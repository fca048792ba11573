"""Cells of `certistar bench gpu`, in the order of their worth, and the setting in which they are measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

GIB = 2**30


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One number, what it was measured against (None: nothing), and how many repeats are behind it."""

    name: str
    value: float
    unit: str
    baseline: str | None
    n: int


@dataclass(frozen=True, slots=True)
class Setting:
    """Device and size of a measurement."""

    device: str
    """`cuda` or `cpu`."""
    toy: bool
    """Sizes that a CPU does in seconds: nothing but that every part works is learnt from them."""
    scratch: Path
    """A folder for models and datasets, which is deleted."""

    @property
    def on_gpu(self) -> bool:
        """True where a GPU is measured."""
        return self.device == "cuda"


@dataclass(frozen=True, slots=True)
class BenchCell:
    """One measurement."""

    name: str
    measure: Callable[[], Sequence[BenchRow]]
    needs: tuple[str, ...] = ()
    """Modules and files without which it is skipped."""


def started(device: str, work: Callable[..., None], *arguments: object) -> BaseProcess:
    """Start a process of its own: a fork beside a CPU, which saves its imports, and none of one that may use a GPU."""
    context = get_context("fork") if device == "cpu" else get_context("spawn")
    process = context.Process(target=work, args=arguments)
    process.start()
    return process


def value(name: str, number: float, unit: str, *, n: int = 1, against: str | None = None) -> BenchRow:
    """Return a row, its value to four digits."""
    return BenchRow(name, float(f"{number:.4g}"), unit, against, n)


def settle(setting: Setting) -> None:
    """Wait for the GPU, give back what nobody holds, and forget the peak."""
    import gc

    import torch

    gc.collect()
    if setting.on_gpu:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_rows(setting: Setting) -> list[BenchRow]:
    """Return the GPU's peak since `settle`; nothing on a CPU, where a process keeps what it took before."""
    import torch

    return [value("peak_gib", torch.cuda.max_memory_allocated() / GIB, "GiB")] if setting.on_gpu else []
