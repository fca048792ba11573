"""Every command as somebody meets it who mistypes it: an example, a suggestion and a status."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from training import cli
from training.cli import ALIASES, FURTHER, app
from training.cli import COMMANDS as MAIN

ROOT = Path(__file__).parents[1]
COMMANDS = (*MAIN, *FURTHER)


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


def options(command: str) -> Iterator[str]:
    for parameter in cli.command(command).params:
        yield from (name for name in parameter.opts if name.startswith("--"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example_that_its_command_takes(command: str) -> None:
    shown = certistar(command, "--help")
    assert shown.exit_code == 0
    (example,) = re.findall(r"^  Example: (.*)$", shown.output, re.MULTILINE)
    assert "Exit status: 0 done, 1 failed or rejected, 2 wrong input" in shown.output
    program, name, *words = example.split()
    assert (program, name) == ("certistar", command)
    assert {word for word in words if word.startswith("--")} <= set(options(command))
    cli.command(command).make_context(command, words)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_refused_with_the_one_that_was_meant(command: str) -> None:
    known = next((name for name in options(command) if len(name) > 5), "--help")
    mistyped = known[:-2] + known[-1] + known[-2]
    result = certistar(command, mistyped)
    assert (result.exit_code, result.stdout) == (2, "")
    assert known in result.stderr


@pytest.mark.parametrize("command", [name for name in COMMANDS if len(name) > 3])
def test_an_unknown_command_is_refused_with_the_one_that_was_meant(command: str) -> None:
    mistyped = command[0] + command[2:]
    result = certistar(mistyped)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Did you mean " in result.stderr
    assert f"'{command}'" in result.stderr


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_works_and_is_not_listed(alias: str) -> None:
    assert certistar(alias, "--help").exit_code == 0
    assert not re.search(rf"^  {alias}\b", certistar("--help").output, re.MULTILINE)
    assert ALIASES[alias] in COMMANDS


def test_the_main_help_lists_every_command_and_the_exit_statuses() -> None:
    shown = certistar("--help").output
    assert all(re.search(rf"^  {command}\b", shown, re.MULTILINE) for command in COMMANDS)
    assert "130 interrupted" in shown
    assert "--install-completion" in shown


def test_files_made_are_counted_in_json(tmp_path: Path) -> None:
    problems, attempts = tmp_path / "p.jsonl", tmp_path / "a.jsonl"
    made = certistar("problems", "prontoqa", "--num", 2, "--hops", 1, "--out", problems, "--json")
    assert json.loads(made.stdout) == {"problems": 2, "out": str(problems)}
    written = certistar("demonstrate", problems, "--out", attempts, "--json")
    assert json.loads(written.stdout)["demonstrations"] == 2


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = tmp_path / "own.jsonl"
    table.write_text(json.dumps({"ask": "Is it?", "why": "It is.\nAnswer: true"}) + "\n")
    words = ("filter", table, "--columns", "question=ask,rationale=why", "--as", "cot", "--keep", "naive")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    said = certistar(*words, "--out", tmp_path / "kept").stderr
    assert "\x1b[" in said  # bold is no colour
    assert not re.search(r"\x1b\[[0-9;]*[349][0-7]m", said)
