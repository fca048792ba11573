"""`certistar bench gpu`: parts one after the other, each in a process of its own under its own time limit.

Each part gets its share of the minutes that are left, so what one part saves the next may use. A process that crashes
is started again behind the cell that it crashed in.
"""

import os
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from time import monotonic

from critics.errors import InputError
from training.benches.cells import started
from training.benches.part import work
from training.benches.parts import PARTS
from training.benches.results import (
    ALL,
    FINISHED,
    Machine,
    PartResult,
    cell_result,
    machine,
    path_of,
    read_all,
    read_part,
    write_part,
)
from training.records.store import make_folder, write_json

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
    _must_be_the_same(out, here, toy)
    if on_cpu:
        _import_ahead()
    deadline = monotonic() + 60 * minutes
    for number, part in enumerate(wanted):
        left = sum(PARTS[later].share for later in wanted[number:] if later == part or not PARTS[later].lacks)
        limit = (deadline - monotonic()) * PARTS[part].share / left
        if limit > 1:
            tell(_run_part(out, PartResult(part, here, toy, command=command), limit).line())
        write_json(out / ALL, [asdict(result) for result in read_all(out, PARTS)])
    return read_all(out, PARTS)


def _must_be_the_same(out: Path, here: Machine, toy: bool) -> None:
    for name in PARTS:
        before = read_part(path_of(out, name))
        if before is not None and (before.machine.device, before.toy) != (here.device, toy):
            size = "toy sizes" if before.toy else "full sizes"
            raise InputError(f"{out} was measured on {before.machine.device} with {size}; name another --out")


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


def _import_ahead() -> None:
    """Import what most parts need, once: their processes are forks of this one."""
    from training.logs import quieten

    quieten()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    for name in ("peft", "training.finetuning.trainable", "training.finetuning.trainer", "training.rounds.loop"):
        import_module(name)
