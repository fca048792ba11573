"""Items of the papers' catalogue by name: inputs, commands, and the paper's grid with our numbers and its own.

item -> inputs, made or given -> its command with --dry-run, and then in earnest -> files -> the grid
"""

import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from critics.errors import InputError, RunFailed
from tools.reproductions import ROOT, Grid, Item, catalogue
from training.cli import app
from training.outcomes import console, grid

Cells = dict[str, list[list[str]]]
"""For each model the cells of a grid, row by row; empty where there is nothing."""
PLANNED = ("evaluate", "run")
"""Commands that say with --dry-run what they would ask, and what stops them."""


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    models: Sequence[str]
    data: Mapping[str, Path]
    more: Sequence[str]
    dry: bool
    as_json: bool


def list_items(as_json: bool) -> None:
    """Print all items by name."""
    items = [item for item in catalogue().items if item.command]
    if as_json:
        print(json.dumps([{"item": item.name, "what": item.what} for item in items]))
    else:
        console().print(grid(("item", "what"), [(item.name, item.what) for item in items], "ll"))


def find(name: str) -> Item:
    """Return the item of a name, or that has this figure or table; raises `InputError` that lists the others."""
    listed, wanted = catalogue().items, name.strip().lower().replace(" ", "-")
    paper, _, number = wanted.partition("/")
    of_paper = [item for item in listed if item.paper == paper]
    exact = [item for item in of_paper if item.name == wanted]
    found = exact or [item for item in of_paper if number.replace("-", " ", 1) in item.numbers]
    if len(found) != 1:
        near = found or of_paper or listed
        raise InputError(f"reproduce {name}: write one of {', '.join(item.name for item in near if item.command)}")
    if found[0].command is None:
        raise InputError(f"reproduce {name}: cannot be had: {found[0].cannot}")
    return found[0]


def reproduce(name: str, asked: Asked, out: Path | None) -> None:
    """Run an item in a folder and print its grid; what stops it is said before anything is asked of a model."""
    item = find(name)
    folder = (out or Path("reproduced") / item.name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder), redirect_stdout(sys.stderr):
        for file, kind in item.inputs.items():
            _put(item, file, kind, asked)
        for line in filter(None, (item.command, item.then)):
            words = _with_models(_located(shlex.split(line)), asked.models)
            words += asked.more if line == item.command else _sets(asked.more) if "premises" in words else ()
            if words[0] == "certistar" and words[1] in PLANNED:
                _run([*words, "--dry-run"])
            if not asked.dry:
                _run(words)
    if not asked.dry:
        show(item, folder, asked.as_json)


def _put(item: Item, file: str, kind: str, asked: Asked) -> None:
    """Put an input there, as given or made by its command; raises `InputError` that says where to get it."""
    path, made = Path(file), catalogue().inputs[kind]
    if path.exists():
        return
    if file in asked.data:
        path.symlink_to(asked.data[file])
    elif made.startswith("certistar "):
        _run([*shlex.split(made), "--out", file])
    else:
        raise InputError(f"{item.name}: reads {file}: {made}; name it by --data {file}=FILE")


def _located(words: Sequence[str]) -> list[str]:
    return [str(ROOT / word) if word.startswith("configs/") else word for word in words]


def _with_models(words: list[str], models: Sequence[str]) -> list[str]:
    """Put the models in the place of those that a command names."""
    if not models or not {"evaluate", "run", "premises"} & {*words[:4]}:
        return words
    if "run" in words[:2]:
        if len(models) > 1:
            raise InputError("--model: a run has one base model; name one")
        return [*words, "--set", f"model.name={models[0]}"]
    own = [word for before, word in pairwise(["", *words]) if "--model" not in (before, word)]
    return [*own, *(word for model in models for word in ("--model", model))]


def _sets(more: Sequence[str]) -> list[str]:
    """Return the configuration's keys among options, which a second command reads as well."""
    return [word for pair in pairwise(more) if pair[0] == "--set" for word in pair]


def _run(words: Sequence[str]) -> None:
    """Run one command; raises `RunFailed`, or `InputError`, as it ended."""
    sys.stderr.write(f"$ {shlex.join(words)}\n")
    if words[0] == "certistar":
        status = app(list(words[1:]), standalone_mode=False)
    else:
        status, own = 0, sys.argv
        try:
            sys.argv = list(words[2:])
            runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        except SystemExit as error:
            status = error.code
        finally:
            sys.argv = own
    if status:
        kind = InputError if status == 2 else RunFailed
        raise kind(f"reproduce: `{shlex.join(words)}` ended with status {status}; its own message stands above")


# -- the grid


def show(item: Item, folder: Path, as_json: bool) -> None:
    """Print the grid of an item, or the files that it left where the paper's is a drawing."""
    rows, columns = (list(item.grid.rows), list(item.grid.columns)) if item.grid else ([], [])
    ours, paper = (read(item.grid, folder), item.grid.paper) if item.grid else ({}, {})
    if as_json:
        numbers = {model: [[_number(cell) for cell in row] for row in cells] for model, cells in ours.items()}
        print(json.dumps({"item": item.name, "rows": rows, "columns": columns, "ours": numbers, "paper": paper}))
        return
    shown: list[list[str]] = []
    for place, row in enumerate(rows):
        shown += [[row, model, *cells[place]] for model, cells in ours.items()]
        told = ((model, cells[place]) for model, cells in paper.items())
        shown += [[row, f"paper: {model}", *("" if n is None else f"{n:g}" for n in cells)] for model, cells in told]
        shown += [[]]
    if shown:
        title = f"{item.name}: {item.what}"
        console().print(grid(("", "model", *columns), shown, "ll" + "r" * len(columns), title=title))
    print(f"The paper says: {item.theirs}.")
    if item.lacks:
        print(f"Not here: {item.lacks}.")
    print(f"Files: {', '.join(str(folder / output.file) for output in item.outputs if output.file != '-')}")


def read(wanted: Grid, folder: Path) -> Cells:
    """Return the cells of a grid out of the file that an item's command left; raises `InputError` without it."""
    path = folder / wanted.file
    if not path.exists():
        raise InputError(f"{path}: was not written; see what the command printed")
    text = path.read_text(encoding="utf-8")
    found: Cells = {}
    is_json = path.suffix == ".json"
    for model, row, column, cell in _of_json(json.loads(text), wanted) if is_json else _of_markdown(text, wanted):
        cells = found.setdefault(model, [[""] * len(wanted.columns) for _ in wanted.rows])
        cells[row][column] = cells[row][column] or cell
    return found


def _of_json(data: object, wanted: Grid) -> Iterator[tuple[str, int, int, str]]:
    for row, start in enumerate(wanted.rows.values()):
        for column, key in enumerate(wanted.columns.values()):
            value = data
            for part in f"{start}/{key}".split("/") if start else []:
                inner: Any = value
                value = inner[int(part)] if isinstance(inner, list) else inner.get(part) if inner is not None else None
            if isinstance(value, int | float):
                yield "ours", row, column, f"{value:.1%}" if wanted.shares else f"{value:g}"


def _of_markdown(text: str, wanted: Grid) -> Iterator[tuple[str, int, int, str]]:
    for title, head, line in _lines(text):
        if wanted.section is not None and title != wanted.section:
            continue
        rows, columns = enumerate(wanted.rows.values()), enumerate(wanted.columns.values())
        for (row, keys), (column, place) in product(rows, columns):
            if not keys:
                continue
            name, _, also = place.partition(" @ ")
            named = [_prefix(key, (title, *line)) for key in (*keys.split(" | "), *also.split(" | ")) if key]
            for cell, own in zip(line, head, strict=True):
                if (of_head := _prefix(name, (own,))) is not None and None not in named:
                    model = line[head.index("model")] if "model" in head else next(filter(None, named), "ours")
                    yield of_head or re.sub(r", (?:zero|few)-shot$", "", model), row, column, cell


def _prefix(key: str, cells: Sequence[str]) -> str | None:
    """Return what stands before a key in the first cell that ends with it, such as a model; None without one."""
    found = (cell for cell in cells if cell == key or cell.endswith(f", {key}"))
    return next((cell.removesuffix(key).removesuffix(", ") for cell in found), None)


def _lines(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the lines of Markdown tables with their heads and the title above."""
    title, head = "", list[str]()
    for before, line in pairwise(["", *text.splitlines()]):
        if line.startswith("#"):
            title = line.lstrip("# ")
        if not line.startswith("|"):
            head = []
        elif not before.startswith("|"):
            head = [cell.strip() for cell in line.strip("|").split("|")]
        elif set(line) - set("|-: "):
            yield title, head, [cell.strip() for cell in line.strip("|").split("|")]


def _number(cell: str) -> float | None:
    """Return the number that a cell begins with: 51.3 of `51.3% (48.0% to 54.6%)`."""
    found = re.match(r"[-+]?\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None
