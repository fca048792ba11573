"""Labels of steps for process reward models: true where a critic read the step and it holds, and nowhere else."""

import json

import pytest
from typer.testing import CliRunner

from critics.judge import judge_record
from critics.problem import Problem, read_attempt
from critics.verdict import read_verdict
from rollout.prompts.prompt import problem_text
from training.cli import app
from training.exchange.exports import step_row
from training.rewards.certified import bad_start

PIP = Problem("p", "prontoqa", "Every wren is a bird. Every bird is feathered. Pip is a wren.",
              "True or false: Pip is feathered.", answer="true")  # fmt: skip
WHOLE = "Pip is a wren. Pip is a bird. Pip is feathered.\nAnswer: true"
BAD = "Pip is a wren. Pip is a newt. Pip is feathered.\nAnswer: true"
UNREAD = "Pip is a wren. Who would not think so? Pip is feathered.\nAnswer: true"
OWN_AXIOM = "[[axiom:(feathered pip)]] [[goal:(feathered pip)]] [[infer:(feathered pip)]]\nAnswer: "


def text(completion, problem=PIP, format_="english", prompt=None):
    record = {"id": "a", "problem": problem.record(), "format": format_, "completion": completion}
    return read_attempt(record), read_verdict(judge_record(record)), prompt


def test_trl_learns_up_to_the_first_bad_step():
    row = step_row(*text(BAD, prompt="P"), "stepwise")
    assert row == {
        "id": "a",
        "prompt": "P",
        "completions": ["Pip is a wren.", "Pip is a newt."],
        "labels": [True, False],
    }
    whole = step_row(*text(WHOLE), "stepwise")
    assert (whole["prompt"], whole["labels"]) == (problem_text(PIP), [True] * 4)


def test_what_nobody_checked_ends_the_row():
    assert step_row(*text(UNREAD), "stepwise")["labels"] == [True]
    assert step_row(*text(BAD), "steps")["first_bad_step"] == 1


def test_a_step_that_took_too_long_is_not_known_to_be_bad(monkeypatch):
    monkeypatch.setattr("critics.text.english.steps.WORK_LIMIT", 1)
    late = text(WHOLE)
    assert (late[1].verdict, step_row(*late, "steps")["first_bad_step"]) == ("timeout", None)
    assert bad_start(*late[:2]) is None


@pytest.mark.parametrize("answer", ["true", "false"])
@pytest.mark.parametrize("own", [{"dataset": "mine", "context": "Pip is nice."}, {"dataset": "mine"}])
def test_axioms_of_ones_own_are_never_true(own, answer):
    """Attack: a text that states what it wants, about a problem that nobody can hold it against."""
    for completion in (f"{OWN_AXIOM}{answer}", f"{OWN_AXIOM.replace('(feathered pip)', '(p0 c0)')}{answer}"):
        judged = text(completion, Problem("p", question=PIP.question, **({"context": PIP.context} | own)), "guided")
        is_held = judged[1].verdict == "certified" and judged[1].grade == "aligned"
        row = step_row(*judged, "steps")
        assert is_held or row is None or all(step["label"] != "good" for step in row["steps"])


def test_what_no_critic_reads_is_left_out():
    shape = "stepwise"
    folio = Problem("p", "folio", PIP.context, PIP.question, answer="true")
    assert step_row(*text(WHOLE, folio, "cot"), shape) is None
    assert step_row(*text(WHOLE.replace("true", "false"), folio, "cot"), shape) is None
    assert step_row(*text("Who knows? Perhaps.\nAnswer: true"), shape) is None


def exported(shape, tmp_path):
    texts = {"whole": WHOLE, "bad": BAD, "unread": UNREAD, "none": "Perhaps.\nAnswer: true"}
    attempts = [
        {"id": n, "problem": PIP.record(), "format": "english", "completion": said} for n, said in texts.items()
    ]
    given, out = tmp_path / "attempts.jsonl", tmp_path / f"{shape}.jsonl"
    given.write_text("".join(json.dumps(attempt) + "\n" for attempt in attempts), encoding="utf-8")
    done = CliRunner().invoke(app, ["export", str(given), "--to", shape, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return out


def test_rows_load_in_datasets(tmp_path):
    shape, key = "stepwise", "labels"
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset("json", data_files=str(exported(shape, tmp_path)), split="train", cache_dir=tmp_path)
    assert loaded["id"] == ["whole", "bad", "unread"]
    assert loaded.features[key].feature.dtype == "bool"


def test_trls_trainer_of_process_reward_models_takes_the_rows(tiny_model, tmp_path):
    """TRL moved its trainer in and out of `experimental`: run where it has one (docs/hub.md names a version)."""
    prm = pytest.importorskip("trl.experimental.prm", reason="this TRL has no PRMTrainer")
    from datasets import Dataset
    from transformers import AutoModelForTokenClassification

    from rollout.policies.policy import load_tokenizer

    rows = [json.loads(line) for line in exported("stepwise", tmp_path).read_text(encoding="utf-8").splitlines()]
    tokenizer = load_tokenizer(str(tiny_model))
    trainer = prm.PRMTrainer(
        model=AutoModelForTokenClassification.from_pretrained(tiny_model, num_labels=2),
        args=prm.PRMConfig(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=3, use_cpu=True, bf16=False,
            report_to=[], save_strategy="no",
        ),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )  # fmt: skip
    learnt = [[label for label in row["labels"] if label != -100] for row in trainer.train_dataset]
    assert learnt == [[1, 1, 1, 1], [1, 0], [1]]
    assert trainer.train().global_step == 1
