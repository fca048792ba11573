"""`certistar bench gpu`: every part works on a CPU too, what is cut short goes on, the page is what the code makes."""

import json
import os
import re
import sys
import venv
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from subprocess import run

import pytest
from click.testing import Result
from packaging.requirements import Requirement
from typer.testing import CliRunner

from tools.gpu.cells import BenchCell, Setting, value
from tools.gpu.page import NONE, page, page_of
from tools.gpu.parts import PARTS
from tools.gpu.results import (
    FINISHED,
    CellResult,
    Machine,
    PartResult,
    qualify,
    read_part,
    run_part,
    without_folders,
)
from training.cli import app

ROOT = Path(__file__).parents[1]
CPU = Machine("cpu")


def bench(*words: object) -> Result:
    return CliRunner().invoke(app, ["bench", "gpu", *map(str, words)])


def test_every_part_is_rehearsed_on_a_cpu(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "training", "bench", "gpu", "--on", "cpu", "--toy", "--out", str(tmp_path)]
    done = run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in PARTS:
        found = read_part(tmp_path / f"{name}.json")
        assert found is not None
        assert found.ended == FINISHED
        assert all(cell.is_measured or "not installed" in cell.skipped for cell in found.cells.values())
    assert "Nothing here was measured on a GPU." in page_of(tmp_path)
    assert not list(tmp_path.glob("**/*.safetensors"))
    smoke = read_part(tmp_path / "smoke.json")
    assert smoke is not None
    rows = {row.name: row.value for row in smoke.cells["smoke/against the CPU"].rows}
    assert (rows["evaluations_equal"], rows["rollouts_equal"]) == (1, 1)
    assert {value for name, value in rows.items() if name.startswith("adapter_")} == {0}


def part_of(cells: list[BenchCell]):
    def cells_of(setting: Setting) -> Iterator[BenchCell]:
        yield from cells

    return cells_of


def test_what_is_measured_is_not_measured_again_and_an_error_ends_nothing(tmp_path: Path, monkeypatch) -> None:
    asked: list[str] = []

    def measure(name: str, *, fails: bool = False):
        def measured():
            asked.append(name)
            if fails:
                raise ValueError("no such kernel")
            return [value("speed", 2.0, "1/s")]

        return BenchCell(name, measured, needs=("no_such_package",) if name == "c" else ())

    cells = [measure("a"), measure("b", fails=True), measure("c"), measure("d")]
    monkeypatch.setitem(PARTS, "masks", replace(PARTS["masks"], cells=part_of(cells)))  # type: ignore[arg-type]
    setting = Setting("cpu", True, tmp_path)
    run_part(PartResult("masks", CPU, True), tmp_path, setting)
    found = read_part(tmp_path / "masks.json")
    assert found is not None
    assert asked == ["a", "b", "d"]
    assert found.cells["b"].failed == "ValueError: no such kernel"
    assert found.cells["c"].skipped == "no_such_package is not installed"
    assert found.ended == FINISHED
    run_part(replace(found, cells={"a": found.cells["a"]}), tmp_path, setting)
    assert asked == ["a", "b", "d", "b", "d"]


def test_a_part_that_is_cut_short_says_where_and_goes_on(tmp_path: Path) -> None:
    (found,) = qualify(tmp_path, on_cpu=True, toy=True, parts=["smoke"], minutes=0.018, tell=lambda _: None)
    assert found.ended.startswith("cut short")
    assert found.command == "certistar bench gpu --on cpu --toy --parts smoke --limit 0.018"
    assert json.loads((tmp_path / "gpu.json").read_text())[0]["part"] == "smoke"


def test_a_whole_bench_leaves_nothing_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(PARTS, "vllm", replace(PARTS["vllm"], needs="no_such_package"))
    words = ("--on", "cpu", "--toy", "--out", tmp_path, "--parts", "vllm")
    done, whole = bench(*words), bench(*words, "--whole")
    assert (done.exit_code, whole.exit_code) == (0, 1), whole.output
    assert "no_such_package is not installed" in whole.stdout
    assert "cut short in vllm" in whole.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--on", "cpu"], "--on cpu --toy"),
        (["--on", "cpu", "--toy", "--parts", "speed"], "must be among decoding"),
        (["--page", "--out", "nowhere"], "no results are there"),
    ],
)
def test_wrong_options_are_refused_with_a_remedy(words: list[str], told: str) -> None:
    done = bench(*words)
    assert done.exit_code == 2, done.output
    assert told in done.stderr


def test_another_bench_is_refused_with_the_tool_that_measures_it() -> None:
    done = CliRunner().invoke(app, ["bench", "kernel"])
    assert done.exit_code == 2
    assert "python -m tools.bench kernel" in done.stderr


def test_a_folder_of_another_machine_is_refused(tmp_path: Path) -> None:
    from tools.gpu.results import write_part

    write_part(tmp_path, PartResult("masks", Machine("NVIDIA H100"), False))
    done = bench("--on", "cpu", "--toy", "--out", tmp_path, "--parts", "masks")
    assert done.exit_code == 2
    assert "was measured on NVIDIA H100" in done.stderr


def test_the_committed_page_is_what_the_code_makes_of_the_committed_results() -> None:
    made = page_of(ROOT / "docs" / "results" / "gpu")
    assert (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8") == made


def test_no_committed_result_names_a_folder_of_a_machine() -> None:
    folder = re.compile(r"(?<![\w.:])/(?:work|tmp|root|home|mnt|Users)\b")
    kinds = (".json", ".jsonl", ".md", ".csv")
    files = [path for path in (ROOT / "docs" / "results").rglob("*") if path.suffix in kinds]
    assert files
    assert [path for path in files if folder.search(path.read_text(encoding="utf-8"))] == []
    said = "FileNotFoundError: no /tmp/x-1/a.json, see http://h/a/b and 1.5B/own/free"
    assert without_folders(said) == "FileNotFoundError: no a.json, see http://h/a/b and 1.5B/own/free"


def test_figures_of_a_gpu_are_shown_and_those_of_a_rehearsal_are_not() -> None:
    cells = {
        "8B/own/free/32": CellResult((value("tokens_per_s", 812.0, "1/s"),)),
        "8B/generate/guided/32": CellResult(failed="OutOfMemoryError: too much"),
    }
    rehearsal = page([PartResult("decoding", CPU, True, cells, ended=FINISHED)])
    assert "812" not in rehearsal
    assert NONE in rehearsal
    measured = page([PartResult("decoding", Machine("NVIDIA H100"), False, cells, ended=FINISHED)])
    assert "| 8B | 32 | 812 |" in measured
    assert "Measured on one NVIDIA H100" in measured
    assert "OutOfMemoryError: too much" in measured


def needed(*names: str) -> set[str]:
    """The distributions that some bring with them."""
    found, todo = set[str](), list(names)
    while todo:
        name = todo.pop().lower().replace("_", "-")
        try:
            wanted = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        if name not in found:
            found.add(name)
            told = map(Requirement, wanted)
            todo += [each.name for each in told if each.marker is None or each.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with torch, transformers, peft and accelerate, and with the small wheels that the page names."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in needed("torch", "transformers", "peft", "accelerate", "pebble", "pytest"):
        files = distribution(name).files or []
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    return folder / "bin" / "python"


def test_the_command_starts_where_nothing_else_is_installed(bare_python: Path) -> None:
    code = "import tools.gpu.results, training.commands.bench"
    for missing in ("clingo", "z3", "bitsandbytes", "scipy"):
        code += f"\ntry:\n    import {missing}\n    raise SystemExit('{missing} is there')\nexcept ImportError: pass"
    done = run([str(bare_python), "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_every_part_works_where_nothing_else_is_installed(bare_python: Path, tmp_path: Path) -> None:
    words = ["-W", "ignore", "-m", "training", "bench", "gpu", "--on", "cpu", "--toy", "--out", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}  # which a run in this process may have made not look here
    done = run([str(bare_python), *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = [read_part(tmp_path / f"{name}.json") for name in PARTS]
    assert all(part and part.ended == FINISHED and not part.count("failed") for part in parts)
