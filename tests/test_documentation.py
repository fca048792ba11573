"""The documentation: a site without a wrong link, and a tutorial whose lines run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SITE = ROOT / "configs" / "site" / "mkdocs.yml"


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="pip install 'certistar[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(SITE)]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path / "site")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING -" not in done.stderr
    assert (tmp_path / "site" / "tutorial.html").exists()


@pytest.mark.parametrize("num_blocks", [4, pytest.param(None, marks=pytest.mark.slow)], ids=["its start", "all of it"])
def test_the_tutorial_runs_as_it_stands(tmp_path, num_blocks):
    blocks = SHELL.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    for name in ("configs", "checkpoints"):
        (tmp_path / name).symlink_to(ROOT / name)
    script = "\n".join(["set -e", f'certistar() {{ {sys.executable} -m training "$@"; }}', *blocks[:num_blocks]])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "kept" / "examples.jsonl").exists()
    assert num_blocks or (tmp_path / "run" / "report.html").exists()
