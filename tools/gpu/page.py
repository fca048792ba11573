"""The page docs/gpu.md, made from the results of `certistar bench gpu`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from critics.errors import InputError
from tools.gpu.parts import PARTS
from tools.gpu.results import MINUTES, CellResult, PartResult, read_all
from training.outcomes import markdown

TEMPLATE = Path(__file__).with_name("page.md")
"""The page without what was measured."""
NONE = "Not measured on a GPU.\n"


def page_of(out: Path) -> str:
    """Return the page of the results in a folder; raises `InputError` where there are none."""
    parts = read_all(out, PARTS)
    if not parts:
        raise InputError(f"{out}: no results are there; `certistar bench gpu --out {out}` makes them")
    return page(parts)


def page(parts: Sequence[PartResult]) -> str:
    """Return the Markdown; figures that no GPU gave are left out, and their place says so."""
    measured = {part.part: part for part in parts if part.machine.is_gpu and not part.toy}
    sections = [_status(parts, bool(measured)), _parts(parts)]
    for title, names, table in (
        ("Decoding, tokens a second", ("decoding", "vllm"), _decoding),
        ("Masks", ("masks",), _rows),
        ("Fine-tuning", ("training",), _rows),
        ("Tests", ("tests",), _rows),
        ("A certified round", ("round",), _rows),
        ("The smoke run beside the CPU's", ("smoke",), _rows),
    ):
        found = [cell for name in names if name in measured for cell in measured[name].cells.items() if cell[1].rows]
        sections.append(f"## {title}\n\n" + ("".join(table(found)) if found else NONE))
    return TEMPLATE.read_text(encoding="utf-8").format(
        minutes=MINUTES, measured="\n".join(sections), provenance="\n".join(_provenance(parts))
    )


def _status(parts: Sequence[PartResult], is_measured: bool) -> str:
    if not is_measured:
        when = f" The last rehearsal, on a CPU with toy sizes, was of {_days(parts)}." if parts else ""
        return f"## Status\n\n**Nothing here was measured on a GPU.**{when}\n"
    device = next(part.machine.device for part in parts if part.machine.is_gpu)
    return f"## Status\n\nMeasured on one {device}, {_days(parts)}.\n"


def _days(parts: Sequence[PartResult]) -> str:
    days = sorted({cell.at[:10] for part in parts for cell in part.cells.values() if cell.at})
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "no known day"


def _parts(parts: Sequence[PartResult]) -> str:
    by_name = {part.part: part for part in parts}
    rows = [[f"`{name}`", part.what, *_outcome(by_name.get(name))] for name, part in PARTS.items()]
    failures = [
        f"- `{part.part}`, {name}: {'failed' if cell.failed else 'skipped'}: {cell.failed or cell.skipped}\n"
        for part in parts
        for name, cell in part.cells.items()
        if not cell.is_measured
    ]
    return (
        "## Parts\n\n"
        + markdown(["part", "what", "cells", "ended"], rows)
        + ("\n" if failures else "")
        + "".join(failures)
    )


def _outcome(part: PartResult | None) -> list[str]:
    if part is None:
        return ["none", "not run"]
    counts = [f"{num} {what}" for what in ("measured", "failed", "skipped") if (num := part.count(what))]
    where = "" if part.machine.is_gpu else " (rehearsal)"
    return [", ".join(counts) or "none", f"{part.ended or 'cut short'}{where}"]


def _decoding(cells: Sequence[tuple[str, CellResult]]) -> Iterator[str]:
    """Yield a table for each model: a line for each batch, a column for each way."""
    ways = list(dict.fromkeys(_place(name)[1] for name, _ in cells))
    speeds = {_place(name): cell.rows[0].value for name, cell in cells}
    batches = sorted({(name, batch) for name, _, batch in speeds}, key=lambda at: (float(at[0][:-1]), int(at[1])))
    rows = [
        [name, batch, *(f"{found:,.0f}" if (found := speeds.get((name, way, batch))) else "-" for way in ways)]
        for name, batch in batches
    ]
    yield markdown(["model", "batch", *ways], rows)


def _place(name: str) -> tuple[str, str, str]:
    model, engine, how, batch = name.split("/")
    return model, f"{engine}, {how}", batch


def _rows(cells: Sequence[tuple[str, CellResult]]) -> Iterator[str]:
    """Yield one table of all rows."""
    told = [
        [name, row.name.replace("_", " "), f"{row.value:,.4g}", row.unit, row.baseline or "", str(row.n)]
        for name, cell in cells
        for row in cell.rows
    ]
    yield markdown(["cell", "what", "value", "unit", "against", "n"], told)


def _provenance(parts: Sequence[PartResult]) -> Iterator[str]:
    if not parts:
        return
    yield "## Provenance\n"
    machine = parts[0].machine
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    told = [
        ["device", machine.device + (f", {machine.memory / 2**30:.0f} GiB" if machine.memory else "")],
        [
            "compute capability, driver, CUDA",
            ", ".join(filter(None, [machine.capability, machine.driver, machine.cuda])),
        ],
        ["cores, system, Python", f"{machine.cores}, {machine.system}, {machine.python}"],
        ["versions", versions],
        ["commits", ", ".join(sorted({cell.commit or "none" for part in parts for cell in part.cells.values()}))],
    ]
    yield markdown(["what", "value"], [row for row in told if row[1]])
