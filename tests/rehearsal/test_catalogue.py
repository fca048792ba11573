"""Every command of the papers' catalogue, run small: a stub server writes, and the rows and columns are there."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.rehearsal.inputs import put
from tests.rehearsal.outputs import missing
from tools.autoeval.__main__ import main as autoeval
from tools.failures import app as failures
from tools.reproductions import ROOT, Item, catalogue
from tools.zoo.models import FAMILIES, build
from training.cli import app
from training.configuration.run import load_run

ITEMS = {f"{item.paper}, {item.item}": item for item in catalogue().items if item.command}
ASKS = ("evaluate", "answer", "rollout", "tools.failures")
"""Commands that a server can write for."""


def rehearse(item: Item, folder: Path, serve: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Any, Any]:
    """Run an item's command in a folder; return what came of it and the stub."""
    problems = [problem for name, kind in item.inputs.items() for problem in put(folder / name, kind)]
    stub, told = serve(problems, **options)
    monkeypatch.chdir(folder)
    result: Any = None
    for line in filter(None, (f"{item.command} {item.toy}", item.then)):
        words = shlex.split(line.replace("python -m ", ""))
        program, *words = [str(ROOT / word) if word.startswith("configs/") else word for word in words]
        own = told if {program, words[0]} & {*ASKS, "premises"} else []
        if words[0] == "run":  # which trains, and so asks no server
            name = FAMILIES[load_run(ROOT / item.config).model.name]
            own = ["--set", f"model.name={build(name, folder / name)}", "--set", "model.dtype=float32"]
        if program == "tools.autoeval":
            autoeval(words + own)
            continue
        run = failures if program == "tools.failures" else app
        result = CliRunner().invoke(run, words + own, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return result, stub


def assert_made(name: str, folder: Path, serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    item = ITEMS[name]
    result, stub = rehearse(item, folder, serve, monkeypatch)
    printed = "" if result is None else result.output
    assert [(output.file, gap) for output in item.outputs for gap in missing(output, folder, printed)] == []
    assert bool(stub.asked) == bool({*shlex.split(item.command)[1:3]} & {*ASKS})


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.quick])
def test_a_quick_command_makes_its_figure_or_table(name, tmp_path, serve, monkeypatch):
    assert_made(name, tmp_path, serve, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if not item.quick])
def test_every_command_makes_its_figure_or_table(name, tmp_path, serve, monkeypatch):
    assert_made(name, tmp_path, serve, monkeypatch)
