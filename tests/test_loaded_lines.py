"""A job loads the parts that it uses: product lines imported, each bar with room above what was measured."""

from pathlib import Path

import pytest

from tests.test_report import THREE, make_run
from tools.loaded_lines import lines_of, loaded_lines

BARS = {"compare": 8_000, "configuration": 6_000, "help": 1_000}
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


@pytest.mark.parametrize("words", [[], ["report"], ["judge"], ["recheck"], ["export"], ["pack"], ["doctor"]])
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
