"""The schema that editors read: current, named in every shipped configuration, and true of each."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from training.cli import app
from training.commands.schema import schema_text

ROOT = Path(__file__).parents[1]
SHIPPED = [*sorted((ROOT / "configs").glob("*.yaml")), *sorted((ROOT / "configs" / "models").glob("*.yaml"))]


def test_the_committed_schema_is_current() -> None:
    written = (ROOT / "configs" / "schema.json").read_text(encoding="utf-8")
    assert written == schema_text(), "certistar schema --out configs/schema.json"


def complaints(configuration: dict[str, Any]) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema", reason="pip install 'certistar[dev]'")
    checker = jsonschema.Draft202012Validator(json.loads(schema_text()))
    return [f"{error.json_path}: {error.message}" for error in checker.iter_errors(configuration)]


def test_every_shipped_configuration_names_the_schema_and_agrees_with_it() -> None:
    found: dict[str, list[str]] = {}
    for path in SHIPPED:
        text = path.read_text(encoding="utf-8")
        first = text.splitlines()[0]
        named = path.parent / first.removeprefix("# yaml-language-server: $schema=")
        assert named.resolve() == ROOT / "configs" / "schema.json", path
        found[path.name] = complaints(yaml.safe_load(text))
    assert not {name: said for name, said in found.items() if said}


MODEL = {"name": "checkpoints/seed"}


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"name": "a", "model": MODEL, "rounds": 3}, "rounds"),
        ({"name": "a", "model": MODEL, "star": {"start": "first"}}, "star.start"),
        (
            {"name": "a", "model": MODEL, "arms": [{"name": "b", "keep": "stricter", "decoding": "free"}]},
            "arms[0].keep",
        ),
        ({"name": "a", "model": MODEL, "training": {"epochs": 0}}, "training.epochs"),
        ({"name": "a", "algorithm": "ppo", "model": MODEL}, "algorithm"),
        ({"name": "a", "prompt": "talk"}, "prompt"),
    ],
)
def test_what_a_configuration_may_not_say_is_marked_at_its_place(wrong: dict[str, Any], place: str) -> None:
    said = complaints(wrong)
    assert said
    assert any(place in line for line in said)


def test_the_command_writes_it_and_nothing_over_something_else(tmp_path: Path) -> None:
    out = tmp_path / "schema.json"
    for _ in range(2):
        assert CliRunner().invoke(app, ["schema", "--out", str(out)]).exit_code == 0
    assert CliRunner().invoke(app, ["schema"]).stdout == out.read_text(encoding="utf-8") == schema_text()
    own = tmp_path / "own.json"
    own.write_text("{}")
    assert CliRunner().invoke(app, ["schema", "--out", str(own)]).exit_code == 2
    assert own.read_text() == "{}"
