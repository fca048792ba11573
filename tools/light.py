"""The light install in an environment of its own: its size, its import time, and the README's lines in it.

    python -m tools.light

Installs the repository without any extra, runs what the README promises of such an install, and prints what it
measured as JSON. Exit status 1 where it is too large, too slow, has a package of an extra, or a line fails.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from training.extras import PACKAGES

ROOT = Path(__file__).parents[1]
MOST_MB = 250
MOST_IMPORT_S = 0.2
_REPEATS = 7
_IMPORT = "import time; start = time.perf_counter(); import certistar; print(time.perf_counter() - start)"
_PRESENT = "from importlib.util import find_spec; print([name for name in {names!r} if find_spec(name)])"
_LINES = """
set -e
certistar --help > /dev/null
certistar problems prontoqa --num 20 --out problems.jsonl
certistar demonstrate problems.jsonl --out attempts.jsonl
certistar judge attempts.jsonl --out verdicts.jsonl --jobs 2
certistar recheck verdicts.jsonl
certistar filter attempts.jsonl --verdicts verdicts.jsonl --keep strict --out attempts-kept
certistar recheck attempts-kept
certistar audit --format guided --quick
certistar doctor
"""
"""Commands that a light install must run, beside the blocks of the README."""


def main() -> None:
    """Measure, and say so."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        python = folder / "venv" / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-qq", ROOT], check=True)
        size = _size_mb(folder / "venv")
        names = [name for modules in PACKAGES.values() for name in modules]
        present = _asked(python, _PRESENT.format(names=names), folder)
        seconds = median(float(_asked(python, _IMPORT, folder)) for _ in range(_REPEATS))
        failed = _failed_lines(folder)
    print(json.dumps({"size_mb": round(size), "import_s": round(seconds, 3), "n": _REPEATS, "failed": failed}))
    if size > MOST_MB or seconds > MOST_IMPORT_S or present != "[]" or failed:
        raise SystemExit(f"over {MOST_MB} MB, over {MOST_IMPORT_S} s, with {present}, or failed: {failed}")


def _size_mb(folder: Path) -> float:
    """Return what a folder takes on the disk, pip and setuptools of the environment included."""
    files = {(found.st_dev, found.st_ino): found for path in folder.rglob("*") if (found := path.lstat())}
    return sum(found.st_blocks * 512 for found in files.values()) / 2**20


def _asked(python: Path, code: str, folder: Path) -> str:
    return subprocess.run([python, "-c", code], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _failed_lines(folder: Path) -> list[str]:
    """Run the README's light blocks and the lines above; return those that failed, with what they said."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    (table,) = (code for language, code in blocks if language == "sh" and "mine.csv" in code)
    (script,) = (code for language, code in blocks if language == "python")
    (folder / "readme.py").write_text(script)
    lines = {"table": f"set -e\n{table}", "python": "python readme.py", "commands": _LINES}
    bin_first = {**os.environ, "PATH": f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    failed: list[str] = []
    for name, code in lines.items():
        done = subprocess.run(["bash", "-c", code], cwd=folder, env=bin_first, capture_output=True, text=True)
        if done.returncode:
            failed.append(f"{name}: {done.stderr.strip()[-500:]}")
    refused = ["certistar", "train", ROOT / "configs" / "smoke.yaml", "--data", "kept", "--out", "adapter"]
    done = subprocess.run(refused, cwd=folder, env=bin_first, capture_output=True, text=True)
    if done.returncode != 2 or 'pip install "certistar[train]"' not in done.stderr or done.stderr.count("\n") != 1:
        failed.append(f"train: {done.returncode}: {done.stderr.strip()[-500:]}")
    return failed


if __name__ == "__main__":
    main()
