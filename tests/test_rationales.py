"""Other people's rationales: tables of any kind in, what a critic certifies out, and every refusal with its reason."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from training.cli import app
from training.exchange.columns import Parts, read_rationale

CONTEXT = "Every jompus is a rompus. Stella is a jompus."
GUIDED = """Formalized context: 1- [[axiom:(jompus 'x) -> (rompus 'x)]] 2- [[axiom:(jompus stella)]]
Formalized goal: [[goal:(rompus stella)]]
Reasoning: [[infer:(rompus stella)]]"""
LUCKY = GUIDED.replace("[[infer:(rompus stella)]]", "It is so.")
COLUMNS = "context=facts,question=ask,rationale=why,answer=gold,conclusion=said"
ROWS = [
    {"facts": CONTEXT, "ask": "Stella is a rompus.", "why": GUIDED, "gold": "True", "said": "true"},
    {"facts": CONTEXT, "ask": "Stella is a rompus!", "why": LUCKY, "gold": "True", "said": "true"},
    {"facts": CONTEXT, "ask": "Is Stella one?", "why": GUIDED, "gold": "False", "said": "true"},
    {"facts": CONTEXT, "ask": "Is Stella a rompus?", "why": GUIDED, "gold": "perhaps", "said": "true"},
    {"facts": CONTEXT, "ask": "Stella is a rompus.", "why": GUIDED, "gold": "True", "said": "true"},
]
REASONS = [
    ("own/row-4", "answer_unreadable"),
    ("own/2", "goal_not_reached"),
    ("own/3", "wrong_answer"),
    ("own/5", "text_twice"),
]


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write a table as its name says."""
    from datasets import Dataset

    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ".json":
            path.write_text(json.dumps(list(rows)))
        case ".csv":
            Dataset.from_list(list(rows)).to_csv(path)  # type: ignore[arg-type]
        case _:
            Dataset.from_list(list(rows)).to_parquet(path)
    return path


def filtered(table: Path, *more: object, columns: str = COLUMNS, format_: str = "guided") -> Result:
    words = ("--columns", columns, "--as", format_, "--keep", "strict", "--out", table.parent / "kept")
    return certistar("filter", table, *words, *more)


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet"])
def test_a_table_is_filtered_with_a_reason_for_each_row_that_is_not_kept(ending: str, tmp_path: Path) -> None:
    result = filtered(write(tmp_path / f"own.{ending}", ROWS), "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["rows"], summary["certified"], summary["lucky"], summary["kept"]) == (5, 2, 1, 1)
    kept = tmp_path / "kept"
    (example,) = lines(kept / "examples.jsonl")
    assert example["completion"] == f"{GUIDED}\nAnswer: true"
    assert example["formalisation"] == "aligned"
    (certified,) = lines(kept / "certificates.jsonl")
    assert certified["judgement"]["certificate"]["digest"] == example["certificate"]
    assert [(row["id"], row["reason"]) for row in lines(kept / "rejected.jsonl")] == REASONS
    assert json.loads((kept / "summary.json").read_text()) == summary
    assert certistar("recheck", kept / "certificates.jsonl").exit_code == 0


def test_people_are_shown_what_was_not_certified_and_why(tmp_path: Path) -> None:
    said = filtered(write(tmp_path / "own.jsonl", ROWS)).stderr
    for word in ("goal_not_reached", "wrong_answer", "answer_unreadable", "own/2"):
        assert word in said


@pytest.mark.parametrize(
    ("columns", "format_", "expected"),
    [
        ("question=ask,rational=why", "guided", "did you mean 'rationale'"),
        ("question=aks,rationale=why", "guided", "did you mean 'ask'"),
        ("question", "guided", "PART=COLUMN"),
        (COLUMNS, "guide", "--as 'guide'"),
    ],
)
def test_a_wrong_column_map_is_refused_with_a_suggestion(
    columns: str, format_: str, expected: str, tmp_path: Path
) -> None:
    result = filtered(write(tmp_path / "own.jsonl", ROWS), columns=columns, format_=format_)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert not (tmp_path / "kept").exists()


def test_options_for_tables_and_for_traces_are_not_mixed(tmp_path: Path) -> None:
    table = write(tmp_path / "own.jsonl", ROWS)
    assert "--verdicts" in filtered(table, "--verdicts", "x").stderr
    attempt = {"id": "a", "problem": {}, "format": "guided", "completion": GUIDED}
    result = filtered(write(tmp_path / "attempts.jsonl", [attempt]))
    assert (result.exit_code, "--columns is for tables" in result.stderr) == (2, True)


def test_a_data_set_that_the_hub_does_not_give_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    words = ("filter", "nobody/nothing:test", "--columns", COLUMNS, "--as", "cot", "--keep", "naive")
    command = [sys.executable, "-m", "training", *words, "--out", str(tmp_path / "kept")]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("certistar: nobody/nothing: ")
    assert "without a network, name a file" in last


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"rationale": "It is.\nAnswer: false", "conclusion": "true"}, "two_answers"),
        ({"rationale": "It is.", "conclusion": "maybe"}, "conclusion_unreadable"),
        ({"rationale": " ", "conclusion": "true"}, "no_rationale"),
        ({"rationale": "It \ud800 is.", "conclusion": "true"}, "not_unicode"),
        ({"rationale": "It is.", "conclusion": "A", "options": "A or B"}, "options_unreadable"),
        ({"rationale": "It is.", "conclusion": "C", "options": ["yes", "no"], "answer": "C"}, "answer_unreadable"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(row: dict[str, Any], reason: str) -> None:
    from training.exchange.columns import RowError

    with pytest.raises(RowError) as found:
        read_rationale(Parts(**{"question": "Is it?", **row}), name="t/1", dataset="own")
    assert found.value.reason == reason


def test_options_and_letters_are_read_as_tables_have_them() -> None:
    for choices in (["Ann", "Ben"], '["Ann", "Ben"]', {"label": ["A", "B"], "text": ["Ann", "Ben"]}):
        for gold in ("B", "(B)", "Ben"):
            row = {"question": "Who?", "rationale": "He did.\nAnswer: Ben", "options": choices, "answer": gold}
            found = read_rationale(Parts(**row), name="t/1", dataset="own").problem
            assert (found.options, found.answer) == (("Ann", "Ben"), "B")


def test_a_configured_policy_is_asked_once_for_each_text(tiny_model: Path, tmp_path: Path) -> None:
    config = tmp_path / "tiny.yaml"
    config.write_text(f"name: tiny\nmodel: {{name: {tiny_model}}}\nsampling: {{max_new_tokens: 8}}\n")
    result = filtered(write(tmp_path / "own.jsonl", ROWS[:2]), "--formalise", config, "--json", format_="english")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    assert (summary["sampled"], summary["certified"], summary["examples"]) == (2, 0, 0)
    assert set(summary["formalised_by"]) == {"base", "adapter"}
    assert not list(tmp_path.glob(".kept*"))


def test_trl_trains_a_step_on_what_was_kept_pushed_and_pulled_without_conversion(
    tiny_model: Path, tmp_path: Path
) -> None:
    from datasets import load_dataset

    trl = pytest.importorskip("trl")
    rows = [{**ROWS[0], "ask": f"Stella is a rompus{mark}"} for mark in (".", "!", "?")]
    assert filtered(write(tmp_path / "own.jsonl", rows)).exit_code == 0
    assert certistar("push", tmp_path / "kept", f"file://{tmp_path}/pushed").exit_code == 0
    assert certistar("pull", tmp_path / "pushed", "--out", tmp_path / "pulled").exit_code == 0
    data = load_dataset(str(tmp_path / "pulled" / "dataset"), split="train", cache_dir=str(tmp_path / "cache"))
    arguments = trl.SFTConfig(
        output_dir=str(tmp_path / "out"), max_steps=1, use_cpu=True, bf16=False, report_to=[], save_strategy="no"
    )
    trainer = trl.SFTTrainer(str(tiny_model), args=arguments, train_dataset=data)
    learnt = [label for label in trainer.train_dataset[0]["labels"] if label != -100]
    assert trainer.processing_class.decode(learnt).startswith("Formalized context:")
    assert trainer.train().training_loss > 0
