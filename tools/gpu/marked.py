"""The tests marked `gpu`, each a cell: run by pytest in one process, a file after the other."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from tools.gpu.cells import BenchCell, BenchRow, Setting, value

ROOT = Path(__file__).parents[2]
MARK = "mark.gpu"
VARIABLE = "CERTISTAR_GPU_TESTS_ON"
"""`cpu` has the tests run without a GPU, as a rehearsal."""


def marked(setting: Setting) -> Iterator[BenchCell]:
    """Yield a cell for each file that has such tests."""
    files = [path for path in sorted((ROOT / "tests").glob("test_*.py")) if MARK in path.read_text(encoding="utf-8")]
    if not files:
        yield BenchCell("tests", lambda: [], needs=(f"{ROOT / 'tests'} with tests marked gpu",))
    for path in files:
        yield BenchCell(path.stem, lambda path=path: _Tests(setting, path).rows(), needs=("pytest",))


@dataclass(frozen=True)
class _Tests:
    """The marked tests of a file."""

    setting: Setting
    path: Path

    def rows(self) -> list[BenchRow]:
        """Return a row for each test, 1 where it passed, and how many there are of each outcome; names are kept."""
        outcomes = self._outcomes
        counts = {what: sum(found == what for found in outcomes.values()) for what in ("passed", "skipped", "failed")}
        return [
            *(value(what, num, "tests", n=len(outcomes)) for what, num in counts.items()),
            *(value(f"{what}: {name}", 0, "tests") for name, what in outcomes.items() if what != "passed"),
        ]

    @cached_property
    def _outcomes(self) -> Mapping[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "tests.xml"
            # In toy sizes a few, since a rehearsal is to be short: `pytest -m gpu` itself rehearses all.
            few = ["-k", "loop or forgotten or process"] if self.setting.toy else []
            words = [*few, "-m", "gpu", "-q", "-p", "no:cacheprovider", f"--junitxml={found}", str(self.path)]
            if find_spec("hypothesis") is None:
                words.append("--noconftest")
            os.environ |= {} if self.setting.on_gpu else {VARIABLE: "cpu"}
            import pytest

            status = pytest.main([*words, f"--rootdir={ROOT}", f"--confcutdir={ROOT}"])
            if not found.exists():
                raise RuntimeError(f"pytest ended with {status}; tests.log says why")
            cases = list(ElementTree.parse(found).getroot().iter("testcase"))
        if not cases:
            raise RuntimeError("pytest found nothing; tests.log says why")
        return {case.get("name", ""): _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    kinds = {child.tag for child in case}
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"
