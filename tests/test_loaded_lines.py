"""A job loads the parts that it uses: product lines imported, each bar with room above what was measured."""

import json
from pathlib import Path

import pytest

import certistar
from critics.verdict import verdict_record
from tests.test_report import THREE, make_run
from tools.loaded_lines import lines_of, loaded_lines

BARS = {"compare": 8_000, "configuration": 6_000, "help": 1_000, "filter": 20_000, "judge": 16_000, "recheck": 9_000}
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


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS)])
def test_help_loads_next_to_nothing(words: list[str]) -> None:
    found = loaded_lines(["certistar", *words, "--help"])
    assert sum(found.values()) <= BARS["help"], found


def test_modules_are_counted_once_and_others_not_at_all() -> None:
    found = lines_of(["critics", "critics.errors", "critics.errors", "json", "critics.no_module"])
    assert set(found) == {"critics", "critics.errors"}
    assert found["critics.errors"] > 1


def test_a_command_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="exit status 2"):
        loaded_lines(["certistar", "compare", str(tmp_path / "nothing")])
