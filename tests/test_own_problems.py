"""A table of one's own goes through a run: its texts are read by the grammar, whatever they are about."""

import csv
import json
import re
import shlex
from itertools import islice
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from critics.errors import InputError
from rollout.problems.prontoqa import PrOntoQA, generate
from training.cli import app
from training.records.store import read_records
from training.rounds.problems import load_problems

ROOT = Path(__file__).parents[1]
LEASE = "Every lease is a contract. Every contract is binding. Paper nine is a lease."


def table(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("context", "question", "answer"), *rows])
    return path


def test_a_row_is_a_problem_with_its_answer_in_our_words(tmp_path: Path) -> None:
    rows = (LEASE, "Is paper nine binding?", "Yes"), (LEASE, "True or false: paper nine is void.", "")
    found = list(load_problems(table(tmp_path / "mine.csv", *rows)))
    assert [(p.id, p.dataset, p.answer) for p in found] == [("own/1", "own", "true"), ("own/2", "own", None)]
    options = {"context": LEASE, "question": "Which?", "options": ["Paper nine is binding", "Paper nine is void"]}
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({**options, "answer": "A", "id": "x"}) + "\n")
    (one,) = load_problems(path, "mine")
    assert (one.id, one.dataset, one.answer, one.options) == ("x", "mine", "A", tuple(options["options"]))


@pytest.mark.parametrize(
    ("row", "said"),
    [((LEASE, "Is it?", "perhaps"), "row 1: answer: 'perhaps'"), (("", "", ""), None)],
)
def test_a_row_that_cannot_be_asked_is_named(tmp_path: Path, row: tuple[str, ...], said: str | None) -> None:
    path = table(tmp_path / "mine.csv", row)
    if said is None:
        path.write_text("text,answer\nTom is a cat.,true\n")
        said = "row 1: problem.context"
    with pytest.raises(InputError, match=said):
        list(load_problems(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("context,question,label\nTom is a cat.,Tom is a cat.,false\n", "is called 'answer', and not 'label'"),
        ("context,question,Answer\nTom is a cat.,Tom is a cat.,false\n", "is called 'answer', and not 'Answer'"),
        ("context,question,answer,options\nTom is a cat.,Who?,B,Tom|Ann|B\n", "'B' says option C and is the letter of"),
    ],
)
def test_a_gold_answer_is_neither_passed_over_nor_guessed(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        list(load_problems(tmp_path / "mine.csv"))


def test_own_tables_with_numbers_as_answers_go_through_a_run_of_two_arms(tmp_path: Path) -> None:
    plain = [("", f"Ann has {n} pens and buys {n} more. How many has she?", str(2 * n)) for n in range(5, 30)]
    trained, held_out = table(tmp_path / "train.csv", *plain[:8]), table(tmp_path / "test.csv", *plain[8:14])
    config = {
        "name": "own",
        "model": {"name": str(ROOT / "checkpoints/base-easy")},
        "problems": {"file": str(trained), "dataset": "mine"},
        "held_out": {"file": str(held_out), "dataset": "mine"},
        "arms": [
            {"name": "strict", "keep": "trusted", "decoding": "free", "strategy": "cot"},
            {"name": "right", "keep": "naive", "decoding": "free", "strategy": "cot"},
        ],
        "star": {"rounds": 1, "problems_per_round": 8},
        "sampling": {"max_new_tokens": 60, "batch_size": 8},
        "training": {"max_steps": 1, "learning_rate": 1e-3},
        "evaluation": {"num_problems": 6, "greedy": "never", "square": "never"},
    }
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(config))
    done = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    (traces,) = (tmp_path / "run").glob("strict/seed-0/round-000/traces.jsonl")
    records = list(read_records(traces))
    assert {record["problem"]["dataset"] for record in records} == {"mine"}
    assert not any(record["judgement"]["verdict"] == "certified" for record in records)
    arms = json.loads((tmp_path / "run" / "report.json").read_text())["arms"]
    assert arms.keys() == {"strict", "right"}
    assert all(arm["rounds"][0]["accuracy"] is not None for arm in arms.values())


def test_two_hundred_problems_of_a_strangers_go_through_a_run_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")
    (config,) = re.findall(r"^```yaml\n(name: mine\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (commands,) = re.findall(r"^```sh\n(certistar read train.csv.*?)^```$", page, re.MULTILINE | re.DOTALL)
    drawn = generate(PrOntoQA(hops=(1, 2), extra_kinds=(0, 1)), 2000, seed=5)
    rows = list(islice(((p.context, p.question, p.answer or "") for p in drawn if " is not " not in p.context), 200))
    assert len(rows) == 200
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    (tmp_path / "mine.yaml").write_text(config)
    table(tmp_path / "train.csv", *rows[:150])
    table(tmp_path / "test.csv", *rows[150:])
    fewer = ("star.problems_per_round=40", "evaluation.num_problems=20", "sampling.max_new_tokens=80")
    limits = {"certistar run": [f"--set={key}" for key in (*fewer, "training.max_steps=2")]}
    for line in commands.splitlines():
        words = shlex.split(line, comments=True)
        done = CliRunner().invoke(app, [*words[1:], *limits.get(" ".join(words[:2]), [])])
        assert done.exit_code == 0, done.output
    arms = json.loads((tmp_path / "run" / "report.json").read_text())["arms"]
    assert {name: arm["rounds"][0]["n"] for name, arm in arms.items()} == {"strict": 20, "right": 20}
    traces = list(read_records(tmp_path / "run/strict/seed-0/round-000/traces.jsonl"))
    assert len(traces) == 40
    assert any(trace["judgement"]["verdict"] == "certified" for trace in traces)
    assert all(list((tmp_path / "run" / arm).rglob("adapter_model.safetensors")) for arm in arms)


def test_what_is_read_of_a_table_is_shown_by_row(tmp_path: Path) -> None:
    rows = ("Every debtor is careful. Mika is a debtor.", "Is Mika careful?", "yes")
    done = CliRunner().invoke(app, ["read", str(table(tmp_path / "mine.csv", rows))])
    assert done.exit_code == 0, done.output
    assert "3 of 3 sentences are read" in done.output
    bad = tmp_path / "bad.csv"
    bad.write_text("text\nTom is a cat.\n")
    assert CliRunner().invoke(app, ["read", str(bad)]).exit_code == 2


def test_two_rows_of_a_table_cannot_have_one_id(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,context,question,answer\n1,Tom is a cat.,Tom is a cat.,true\n1,Ann is a dog.,Ann is a cat.,\n")
    with pytest.raises(InputError, match="row 2: id: '1' is that of a row before"):
        list(load_problems(path))
