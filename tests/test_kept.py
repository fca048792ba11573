"""What a process keeps for its next policy, and what policies that share it do not see of one another."""

import os

import pytest
import torch
from typer.testing import CliRunner

import rollout.policies.policy
from rollout.policies import models
from rollout.policies.models import PolicyError, merged_name
from rollout.policies.policy import HuggingFacePolicy, load_model, model_digest
from rollout.prompts.style import PromptStyle
from rollout.records import digests
from rollout.records.sampling import Sampling
from training.cli import app
from training.configuration.run import load_run

GREEDY = Sampling("free", 0.0, max_new_tokens=12)
ASKED = (["Tom is a cat.", "Every cat"], None, [0, 1], GREEDY)


@pytest.fixture
def keeping(monkeypatch):
    """Have this process keep what it loads, until the end of the test."""
    monkeypatch.setattr(models, "_kept", models._Kept(keeps=True))


@pytest.fixture
def loads(monkeypatch):
    """The names of the models that are read."""
    names = []

    def counted(name, **options):
        names.append(name)
        return load_model(name, **options)

    monkeypatch.setattr(rollout.policies.policy, "load_model", counted)
    return names


@pytest.fixture
def adapters(tiny_model, tmp_path):
    """Two LoRA adapters of random weights, and a model trained as a whole."""
    import peft

    for seed in (1, 2):
        torch.manual_seed(seed)
        config = peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
        peft.get_peft_model(load_model(str(tiny_model)), config).save_pretrained(str(tmp_path / f"{seed}"))
    load_model(str(tiny_model)).save_pretrained(str(tmp_path / "whole"))
    return [tmp_path / "1", tmp_path / "2", tmp_path / "whole"]


def asked(model, adapter=None):
    return HuggingFacePolicy(str(model), adapter, prompt_style=PromptStyle()).complete(*ASKED)


def test_one_model_is_read_for_all_adapters_and_none_sees_another(tiny_model, adapters, monkeypatch, loads):
    order = [None, adapters[0], adapters[1], None, adapters[0]]
    monkeypatch.setattr(models, "_kept", models._Kept())
    alone = [asked(tiny_model, adapter) for adapter in order]
    assert len(loads) == 5
    monkeypatch.setattr(models, "_kept", models._Kept(keeps=True))
    policies = [HuggingFacePolicy(str(tiny_model), each, prompt_style=PromptStyle()) for each in order]
    assert [policy.complete(*ASKED) for policy in policies] == alone
    assert len(loads) == 6
    assert alone[0] != alone[1] != alone[2]
    base, adapted = (dict(policies[n].model.named_parameters(remove_duplicate=False)) for n in (0, 1))
    same = [name for name in base if base[name].data_ptr() == adapted[name].data_ptr()]
    assert same, "what an adapter leaves alone is there once"
    assert len(same) < len(base)


def test_a_model_with_its_adapter_is_what_merge_writes_and_writes_what_both_write(tiny_model, adapters, tmp_path):
    config = tmp_path / "run.yaml"
    config.write_text(f"name: c\nmodel: {{name: {tiny_model}, adapter: {adapters[0]}}}\n")
    pinned, merged = load_run(config).model.pinned, tmp_path / "merged"
    done = CliRunner().invoke(app, ["merge", str(config), "--out", str(merged)])
    assert done.exit_code == 0, done.output
    assert asked(pinned) == asked(merged) == asked(tiny_model, adapters[0]) != asked(tiny_model)
    others = (str(tiny_model), merged_name(str(tiny_model), str(adapters[1])))
    assert len({model_digest(name) for name in (pinned, *others)}) == 3
    for name, said in (
        (str(adapters[0]), "it holds an adapter: name its base there"),
        (merged_name(str(tiny_model), str(tiny_model)), "holds no adapter_config.json"),
        (str(tmp_path / "model.gguf"), "there is no such file"),
    ):
        with pytest.raises(PolicyError, match=said):
            model_digest(name)


@pytest.mark.usefixtures("keeping")
def test_a_model_that_has_no_room_is_read_again_and_whole_weights_take_its_place(tiny_model, adapters, loads):
    first = asked(tiny_model)
    models.rest(room=1e9)
    assert asked(tiny_model) == first
    assert len(loads) == 1
    models.rest(room=10)
    assert asked(tiny_model) == first
    assert len(loads) == 2
    asked(tiny_model, adapters[2])
    assert models.MODEL not in models._kept.things
    assert loads[2:] == [str(adapters[2])]


def test_a_models_files_are_read_once_until_they_change(tiny_model, tmp_path, monkeypatch):
    folder, read = tmp_path / "model", []
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (folder / name).write_bytes((tiny_model / name).read_bytes())
        os.utime(folder / name, (1e9, 1e9))
    whole = digests.file_digest
    monkeypatch.setattr(digests, "file_digest", lambda path: (read.append(path.name), whole(path))[1])
    monkeypatch.setattr(digests, "_hashed", {})
    first = model_digest(str(folder))
    assert model_digest(str(folder)) == first == model_digest(str(tiny_model))
    assert sorted(read)[:3] == ["config.json", "config.json", "model.safetensors"]
    num_read = len(read)
    told = digests.known_digests()
    monkeypatch.setattr(digests, "_hashed", {})
    digests.learn_digests(told)
    assert model_digest(str(folder)) == first
    assert len(read) == num_read
    (folder / "config.json").write_bytes((tiny_model / "config.json").read_bytes() + b" ")
    assert model_digest(str(folder)) != first
    model_digest(str(folder))
    assert read[num_read:] == ["config.json"] * 2, "what was changed just now may be changed again"
