"""The documentation: a site without a wrong link, and examples that run as they stand."""

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import certistar
from training.cli import app

ROOT = Path(__file__).parents[1]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUNNABLE = [
    *("docs/python.md", "docs/extending.md", "docs/guided-format.md", "docs/fol-format.md"),
    "docs/english-format.md",
    *("docs/equivalence-format.md", "docs/asp-format.md", "docs/program-formats.md", "docs/problems.md"),
]
SITE = ROOT / "configs" / "site" / "mkdocs.yml"


def blocks(page: str, pattern: re.Pattern[str] = SHELL) -> list[str]:
    return pattern.findall((ROOT / page).read_text(encoding="utf-8"))


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="pip install 'certistar[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(SITE)]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING -" not in done.stderr
    assert (tmp_path / "site" / "tutorial.html").exists()


def run_shell(lines: list[str], folder: Path) -> str:
    """Run the lines of a page in a folder: our commands in this process, each of the others in a shell."""
    for name in ("configs", "checkpoints"):
        (folder / name).symlink_to(ROOT / name)
    said = ""
    with contextlib.chdir(folder):
        for part in re.split(r"^(certistar .*\n?)", "\n".join(lines), flags=re.MULTILINE):
            said += _ours(part) if part.startswith("certistar ") else _shell(part) if part.strip() else ""
    return said


def _ours(line: str) -> str:
    done = CliRunner().invoke(app, shlex.split(line, comments=True)[1:])
    assert done.exit_code == 0, done.output
    return done.output


def _shell(script: str) -> str:
    ours = f'certistar() {{ {sys.executable} -m training "$@"; }}; python() {{ {sys.executable} "$@"; }}'
    done = subprocess.run(
        ["bash", "-c", f"set -e\n{ours}\n{script}"],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize("num_blocks", [4, pytest.param(None, marks=pytest.mark.slow)], ids=["its start", "all of it"])
def test_the_tutorial_runs_as_it_stands(tmp_path, num_blocks):
    run_shell(blocks("docs/tutorial.md")[:num_blocks], tmp_path)
    assert (tmp_path / "kept" / "examples.jsonl").exists()
    assert num_blocks or (tmp_path / "run" / "report.html").exists()


@pytest.mark.slow
def test_the_readmes_commands_run_as_they_stand(tmp_path):
    (commands,) = (block for block in blocks("README.md") if "certistar judge" in block)
    commands = commands.replace(" ID ", " 'prontoqa/train/0/0#demonstration' ")
    run_shell([re.sub("certistar doctor.*", "", commands)], tmp_path)
    assert (tmp_path / "run" / "report.html").exists()
    assert (tmp_path / "adapter" / "manifest.json").exists()


def test_the_pages_on_filtering_faithfulness_exports_and_certificates_run_as_they_stand(tmp_path):
    """What needs the Hub or a model is left to their own tests."""
    write_table(tmp_path)
    made = [
        "certistar problems prontoqa --num 4 --hops 1 --out problems.jsonl",
        "certistar demonstrate problems.jsonl --out attempts.jsonl",
        "certistar judge attempts.jsonl --out verdicts.jsonl",
    ]
    filtering, faithful, exports, certificates = (
        blocks(f"docs/{name}.md")[0] for name in ("filtering", "faithfulness", "hub", "certificates")
    )
    said = run_shell(
        [filtering, *made, faithful.replace("--out kept", "--out faithful"), exports, certificates], tmp_path
    )
    (promised,) = blocks("docs/filtering.md", re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL))
    assert all(line in said for line in promised.splitlines()), said
    assert len((tmp_path / "messages.jsonl").read_text().splitlines()) == 1
    assert (tmp_path / "kept" / "rejected.jsonl").exists()


def write_table(folder: Path) -> None:
    """Write the table of the filtering page, as it says."""
    (table,) = blocks("docs/filtering.md", re.compile(r"^```csv\n(.*?)^```$", re.MULTILINE | re.DOTALL))
    (folder / "mine.csv").write_text(table)


def test_the_readme_alone_leads_from_a_table_to_a_certified_row(tmp_path):
    """In the shell and in Python."""
    (filtering,) = (block for block in blocks("README.md") if "mine.csv" in block)
    said = run_shell([filtering], tmp_path)
    promised = [line.rpartition("  # ")[2] for line in filtering.splitlines() if "  # " in line]
    assert len(promised) == 2
    assert all(each in said for each in promised), said
    run_python("README.md", tmp_path)
    for kept in ("kept", "proved"):
        (line,) = (tmp_path / kept / "examples.jsonl").read_text().splitlines()
        assert "Answer: yes" in line


NOTEBOOK = ROOT / "docs" / "filter.ipynb"


def test_the_notebook_shows_what_it_says_it_shows(tmp_path):
    """Cell by cell, without a `__main__` to import, with the proofs as HTML."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    (tmp_path / "cells.json").write_text(json.dumps(["".join(c["source"]) for c in cells if c["cell_type"] == "code"]))
    done = subprocess.run(
        [sys.executable, "-"], input=RUN_CELLS, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert json.loads(done.stdout) == shown
    assert sum("text/html" in output.get("data", {}) for outputs in shown for output in outputs) == 2
    assert json.loads((tmp_path / "kept" / "summary.json").read_text())["examples"] == 1


RUN_CELLS = """
import ast, contextlib, io, json
names, outputs = {"__name__": "__main__"}, []
for number, source in enumerate(json.load(open("cells.json")), 1):
    *body, last = ast.parse(source).body
    said, result = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        is_shown = isinstance(last, ast.Expr)
        exec(compile(ast.Module(body if is_shown else [*body, last], []), "cell", "exec"), names)
        if is_shown:
            result = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    made = [{"name": "stdout", "output_type": "stream", "text": said.getvalue()}] if said.getvalue() else []
    if result is not None:
        data = {"text/html": result._repr_html_()} if hasattr(result, "_repr_html_") else {"text/plain": repr(result)}
        made.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    outputs.append(made)
print(json.dumps(outputs))
"""
"""What a notebook does with its cells: the last line of each is shown."""


@pytest.mark.parametrize("page", RUNNABLE)
def test_python_examples_run_in_order(tmp_path, page):
    run_python(page, tmp_path)


def run_python(page: str, folder: Path) -> None:
    """Run the Python of a page in a folder; it prints what its comments promise."""
    script, said = "\n".join(blocks(page, PYTHON)), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        exec(compile(script, page, "exec"), {"__name__": "__main__"})
    promised = [line.rpartition("  # ")[2].partition(":")[0] for line in script.splitlines() if "  # " in line]
    for words, line in zip(promised, said.getvalue().splitlines(), strict=len(promised) > 0):
        assert line.startswith(words.removesuffix(" ..")), (words, line)


def test_each_sentence_of_the_page_on_reading_is_read_or_refused_as_it_says():
    """Both tables of the page are tried: the whole first cell of a row is read, or each sentence of it is refused."""
    page = (ROOT / "docs/reading.md").read_text(encoding="utf-8")
    read, refused = (re.findall(r"^\| (`[^|]*) \|", part, re.M) for part in page.split("| refused |"))
    for cells, is_read in ((read, True), (refused, False)):
        assert len(cells) > 4
        for sentence in (said for cell in cells for said in re.findall(r"`([^`]+)`", cell)):
            (found,) = certistar.read("", sentence) if sentence.endswith("?") else certistar.read(sentence)
            assert hasattr(found, "formula") is is_read, sentence
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile("\n".join(blocks("docs/reading.md", PYTHON)), "reading.md", "exec"), {})
    assert said.getvalue() in page


def test_the_readme_has_ten_lines_of_python():
    (example,) = blocks("README.md", PYTHON)
    assert len([line for line in example.splitlines() if line and not line.startswith("import")]) <= 12
