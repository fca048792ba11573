"""The loop in one file runs small, learns from certified attempts alone, and stays short enough to read."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALONE = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
"""Else each step waits for a second thread, and the tests beside it do."""


def test_the_example_runs_and_keeps_what_is_certified():
    small = ("--rounds", "1", "--problems", "6", "--samples", "2", "--held-out", "6")
    words = [sys.executable, "examples/star.py", *small]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=ALONE, check=False)
    assert done.returncode == 0, done.stderr
    told = re.search(r"round 1: 12 attempts: .*?(\d+) certified.* (\d+) kept", done.stdout)
    assert told is not None, done.stdout
    assert told[1] == told[2]
    assert len(re.findall(r"certified \d+%, right \d+% of 6", done.stdout)) == 2


def test_the_example_is_one_file_of_at_most_200_lines():
    lines = (ROOT / "examples" / "star.py").read_text().splitlines()
    assert len(lines) <= 200
    assert "examples/star.py" in (ROOT / "README.md").read_text().partition("## Install")[0]
