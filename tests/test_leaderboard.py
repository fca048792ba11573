"""Many models, one table and one figure, from evaluations that were finished whenever."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from critics.problem import Problem
from rollout.records.traces import Trace
from training.cli import app
from training.configuration.run import RunConfig
from training.reporting.leaderboard import (
    LeaderboardEntry,
    find_entries,
    leaderboard,
    numbers,
    panels,
    write_leaderboard,
)
from training.reporting.runs import SPENT, spent_on
from training.workers.strategies import named_models

CONFIG = RunConfig.model_validate({"name": "c", "model": {"name": "Qwen/Qwen3-8B"}})


def entry(
    model: str, arm: str, right: Sequence[int], answers: Sequence[dict], **outcomes: Sequence[int]
) -> LeaderboardEntry:
    ids = [f"p{i}" for i in range(len(right))]
    none = [0] * len(right)
    told = {
        "certified": none,
        "no_answer": none,
        "abstained": none,
        "wrong_formal": none,
        "exhausted": none,
        **outcomes,
    }
    return LeaderboardEntry(model, arm, {"decoding": arm, "outcomes": {"ids": ids, "right": right, **told}}, answers)


def answer(dataset: str, condition: str, hops: str | None, says: str) -> dict:
    return {"dataset": dataset, "condition": condition, "hops": hops, "says": says}


HOPS = [answer("prontoqa", ontology, hops, "true") for ontology in ("false", "true") for hops in ("1", "2")]
CONDITIONS = [answer("syllogism", condition, None, said) for condition, said in (("a", "true"), ("b", "false"))]


def rows_under(text: str, title: str) -> list[list[str]]:
    _, _, rest = text.partition(f"## {title}\n\n")
    lines = rest.partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_a_row_for_each_data_set_and_condition_of_each_model_and_arm():
    text = leaderboard([entry("a", "guided", [1, 1, 0, 1], HOPS), entry("b", "guided", [0, 0, 0, 1], HOPS)])
    rows = rows_under(text, "Accuracy")
    assert [row[:4] for row in rows[2:]] == [
        ["prontoqa", "a", "guided", "4"], ["prontoqa", "b", "guided", "4"],
        ["prontoqa, false", "a", "guided", "2"], ["prontoqa, false", "b", "guided", "2"],
        ["prontoqa, true", "a", "guided", "2"], ["prontoqa, true", "b", "guided", "2"],
    ]  # fmt: skip
    assert rows[2][4].startswith("75.0% (")
    assert rows[2][-1] == "100.0%"


def test_a_missing_answer_is_worth_a_guess_in_each_group():
    answers = [{**each, "chance": 0.5} for each in HOPS]
    rows = rows_under(leaderboard([entry("a", "free", [1, 0, 0, 1], answers, no_answer=[0, 1, 0, 0])]), "Accuracy")
    assert [row[5] for row in rows[2:]] == ["62.5%", "75.0%", "50.0%"]


def test_hops_have_columns_and_arms_of_a_model_are_compared_answer_by_answer():
    text = leaderboard([entry("a", "guided", [1, 1, 1, 1], HOPS), entry("a", "free", [0, 1, 0, 1], HOPS)])
    by_hops = rows_under(text, "Accuracy by hops")
    assert by_hops[0] == ["problems", "model", "arm", "1 hop", "2 hops"]
    assert [row[0] for row in by_hops[2:]] == ["prontoqa"] * 2 + ["prontoqa, false"] * 2 + ["prontoqa, true"] * 2
    assert by_hops[3][3].startswith("0.0%")
    whole = rows_under(text, "Differences, answer by answer")[2]
    assert whole[:4] == ["prontoqa", "a", "guided - free", "4"]
    assert whole[4].startswith("+50.0% (")
    assert whole[5] == "0.500"


def test_what_is_said_where_nothing_more_follows():
    text = leaderboard([entry("a", "guided", [1, 0], CONDITIONS, exhausted=[0, 1])])
    rows = rows_under(text, "Answers where nothing more follows")
    assert rows[2] == ["syllogism", "a", "guided", "1 of 2", "0.0%", "100.0%", "0.0%", "0.0%"]
    assert rows[3] == ["syllogism, a", "a", "guided", "0 of 1", *["–"] * 4]
    assert "Accuracy by hops" not in text


def test_panels_are_conditions_over_hops_or_the_conditions_and_the_share_that_says_true(tmp_path: Path):
    entries = [entry("a", "guided", [1, 1, 0, 1], HOPS), entry("b", "free", [1, 0], CONDITIONS)]
    first, second = panels(entries)
    assert [(panel.title, list(panel.groups)) for panel in first] == [
        ("prontoqa, false", ["1", "2"]), ("prontoqa, true", ["1", "2"]),
    ]  # fmt: skip
    assert [(panel.title, list(panel.groups)) for panel in second] == [
        ("syllogism: right", ["all", "a", "b"]), ("syllogism: says true", ["all", "a", "b"]),
    ]  # fmt: skip
    write_leaderboard(entries, tmp_path / "once.svg")
    write_leaderboard(entries, tmp_path / "again.svg")
    drawn = (tmp_path / "once.svg").read_bytes()
    assert drawn == (tmp_path / "again.svg").read_bytes()
    assert drawn.startswith(b"<?xml")


def test_numbers_are_counts_of_each_group():
    found = numbers([entry("a", "guided", [1, 1, 0, 1], HOPS)])
    assert {(one["condition"], one["hops"]): (one["n"], one["right"]) for one in found}["false", None] == (2, 2)
    assert json.loads(json.dumps(found)) == found


# -- models


def test_models_are_names_folders_adapters_and_served_ones(tmp_path: Path):
    adapter, base = tmp_path / "run" / "strict" / "seed-0" / "round-001" / "adapter", tmp_path / "base"
    for folder, name in ((adapter, "adapter_config.json"), (base, "config.json")):
        folder.mkdir(parents=True)
        (folder / name).write_text("{}")
    (tmp_path / "qwen.yaml").write_text("name: Qwen/Qwen3-4B\nprompt: chat\n")
    names = ["x/y", str(base), str(adapter), "gpt@http://host:1/v1", str(tmp_path / "qwen.yaml")]
    found = named_models(CONFIG, names)
    assert [model.label for model in found][:2] == ["x/y", str(base)]
    assert found[2].label == "Qwen/Qwen3-8B+run-strict-seed-0-round-001"
    assert found[2].adapter == adapter
    assert found[3].config.model.server is not None
    assert found[3].config.model.server.base_url == "http://host:1/v1"
    assert (found[4].label, found[4].config.model.prompt) == ("qwen", "chat")
    assert len({model.folder for model in found}) == 5
    assert [model.label for model in named_models(CONFIG, [])] == ["Qwen/Qwen3-8B"]


def test_a_revision_is_of_one_model_alone():
    pinned = CONFIG.model_copy(update={"model": CONFIG.model.model_copy(update={"revision": "v1"})})
    assert [model.label for model in named_models(pinned, [])] == ["Qwen/Qwen3-8B@v1"]
    own, *others = named_models(pinned, ["x/y@v2", "x/y", "gpt@http://host:1/v1"])
    assert [own.config.model.pinned, others[0].config.model.pinned] == ["x/y@v2", "x/y"]
    assert others[1].config.model.revision == "v1", "the tokenizer is still the configuration's"


def test_a_name_is_a_served_model_where_the_configuration_has_a_server():
    served = CONFIG.model_dump() | {"model": {"name": "t", "server": {"base_url": "http://h/v1", "model": "m"}}}
    (model,) = named_models(RunConfig.model_validate(served), ["other"])
    assert model.config.model.server is not None
    assert (model.label, model.config.model.server.model) == ("other", "other")
    assert model.config.model.name == "t"


@pytest.mark.parametrize(
    ("names", "told"), [(["a/b", "a/b"], "one name"), (["a/b", "a_b"], "one name"), (["none.yaml"], "cannot be read")]
)
def test_models_that_cannot_be_told_apart_or_read_are_refused(names: list[str], told: str):
    with pytest.raises(InputError, match=told):
        named_models(CONFIG, names)


# -- what it costs


def test_requests_and_tokens_are_those_that_the_traces_keep():
    problem = Problem("p", "mine", "", "")
    served = Trace(
        "t", problem, "cot", "", server={"calls": 3, "prompt_tokens": 10, "completion_tokens": 4, "uncounted": 1}
    )
    own = Trace("u", problem, "cot", "", completion_ids=(1, 2))
    assert [spent_on([served, own])[name] for name in SPENT] == [4, 10, 6, 1]


# -- the commands


def certistar(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_models_are_evaluated_once_and_compared_from_their_folders(tmp_path: Path, tiny_model: Path):
    config, problems, out = tmp_path / "c.yaml", tmp_path / "p.jsonl", tmp_path / "out"
    config.write_text(f"name: c\nmodel: {{name: {tiny_model}}}\nsampling: {{max_new_tokens: 8, temperature: 0}}\n")
    assert certistar("problems", "prontoqa", "--num", 4, "--split", "test", "--out", problems).exit_code == 0
    other = tmp_path / "other.yaml"
    other.write_text("prompt: few-shot\nexamples: 1\n")  # two do not fit its window
    words = ("evaluate", config, "--problems", problems, "--model", other, "--model", tiny_model, "--out", out)
    done = certistar(*words, "--json")
    assert done.exit_code == 0, done.stderr
    assert set(json.loads(done.stdout)) == {str(tiny_model), "other"}
    files = {path.relative_to(out).parts[-1]: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert {"table.md", "problems.md", "figure.svg", "evaluation.json", "attempts.open.jsonl"} == set(files)
    assert len(find_entries([out])) == 2
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert certistar(*words).exit_code == 0
    assert before == {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    refused = certistar(*words, "--seed", 1)
    assert refused.exit_code == 2
    assert "another --out" in refused.stderr
    compared = certistar("compare", out, "--out", tmp_path / "again")
    assert compared.exit_code == 0, compared.stderr
    assert (tmp_path / "again" / "table.md").read_bytes() == (out / "table.md").read_bytes()
    assert (tmp_path / "again" / "figure.svg").read_bytes() == (out / "figure.svg").read_bytes()
