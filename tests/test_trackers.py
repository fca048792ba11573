"""Trackers: what Trainer and a round tell them is read back, and nothing else of the run changes."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from critics.errors import InputError
from critics.problem import Problem
from rollout.records.traces import Trace
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError, validated
from training.finetuning.job import FineTuning, Tracking, check_installed, read_job, tracking, write_job
from training.finetuning.stage import fine_tune
from training.records.store import write_json, write_records
from training.rounds.line import Line
from training.rounds.loop import is_unsampled, round_metrics, tell_trackers

EXAMPLES = [
    {"id": f"e{i}", "prompt": "Question: so?\n", "completion": f"{i}\nAnswer: true", "completion_ids": []}
    for i in range(4)
]
VARIABLES = ("TENSORBOARD_LOGGING_DIR", "WANDB_NAME", "WANDB_RUN_ID", "WANDB_RESUME", "WANDB_MODE", "WANDB_PROJECT")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sets for its trackers is none of another test's."""
    for name in (*VARIABLES, "WANDB_DIR", "TRACKIO_DIR"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def trained(model: Path, folder: Path, trackers: list[str]) -> dict[str, bytes]:
    write_records(folder / "round-000" / "dataset" / "examples.jsonl", EXAMPLES)
    job = FineTuning(
        ModelConfig(name=str(model)),
        TrainingConfig.model_validate({"trackers": trackers, "max_steps": 10, "epochs": 9, "learning_rate": 1e-3}),
        folder / "round-000" / "dataset",
        folder / "round-000" / "adapter",
        seed=0,
        log=folder / "log" / "training-strict-0.jsonl",
        tracked_as="tiny/strict-0",
    )
    fine_tune(job)
    return {path.name: path.read_bytes() for path in job.out.iterdir()}


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder))
    read.Reload()
    return {tag: [(point.step, point.value) for point in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


def a_round(folder: Path) -> Path:
    found = folder / "round-001"
    trace = Trace("t", Problem("p", "mine", "", ""), "guided", "said", completion_ids=(1, 2, 3, 4)).record()
    write_records(found / "traces.jsonl", [trace, trace], checksum=True)
    counts = {"sampled": 4, "right": 3, "certified": 1, "lucky": 2, "kept": 1, "examples": 5}
    write_json(found / "dataset" / "summary.json", {**counts, "verdicts": {"certified": 1, "unproved": 3}})
    mode = {"n": 10, "right": 6, "certified": 4, "lucky": 2}
    write_json(found / "evaluation.json", {"modes": {"sampled": mode}})
    return found


def test_tensorboard_gets_losses_and_round_metrics_and_the_adapter_stays_the_same(
    tiny_model: Path, tmp_path: Path
) -> None:
    plain = trained(tiny_model, tmp_path / "plain", [])
    assert not (tmp_path / "plain" / "log" / "trackers").exists()
    assert trained(tiny_model, tmp_path / "tracked", ["tensorboard"]) == plain
    log = tmp_path / "tracked" / "log"
    events = log / "trackers" / "tensorboard" / "tiny" / "strict-0"
    ((step, loss),) = scalars(events / "round-000")["train/loss"]
    (line,) = [json.loads(line) for line in (log / "training-strict-0.jsonl").read_text().splitlines()]
    assert (step, round(loss, 3)) == (line["step"], round(float(line["loss"]), 3))

    tracked = tracking(["tensorboard"], "tiny/strict-0", log)
    for _ in range(2):  # a run that goes on tells nothing twice
        tell_trackers(line_of(tracked, a_round(tmp_path / "tracked")), 1, 2.0)
    found = scalars(events)
    assert found["evaluation/accuracy"] == [(1, pytest.approx(0.6))]
    assert found["rollout/tokens_per_s"] == [(1, 4.0)]
    assert found["verdicts/unproved"] == [(1, 3.0)]


def line_of(tracked: Tracking, folder: Path) -> Line:
    line = SimpleNamespace(tracking=tracked, round_path=lambda _: folder, on_progress=lambda _: None)
    return cast("Line", line)


def test_trackio_keeps_everything_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trackio")
    import subprocess
    import sys

    found = a_round(tmp_path)
    code = (
        "import sys; from pathlib import Path; from training.finetuning.job import tracking;"
        "from training.rounds.loop import tell_trackers; from types import SimpleNamespace;"
        "line = SimpleNamespace(tracking=tracking(['trackio'], 'tiny/strict-0', Path(sys.argv[1])));"
        "line.round_path = lambda _: Path(sys.argv[2]); line.on_progress = lambda _: None; tell_trackers(line, 1, None)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "log"), str(found)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "was not told" not in done.stderr
    stored = b"".join(path.read_bytes() for path in (tmp_path / "log" / "trackers" / "trackio").rglob("*.*"))
    assert b"tiny/strict-0" in stored
    assert b"evaluation/accuracy" in stored


def test_the_speed_of_a_rollout_that_went_on_is_not_told(tmp_path: Path) -> None:
    assert is_unsampled(tmp_path / "round-001")
    found = a_round(tmp_path)
    assert not is_unsampled(found)
    assert "rollout/tokens_per_s" not in round_metrics(found, None)


def test_trackers_are_in_no_digest() -> None:
    record: dict[str, Any] = {"name": "tiny", "model": {"name": "m"}}
    plain = RunConfig.model_validate(record)
    tracked = RunConfig.model_validate({**record, "training": {"trackers": ["wandb", "none"]}})
    assert tracked.digest() == plain.digest()
    assert tracked.training.digested_json() == plain.training.digested_json()


def test_a_tracker_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "wandb").mkdir()  # what wandb leaves behind is not wandb
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="wandb is not installed; run `pip install wandb`"):
        check_installed(["none", "wandb"])
    with pytest.raises(ConfigError, match=r"training\.trackers"):
        validated(RunConfig, {"name": "t", "model": {"name": "m"}, "training": {"trackers": ["mlflow"]}}, [], tmp_path)


def test_torchruns_processes_are_told_the_run_name(tmp_path: Path) -> None:
    job = FineTuning(
        ModelConfig(name="m"), TrainingConfig(trackers=["trackio"]), tmp_path, tmp_path / "a", 0, tracked_as="x/y-0"
    )
    write_job(job, tmp_path / "job.json")
    assert read_job(tmp_path / "job.json").tracking == job.tracking
