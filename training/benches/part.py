"""One part of `certistar bench gpu` in a process of its own: cells in order, each written as it ends.

What the part's file has already is passed over, failures too: a process that crashed is started again.
"""

import os
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from traceback import format_exc

from critics.workers.own_time import die_with_parent
from training.benches.cells import Cell, Setting, settle
from training.benches.parts import PARTS
from training.benches.results import FINISHED, CellResult, PartResult, cell_result, path_of, read_part
from training.benches.results import write_part as write

STICKY = ("device-side assert", "illegal memory access", "CUDA error", "CUBLAS_STATUS", "unspecified launch failure")
"""Errors after which a process can do nothing more on its GPU."""
BROKEN = 3
"""Exit status of a process that can do no more."""
MOST_SAID = 1_500


def run_part(result: PartResult, out: Path, setting: Setting) -> None:
    """Measure what is missing, and write after each cell."""
    write(out, replace(result, ended="", running="starting"))
    for cell in PARTS[result.part].cells(setting):
        if cell.name in result.cells:
            continue
        write(out, replace(result, running=cell.name))
        measured, is_broken = _measured(cell, setting)
        result = result.with_cell(cell.name, measured)
        write(out, result)
        if is_broken:
            sys.exit(BROKEN)
    write(out, replace(result, ended=FINISHED, running=""))


def _measured(cell: Cell, setting: Setting) -> tuple[CellResult, bool]:
    """Return a cell's outcome, and whether this process can do no more."""
    lacking = [what for what in cell.needs if not _is_here(what)]
    if lacking:
        return cell_result((), 0.0, skipped=", ".join(f"{_called(what)} is not installed" for what in lacking)), False
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


def _is_here(what: str) -> bool:
    return Path(what).exists() if "/" in what else find_spec(what) is not None


def _called(what: str) -> str:
    return "/".join(Path(what).parts[-2:]) if "/" in what else what


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
