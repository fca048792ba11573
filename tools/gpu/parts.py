"""Parts of `certistar bench gpu`, in the order in which they are measured: what is worth most comes first."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from tools.gpu.cells import BenchCell, Setting
from tools.gpu.decoding import decoding, in_vllm
from tools.gpu.fine_tuning import fine_tuning


@dataclass(frozen=True, slots=True)
class BenchPart:
    """One part, measured in a process of its own."""

    cells: Callable[[Setting], Iterator[BenchCell]]
    share: float
    """Share of the time, beside the other parts' shares; a part whose package is not installed takes seconds."""
    what: str
    """For people."""
    needs: str = ""
    """Package that the whole part needs, which is looked for before its process is started."""

    @property
    def lacks(self) -> str:
        """The package that the whole part needs and that is not installed; empty: none."""
        return self.needs if self.needs and not is_installed(self.needs) else ""


def is_installed(module: str) -> bool:
    """Say whether a module is there; nothing but the packages around it is imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _late(function: str) -> Callable[[Setting], Iterator[BenchCell]]:
    """Return the cells of a module that is imported in the part's own process."""
    module, _, name = function.partition(":")
    return lambda setting: getattr(import_module(module), name)(setting)


PARTS: Mapping[str, BenchPart] = {
    "decoding": BenchPart(
        decoding,
        6,
        "the own loop beside `generate`, guided and free, batches of 32 to 256, shapes of 0.5 B, 1.5 B and 8 B",
    ),
    "training": BenchPart(
        fine_tuning,
        5,
        "LoRA, DoRA, nf4 and full: a step, tokens a second, utilisation, peak memory beside the memory model's",
    ),
    "round": BenchPart(
        _late("tools.gpu.rounds:rounds"),
        4,
        "a certified STaR round of a 1 B model: rollout, certification, fine-tuning, evaluation",
    ),
    "tests": BenchPart(_late("tools.gpu.marked:marked"), 2, "every test marked `gpu`"),
    "smoke": BenchPart(
        _late("tools.gpu.rounds:smoke"),
        2,
        "`configs/smoke.yaml` in float32 here and on the CPU: texts and adapters compared",
    ),
    "masks": BenchPart(
        _late("tools.gpu.masks:masks"),
        1.5,
        "the masks' share of a guided step, in a new process and later",
    ),
    "vllm": BenchPart(in_vllm, 6, "vLLM in this process, where it is installed", needs="vllm"),
}
