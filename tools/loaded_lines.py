"""Product lines that a command loads: the sum of the lines of the product modules that it imports.

    python -m tools.loaded_lines certistar compare checkpoints/demo
    python -m tools.loaded_lines python -m critics.recheck certificate.jsonl

`--modules` lists the modules, the largest first. Measured with Python's own import log (`PYTHONPROFILEIMPORTTIME`), so
that late imports count where they happen and processes that are started count too.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("critics", "rollout", "training")
MODULES = ("certistar",)
_IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| *([\w.]+)$", re.MULTILINE)


def loaded_lines(command: Sequence[str], folder: Path = ROOT) -> dict[str, int]:
    """Run a command and return the lines of each product module that it imported.

    `certistar` and `python` stand for this Python. Raises `RuntimeError` where the command fails.
    """
    shown = {"certistar": [sys.executable, "-m", "training"], "python": [sys.executable]}
    words = [*shown.get(command[0], [command[0]]), *command[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr[-2000:]}")
    return lines_of(_IMPORTED.findall(done.stderr))


def lines_of(modules: Sequence[str]) -> dict[str, int]:
    """Return the lines of the product modules among some names, once each."""
    own = (name for name in dict.fromkeys(modules) if name.partition(".")[0] in (*PACKAGES, *MODULES))
    return {name: len(path.read_bytes().splitlines()) for name in own if (path := _file(name)) is not None}


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


def total(found: Mapping[str, int]) -> str:
    """Return the sum in words."""
    return f"{sum(found.values()):,} lines in {len(found)} modules"


if __name__ == "__main__":
    words = sys.argv[1:]
    measured = loaded_lines([word for word in words if word != "--modules"], Path.cwd())
    if "--modules" in words:
        for name, lines in sorted(measured.items(), key=lambda each: -each[1]):
            print(f"{lines:6} {name}")
    print(total(measured))
