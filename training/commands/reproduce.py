"""`reproduce`: a figure or table of a paper by its name, in a clone of the repository."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Json

EXAMPLE = "certistar reproduce autoeval/figures-4-and-5"


def reproduce(
    item: Annotated[
        str | None, typer.Argument(help="An item, such as autoeval/table-15; all are listed, if none.")
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(help="Behind --: more options of the item's command.")] = None,
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A model in place of the item's own (repeatable).")
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option("--data", metavar="NAME=FILE", help="A published file that the item reads.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder; reproduced/ITEM, if none. The same again goes on.")
    ] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Say what it would ask and cost, and what stops it.")] = False,
    as_json: Json = False,
) -> None:
    """Run an item of the papers' catalogue, and print the paper's grid: our numbers, and the paper's beside them."""
    sys.path.append(str(Path.cwd()))  # an installed certistar may be started in a clone: the catalogue lies there
    try:
        found = import_module("tools.reproduce")
    except ModuleNotFoundError as error:
        if error.name not in ("tools", "tools.reproduce"):
            raise
        raise InputError("reproduce: runs configurations of the repository; start it in a clone") from error
    if item is None:
        found.list_items(as_json)
    else:
        asked = found.Asked(tuple(models or ()), dict(map(_pair, data or ())), tuple(more or ()), dry, as_json)
        found.reproduce(item, asked, out)


def _pair(option: str) -> tuple[str, Path]:
    name, sign, file = option.partition("=")
    if not sign:
        raise InputError(f"--data {option}: write NAME=FILE, such as folio_published.jsonl=train.jsonl")
    return name, Path(file).resolve()
