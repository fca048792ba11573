"""`bench`: the qualification of a machine with a GPU."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

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
    whole: Annotated[bool, typer.Option("--whole", help="End with status 1 unless all is measured.")] = False,
    page: Annotated[bool, typer.Option("--page", help="Print a page of the results in --out.")] = False,
) -> None:
    """Qualify a machine with one GPU: speeds, peak memory, a round and its differences from the CPU's."""
    if name != GPU:
        raise InputError(f"bench {name!r}: is measured in a clone of the repository, by python -m tools.bench {name}")
    sys.path.append(str(Path.cwd()))  # an installed certistar may be started in a clone, where the benches lie
    try:
        parts_of: Any = import_module("tools.gpu.parts")
        results: Any = import_module("tools.gpu.results")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tools":
            raise
        raise InputError("bench gpu: is measured in a clone of the repository; start it there") from error
    if page:
        print(import_module("tools.gpu.page").page_of(out), end="")
        return
    if on == "cpu" and not toy:
        raise InputError("bench gpu: --on cpu is a rehearsal; write --on cpu --toy")
    wanted = [part.strip() for part in parts.split(",") if part.strip()]
    found = results.qualify(out, on_cpu=on == "cpu", toy=toy, parts=wanted, minutes=limit, tell=print)
    print(f"{out / 'gpu.json'}; as a page: certistar bench gpu --out {out} --page")
    if failed := [f"{part.part}: {name}" for part in found for name, cell in part.cells.items() if cell.failed]:
        raise RunFailed(f"{len(failed)} cells failed ({'; '.join(failed[:5])}); {out} says why")
    done = {part.part for part in found if part.ended == results.FINISHED and not part.count("skipped")}
    if whole and (left := [part for part in wanted or parts_of.PARTS if part not in done]):
        raise RunFailed(f"--whole: something was skipped or cut short in {', '.join(left)}; lines above say why")
