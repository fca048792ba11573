"""The catalogue of the papers' figures and tables: every command in it is one, and its page is written by code."""

import json
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from tools.failures import app as failures
from tools.reproductions import PAGE, ROOT, Catalogue, DatasetRate, Difference, Item, catalogue, page
from training.cli import command
from training.configuration.run import load_run
from training.configuration.section import ConfigError
from training.rounds.run import num_attempts

ITEMS = {f"{item.paper}, {item.item}": item for item in catalogue().items}


def test_the_page_is_what_the_code_writes():
    assert PAGE.read_text(encoding="utf-8") == page(catalogue()), "write it again: python -m tools.reproductions"


@pytest.mark.parametrize("config", sorted({item.config for item in ITEMS.values() if item.config}))
def test_every_configuration_in_it_loads_and_can_be_planned(config):
    assert num_attempts(load_run(ROOT / config)) > 0


@pytest.mark.parametrize("name", [name for name, item in ITEMS.items() if item.command])
def test_every_command_parses_and_names_what_is_there(name):
    item = ITEMS[name]
    words = shlex.split(f"{item.command} {item.toy}")
    if words[:3] == ["python", "-m", "tools.autoeval"]:
        return
    if words[:3] == ["python", "-m", "tools.failures"]:
        called, rest = get_command(failures), words[3:]
    else:
        assert words[0] == "certistar"
        called, rest = command(words[1]), words[2:]
    given = called.make_context(words[1], rest).params
    assert (str(given["config"]) if "config" in given else None) == item.config
    if item.config:
        loaded = load_run(ROOT / item.config, given["overrides"])
        assert set(given.get("arms") or ()) <= {arm.name for arm in loaded.arms}
    assert item.command is not None
    written = [output.file.split("/")[0] for output in item.outputs if output.file != "-"]
    assert [file for file in (*item.inputs, *written) if file not in f"{item.command} {item.toy} {item.then}"] == []


def test_every_paper_has_results():
    found = catalogue()
    assert {item.paper for item in found.items} == found.papers.keys()


def test_numbers_are_those_of_the_files():
    report = json.loads((ROOT / "docs/results/guided-demo/report.json").read_text())
    (gain,) = (c for c in report["comparisons"] if (c["a"], c["b"], c["metric"]) == ("strict", "naive", "gain"))
    said = Difference(file="docs/results/guided-demo/report.json", a="strict", b="naive", metric="gain").said()
    assert f"{gain['difference'] * 100:+.1f} points" in said
    assert f"n = {gain['n']}" in said
    rate = DatasetRate(file="docs/results/datasets/modes.json", mode="guided", dataset="syllogism", metric="right")
    assert "n = 200" in rate.said()


def test_an_item_has_a_command_or_a_reason_and_a_result_or_why_not(tmp_path):
    item = {"paper": "p", "item": "table 1", "what": "w", "theirs": "t", "command": "c", "outputs": [{"file": "-"}]}
    paper = {"title": "P", "figures": 0, "tables": 1, "drawings": []}
    path = tmp_path / "catalogue.yaml"
    path.write_text(json.dumps({"papers": {"p": paper}, "items": [item]}))
    with pytest.raises(ConfigError, match="either `ours` or `why_not`"):
        catalogue(path)
    with pytest.raises(ValueError, match="either `command` or `cannot`"):
        Item.model_validate(item | {"cannot": "nobody can"})
    with pytest.raises(ValueError, match="name the `outputs`"):
        Item.model_validate(item | {"outputs": [], "why_not": "w"})
    with pytest.raises(ValueError, match="not listed: q"):
        Catalogue.model_validate({"papers": {}, "items": [item | {"paper": "q", "why_not": "w"}]})


def test_a_figure_or_table_without_an_item_is_named():
    paper = {"title": "P", "figures": 3, "tables": 4, "drawings": ["figure 1"]}
    item = {"paper": "p", "item": "tables 1 to 3 and figure 2, both", "what": "w", "theirs": "t", "cannot": "why"}
    with pytest.raises(ValueError, match="for figure 3, table 4"):
        Catalogue.model_validate({"papers": {"p": paper}, "items": [item]})
    whole = Catalogue.model_validate({"papers": {"p": paper}, "items": [item, item | {"item": "figure 3, table 4"}]})
    assert whole.items[0].numbers == ["table 1", "table 2", "table 3", "figure 2"]


def test_no_other_page_of_results_is_typed_by_hand():
    assert [path.name for path in Path(ROOT / "docs/papers").glob("results*.md")] == ["results.md"]
