"""Training as a command of its own, in one process and in two, on what other commands made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from safetensors.torch import load_file
from typer.testing import CliRunner

from training.cli import app
from training.configuration.model import ModelConfig
from training.finetuning.examples import ExampleError
from training.finetuning.stage import read_examples

NUM_EXAMPLES = 7
"""No batch of two or four is made up without a rest."""


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture(scope="module")
def config(tiny_model, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    settings = {
        "name": "tiny",
        "model": {"name": str(tiny_model)},
        "problems": {"hops": [1], "extra_kinds": [0, 0]},
        "arms": [{"name": "free", "keep": "unfiltered", "decoding": "free"}],
        "sampling": {"max_new_tokens": 20, "batch_size": 3},
        "training": {"batch_size": 2, "global_batch_size": 4, "learning_rate": 1e-2},
    }
    path.write_text(yaml.safe_dump(settings))
    return path


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    """Reference attempts, judged and filtered: every one is certified."""
    folder = tmp_path_factory.mktemp("data")
    for words in (
        ("problems", "prontoqa", "--num", NUM_EXAMPLES, "--hops", 1, "--out", folder / "p.jsonl"),
        ("demonstrate", folder / "p.jsonl", "--out", folder / "a.jsonl"),
        ("filter", folder / "a.jsonl", "--keep", "strict", "--out", folder / "kept"),
    ):
        done = certistar(*words)
        assert done.exit_code == 0, done.stderr
    assert json.loads((folder / "kept" / "summary.json").read_text())["kept"] == NUM_EXAMPLES
    return folder


@pytest.fixture(scope="module")
def alone(config, dataset, tmp_path_factory) -> Path:
    """The adapter of one process."""
    out = tmp_path_factory.mktemp("alone") / "adapter"
    done = certistar("train", config, "--data", dataset / "kept", "--out", out, "--nproc", 1)
    assert done.exit_code == 0, done.stderr
    return out


def test_two_processes_give_the_adapter_of_one_also_beside_a_users_own_training(config, dataset, alone, tmp_path):
    out = tmp_path / "adapter"
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").touch()
    words = ("train", config, "--data", dataset / "kept", "--out", out, "--nproc", 2)
    command = [sys.executable, "-P", "-m", "training", *map(str, words)]  # -P: as the installed command starts
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["examples"] == NUM_EXAMPLES
    one, two = (load_file(folder / "adapter_model.safetensors") for folder in (alone, out))
    assert max(float((one[name] - two[name]).abs().max()) for name in one) < 2e-5
    measured = certistar("evaluate", config, "--problems", dataset / "p.jsonl", "--adapter", out, "--json")
    assert measured.exit_code == 0, measured.stderr
    assert json.loads(measured.stdout)["n"] == NUM_EXAMPLES


def test_the_same_seed_trains_the_same_adapter(config, dataset, alone, tmp_path):
    done = certistar("train", config, "--data", dataset / "kept", "--out", tmp_path / "again", "--nproc", 1)
    assert done.exit_code == 0, done.stderr
    first, again = ((out / "adapter_model.safetensors").read_bytes() for out in (alone, tmp_path / "again"))
    assert first == again


def test_an_empty_dataset_is_an_error(tiny_model, tmp_path):
    from rollout.policies.policy import load_tokenizer

    (tmp_path / "examples.jsonl").write_text("")
    with pytest.raises(ExampleError, match="no example to train on"):
        read_examples(tmp_path, ModelConfig(name="m"), load_tokenizer(str(tiny_model)), max_tokens=99)


def test_a_missing_dataset_names_the_command_that_makes_one(config, tmp_path):
    done = certistar("train", config, "--data", tmp_path / "gone", "--out", tmp_path / "a", "--nproc", 1)
    assert done.exit_code == 2
    assert "certistar filter" in done.stderr
