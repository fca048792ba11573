"""Tiny random models of real architectures: guided and free, with a LoRA adapter, by their own templates."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import transformers
from typer.testing import CliRunner

from critics.problem import Problem
from rollout.decoding.automaton import accepts
from rollout.decoding.rows import row_of
from rollout.guides.logic import LogicGuide
from rollout.policies.models import PolicyError, config_of, empty_model, require_positions
from rollout.policies.policy import HuggingFacePolicy, load_model, load_tokenizer, model_digest, templated
from rollout.prompts.prompt import messages
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample
from tests.rehearsal.inputs import generated, put
from tests.rehearsal.outputs import missing
from tools.reproductions import ROOT, catalogue
from tools.zoo.__main__ import read_rows, shown
from tools.zoo.models import FAMILIES, SHAPES, build
from tools.zoo.trials import TRIALS, Subject, outcome
from training.cli import app
from training.configuration.model import ModelConfig
from training.configuration.run import load_run
from training.configuration.section import ConfigError
from training.finetuning.architecture import KEEPS_APART, require_suited, trainable_model
from training.finetuning.examples import read_examples
from training.finetuning.stage import train_here
from training.finetuning.trainer import Monitor

QUICK = ("qwen3", "gemma2")
RESULTS = ROOT / "docs/results/architectures"
SLOW = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in SHAPES]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Build each model once: `model(name)` is its folder."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = build(name, tmp_path_factory.mktemp(name))
        return made[name]

    return folder


def style_of(name: str, examples: int = 0) -> PromptStyle:
    return PromptStyle("chat" if SHAPES[name].template else "few-shot", examples)


def assert_allowed(problem: Problem, text: str) -> None:
    """Every closed block was allowed where it stands."""
    guide, at = LogicGuide.for_problem(problem), 0
    while (start := text.find("[[", at)) >= 0 and (end := text.find("]]", start)) >= 0:
        at = end + 2
        assert accepts(guide.allowed(), text[start + 2 : at].encode()), text[start:at]
        guide.close(text[start + 2 : end].encode())


@pytest.mark.parametrize("name", SLOW)
def test_a_model_writes_guided_and_free_and_its_turn_ends(name, model):
    policy = HuggingFacePolicy(str(model(name)), prompt_style=style_of(name))
    assert policy.tokenizer.eos_token == SHAPES[name].ends
    (problem,) = generated("prontoqa", 1)
    for decoding in ("guided", "free"):
        (trace,) = sample(policy, [problem], Sampling(decoding, 1.0, 1, 24), seed=1, format_="guided")
        assert 0 < len(trace.completion_ids) <= 24
        assert policy.tokenizer.decode(trace.completion_ids).startswith(trace.completion)
        if decoding == "guided":
            assert_allowed(problem, trace.completion)


@pytest.mark.parametrize("name", ["gemma2", "mistral", "qwen2"])
def test_instructions_reach_every_model(name, model):
    tokenizer, (problem,) = load_tokenizer(str(model(name))), generated("prontoqa", 1)
    turns = messages(problem, PromptStyle("chat", 2))
    shown = templated(turns, tokenizer, PromptStyle("chat", 2))
    assert shown.count(turns[0]["content"]) == 1
    assert [turn["content"].strip() in shown for turn in turns] == [True] * len(turns)


def test_only_a_model_that_thinks_is_told_not_to(model):
    (problem,) = generated("prontoqa", 1)
    style = PromptStyle("chat", 0, thinking=False)
    shown = {
        name: templated(messages(problem, style), load_tokenizer(str(model(name))), style)
        for name in ("qwen2", "qwen3")
    }
    assert shown["qwen3"].endswith("</think>\n\n")
    assert "think>" not in shown["qwen2"]


def certistar(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_an_adapter_is_trained_and_used(name, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "p.jsonl", "prontoqa")
    config = ROOT / "configs/star_prontoqa_qwen8b.yaml"
    keys = {
        "model.name": model(name), "model.prompt": style_of(name).kind, "model.dtype": "float32", "model.examples": 0,
        "training.max_steps": 1, "training.optimizer": "adamw_torch", "training.epochs": 1,
        "sampling.max_new_tokens": 16,
    }  # fmt: skip
    told = [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
    certistar("demonstrate", "p.jsonl", "--config", config, "--out", "gold.jsonl", *told)
    certistar("filter", "gold.jsonl", "--keep", "strict", "--out", "kept")
    certistar("train", config, "--data", "kept", "--out", "adapter", *told)
    words = ["--problems", "p.jsonl", "--adapter", "adapter", "--arm", "strict", "--arm", "naive", "--json"]
    assert set(json.loads(certistar("evaluate", config, *words, *told))) == {"strict", "naive"}


QUICK_CELLS = (
    ("gemma2", "guided"),
    ("qwen3-vl", "padded"),
    ("falcon-h1", "packed"),
    ("qwen3-experts", "dora"),
    ("gpt2", "free"),
)
SLOW_CELLS = [pytest.param(name, trial, marks=pytest.mark.slow) for name in SHAPES for trial in TRIALS]


@pytest.mark.parametrize(("name", "trial"), [*QUICK_CELLS, *SLOW_CELLS])
def test_a_cell_of_the_committed_table_is_what_comes_of_it(name, trial, model, tmp_path):
    assert outcome(TRIALS[trial], Subject(name, model(name), tmp_path)) == read_rows(RESULTS)[name][trial]


def test_every_model_works_or_is_refused_by_name_and_the_page_shows_it():
    rows = read_rows(RESULTS)
    assert rows.keys() == SHAPES.keys()
    assert {cell.partition(": ")[0] for row in rows.values() for cell in row.values()} == {"works", "refused"}
    page = (ROOT / "docs/architectures.md").read_text(encoding="utf-8")
    assert shown(page, rows) == page


def test_the_types_that_are_packed_are_those_that_were_seen_to_keep_examples_apart(model):
    rows = read_rows(RESULTS)
    kinds = {name: config_of(str(model(name))).get_text_config().model_type for name in ("gemma2", "opt", "falcon-h1")}
    assert {name: rows[name]["packed"] == "works" for name in kinds} == {
        name: kind in KEEPS_APART for name, kind in kinds.items()
    }


@pytest.mark.parametrize("name", ["opt", "falcon-h1", "mamba"])
def test_a_leak_is_found_in_a_model_that_the_list_trusts(name, model, tmp_path, monkeypatch):
    """A version of transformers, or a kernel, that lets packed examples see each other is caught at the first step."""
    kind = config_of(str(model(name))).get_text_config().model_type
    monkeypatch.setattr("training.finetuning.architecture.KEEPS_APART", KEEPS_APART | {kind})
    subject = Subject(name, model(name), tmp_path)
    with pytest.raises(ConfigError, match=rf"packed examples of a {kind} may see each other .* write `grouped`"):
        train_here(subject.job("adapter", layout="packed"))
    assert not (tmp_path / "adapter").exists()


def test_a_model_whose_costs_are_not_known_is_logged_without_them(model, tmp_path):
    job = Subject("mamba", model("mamba"), tmp_path).job("x")
    monitor = Monitor(job, job.log, empty_model(job.model.name))
    monitor.count({"input_ids": torch.ones(1, 8)})
    monitor.on_log(None, SimpleNamespace(global_step=10), None, logs={"loss": 1.0})
    assert json.loads(job.log.read_text(encoding="utf-8"))["mfu"] is None


def test_every_end_of_text_of_a_model_ends_one_and_the_first_is_taught(model, tmp_path):
    subject = Subject("llama3", model("llama3"), tmp_path)
    policy = subject.policy()
    names = policy.tokenizer.convert_ids_to_tokens(list(policy.end_ids))
    assert names == ["<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"]
    written = policy.spelled(b"Tom is a cat.")
    for end in policy.end_ids:
        made = policy.completion([*written, end], "")
        assert (made.text, made.finished) == ("Tom is a cat.", True)
        record = {"id": "a", "prompt": "Who?", "completion": made.text, "completion_ids": list(made.ids)}
        (tmp_path / "examples.jsonl").write_text(json.dumps(record) + "\n")
        (example,) = read_examples(tmp_path, subject.job("x").model, policy.tokenizer, max_tokens=99)
        assert example.ids[example.learnt.index(True) :] == (*written, policy.eos_id)
    allowed = policy.masks().allowed(row_of(LogicGuide.for_problem(subject.problems[0])))
    assert set(policy.end_ids) <= set(allowed.tolist())
    assert policy.tokenizer.bos_token_id not in allowed


def test_an_output_that_no_token_stands_behind_is_never_written(model):
    """Real models have more outputs than tokens, and random ones like them as well as any other."""
    import torch

    policy = HuggingFacePolicy(str(model("qwen2")), prompt_style=PromptStyle("bare"))
    num = len(policy.tokenizer)
    assert policy.model.config.vocab_size > num
    policy.model.get_output_embeddings().weight = torch.nn.Parameter(
        policy.model.get_output_embeddings().weight.clone()
    )
    policy.model.get_output_embeddings().weight.data[num:] *= 50
    (problem,) = generated("prontoqa", 1)
    for temperature in (0.0, 1.0):
        (trace,) = sample(policy, [problem], Sampling("free", temperature, 1, 24), seed=1, format_="guided")
        assert max(trace.completion_ids) < num


def test_what_sees_images_is_neither_adapted_nor_trained(model, tmp_path):
    subject = Subject("gemma3-images", model("gemma3-images"), tmp_path)
    names = {"lora": [], "full": []}
    for method, found in names.items():
        job = subject.job(method, method=method)
        trained = trainable_model(job, require_suited(job.model, job.training)).named_parameters()
        found += [name for name, weight in trained if weight.requires_grad]
    assert all("language_model" in name for name in names["lora"])
    assert not any("vision" in name or "projector" in name for name in names["full"])
    assert any("embed_tokens" in name for name in names["full"])


def test_a_revision_is_part_of_a_models_name_and_a_folder_has_none(model, tmp_path, monkeypatch):
    asked = []

    def from_pretrained(name, **options):
        asked.append((name, options))
        raise OSError("We couldn't connect to the hub")

    for loader in (transformers.AutoConfig, transformers.AutoTokenizer):
        monkeypatch.setattr(loader, "from_pretrained", from_pretrained)
    pinned = ModelConfig(name="someone/model", revision="v1").pinned
    for load in (load_tokenizer, load_model, model_digest):
        with pytest.raises(PolicyError, match=r"HF_HUB_OFFLINE is set.*`hf download someone/model --revision v1`"):
            load(pinned)
    assert asked == [("someone/model", {"revision": "v1"})] * 3
    with pytest.raises(PolicyError, match=r"model\.revision: .* is a folder"):
        load_tokenizer(f"{model('gpt2')}@v1")


def test_a_digest_is_of_the_commit_that_a_revision_is(monkeypatch):
    commits = {"v1": "a" * 40, "v2": "b" * 40, None: "b" * 40}
    monkeypatch.setattr(
        "rollout.policies.models.config_of", lambda name: Found(commits[name.partition("@")[2] or None])
    )
    one, other, newest = (model_digest(f"someone/model{at}") for at in ("@v1", "@v2", ""))
    assert one != other
    assert other == newest


@dataclass
class Found:
    _commit_hash: str


def test_a_model_that_writes_no_text_is_refused_by_name(tmp_path):
    transformers.T5Config(vocab_size=64).save_pretrained(tmp_path)
    with pytest.raises(PolicyError, match="a t5 does not write from left to right"):
        load_model(str(tmp_path))


def test_a_text_that_needs_more_positions_than_were_learnt_is_refused(model, tmp_path):
    subject = Subject("gpt2", model("gpt2"), tmp_path)
    (problem,) = generated("prontoqa", 1)
    with pytest.raises(PolicyError, match=r"has learnt 2048 positions, and a prompt with its reply takes 2\d{3}"):
        list(sample(subject.policy(), [problem], Sampling("free", 1.0, 1, 2048), seed=1, format_="guided"))
    require_positions(HuggingFacePolicy(str(model("qwen3")), prompt_style=PromptStyle("bare")).model, 10**6, "a text")


def test_a_run_that_could_not_train_ends_before_it_samples(model, tmp_path):
    config = ROOT / "configs/star_prontoqa_qwen8b.yaml"
    told = ["--set", f"model.name={model('qwen3-experts')}", "--set", "training.method=dora"]
    for more in ([], ["--dry-run"]):
        result = CliRunner().invoke(app, ["run", str(config), "--out", str(tmp_path / "run"), *told, *more])
        assert result.exit_code == 2
        assert "peft puts no dora adapter on a qwen3_moe" in result.output.replace("\n", " ")
    assert not (tmp_path / "run").exists()


def test_attention_that_a_model_lacks_is_refused_before_its_weights_are_read(model, tmp_path):
    subject = Subject("gemma2", model("gemma2"), tmp_path)
    with pytest.raises(ConfigError, match=r"training\.attention: .* has no sdpa; write auto"):
        require_suited(subject.job("x").model, subject.job("x", attention="sdpa").training)


def test_an_adapter_that_may_not_drop_anything_out_is_refused_with_that_remedy(model, tmp_path):
    subject = Subject("qwen3-experts", model("qwen3-experts"), tmp_path)
    with pytest.raises(ConfigError, match=r"no lora adapter on a qwen3_moe .*; set training\.lora_dropout=0"):
        require_suited(subject.job("x").model, subject.job("x", lora_dropout=0.1).training)


HEADLINES = [item for item in catalogue().items if item.command and shlex.split(item.command)[1] == "evaluate"]


@pytest.mark.slow
@pytest.mark.parametrize("item", HEADLINES, ids=lambda item: f"{item.paper}, {item.item}")
def test_a_headline_runs_in_process_on_its_architecture(item, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kind in item.inputs.items():
        put(tmp_path / name, kind)
    words = [str(ROOT / word) if word.startswith("configs/") else word for word in shlex.split(item.command)[1:]]
    folder = model(FAMILIES[load_run(ROOT / item.config).model.name])
    small = {
        "model.name": folder, "model.dtype": "float32", "sampling.max_new_tokens": 8, "programs.samples": 2,
        "programs.max_rounds": 1, "actor_critic.max_retries": 0,
    }  # fmt: skip
    told = [word for key, value in small.items() for word in ("--set", f"{key}={value}")]
    certistar(*words, *shlex.split(item.toy), *told)
    assert [gap for output in item.outputs for gap in missing(output, tmp_path, "")] == []
