"""A user's own prompt: its examples in the place of ours, its digest in the traces, its problems in no evaluation."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from critics.errors import InputError
from critics.problem import Problem
from rollout.prompts.prompt import messages, text
from rollout.prompts.style import PromptStyle, read_prompt_file
from rollout.records.digests import PolicyDigests, read_digests
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.rounds.problems import held_out_problems, unshown
from training.workers.strategies import build_policy

TOM = Problem("p", "mine", "Tom is a {question}. Every cat is warm.", "Tom is warm.", ("A) True", "B) False"), "A")
OWN = {
    "licence": "MIT, of nobody",
    "cot": {
        "system": "Answer.",
        "question": "Facts: {context}\nIs it so? {question}{options}\n",
        "examples": [
            {"asked": "Facts: 1- Rex is a dog. 2- Dogs bark.\nIs it so? Rex barks.", "solved": "Yes.\nAnswer: A"},
            {"asked": "Facts: Ann sings.\nIs it so? Ann is mute.", "solved": "No.\nAnswer: B"},
        ],
    },
}


def written(folder: Path, record: Any) -> Path:
    path = folder / f"prompt-{hashlib.sha256(str(record).encode()).hexdigest()[:8]}.yaml"
    path.write_text(yaml.safe_dump(record), encoding="utf-8")
    return path


def model(path: Path, **keys: Any) -> ModelConfig:
    return ModelConfig(name="m", prompt="chat", prompt_file=str(path), **keys)


def test_the_users_prompt_takes_the_place_of_ours(tmp_path: Path) -> None:
    style = model(written(tmp_path, OWN)).style("cot")
    system, *turns, asked = messages(TOM, style)
    assert (system["content"], len(turns)) == ("Answer.", 4)
    # The braces in the problem's own text are no place of the template.
    assert asked["content"] == (
        "Facts: Tom is a {question}. Every cat is warm.\nIs it so? Tom is warm.\nA) True\nB) False\n"
    )
    assert len(messages(TOM, replace(style, examples=1))) == 4
    assert messages(TOM, style, hint=True)[-1]["content"].endswith("Hint: the answer is A.\n")
    assert "Rex barks" in text(TOM, replace(style, kind="few-shot"))


def test_a_format_that_the_file_has_not_keeps_our_prompt(tmp_path: Path) -> None:
    configured = model(written(tmp_path, OWN))
    for format_ in ("guided", "answer", "fol", "asp"):
        assert configured.style(format_).own is None
    assert messages(TOM, configured.style("guided")) == messages(TOM, PromptStyle("chat"))


def test_its_digest_is_in_the_traces(tmp_path: Path, tiny_model: Path) -> None:
    path = written(tmp_path, OWN)
    configured = ModelConfig(name=str(tiny_model), prompt="few-shot", prompt_file=str(path))
    policy = build_policy(configured, None, configured.style("cot"))
    assert policy.digests.prompt == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_digests(policy.digests.record()) == policy.digests
    assert "prompt" not in PolicyDigests("b").record()


def test_problems_that_it_shows_are_in_no_evaluation(tmp_path: Path) -> None:
    rex = Problem("r", "mine", "Rex is a dog.  Dogs bark.", "Rex barks.", None, "true")
    config = RunConfig.model_validate({"name": "t", "model": dict(model(written(tmp_path, OWN)))})
    assert unshown(config, [TOM, rex]) == [TOM]
    drawn = held_out_problems(config, 0)
    shown = {"asked": f"{drawn[0].context}\n{drawn[0].question}", "solved": "Answer: true"}
    path = written(tmp_path, {"licence": "mine", "cot": {"examples": [shown]}})
    showing = RunConfig.model_validate({"name": "t", "model": dict(model(path))})
    assert held_out_problems(showing, 0) == drawn[1:]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"cot": OWN["cot"]}, "licence"),
        ({"licence": "MIT"}, "at least one of guided"),
        ({"licence": "MIT", "cot": {"question": "Q: {question}"}}, "context"),
        ({"licence": "MIT", "cot": {"examples": [{"asked": "Q"}]}}, "cot.examples.0.solved"),
        ({"licence": "MIT", "cot": {}, "colour": "red"}, "colour"),
        (["MIT"], "needs `licence`"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_to_be(tmp_path: Path, record: Any, said: str) -> None:
    path = written(tmp_path, record)
    with pytest.raises(InputError) as caught:
        read_prompt_file(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_bare_prompt_has_no_place_for_it() -> None:
    with pytest.raises(ValueError, match="bare"):
        ModelConfig(name="m", prompt_file="p.yaml")
    with pytest.raises(InputError, match=r"prompt_file: nowhere\.yaml"):
        model(Path("nowhere.yaml")).style("cot")
