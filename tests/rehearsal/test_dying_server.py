"""A server that dies after some requests: the same command, run again, asks for none of them twice and loses none."""

import json
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.rehearsal.inputs import put
from tools.reproductions import ROOT
from training.cli import app


def run(words, told, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, in_folder(list(map(str, words)), folder, told))


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.replies"))


def in_folder(words, folder: Path, told: list[str]) -> list[str]:
    """Return the command of a folder: `CONFIG` is one that names the server, for commands without --set."""
    keys = dict(word.removeprefix("model.server.").split("=", 1) for word in told if "=" in word)
    (folder / "served.yaml").write_text(
        f"name: served\nmodel: {{name: stub, prompt: chat, server: {json.dumps(keys)}}}\n"
    )
    return ["served.yaml" if word == "CONFIG" else word for word in words] + ([] if "CONFIG" in words else told)


def assert_nothing_is_lost(words, problems, serve, folder, monkeypatch, *, after: int, **options):
    """Run a command on a server that dies, then on another one, and compare with one that was never interrupted."""
    served = partial(serve, problems, **options)
    dying, told = served(dies_after=after)
    impatient = ["--set", "model.server.parallel=2", "--set", "model.server.retries=0"]
    first = run(words, [*told, *impatient], folder, monkeypatch)
    assert first.exit_code == 1, first.output
    assert "goes on from there" in first.output
    assert left_over(folder) != []
    whole, told = served()
    second = run(words, told, folder, monkeypatch)
    assert second.exit_code == 0, second.output
    assert left_over(folder) == []
    calm, told = served()
    (folder / "calm").mkdir()
    undisturbed = run(words, told, folder / "calm", monkeypatch)
    assert undisturbed.exit_code == 0, undisturbed.output
    assert len(dying.asked) == after
    assert Counter(dying.requests()) + Counter(whole.requests()) == Counter(calm.requests())
    return second, undisturbed


@pytest.mark.parametrize("command", ["rollout", pytest.param("evaluate", marks=pytest.mark.slow)])
def test_attempts_in_many_steps_go_on_from_the_last_reply(command, tmp_path, serve, monkeypatch):
    problems = put(tmp_path / "lsat.jsonl", "ar-lsat")
    words = [command, ROOT / "configs/prototype_then_refine.yaml", "--problems", tmp_path / "lsat.jsonl"]
    words += ["--set", "programs.samples=3", "--set", "programs.prototypers=[majority, random]"]
    words += ["--out", "traces.jsonl"] if command == "rollout" else ["--arm", "logic_lm_feedback"]
    found = assert_nothing_is_lost(words, problems, serve, tmp_path, monkeypatch, after=3, moods=("mistaken", "plain"))
    if command == "rollout":
        assert (tmp_path / "traces.jsonl").read_bytes() == (tmp_path / "calm/traces.jsonl").read_bytes()
    else:
        assert found[0].output == found[1].output


@pytest.mark.slow
def test_a_benchmark_goes_on(tmp_path, serve, monkeypatch):
    words = ["evaluate", ROOT / "configs/autoeval_llama8b.yaml", "--benchmark", "autoeval:PL:12", "--num", "5"]
    words += ["--verifier", "--out", "scores"]
    assert_nothing_is_lost(words, [], serve, tmp_path, monkeypatch, after=7)
    for name in ("traces.jsonl", "scores.json"):
        assert (tmp_path / "scores" / name).read_bytes() == (tmp_path / "calm/scores" / name).read_bytes()


@pytest.mark.slow
def test_ratings_by_echo_are_kept_as_well(tmp_path, serve, monkeypatch):
    problems = put(tmp_path / "lsat.jsonl", "ar-lsat")
    words = ["evaluate", ROOT / "configs/prototype_then_refine.yaml", "--problems", tmp_path / "lsat.jsonl"]
    words += ["--arm", "proref", "--set", "programs.samples=2", "--set", "model.prompt=few-shot"]
    mistaken = {"kind": "completions", "moods": ("mistaken", "declined")}
    assert_nothing_is_lost(words, problems, serve, tmp_path, monkeypatch, after=6, **mistaken)


@pytest.mark.slow
def test_what_a_model_formalises_goes_on(tmp_path, serve, monkeypatch):
    rows = [
        {"q": f"Tom is a cat number {n}.", "why": "Every cat is warm. So Tom is warm.", "a": "True"} for n in range(5)
    ]
    table = tmp_path / "own.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["filter", table, "--columns", "question=q,rationale=why,answer=a", "--as", "english", "--keep", "strict"]
    words += ["--formalise", "CONFIG", "--out", "kept"]
    assert_nothing_is_lost(words, [], serve, tmp_path, monkeypatch, after=2)


@pytest.mark.slow
def test_several_problems_are_answered_once(tmp_path, serve, monkeypatch):
    problems = put(tmp_path / "p.jsonl", "prontoqa, proofwriter")
    words = ["answer", ROOT / "configs/evaluate_prontoqa.yaml", "--problems", tmp_path / "p.jsonl", "-k", "2"]
    first, second = assert_nothing_is_lost(words, problems, serve, tmp_path, monkeypatch, after=3)
    assert first.stdout == second.stdout


@pytest.mark.slow
def test_several_models_side_by_side_go_on(tmp_path, serve, monkeypatch):
    problems = put(tmp_path / "prontoqa.jsonl", "prontoqa")
    models = [word for name in ("qwen2.5-7b", "qwen3-8b") for word in ("--model", ROOT / f"configs/models/{name}.yaml")]
    words = ["evaluate", ROOT / "configs/evaluate_prontoqa.yaml", "--problems", tmp_path / "prontoqa.jsonl", *models]
    words += ["--arm", "unguided", "--out", "board"]
    assert_nothing_is_lost(words, problems, serve, tmp_path, monkeypatch, after=3)
    for name in ("table.md", "figure.svg"):
        assert (tmp_path / "board" / name).read_bytes() == (tmp_path / "calm/board" / name).read_bytes()
