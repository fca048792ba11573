"""Formats are parts: with a format's folder deleted, everything that is not about it works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTEXT = "Every wren is a bird. Every bird is warm. Pip is a wren."
TEXT = "Pip is a wren. Every wren is a bird. So Pip is a bird. Every bird is warm. So Pip is warm. The answer is true."
PROBE = """
import json, sys
from critics import registry
from critics.audit.catalogue_file import own_catalogue
from critics.judge import judge_record
from critics.problem import RecordError
from critics.recheck.rejudging import recheck

gone = sys.argv[1]
assert gone not in registry.formats() and len(registry.formats()) == 10
traces = []
for name in registry.formats():
    if name in ("z3-python", "cot"):  # a jail takes seconds, and free text is not certified
        continue
    case = next(each for each in own_catalogue(name).honest if "seeded" not in each.id)
    record = case.attempt.record()
    judged = judge_record(record)
    assert judged["verdict"] == "certified", (name, judged["reason"], judged["feedback"])
    traces.append({**record, "judgement": json.loads(json.dumps(judged))})
assert recheck(traces)["rejected"] == []
try:
    judge_record({**traces[0], "format": gone})
except RecordError as error:
    assert gone in str(error) and "guided" in str(error)
else:
    raise AssertionError("an attempt of a format that is not there was judged")

from typer.testing import CliRunner
from training.cli import app

for words in json.loads(sys.argv[2]):
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (words, done.output, done.exception)
    print(json.dumps(done.stdout))
"""


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name in ("critics", "rollout", "training"):
        shutil.copytree(ROOT / name, tmp_path / name)  # what is compiled as well, else each part compiles the house
    shutil.copy(ROOT / "certistar.py", tmp_path)
    return tmp_path


@pytest.mark.parametrize("gone", ["csp", "asp", "equivalence"])
def test_without_a_formats_folder_the_others_work(house: Path, gone: str) -> None:
    shutil.rmtree(house / "critics" / "formats" / gone)
    table = house / "rows.csv"
    table.write_text(f'context,question,answer,rationale\n"{CONTEXT}","Is Pip warm?",true,"{TEXT}"\n', encoding="utf-8")
    asked = [
        ["--help"],
        ["filter", str(table), "--out", str(house / "kept")],
        ["audit", "--format", "guided", "--quick", "--json"],
        ["problems", "prontoqa", "--num", "2", "--out", str(house / "problems.jsonl")],
    ]
    command = [sys.executable, "-c", PROBE, gone, json.dumps(asked)]
    environment = {**os.environ, "PYTHONPATH": str(house)}
    done = subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    help_, _, audit, _ = map(json.loads, done.stdout.splitlines())
    assert "judge" in help_
    assert json.loads(audit)[0]["wrong"] == []
    assert json.loads((house / "kept" / "summary.json").read_text(encoding="utf-8"))["examples"] == 1


NAMES = ("cot", "english", "guided", "asp", "logic-program", "rules", "csp", "fol", "z3-python", "equivalence")
LITERAL = re.compile(rf"""["']({"|".join(NAMES)})["']""")
KNOWING = 99
"""Product files outside a format's own folder and the configurations that name a format."""


def test_few_files_know_a_format_by_name() -> None:
    paths = [
        path.relative_to(ROOT) for name in ("critics", "rollout", "training") for path in (ROOT / name).rglob("*.py")
    ]
    own = [path for path in paths if path.parts[:2] == ("critics", "formats") and len(path.parts) > 3]
    settings = [path for path in paths if path.parts[:2] == ("training", "configuration")]
    others = set(paths) - {*own, *settings}
    found = sorted(str(path) for path in others if LITERAL.search((ROOT / path).read_text(encoding="utf-8")))
    assert len(found) <= KNOWING, found
