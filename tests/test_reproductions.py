"""The page of the papers' results: written by code from files, every configuration in it a real one."""

import json
from pathlib import Path

import pytest

from tools.reproductions import PAGE, ROOT, Catalogue, DatasetRate, Difference, catalogue, page
from training.configuration.run import load_run
from training.configuration.section import ConfigError
from training.rounds.run import num_attempts


def test_the_page_is_what_the_code_writes():
    assert PAGE.read_text(encoding="utf-8") == page(catalogue())


@pytest.mark.parametrize("config", sorted({item.config for item in catalogue().items if item.config}))
def test_every_configuration_in_it_loads_and_can_be_planned(config):
    assert num_attempts(load_run(ROOT / config)) > 0


def test_every_paper_has_results_and_every_command_names_its_configuration():
    found = catalogue()
    assert {item.paper for item in found.items} == found.papers.keys()
    assert not [i.item for i in found.items if i.config and i.config not in i.command and "judge" not in i.command]


def test_numbers_are_those_of_the_files():
    report = json.loads((ROOT / "docs/results/demo/report.json").read_text())
    (gain,) = (c for c in report["comparisons"] if (c["a"], c["b"], c["metric"]) == ("strict", "naive", "gain"))
    said = Difference(file="docs/results/demo/report.json", a="strict", b="naive", metric="gain").said()
    assert f"{gain['difference'] * 100:+.1f} points" in said
    assert f"n = {gain['n']}" in said
    rate = DatasetRate(file="docs/results/datasets/modes.json", mode="guided", dataset="syllogism", metric="right")
    assert "n = 200" in rate.said()


def test_an_item_that_says_neither_result_nor_reason_is_refused(tmp_path):
    item = {"paper": "p", "item": "table 1", "what": "w", "theirs": "t", "command": "c", "needs": {"gpus": 0}}
    path = tmp_path / "catalogue.yaml"
    path.write_text(json.dumps({"papers": {"p": "P"}, "items": [item]}))
    with pytest.raises(ConfigError, match="either `ours` or `why_not`"):
        catalogue(path)
    with pytest.raises(ValueError, match="not listed: q"):
        Catalogue.model_validate({"papers": {}, "items": [item | {"paper": "q", "why_not": "w"}]})


def test_no_other_page_of_results_is_typed_by_hand():
    assert [path.name for path in Path(ROOT / "docs/papers").glob("results*.md")] == ["results.md"]
