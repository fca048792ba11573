"""SmolLM2-135M-Instruct, where `python -m tools.real_model` has put it: it reads, writes and learns."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge_record
from rollout.policies.policy import HuggingFacePolicy, load_tokenizer
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample
from tools import real_model
from training.cli import app
from training.lessons.references import completions

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / real_model.OUT
STYLE = PromptStyle("chat", 0, "cot")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (FOLDER / "provenance.json").exists(), reason="`make real` puts the model there"),
]


def test_the_folder_is_the_file_that_was_checked_and_says_how_it_differs():
    told = json.loads((FOLDER / "provenance.json").read_text())
    assert told["gguf_sha256"] == real_model.SHA256
    assert "not the Hub's" in told["differs"]
    assert real_model.made(FOLDER) == FOLDER
    text = "Zoë said: [[axiom:(cat 'x)]] é 12 — ok?"
    tokenizer = load_tokenizer(str(FOLDER))
    assert tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) == text


def test_a_text_of_its_own_is_certified():
    assert "is certified: written by the model" in real_model.first_certified(FOLDER)


def test_a_training_step_on_certified_proofs_and_a_few_tokens(tmp_path):
    problems = list(generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0), split="train"), 8, seed=0))
    policy = HuggingFacePolicy(str(FOLDER), prompt_style=STYLE)
    proofs, attempts = completions(problems, "english", policy.prompt), tmp_path / "attempts.jsonl"
    assert {judge_record(proof.record())["verdict"] for proof in proofs} == {"certified"}
    attempts.write_text("".join(json.dumps(proof.record()) + "\n" for proof in proofs))
    section = f"{{name: {FOLDER}, prompt: chat, examples: 0}}"
    config = tmp_path / "run.yaml"
    config.write_text(f"name: c\nmodel: {section}\ntraining: {{max_steps: 1, global_batch_size: 2}}\n")
    for words in (
        ("filter", attempts, "--out", tmp_path / "kept"),
        ("train", config, "--data", tmp_path / "kept", "--out", tmp_path / "adapter"),
    ):
        done = CliRunner().invoke(app, list(map(str, words)))
        assert done.exit_code == 0, done.output
    trained = HuggingFacePolicy(str(FOLDER), tmp_path / "adapter", prompt_style=STYLE)
    short = Sampling("free", 0.0, max_new_tokens=8)
    written = [next(sample(each, problems[:1], short, seed=0, format_="cot")) for each in (policy, trained)]
    assert all(trace.num_tokens for trace in written)
    assert written[0].policy != written[1].policy
