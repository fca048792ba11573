"""`bench`: the qualification of a machine with a GPU."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import typer

from critics.errors import InputError, RunFailed

EXAMPLE = "certistar bench gpu --out bench-gpu"
GPU = "gpu"


def bench(
    name: Annotated[str, typer.Argument(help="gpu; the benches of a clone are `python -m tools.bench NAME`.")] = GPU,
    out: Annotated[Path, typer.Option("--out", help="Folder of results; the same again goes on.")] = Path("bench-gpu"),
    on: Annotated[Literal["gpu", "cpu"], typer.Option("--on", help="cpu, with --toy, rehearses without a GPU.")] = GPU,
    toy: Annotated[bool, typer.Option("--toy", help="Sizes that a CPU does in seconds.")] = False,
    parts: Annotated[str, typer.Option("--parts", metavar="A,B", help="Only these parts, in this order.")] = "",
    limit: Annotated[float, typer.Option("--limit", min=0.1, metavar="MINUTES", help="Time for all parts.")] = 20.0,
    whole: Annotated[bool, typer.Option("--whole", help="End with status 1 where anything was skipped.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Print a page of the results in --out, in a clone.")] = False,
) -> None:
    """Qualify a machine with one GPU: speeds, peak memory, a round and its differences from the CPU's."""
    if name != GPU:
        raise InputError(f"bench {name!r}: is measured in a clone of the repository, by python -m tools.bench {name}")
    if page:
        try:
            print(import_module("tools.gpu.page").page_of(out), end="")
        except ModuleNotFoundError as error:
            raise InputError("--page: the page is made in a clone of the repository; --out has the results") from error
        return
    if on == "cpu" and not toy:
        raise InputError("bench gpu: --on cpu is a rehearsal; write --on cpu --toy")
    from training.benches.qualification import qualify

    wanted = [part.strip() for part in parts.split(",") if part.strip()]
    found = qualify(out, on_cpu=on == "cpu", toy=toy, parts=wanted, minutes=limit, tell=print)
    print(f"{out / 'gpu.json'}; as a page: certistar bench gpu --out {out} --page")
    if failed := [f"{part.part}: {name}" for part in found for name, cell in part.cells.items() if cell.failed]:
        raise RunFailed(f"{len(failed)} cells failed ({'; '.join(failed[:5])}); {out} says why")
    left = [part.part for part in found if any(cell.skipped for cell in part.cells.values())]
    if whole and left:
        raise RunFailed(f"--whole: something was skipped in {', '.join(left)}; the lines above say why")
