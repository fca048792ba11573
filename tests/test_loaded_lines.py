"""A job loads the parts that it uses: product lines imported, each bar with room above what was measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import certistar
from critics.verdict import verdict_record
from tests.test_report import THREE, make_run
from tools.loaded_lines import ROOT, lines_of, loaded_lines

BARS = {"compare": 8_000, "configuration": 6_000, "help": 1_000, "filter": 22_150, "judge": 16_000, "recheck": 9_000}
"""At most so many lines; `python -m tools.loaded_lines certistar compare RUN --modules` shows which."""


def test_comparing_a_run_loads_a_tenth_of_the_house(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", THREE)
    found = loaded_lines(["certistar", "compare", str(run), "--json"])
    assert "training.reporting.comparison" in found
    assert sum(found.values()) <= BARS["compare"], found


def test_reading_a_configuration_loads_settings_and_no_engine() -> None:
    found = loaded_lines(["python", "-c", "import training.configuration.run"])
    assert "training.configuration.run" in found
    assert sum(found.values()) <= BARS["configuration"], found


CONTEXT = "Every wren is a bird. Every bird is warm. Pip is a wren."
TEXT = "Pip is a wren. Every wren is a bird. So Pip is a bird. Every bird is warm. So Pip is warm. The answer is true."


def test_filtering_english_loads_no_policy_and_no_other_format(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    table.write_text(f'context,question,answer,rationale\n"{CONTEXT}","Is Pip warm?",true,"{TEXT}"\n', encoding="utf-8")
    found = loaded_lines(["certistar", "filter", str(table), "--out", str(tmp_path / "kept")])
    assert "critics.formats.english.trial" in found
    assert sum(found.values()) <= BARS["filter"], found


def test_judging_english_loads_its_critic_and_no_other(tmp_path: Path) -> None:
    code = f"import certistar; assert certistar.judge({CONTEXT!r}, 'Is Pip warm?', {TEXT!r}).verdict == 'certified'"
    found = loaded_lines(["python", "-c", code])
    assert not [name for name in found if name.startswith(("critics.formats.guided", "critics.formats.fol", "rollout"))]
    assert sum(found.values()) <= BARS["judge"], found


def test_rechecking_a_certificate_loads_the_replay_alone(tmp_path: Path) -> None:
    verdict = certistar.judge(CONTEXT, "Is Pip warm?", TEXT)
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps(verdict_record("a", verdict)) + "\n", encoding="utf-8")
    found = loaded_lines(["python", "-m", "critics.recheck", str(path)])
    assert not [name for name in found if name.startswith(("critics.formats", "critics.text", "critics.judge"))]
    assert sum(found.values()) <= BARS["recheck"], found


COMMANDS = ("report", "judge", "recheck", "export", "doctor", "evaluate")


HELPS = """
import contextlib, io, json, os, runpy, sys
import rich.console, typer.rich_utils  # no modules of ours, and the same for all

for words in json.loads(sys.argv[1]):
    child = os.fork()
    if not child:
        status, sys.argv = 1, ["certistar", *words, "--help"]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            try:
                runpy.run_module("training", run_name="__main__", alter_sys=True)
            except SystemExit as end:
                status = end.code or 0
        assert words[-1:] == [] or words[-1] in said.getvalue()
        os.write(1, (json.dumps([words, list(sys.modules)]) + "\\n").encode())
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, words
"""


def test_help_loads_next_to_nothing() -> None:
    asked = [[], *([name] for name in COMMANDS)]
    done = subprocess.run(
        [sys.executable, "-c", HELPS, json.dumps(asked)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [words for words, _ in told] == asked
    for words, modules in told:
        found = lines_of(modules)
        assert "training.cli" in found
        assert sum(found.values()) <= BARS["help"], (words, found)


def test_modules_are_counted_once_and_others_not_at_all() -> None:
    found = lines_of(["critics", "critics.errors", "critics.errors", "json", "critics.no_module"])
    assert set(found) == {"critics", "critics.errors"}
    assert found["critics.errors"] > 1


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit status 2"):
        loaded_lines(["certistar", "compare", str(tmp_path / "nothing")])
