"""Exports as they lie around come out as the clean table does, or say in a sentence why not and what to do."""

import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

import certistar
from tests.export_files import SHAPES, Row, batch, clean, lines, nemo_gym, steps
from training.cli import app
from training.curation.outcomes import SENTENCE, SKIPPED
from training.exchange.columns import RowError
from training.exchange.prompts import asked_of, bare_text, is_instruction

HONEST = {"steps proved": 15, SKIPPED: 3, SENTENCE: 6, "not proved": 3, "not readable": 3}


def filtered(source: object, folder: Path, *more: object) -> Result:
    words = ("filter", source, "--out", folder / "kept", "--keep", "unfiltered", *more)
    return CliRunner().invoke(app, [str(word) for word in words])


def outcomes(source: object, folder: Path, *more: object) -> dict[str, int]:
    done = filtered(source, folder, *more, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["outcomes"]


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_comes_out_as_the_clean_table_does(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.jsonl"
    path.write_text(lines([SHAPES[name](row) for row in clean()]))
    wanted = {"steps proved": 30} if name.startswith("preference") else HONEST
    assert outcomes(path, tmp_path) == wanted


@pytest.mark.parametrize("name", ["preferences", "preference_chats"])
def test_the_texts_that_were_not_preferred_are_judged_where_asked(name: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(lines([SHAPES[name](row) for row in clean()]))
    assert outcomes(path, tmp_path, "--columns", "rationale=rejected") == {"not readable": 30}


def test_a_batch_is_joined_with_its_input_by_custom_id(tmp_path: Path) -> None:
    asked, made = batch()
    (tmp_path / "batch_input.jsonl").write_text(lines(asked))
    (tmp_path / "batch_output.jsonl").write_text(lines(made))
    assert outcomes(tmp_path / "batch_*.jsonl", tmp_path) == HONEST
    alone = filtered(tmp_path / "batch_output.jsonl", tmp_path / "alone")
    assert alone.exit_code == 2
    assert "name its input as well, as in `certistar filter 'batch_*.jsonl'`" in alone.stderr


def test_what_a_batch_lost_is_named(tmp_path: Path) -> None:
    asked, made = batch()
    cut, failed = made[0], made[1]
    cut["response"]["body"]["choices"][0]["finish_reason"] = "length"
    failed |= {"response": None, "error": {"code": "server_error", "message": "it failed"}}
    (tmp_path / "both.jsonl").write_text(lines([*asked, *made[:-1]]))
    assert filtered(tmp_path / "both.jsonl", tmp_path).exit_code == 0
    rejected = [json.loads(line) for line in (tmp_path / "kept" / "rejected.jsonl").read_text().splitlines()]
    said = {row["feedback"] for row in rejected if row["reason"] in ("cut_off", "no_rationale")}
    assert said == {
        "the reply was cut off by its token limit",
        "there is no reply: it failed",
        "the batch's output has no reply to it",
    }


def test_rollouts_of_nemo_gym_are_scored_again_by_ours(tmp_path: Path) -> None:
    rollouts = nemo_gym()
    (tmp_path / "rollouts.jsonl").write_text(lines(rollouts))
    assert outcomes(tmp_path / "rollouts.jsonl", tmp_path) == HONEST
    words = ["filter", str(tmp_path / "rollouts.jsonl"), "--out", str(tmp_path / "strict")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "rewarded: 0 by neither, 0 by ours alone, 15 by theirs alone, 15 by both; 0 not checked" in done.output
    scored = [json.loads(line) for line in (tmp_path / "strict/rescored.jsonl").read_text().splitlines()]
    assert [row["reward"] for row in scored].count(1.0) == 15
    assert {row["certistar"]["reward"] for row in scored} == {1.0}
    given = {row["_ng_rollout_index"]: row for row in rollouts}
    for row in scored:
        ours = row.pop("certistar")
        assert (row["reward"] == 1.0) == (ours["verdict"] == "certified")
        assert row | {"reward": 1.0} == given[row["_ng_rollout_index"]]


def test_a_rollout_that_rests_on_a_tool_or_was_cut_off_is_neither_paid_nor_counted_as_wrong(tmp_path: Path) -> None:
    called, cut, empty, refused, *_ = rollouts = nemo_gym()[:6]
    called["response"]["output"].insert(0, {"type": "function_call", "name": "f", "arguments": "{}"})
    cut["response"]["status"] = "incomplete"
    empty["response"]["output"] = []
    refused["response"]["output"][-1]["content"] = [{"type": "refusal", "refusal": "no"}]
    (tmp_path / "rollouts.jsonl").write_text(lines(rollouts))
    done = filtered(tmp_path / "rollouts.jsonl", tmp_path, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rescored"]["not_checked"] >= 4
    scored = [json.loads(line) for line in (tmp_path / "kept/rescored.jsonl").read_text().splitlines()]
    assert {row["_ng_rollout_index"] for row in scored} <= {4, 5}


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_the_steps_of_a_text_are_joined_and_come_back_as_they_stood(ending: str, tmp_path: Path) -> None:
    from datasets import Dataset

    path, rows = tmp_path / f"steps.{ending}", steps()
    if ending == "parquet":
        Dataset.from_list(rows).to_parquet(path)
    else:
        path.write_text(lines(rows) if ending == "jsonl" else json.dumps(rows, indent=1))
    done = filtered(path, tmp_path, "--columns", "rationale=step")
    assert f"{len(rows)} rows are 30 texts: joined by their steps" in done.stderr
    assert "15 steps proved" in done.stderr
    if ending != "parquet":
        back = (tmp_path / "kept" / f"rows.{ending}").read_text()
        kept = [json.loads(line) for line in back.splitlines()] if ending == "jsonl" else json.loads(back)
        assert [row for row in rows if row in kept] == kept


def test_samples_of_one_question_are_texts_of_their_own() -> None:
    rows = [{k: row[k] for k in ("question", "step_index", "step")} | {"answer": "True"} for row in steps()]
    first = [row for row in rows if row["question"] == rows[0]["question"]][:2]
    kept = certistar.filter([*first, *first], "unfiltered")
    assert len(kept) == 1  # the same text twice
    assert kept[0]["step"].count("\n") == 1


def test_python_says_what_the_command_says(tmp_path: Path) -> None:
    rows: list[Row] = [{**row, "context": f"Whoever sings is merry, they say. {row['context']}"} for row in clean()[:6]]
    (tmp_path / "rows.jsonl").write_text(lines(rows))
    said = " ".join(filtered(tmp_path / "rows.jsonl", tmp_path).stderr.split())
    with pytest.warns(UserWarning, match="not read, most often: [0-9]+ times 'Whoever sings") as found:
        certistar.filter(rows)
    most = next(str(each.message).split("; ")[-1] for each in found if "most often" in str(each.message))
    assert most in said


def test_a_clean_file_warns_of_nothing_and_a_limit_is_kept(tmp_path: Path) -> None:
    rows = [SHAPES["sharegpt"](row) for row in clean()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(certistar.filter(rows[:15])) == 15
    (tmp_path / "rows.jsonl").write_text(lines(rows))
    assert outcomes(tmp_path / "rows.jsonl", tmp_path, "--limit", 10) == {"steps proved": 10}


@pytest.mark.parametrize(
    "sentence",
    [
        "Think step by step before you answer.",
        "You are Qwen, created by Alibaba Cloud.",
        "Please reason step by step, and put your final answer within \\boxed{}.",
        "Answer with A, True or False only.",
        "Given the following facts:",
        "Respond in the following format:",
    ],
)
def test_sentences_of_tasks_alone_state_nothing(sentence: str) -> None:
    assert is_instruction(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The statement is true.",
        "Answer: A.",
        "Given that the answer is true, explain.",
        "Note that Rex is warm.",
        "Think of Rex as warm.",
        "You are a helpful assistant who knows that Rex is warm.",
        "Every question is a statement.",
        "Respond with no.",
        "Please answer true or true.",
        "Answer true/true.",
        "Put \\boxed{true} in your response.",
        "Respond with <answer> true </answer> and not false.",
        "Answer A.",
        "Answer true or false: true.",
        "Answer true if the question is clear or not.",
        "Answer true if the statement is false, and false if it is true.",
        "State is a word.",
        "Given facts are not facts.",
        "Note: the rules are false or unknown.",
        "Read true as false.",
        "Here is no true statement",
    ],
)
def test_what_states_something_or_gives_the_answer_is_no_instruction(sentence: str) -> None:
    """Attack: a fact, or the answer, dressed as an instruction."""
    assert not is_instruction(sentence)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("<think>Rex is a newt.</think>Rex is a cat.\n\\boxed{True}", "Rex is a cat.\nAnswer: True"),
        ("So the final answer is $\\boxed{\\text{False}}$.", "Answer: False"),
        ("Rex is warm, so \\boxed{True}", "Rex is warm, so.\nAnswer: True"),
        ("<reasoning>\nRex is a cat.\n</reasoning>\n<answer>\nyes\n</answer>", "Rex is a cat.\n\nAnswer: yes"),
        ("Rex is a cat.\n#### True", "Rex is a cat.\nAnswer: True"),
        ("Rex is a cat. Answer: yes", "Rex is a cat. Answer: yes"),
    ],
)
def test_what_stands_beside_a_boxed_answer_stays(text: str, bare: str) -> None:
    assert "\n".join(filter(None, bare_text(text)[0].splitlines())) == "\n".join(filter(None, bare.splitlines()))


def test_two_answers_in_tags_and_boxes_are_certified_by_none() -> None:
    """Attack: one answer for the grader, another for the reader."""
    good: dict[str, Any] = clean()[0]
    for end in ("<answer>True</answer>\n\\boxed{False}", "\\boxed{False}\n<answer>True</answer>"):
        assert certistar.filter([{**good, "rationale": f"{good['rationale']}\n{end}"}]) == []


@pytest.mark.parametrize("asks", ["false", "not true", "false or is it not true"])
def test_a_question_turned_around_is_not_asked_straight(asks: str) -> None:
    """Attack: whether a statement is false, and the answer to whether it is true."""
    for prompt in (f"Is the following statement {asks}? Rex is warm.", f"Rex is warm. Is the statement above {asks}?"):
        with suppress(RowError):
            assert "true or false: rex is warm" not in str(asked_of(f"Rex is a cat. {prompt}").question).lower()


def test_a_statement_behind_a_general_question_is_what_is_asked() -> None:
    for prompt in (
        "Rex is a cat. Is the following statement true or false? Rex is warm.",
        "Rex is a cat. Rex is warm. True or false?",
    ):
        parts = asked_of(prompt)
        assert (parts.context, parts.question) == ("Rex is a cat.", "True or false: Rex is warm.")
