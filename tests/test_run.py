"""A run killed anywhere ends in the same files as one left alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from critics.errors import RunFailed
from critics.judge import judge_record
from rollout.records.traces import read_trace
from training.cli import app
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError
from training.records.open_store import OpenStore
from training.records.run_folder import locked
from training.records.store import pack, read_records, write_json, write_records
from training.reporting.comparison import write_report
from training.rounds.line import Line
from training.rounds.loop import measure, roll_out_and_certify, run_line
from training.rounds.rollout import refuse_leaks
from training.rounds.run import claim, lines_of, num_attempts
from training.rounds.run import run as start
from training.watchdog import StageStalled
from training.workers.local import LocalWorkers

ROOT = Path(__file__).parents[1]


def config_for(model: Path, **changes) -> RunConfig:
    return RunConfig.model_validate(
        {
            "name": "test",
            "model": {"name": str(model)},
            "problems": {"hops": [1], "extra_kinds": [0, 0]},
            "arms": [
                {"name": "strict", "keep": "strict", "decoding": "guided"},
                {"name": "unfiltered", "keep": "unfiltered", "decoding": "free"},
            ],
            "star": {"rounds": 2, "problems_per_round": 6},
            "sampling": {"max_new_tokens": 30, "batch_size": 2},
            "training": {"global_batch_size": 2, "learning_rate": 1e-3},
            "evaluation": {"num_problems": 5, "greedy": "ends"},
            **changes,
        }
    )


ONE_ARM = "arms=[{name: unfiltered, keep: unfiltered, decoding: free}]"


class Here(LocalWorkers):
    """Judges in this process, since nothing here is to be killed."""

    def judge(self, records):
        return [judge_record(record) for record in records]


def lines(config: RunConfig, run: Path) -> list[Line]:
    return [Line(config, run, arm, seed, Here()) for arm in config.arms for seed in config.seeds]


def work(config: RunConfig, run: Path) -> None:
    """Do what `certistar run` does, in this process."""
    run.mkdir(exist_ok=True)
    found = lines_of(config)
    claim(config, run, found["provenance"]["inputs"])
    write_json(run / "lines.json", found)
    for line in lines(config, run):
        measure(line, None, None)
        run_line(line)
    write_report(run)


def contents(run: Path) -> dict[str, bytes]:
    """Return every data file's bytes, logs left out, which hold times; of the report its numbers, not its commit."""
    paths = [path for path in sorted(run.rglob("*")) if path.is_file() and path.parent != run / "log"]
    files = {str(path.relative_to(run)): path.read_bytes() for path in paths}
    report = json.loads(files.pop("report.json"))
    del files["report.html"], files["rates.svg"], report["provenance"]
    return files | {"report": json.dumps(report).encode()}


@pytest.fixture(scope="module")
def finished(tiny_model, tmp_path_factory):
    """Return a configuration and the folder of an uninterrupted run; the untrained model cannot end its texts."""
    import torch

    torch.set_num_threads(1)
    config = config_for(ending(tiny_model, tmp_path_factory.mktemp("ending")))
    run = tmp_path_factory.mktemp("finished")
    work(config, run)
    return config, run


def ending(model: Path, folder: Path) -> Path:
    """Copy the tiny model, with end-of-text made likely, so that some completions finish and can be kept."""
    from transformers import AutoModelForCausalLM

    shutil.copytree(model, folder, dirs_exist_ok=True)
    loaded = AutoModelForCausalLM.from_pretrained(folder)
    weights = loaded.get_input_embeddings().weight.data
    weights[loaded.config.eos_token_id] = weights.mean(0) * 3
    loaded.save_pretrained(folder)
    return folder


STAGES = {
    "nothing but the base": ["strict", "unfiltered", "report.json"],
    "within curating": ["unfiltered/seed-0/round-000/dataset/summary.json", "unfiltered/seed-0/round-000/adapter",
                        "unfiltered/seed-0/round-000/evaluation.json", "unfiltered/seed-0/round-001"],
    "within fine-tuning": ["unfiltered/seed-0/round-001/adapter/manifest.json",
                           "unfiltered/seed-0/round-001/evaluation.json"],
    "before the base was measured": ["base", "report.html"],
}  # fmt: skip


def forget(run: Path, names: list[str]) -> None:
    for name in names:
        path = run / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_the_run_trained_on_something(finished):
    config, run = finished
    manifest = json.loads((run / "unfiltered/seed-0/round-001/adapter/manifest.json").read_text())
    assert manifest["trained"]
    assert manifest["examples"] > 0
    assert (run / "unfiltered/seed-0/round-001/adapter/adapter_model.safetensors").exists()
    assert config.star.rounds == 2


@pytest.mark.parametrize("stage", STAGES)
def test_a_run_killed_at_a_stage_ends_the_same(finished, tmp_path, stage):
    config, run = finished
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    forget(copy, STAGES[stage])
    work(config, copy)
    assert contents(copy) == contents(run)


def test_a_run_killed_within_a_rollout_ends_the_same(finished, tmp_path):
    config, run = finished
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    folder = copy / "unfiltered/seed-0/round-000"
    traces = [{k: v for k, v in t.items() if k != "judgement"} for t in read_records(folder / "traces.jsonl")]
    forget(copy, ["unfiltered"])
    store = OpenStore(folder / "traces.open.jsonl")
    store.append(traces[:4])
    store.path.write_bytes(store.path.read_bytes()[:-40])
    work(config, copy)
    assert contents(copy) == contents(run)


def test_a_folder_of_another_configuration_is_refused(finished, tmp_path):
    config, _ = finished
    claim(config, tmp_path, {})
    claim(config.model_copy(update={"jobs": 7}), tmp_path, {})
    with pytest.raises(ConfigError, match="another configuration"):
        claim(config.model_copy(update={"seeds": [5]}), tmp_path, {})


def test_two_processes_cannot_share_a_run_folder(tmp_path):
    with locked(tmp_path), pytest.raises(RunFailed, match="another process"), locked(tmp_path):
        pass


def test_training_problems_among_the_held_out_ones_stop_the_run(finished, tmp_path):
    config, _ = finished
    line = lines(config, tmp_path)[0]
    with pytest.raises(RunFailed, match="stand among the held-out ones"):
        refuse_leaks(line.held_out[:2], line.held_out)


def test_no_example_kept_leaves_the_base_model_in_place(finished):
    _, run = finished
    manifest = json.loads((run / "strict/seed-0/round-000/adapter/manifest.json").read_text())
    assert manifest == {"trained": False, "reason": "no example was kept"}
    evaluation = json.loads((run / "strict/seed-0/round-000/evaluation.json").read_text())
    assert evaluation["policy"]["adapter"] is None


def test_held_out_attempts_are_stored_and_can_be_checked_again(finished, tmp_path):
    config, run = finished
    folder = run / "unfiltered/seed-0/round-001"
    attempts = list(read_records(folder / "evaluation.jsonl", checksum=True))
    modes = json.loads((folder / "evaluation.json").read_text())["modes"]
    for name, mode in modes.items():
        stored = [read_trace(attempt) for attempt in attempts if attempt["mode"] == name]
        assert [trace.problem.id for trace in stored] == mode["outcomes"]["ids"]
        assert sum(trace.judged.verdict == "certified" for trace in stored) == mode["certified"]
    assert len(attempts) == sum(mode["n"] for mode in modes.values()) >= config.evaluation.num_problems
    assert CliRunner().invoke(app, ["recheck", str(run)]).exit_code == 0

    # Attack: raise the headline in the file of the attempts behind it.
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    forged = copy / folder.relative_to(run) / "evaluation.jsonl"
    attempts[0]["judgement"] |= {"verdict": "certified", "reason": "proved"}
    write_records(forged, attempts, checksum=True)
    pack(forged)
    found = CliRunner().invoke(app, ["recheck", str(copy), "--json"])
    assert found.exit_code == 1
    assert [each["id"] for each in json.loads(found.stdout)["rejected"]] == [attempts[0]["id"]]


def test_a_folder_without_attempts_is_no_run_to_check_again(tmp_path):
    found = CliRunner().invoke(app, ["recheck", str(tmp_path)])
    assert found.exit_code == 2
    assert "no judged attempts" in " ".join(found.stderr.split())


SWITCHES = [
    {"star": {"rounds": 2, "problems_per_round": 16, "start": "last"}},
    {"star": {"problems_per_round": 16}, "training": {"method": "full", "optimizer": "adamw_bnb_8bit"}},
    {"star": {"rounds": 1, "problems_per_round": 16, "rationalise": True}},
]


REFUSED = [
    ([{"name": "a", "keep": "majority", "decoding": "free"}], "samples_per_problem of 3"),
    ([{"name": "a", "keep": "naive", "decoding": "free", "gold": False}], "needs gold answers"),
    ([{"name": "a", "keep": "naive", "decoding": "free", "false_positives": 0.2}], "needs `keep: strict`"),
    ([{"name": "a", "keep": "naive", "decoding": "free", "matched": "likeliest"}], "needs `match` and .*: true"),
]


@pytest.mark.parametrize(("arms", "told"), REFUSED)
def test_arms_that_cannot_be_are_refused(tiny_model, arms, told):
    with pytest.raises(ValueError, match=told):
        config_for(tiny_model, arms=arms)


def test_arms_that_ask_the_same_share_the_attempts_of_their_first_round(finished, tmp_path, monkeypatch):
    """The arm `other` asks under a guide, and so for itself."""
    base = {"decoding": "free", "keep": "unfiltered"}
    arms = [
        {"name": "one", **base},
        {"name": "blind", **base, "gold": False, "balance": True},
        {"name": "other", "keep": "naive", "decoding": "guided"},
    ]
    config = config_for(Path(finished[0].model.name), arms=arms, star={"rounds": 1, "problems_per_round": 6})
    asked = []
    sample = Here.sample
    monkeypatch.setattr(
        Here,
        "sample",
        lambda self, policy, batches: asked.append((policy.arm.name, len(batches))) or sample(self, policy, batches),
    )
    for line in lines(config, tmp_path):
        roll_out_and_certify(line, 0, None)
    assert asked == [("one", 3), ("blind", 0), ("other", 3)]
    one, blind = (
        list(read_records(tmp_path / name / "seed-0/round-000/traces.jsonl", checksum=True))
        for name in ("one", "blind")
    )
    assert [t["completion_ids"] for t in one] == [t["completion_ids"] for t in blind]
    assert {t["problem"]["answer"] for t in blind} == {None}
    longer = config.model_copy(update={"star": config.star.model_copy(update={"problems_per_round": 7})})
    assert num_attempts(longer) - num_attempts(config) == 2


def test_an_arm_without_gold_never_sees_an_answer_and_hops_grow_round_by_round(finished, tmp_path):
    config, _ = finished
    arms = [{"name": "alone", "keep": "unfiltered", "decoding": "free", "gold": False}]
    star = {"rounds": 2, "problems_per_round": 8, "curriculum": {"first": 1, "rehearsed": 0.0}}
    changed = config_for(Path(config.model.name), arms=arms, star=star, problems={"hops": [1, 2]})
    work(changed, tmp_path)
    for number, hops in ((0, {1}), (1, {2})):
        traces = list(read_records(tmp_path / f"round-{number:03d}/traces.jsonl", checksum=True))
        assert {t["problem"]["answer"] for t in traces} == {None}
        assert {t["problem"]["meta"]["hops"] for t in traces} == hops
    assert json.loads((tmp_path / "round-001/evaluation.json").read_text())["modes"]["sampled"]["chance"] == 0.5


@pytest.mark.parametrize("changes", SWITCHES)
def test_the_switches_run(finished, tmp_path, changes):
    config, _ = finished
    changed = config_for(
        Path(config.model.name), arms=[{"name": "u", "keep": "unfiltered", "decoding": "free"}], **changes
    )
    work(changed, tmp_path)
    assert json.loads((tmp_path / "round-000/adapter/manifest.json").read_text())["trained"]
    traces = list(read_records(tmp_path / "round-000/traces.jsonl", checksum=True))
    assert any(t["hint"] for t in traces) == changed.star.rationalise


def test_a_real_kill_within_a_rollout_is_survived(finished, tmp_path):
    """SIGKILL to the command while its rollout is open; its children die too, and the second call ends the same."""
    config, run = finished
    path, out = tmp_path / "config.yaml", tmp_path / "run"
    path.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    short = ["--set", "star.rounds=1", "--set", "evaluation.greedy=never", "--set", ONE_ARM]
    command = [sys.executable, "-m", "training", "run", str(path), "--out", str(out), *short]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 240
    while not list(out.rglob("traces.open.jsonl")) and first.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert again.returncode == 0, again.stderr
    for name in ("traces.jsonl", "dataset/examples.jsonl", "adapter/manifest.json"):
        assert (out / "round-000" / name).read_bytes() == (run / "unfiltered/seed-0/round-000" / name).read_bytes()


def test_a_stage_that_hangs_ends_the_run_with_a_diagnosis_and_what_is_finished_is_kept(finished, tmp_path):
    """The examples that a fine-tuning wants to read come from a pipe that nobody writes to."""
    config, run = finished
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    folder = copy / "unfiltered/seed-0/round-001"
    forget(copy, ["unfiltered/seed-0/round-001/adapter", "unfiltered/seed-0/round-001/evaluation.json"])
    examples = folder / "dataset/examples.jsonl"
    kept = examples.read_bytes()
    examples.unlink()
    os.mkfifo(examples)
    with pytest.raises(StageStalled, match=r"unfiltered-seed-0: training made no progress .* run the command again"):
        start(config, copy, patience_s=4)
    examples.unlink()
    examples.write_bytes(kept)
    work(config, copy)
    assert contents(run).items() <= contents(copy).items()
