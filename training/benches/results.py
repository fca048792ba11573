"""Results of `certistar bench gpu`: a file for each part, written anew whenever one of its cells is measured.

A cell is one measurement, named by a path such as `1.5B/own/guided/128`. A run that is cut short leaves what it had,
and the next call measures what is missing or went wrong.
"""

import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from critics.errors import InputError
from training.benches.cells import BenchRow
from training.benches.decoding import NEW, PROMPT
from training.benches.fine_tuning import CASES
from training.benches.parts import PARTS
from training.benches.synthetic import MODELS
from training.configuration.fine_tuning import TrainingConfig
from training.hardware import driver_says, num_cores
from training.lineage.provenance import commit, version
from training.planning.lengths import shape_of
from training.planning.speed import DecodingSpeed, MachineSpeeds, TrainingSpeed
from training.records.store import write_json

LIBRARIES = ("torch", "transformers", "peft", "accelerate", "bitsandbytes", "vllm", "flash-attn", "triton")
FINISHED = "finished"
ALL = "gpu.json"
"""All parts in one file: what docs/gpu.md is made from."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine that a part was measured on."""

    device: str
    """`cpu`, or the GPU's name."""
    memory: int = 0
    """Bytes of the GPU."""
    capability: str = ""
    driver: str = ""
    cuda: str = ""
    cores: int = 0
    python: str = ""
    system: str = ""
    versions: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_gpu(self) -> bool:
        """True where a GPU was used."""
        return self.device != "cpu"


@dataclass(frozen=True, slots=True)
class CellResult:
    """Outcome of a cell: rows, or why there are none."""

    rows: tuple[BenchRow, ...] = ()
    seconds: float = 0.0
    failed: str = ""
    """The error that ended it; it is tried again in the next call."""
    skipped: str = ""
    """The package or file that it lacks."""
    commit: str | None = None
    at: str = ""

    @property
    def is_measured(self) -> bool:
        """True where it has rows."""
        return not self.failed and not self.skipped


@dataclass(frozen=True, slots=True)
class PartResult:
    """Result of a part, as far as it is measured."""

    part: str
    machine: Machine
    toy: bool
    cells: Mapping[str, CellResult] = field(default_factory=dict[str, CellResult])
    running: str = ""
    """The cell at work, or at work when the part was cut short."""
    ended: str = ""
    """`finished`, or what cut it short."""
    seconds: float = 0.0
    """Seconds of all calls."""
    command: str = ""
    """Command that measured it, without the folder of results, which is of one machine alone."""
    limit_s: float = 0.0
    """Time limit of the last call."""

    def with_cell(self, name: str, result: CellResult) -> "PartResult":
        """Return the part with one more cell."""
        return replace(self, cells={**self.cells, name: result}, running="")

    def count(self, what: str) -> int:
        """Return how many cells were `measured`, `failed` or `skipped`."""
        return sum(bool(getattr(cell, "is_measured" if what == "measured" else what)) for cell in self.cells.values())

    def line(self) -> str:
        """Return what people are told."""
        counts = ", ".join(f"{num} {what}" for what in ("measured", "failed", "skipped") if (num := self.count(what)))
        why = "; ".join(dict.fromkeys(cell.skipped for cell in self.cells.values() if cell.skipped))
        beside = f" (skipped: {why})" if why else ""
        return f"{self.part}: {counts or 'nothing measured'} in {self.seconds:.0f} s; {self.ended}{beside}"


_FOLDERS = re.compile(r"(?<![\w.:/])(?:/[\w.+@=~-]+)+/")
_PART, _PARTS = TypeAdapter(PartResult), TypeAdapter(tuple[PartResult, ...])


def path_of(out: Path, part: str) -> Path:
    """Return the file of a part."""
    return out / f"{part}.json"


def read_part(path: Path) -> PartResult | None:
    """Read a part's file; None where there is none, `InputError` where it is something else."""
    if not path.exists():
        return None
    try:
        return _PART.validate_json(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: is no result of `certistar bench gpu`; move it, or name another --out") from error


def write_part(out: Path, result: PartResult) -> None:
    """Write a part's file in one piece."""
    write_json(path_of(out, result.part), asdict(result))


def read_all(out: Path, names: Iterable[str]) -> tuple[PartResult, ...]:
    """Return the named parts of a folder in this order, of their own files or of the file of all."""
    try:
        parts = _PARTS.validate_json((out / ALL).read_bytes()) if (out / ALL).exists() else ()
    except ValueError as error:
        raise InputError(f"{out / ALL}: is no result of `certistar bench gpu`") from error
    found = {part.part: part for part in parts}
    files = {name: read_part(path_of(out, name)) or found.get(name) for name in names}
    return tuple(part for part in files.values() if part)


def cell_result(rows: tuple[BenchRow, ...], seconds: float, *, failed: str = "", skipped: str = "") -> CellResult:
    """Return a cell's outcome with its provenance."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return CellResult(rows, round(seconds, 2), without_folders(failed), skipped, commit(), at)


def without_folders(said: str) -> str:
    """Return an error's message with the last part alone of each absolute path: results are published."""
    return _FOLDERS.sub("", said)


def machine(*, on_cpu: bool) -> Machine:
    """Return this machine; raises `InputError` where a GPU is wanted and none can be used."""
    import torch

    known = Machine(
        "cpu",
        cores=num_cores(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        versions={name: found for name in LIBRARIES if (found := version(name))},
    )
    if on_cpu:
        return known
    if not torch.cuda.is_available():
        raise InputError("bench gpu: torch finds no GPU here; `--on cpu --toy` rehearses every part without one")
    cuda: Any = torch.cuda
    properties = cuda.get_device_properties(0)
    return replace(
        known,
        device=properties.name,
        memory=properties.total_memory,
        capability=f"{properties.major}.{properties.minor}",
        driver=driver_says("driver_version"),
        cuda=str(torch.version.cuda),  # type: ignore[attr-defined]
    )


def machine_speeds(path: Path) -> MachineSpeeds:
    """Read a folder of results, or its gpu.json; raises `InputError` where they are not of a GPU."""
    if path.is_file() and path.name != ALL:
        raise InputError(f"--measured {path}: name a folder of `certistar bench gpu --out`, or its {ALL}")
    parts = {part.part: part for part in read_all(path.parent if path.is_file() else path, PARTS)}
    if not parts:
        raise InputError(f"--measured {path}: no results are there; `certistar bench gpu --out {path}` makes them")
    known = [part for part in parts.values() if part.machine.is_gpu and not part.toy]
    if not known:
        raise InputError(f"--measured {path}: is a rehearsal without a GPU, whose figures mean nothing")
    decoding = [speed for name in ("decoding", "vllm") if name in parts for speed in _decoding(parts[name])]
    return MachineSpeeds(known[0].machine.device, tuple(decoding), tuple(_training(parts.get("training"))))


def _decoding(part: PartResult) -> Iterator[DecodingSpeed]:
    by_way: dict[tuple[str, str, str], dict[int, float]] = {}
    for name, cell in part.cells.items():
        model, engine, how, batch = name.split("/")
        steps = [row.value / 1e3 for row in cell.rows if row.name == "step_ms"]
        if engine in ("own", "vllm") and steps:
            by_way.setdefault((model, engine, how), {})[int(batch)] = steps[0]
    for (model, engine, how), steps in by_way.items():
        shape = shape_of(MODELS[model].family, MODELS[model].size)
        yield DecodingSpeed(shape, engine, how == "guided", PROMPT, NEW, steps)


def _training(part: PartResult | None) -> Iterator[TrainingSpeed]:
    cases = {f"{case.model}/{case.name}": case for case in CASES}
    for name, cell in part.cells.items() if part else ():
        speeds = [row.value for row in cell.rows if row.name == "tokens_per_s"]
        if name in cases and speeds:
            case, model = cases[name], MODELS[cases[name].model]
            config = TrainingConfig.model_validate({"batch_size": case.batch, **case.keys})
            yield TrainingSpeed(shape_of(model.family, model.size), config, case.tokens, 1 / speeds[0])
