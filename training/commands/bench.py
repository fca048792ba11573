"""`bench`: ratios against named baselines, and the qualification of a machine with a GPU."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from critics.errors import InputError, RunFailed
from training.commands.options import Json

EXAMPLE = "certistar bench kernel --json"
GPU = "gpu"


def bench(
    name: Annotated[
        str, typer.Argument(help="kernel, decoding, asp, programs, equivalence, pool, store, training, memory or gpu.")
    ] = "kernel",
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of results; the same again goes on (bench gpu).")
    ] = None,
    on: Annotated[
        Literal["gpu", "cpu"], typer.Option("--on", help="cpu, with --toy, rehearses without a GPU (bench gpu).")
    ] = GPU,
    toy: Annotated[bool, typer.Option("--toy", help="Sizes that a CPU does in seconds (bench gpu).")] = False,
    parts: Annotated[
        str, typer.Option("--parts", metavar="A,B", help="Only these parts, in this order (bench gpu).")
    ] = "",
    limit: Annotated[
        float, typer.Option("--limit", min=0.1, metavar="MINUTES", help="Time for all parts (bench gpu).")
    ] = 20.0,
    page: Annotated[
        bool, typer.Option("--page", help="Print docs/gpu.md from the results in --out (bench gpu).")
    ] = False,
) -> None:
    """Measure ratios against the named baseline in one run; `gpu` qualifies a machine with one GPU."""
    if name == GPU:
        _gpu(
            out or Path("bench-gpu"), on, toy, [part.strip() for part in parts.split(",") if part.strip()], limit, page
        )
        return
    if out is not None or toy or parts or page:
        raise InputError(f"bench {name}: --out, --toy, --parts and --page are for `bench gpu`")
    from training.bench import bench as measure

    measure(name, as_json)


def _gpu(out: Path, on: str, toy: bool, parts: list[str], limit: float, page: bool) -> None:
    if page:
        from training.benches.gpu.page import page_of

        print(page_of(out), end="")
        return
    if on == "cpu" and not toy:
        raise InputError("bench gpu: --on cpu is a rehearsal; write --on cpu --toy")
    from training.benches.gpu.qualification import qualify

    found = qualify(out, on_cpu=on == "cpu", toy=toy, parts=parts, minutes=limit, tell=print)
    print(f"{out / 'gpu.json'}; as a page: certistar bench gpu --out {out} --page")
    if failed := [f"{part.part}: {name}" for part in found for name, cell in part.cells.items() if cell.failed]:
        raise RunFailed(f"{len(failed)} cells failed ({'; '.join(failed[:5])}); {out} says why")
