"""What already lies at `--out` is handed back if it is what was asked for, and refused if it is anything else."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

import certistar
from training.cli import app
from training.configuration.run import RunConfig
from training.finetuning.job import FineTuning
from training.finetuning.stage import fine_tune
from training.lineage.kept import made_already
from training.records.store import write_json, write_records
from training.rounds.run import claim, provenance

FACTS = "Every cat is warm. Tom is a cat. Every cat is kind."
PROOFS = [
    {
        "context": FACTS,
        "question": f"Is Tom {word}?",
        "rationale": f"Tom is a cat. Every cat is {word}, so Tom is {word}. Answer: yes",
    }
    for word in ("warm", "kind")
]


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def settings(model: Path, **training: object) -> RunConfig:
    arm = {"name": "strict", "keep": "strict", "decoding": "free"}
    asked = {"max_steps": 1, "precision": "float32", **training}
    return RunConfig.model_validate({"name": "t", "model": {"name": str(model)}, "arms": [arm], "training": asked})


@pytest.fixture(scope="module")
def made(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> FineTuning:
    """A fine-tuning whose adapter is in place."""
    folder = tmp_path_factory.mktemp("stale")
    certistar.save(certistar.filter(PROOFS), folder / "kept")
    config = settings(tiny_model)
    job = FineTuning(config.model, config.training, folder / "kept", folder / "adapter", 0, base_digest="b" * 64)
    fine_tune(job)
    return job


@pytest.fixture
def job(made: FineTuning, tmp_path: Path) -> FineTuning:
    """The same in a folder of the test's own."""
    for name in ("kept", "adapter"):
        shutil.copytree(made.out.parent / name, tmp_path / name)
    return replace(made, data=tmp_path / "kept", out=tmp_path / "adapter")


def test_the_very_same_fine_tuning_is_handed_back(job: FineTuning) -> None:
    before = (job.out / "manifest.json").stat().st_mtime_ns
    assert fine_tune(replace(job, nproc=2, progress=True)).weights == fine_tune(job).weights
    assert (job.out / "manifest.json").stat().st_mtime_ns == before


def _of_other_data(job: FineTuning) -> FineTuning:
    path = job.data / "examples.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:1]))
    return job


def _with_other_weights(job: FineTuning) -> FineTuning:
    path = job.out / "adapter_model.safetensors"
    save_file({name: tensor + 1 for name, tensor in load_file(path).items()}, path)
    return job


def _that_trained_nothing(job: FineTuning) -> FineTuning:
    write_json(job.out / "manifest.json", {"trained": False, "reason": "no example was kept"})
    return job


JOBS: dict[str, Callable[[FineTuning], FineTuning]] = {
    "data": _of_other_data,
    "learning rate": lambda j: replace(j, training=j.training.model_copy(update={"learning_rate": 0.5})),
    "rank": lambda j: replace(j, training=j.training.model_copy(update={"lora_rank": 2})),
    "steps": lambda j: replace(j, training=j.training.model_copy(update={"max_steps": 2})),
    "base": lambda j: replace(j, base_digest="c" * 64),
    "seed": lambda j: replace(j, seed=1),
    "start": lambda j: replace(j, start=j.out),
    "prompt": lambda j: replace(j, model=j.model.model_copy(update={"prompt": "chat"})),
    "weights": _with_other_weights,
    "nothing": _that_trained_nothing,
}


@pytest.mark.parametrize("what", JOBS)
def test_an_adapter_of_anything_else_is_not_handed_back(what: str, job: FineTuning) -> None:
    with pytest.raises(ValueError, match=r"name another --out|delete it to train anew"):
        fine_tune(JOBS[what](job))


def test_a_kept_folder_of_other_rows_settings_or_examples_is_not_handed_back(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    write_records(rows, PROOFS)
    words = ("filter", rows, "--out", tmp_path / "kept")
    assert run(*words).exit_code == run(*words).exit_code == 0
    assert run(*words, "--keep", "naive").exit_code == run(*words, "--text", "proved").exit_code == 2
    examples = tmp_path / "kept" / "examples.jsonl"
    before = examples.read_text()
    examples.write_text(before.replace("warm", "cold"))
    assert run(*words).exit_code == 2
    examples.write_text(before)
    write_records(rows, PROOFS[:1])
    assert run(*words).exit_code == 2
    for taken in (
        lambda: certistar.save(certistar.filter(PROOFS), tmp_path / "kept"),
        lambda: made_already(tmp_path, ""),
    ):
        with pytest.raises(ValueError, match="is there already"):
            taken()
    assert run("push", tmp_path / "kept", f"file://{tmp_path}/pushed").exit_code == 0
    assert run("pull", tmp_path / "pushed", "--out", tmp_path / "kept").exit_code == 2


@pytest.mark.parametrize("what", ["configuration", "model", "problems"])
def test_a_run_is_not_gone_on_with_under_other_inputs(what: str, tiny_model: Path, tmp_path: Path) -> None:
    """Attack, or a slip: the base model or the problems exchanged under their names between two calls."""
    problems = tmp_path / "problems.jsonl"
    problems.write_text("{}\n")
    config = settings(tiny_model)
    config = config.model_copy(update={"problems": config.problems.model_copy(update={"file": str(problems)})})
    inputs = provenance(config)["inputs"]
    claim(config, tmp_path / "run", inputs)
    write_json(tmp_path / "run/lines.json", {"lines": [], "num_rounds": 1, "provenance": {"inputs": inputs}})
    claim(config, tmp_path / "run", inputs)
    if what == "configuration":
        config = config.model_copy(update={"seeds": [5]})
    elif what == "model":
        inputs = {**inputs, "model": "c" * 64}
    else:
        problems.write_text("{} \n")
        inputs = provenance(config)["inputs"]
    with pytest.raises(ValueError, match=f"begun with another {what}"):
        claim(config, tmp_path / "run", inputs)
