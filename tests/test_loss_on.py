"""`training.loss_on: covered`: the loss passes over what the critic could not read."""

import json
from pathlib import Path

import pytest

from critics.judge import judge_record
from critics.problem import Problem
from rollout.policies.policy import load_tokenizer
from rollout.records.traces import read_trace
from training.configuration.model import ModelConfig
from training.finetuning.examples import IGNORED, Collator, Example, packed, read_examples
from training.lessons.teaching import ExampleError, completion_example

PIP = Problem("pip", "prontoqa", "Pip is a wren. Every wren is a bird.", "True or false: Pip is a bird.", answer="true")
ODD = "Pip, I dare say, would fly if asked."
TEXT = (
    "Formalized context: 1- [[axiom:(wren pip)]] 2- [[axiom:(wren 'x) -> (bird 'x)]]\nFormalized goal: "
    f"[[goal:(bird pip)]]\nReasoning: {ODD} [[infer:(bird pip)]]\nAnswer: true"
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    attempt = {"id": "a", "problem": PIP.record(), "format": "guided", "completion": TEXT}
    record = completion_example(read_trace({**attempt, "judgement": judge_record(attempt)}))
    assert [TEXT[start:end] for start, end in record["unread"]] == [ODD]
    (tmp_path / "examples.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    return tmp_path


def read(data: Path, tiny_model: Path, **settings) -> list[Example]:
    model, tokenizer = ModelConfig(name=str(tiny_model)), load_tokenizer(str(tiny_model))
    return read_examples(data, model, tokenizer, max_tokens=2048, **settings)  # type: ignore[return-value]


def learnt(labels, tokenizer) -> str:
    return tokenizer.decode([label for label in labels.tolist() if label != IGNORED])


def test_labels_leave_out_what_is_not_read(data: Path, tiny_model: Path) -> None:
    tokenizer = load_tokenizer(str(tiny_model))
    (whole,), (covered,) = read(data, tiny_model), read(data, tiny_model, loss_on="covered")
    assert whole.num_learnt > covered.num_learnt
    pad = Collator(tokenizer.pad_token_id or 0)
    before, after = (pad([(example,)])["labels"][0] for example in (whole, covered))
    assert ODD in learnt(before, tokenizer)
    said = learnt(after, tokenizer)
    assert said.replace(tokenizer.eos_token, "").split() == TEXT.replace(ODD, "").split()
    assert after.tolist()[-1] == tokenizer.eos_token_id
    assert covered.num_learnt == sum(label != IGNORED for label in after.tolist())


def test_packed_rows_leave_out_the_same(data: Path, tiny_model: Path) -> None:
    tokenizer = load_tokenizer(str(tiny_model))
    (whole,), (covered,) = read(data, tiny_model), read(data, tiny_model, loss_on="covered")
    (row,) = packed([whole, covered], room=4096)
    labels = Collator(tokenizer.pad_token_id or 0, packed=True)([row])["labels"][0]
    assert learnt(labels, tokenizer).count(ODD) == 1


def test_a_text_of_which_nothing_is_read_teaches_nothing(data: Path, tiny_model: Path) -> None:
    record = {"id": "a", "prompt": "P\n", "completion": ODD, "completion_ids": [], "unread": [[0, len(ODD)]]}
    (data / "examples.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert len(read(data, tiny_model)) == 1
    with pytest.raises(ExampleError, match="loss_on"):
        read(data, tiny_model, loss_on="covered")
