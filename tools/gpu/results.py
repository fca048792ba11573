"""`certistar bench gpu`: parts in processes of their own, and a file of results for each, written at every cell.

A cell is one measurement, named by a path such as `1.5B/own/guided/128`. A run that is cut short leaves what it had,
and the next call measures what is missing or went wrong.

Each part gets its share of the minutes that are left, so what one part saves the next may use. A process that crashes
is started again behind the cell that it crashed in.
"""

import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, perf_counter
from traceback import format_exc
from typing import Any

from pydantic import TypeAdapter

from critics.errors import InputError
from critics.workers.own_time import die_with_parent
from tools.gpu.cells import BenchCell, BenchRow, Setting, settle, started
from tools.gpu.parts import PARTS
from training.hardware import num_cores
from training.records.store import make_folder, write_json
from training.rounds.run import commit, version

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


def driver_says(field: str) -> str:
    """Return a field of the first GPU from nvidia-smi; empty without one."""
    query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.split("\n")[0].strip()


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


MINUTES = 20.0
STARTS = 4
"""Starts of a part's process in one call."""


def qualify(
    out: Path, *, on_cpu: bool, toy: bool, parts: Sequence[str], minutes: float, tell: Callable[[str], None]
) -> tuple[PartResult, ...]:
    """Measure what is missing in `out`, for at most so many minutes; return all parts that are there.

    Raises `InputError` where there is no GPU, for parts that are not known, and where `out` is of another machine.
    """
    wanted = list(parts or PARTS)
    if unknown := [part for part in wanted if part not in PARTS]:
        raise InputError(f"--parts {unknown[0]}: must be among {', '.join(PARTS)}")
    make_folder(out)
    here = machine(on_cpu=on_cpu)
    command = " ".join(
        ["certistar bench gpu"]
        + ["--on cpu"] * on_cpu
        + ["--toy"] * toy
        + [f"--parts {','.join(parts)}"] * bool(parts)
        + [f"--limit {minutes:g}"] * (minutes != MINUTES)
    )
    for before in filter(None, (read_part(path_of(out, name)) for name in PARTS)):
        if (before.machine.device, before.toy) != (here.device, toy):
            size = "toy sizes" if before.toy else "full sizes"
            raise InputError(f"{out} was measured on {before.machine.device} with {size}; name another --out")
    if on_cpu:  # what most parts need is imported once: their processes are forks of this one
        from training.logs import quieten

        quieten()
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        for name in ("peft", "training.finetuning.architecture", "training.finetuning.trainer", "training.rounds.loop"):
            import_module(name)
    deadline = monotonic() + 60 * minutes
    for number, part in enumerate(wanted):
        left = sum(PARTS[later].share for later in wanted[number:] if later == part or not PARTS[later].lacks)
        limit = (deadline - monotonic()) * PARTS[part].share / left
        if limit > 1:
            tell(_run_part(out, PartResult(part, here, toy, command=command), limit).line())
        write_json(out / ALL, [asdict(result) for result in read_all(out, PARTS)])
    return read_all(out, PARTS)


def _run_part(out: Path, new: PartResult, limit_s: float) -> PartResult:
    """Run a part's process, again where it crashes, and write how it ended."""
    if lacking := PARTS[new.part].lacks:
        skipped = {new.part: cell_result((), 0.0, skipped=f"{lacking} is not installed")}
        write_part(out, replace(new, cells=skipped, ended=FINISHED))
        return replace(new, cells=skipped, ended=FINISHED)
    deadline, began = monotonic() + limit_s, monotonic()
    before = read_part(path_of(out, new.part)) or new
    cells = {name: cell for name, cell in before.cells.items() if cell.is_measured}
    write_part(out, replace(before, machine=new.machine, cells=cells, ended="", running="starting"))
    scratch = tempfile.TemporaryDirectory(prefix=f"certistar-bench-{new.part}-", ignore_cleanup_errors=True)
    with scratch:
        found = _until_ended(out, new, deadline, Path(scratch.name))
    seconds = round(before.seconds + monotonic() - began, 1)
    found = replace(found, seconds=seconds, command=new.command, limit_s=round(limit_s, 1))
    write_part(out, found)
    return found


def _until_ended(out: Path, new: PartResult, deadline: float, scratch: Path) -> PartResult:
    """Start a part's process until it has finished or its time is over."""
    found = new
    for _ in range(STARTS):
        left = deadline - monotonic()
        status = _process(out, new, left, scratch)
        found = read_part(path_of(out, new.part)) or new
        if found.ended == FINISHED:
            return found
        if status is None:
            return replace(found, ended=f"cut short by its time limit, in {found.running or 'between cells'}")
        if found.running:
            said = f"its process ended with status {status}"
            found = found.with_cell(found.running, cell_result((), 0.0, failed=said))
        found = replace(found, ended=f"its process ended with status {status}")
        write_part(out, found)
    return found


def _process(out: Path, new: PartResult, limit_s: float, scratch: Path) -> int | None:
    """Return the exit status of a part's process; None where its time was over and it was ended."""
    process = started("cuda" if new.machine.is_gpu else "cpu", work, new, out.resolve(), scratch)
    try:
        process.join(max(1.0, limit_s))
        return process.exitcode
    finally:
        for end in (lambda: os.killpg(process.pid or 0, signal.SIGKILL), process.kill):  # it may lead no group yet
            with suppress(ProcessLookupError):
                end()
        process.join()


STICKY = ("device-side assert", "illegal memory access", "CUDA error", "CUBLAS_STATUS", "unspecified launch failure")
"""Errors after which a process can do nothing more on its GPU."""
BROKEN = 3
"""Exit status of a process that can do no more."""
MOST_SAID = 1_500


def run_part(result: PartResult, out: Path, setting: Setting) -> None:
    """Measure what is missing, and write after each cell."""
    write_part(out, replace(result, ended="", running="starting"))
    for cell in PARTS[result.part].cells(setting):
        if cell.name in result.cells:
            continue
        write_part(out, replace(result, running=cell.name))
        measured, is_broken = _measured(cell, setting)
        result = result.with_cell(cell.name, measured)
        write_part(out, result)
        if is_broken:
            sys.exit(BROKEN)
    write_part(out, replace(result, ended=FINISHED, running=""))


def _measured(cell: BenchCell, setting: Setting) -> tuple[CellResult, bool]:
    """Return a cell's outcome, and whether this process can do no more."""
    lacking = [need for need in cell.needs if not (Path(need).exists() if "/" in need else find_spec(need))]
    if lacking:
        named = ["/".join(Path(need).parts[-2:]) for need in lacking]
        return cell_result((), 0.0, skipped=", ".join(f"{name} is not installed" for name in named)), False
    began = perf_counter()
    try:
        rows = tuple(cell.measure())
    except Exception as error:  # noqa: BLE001 - every other cell is still measured, and the error is kept
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"[:MOST_SAID]
        print(format_exc(), file=sys.stderr, flush=True)
        is_broken = any(sign in said for sign in STICKY)
    else:
        return cell_result(rows, perf_counter() - began), False
    if not is_broken:
        settle(setting)  # behind the error, which held what was computed
    return cell_result((), perf_counter() - began, failed=said), is_broken


def work(new: PartResult, out: Path, scratch: Path) -> None:
    """Be the process of a part: `new` is the part of which nothing is measured."""
    with (out / f"{new.part}.log").open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())
    os.setsid()
    die_with_parent()
    warnings.simplefilter("ignore")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from training.logs import quieten

    quieten()
    import torch

    device = "cuda" if new.machine.is_gpu else "cpu"
    if device == "cpu":
        torch.set_num_threads(1)
    run_part(read_part(path_of(out, new.part)) or new, out, Setting(device, new.toy, scratch))
