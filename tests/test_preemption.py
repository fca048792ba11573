"""Half checkpoints, SIGTERM and full disks: a fine-tuning goes on and ends with the bytes of one left alone."""

import json
import os
import random
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from training.cli import app
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.finetuning.job import FineTuning
from training.finetuning.stage import train_here
from training.finetuning.trainer import MARK, is_whole, newest_whole
from training.preemption import STATUS, Preempted, raised

ROOT = Path(__file__).parents[1]


@pytest.fixture
def job(tiny_model, tmp_path) -> FineTuning:
    """Return a fine-tuning of twelve steps with dropout, so that an order or a random state that is lost shows."""
    folder = tmp_path / "data"
    folder.mkdir()
    lines = [{"id": str(i), "prompt": f"Question {i}. ", "completion": "true false " * (1 + i)} for i in range(8)]
    (folder / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    training = TrainingConfig.model_validate(
        {"global_batch_size": 2, "epochs": 3, "learning_rate": 1e-2, "precision": "float32", "checkpoint_steps": 3}
        | {"lora_dropout": 0.1, "max_tokens": 256}
    )
    return FineTuning(ModelConfig(name=str(tiny_model)), training, folder, tmp_path / "adapter", seed=3)


def result(job: FineTuning) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in job.out.iterdir()}


def work_of(job: FineTuning) -> Path:
    return job.out.with_name(f".{job.out.name}.work")


def stopped_after(job: FineTuning, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a fine-tuning in this process that gets SIGTERM in a step."""
    from training.finetuning.trainer import StepBeats

    def ask(self: object, args: object, state: object, control: object, **others: object) -> None:
        if state.global_step == step - 1:
            os.kill(os.getpid(), signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(StepBeats, "on_step_begin", ask, raising=False)
        with pytest.raises(Preempted, match=rf"checkpoint at step {step} .* run the same command again"):
            train_here(replace(job, heartbeat=job.out.parent / "beat.heartbeat.json"))


@pytest.mark.parametrize("layout", ["padded", "grouped"])
def test_sigterm_writes_a_checkpoint_and_the_next_start_ends_with_the_same_bytes(layout, job, tmp_path, monkeypatch):
    job = replace(job, training=TrainingConfig.model_validate(job.training.model_dump() | {"layout": layout}))
    train_here(replace(job, out=tmp_path / "alone"))
    stopped_after(job, 5, monkeypatch)
    assert newest_whole(work_of(job)).name == "checkpoint-5"
    train_here(job)
    assert result(job) == result(replace(job, out=tmp_path / "alone"))


def test_half_a_checkpoint_is_deleted_and_the_one_before_it_taken(job, tmp_path, monkeypatch):
    train_here(replace(job, out=tmp_path / "alone"))
    stopped_after(job, 5, monkeypatch)
    shutil.copytree(work_of(job), tmp_path / "stopped")
    for harm in ("no mark", "cut", "broken mark", "empty folder"):
        shutil.copytree(tmp_path / "stopped", work_of(job), dirs_exist_ok=True)
        newest = work_of(job) / "checkpoint-5"
        match harm:
            case "no mark":
                (newest / MARK).unlink()
            case "cut":
                os.truncate(newest / "optimizer.pt", 100)
            case "broken mark":
                (newest / MARK).write_text("{")
            case _:
                (work_of(job) / "checkpoint-11").mkdir()
        assert newest_whole(work_of(job)).name == ("checkpoint-5" if harm == "empty folder" else "checkpoint-3")
        train_here(job)
        assert result(job) == result(replace(job, out=tmp_path / "alone")), harm
        shutil.rmtree(job.out)


@pytest.mark.slow
def test_fine_tunings_killed_at_random_end_with_the_same_bytes(tmp_path):
    """Thirty signals, SIGTERM and SIGKILL in turn, most of them within the writing of a checkpoint."""
    from tools.preemption import fine_tuning, signals, tiny

    sent = signals(tmp_path, fine_tuning(tmp_path, tiny(tmp_path / "model")), 30, random.Random(0))
    assert sum(one.moment.startswith("within") for one in sent) > 10
    assert {one.ended for one in sent} >= {"killed"}


def test_a_run_that_is_asked_to_end_says_so_and_has_the_status_of_a_temporary_failure(monkeypatch, capsys):
    import typer

    from training.cli import guarded

    def work() -> None:
        with raised():
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(typer.Exit) as ended:
        guarded(work)()
    assert ended.value.exit_code == STATUS == 75
    assert "run the same command again" in capsys.readouterr().err


def test_what_is_whole_needs_its_mark(tmp_path):
    assert not is_whole(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_disk_that_fills_ends_with_one_line_and_goes_on_when_there_is_room(tmp_path):
    """A fine-tuning and a whole run on a file system of 64 MB, which somebody else's file fills."""
    from critics.errors import RunFailed
    from tools.preemption import fine_tuning, full_disks, small_disk, small_run, tiny

    try:
        with small_disk(tmp_path / "probe"):
            pass
    except RunFailed:
        pytest.skip("this machine lets nobody mount")
    job = fine_tuning(tmp_path, tiny(tmp_path / "model"))
    filled = full_disks(tmp_path, job, small_run(str(ROOT / "checkpoints/seed")), 2)
    assert all("\n" not in one.ended for one in filled)
    assert [one.ended for one in filled if one.room_kib > 60_000] == ["done", "done"]
    assert any("no room" in one.ended for one in filled)


def test_evaluate_ended_by_a_scheduler_exits_with_75(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.configuration.run.load_run", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    config = Path(__file__).parents[1] / "configs" / "smoke.yaml"
    done = CliRunner().invoke(app, ["evaluate", str(config)])
    assert done.exit_code == 75
    assert "run the same command again to go on" in done.stderr
