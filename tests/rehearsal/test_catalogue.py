"""Every command of the papers' catalogue, run small: a stub server writes, and the rows and columns are there."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.inputs import put
from tests.rehearsal.outputs import missing
from tools.reproduce import Asked, read, reproduce
from tools.reproductions import ROOT, catalogue
from tools.zoo.models import FAMILIES, build
from training.configuration.run import load_run

ITEMS = {f"{item.paper}, {item.item}": item for item in catalogue().items if item.command}
ASKS = ("evaluate", "answer", "rollout", "premises", "tools.failures")
"""Commands that a server can write for."""


def assert_made(name: str, folder: Path, serve: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """By name: files hold the rows and columns that the item names, its grid has our numbers, some certified."""
    item = ITEMS[name]
    problems = [problem for file, kind in item.inputs.items() for problem in put(folder / file, kind)]
    stub, told = serve(problems)
    words = shlex.split(item.command)
    asks = bool({*words[1:3], *(item.then or "").split()[2:4]} & {*ASKS})
    if words[1] == "run":  # which trains, and so asks no server
        own = FAMILIES[load_run(ROOT / item.config).model.name]
        told, asks = ["--set", f"model.name={build(own, folder / own)}", "--set", "model.dtype=float32"], False
    more = (*shlex.split(item.toy), *(told if asks or words[1] == "run" else ()))
    reproduce(item.name, Asked((), {}, more, dry=False, as_json=True), folder)
    printed = capsys.readouterr()
    assert [(output.file, gap) for output in item.outputs for gap in missing(output, folder, printed.err)] == []
    assert bool(stub.asked) == asks
    found = json.loads(printed.out.splitlines()[-1])
    assert found.keys() == {"item", "rows", "columns", "ours", "paper"}
    if item.grid is not None:
        told = list(read(item.grid, folder).values())
        known = {(r, c) for rows in told for r, row in enumerate(rows) for c, cell in enumerate(row) if cell}
        assert bool(known) == any(n is not None for rows in found["ours"].values() for row in rows for n in row)
        own = [place for place, key in enumerate(item.grid.rows.values()) if key]
        assert {row for row, _ in known} == {*own}
        shown = [c for c, name in enumerate(item.grid.columns) if name[:1] not in "345"]  # hops that are not asked here
        assert {column for _, column in known} == ({*shown} if own else set())
        proved = [place for place, name in enumerate(item.grid.columns) if "certified" in name]
        numbers = [row[place] for rows in found["ours"].values() for row in rows for place in proved]
        assert any(numbers) == bool(asks and proved)  # whoever trains here has random weights


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.quick])
def test_a_quick_command_makes_its_figure_or_table(name, tmp_path, serve, capsys):
    assert_made(name, tmp_path, serve, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if not item.quick])
def test_every_command_makes_its_figure_or_table(name, tmp_path, serve, capsys):
    assert_made(name, tmp_path, serve, capsys)
