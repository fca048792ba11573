"""Several machines, all of which are this one: fine-tuning by two torchrun agents."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from critics.errors import RunFailed
from training.configuration.run import ModelConfig, TrainingConfig
from training.finetuning import stage, torchrun
from training.finetuning.job import FineTuning, PeerLost, TrainingFailed, read_job, write_job
from training.finetuning.torchrun import failure_path, is_lost_peer, launch, write_failure

ROOT = Path(__file__).parents[1]
LOOPBACK = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PET_LOCAL_ADDR": "127.0.0.1"}
"""Two agents on one machine would else meet at its name, which may be nobody's."""


@pytest.fixture
def data(tmp_path) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir()
    lines = [{"id": str(i), "prompt": "Cats. " * (1 + i % 3), "completion": " true" * (1 + i)} for i in range(7)]
    (folder / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def meeting_place() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def job(model: Path, data: Path, place: str, **training: object) -> FineTuning:
    config = TrainingConfig.model_validate(
        {"batch_size": 2, "global_batch_size": 4, "precision": "float32", "max_tokens": 256} | training
    )
    name = ModelConfig(name=str(model))
    return FineTuning(name, config, data, data.parent / "adapter", seed=3, nnodes=2, rendezvous=place, answer_s=8)


def test_a_job_tells_its_processes_where_to_meet_and_how_long_to_wait(tiny_model, data, tmp_path):
    told = job(tiny_model, data, "node0:29500")
    write_job(told, tmp_path / "job.json")
    assert read_job(tmp_path / "job.json") == told


def test_a_process_that_lost_another_does_not_hide_what_that_one_said(tmp_path):
    spec = tmp_path / "job.json"
    write_failure(spec, PeerLost("connection closed"))
    write_failure(spec, TrainingFailed("the loss is nan"))
    write_failure(spec, PeerLost("connection closed"))
    assert json.loads(failure_path(spec).read_text())["message"] == "the loss is nan"


def test_what_a_network_says_is_told_from_other_errors():
    import torch.distributed as distributed

    assert is_lost_peer(distributed.DistBackendError("watchdog"))
    assert is_lost_peer(RuntimeError("[transport/tcp/pair.cc:538] Connection closed by peer [127.0.0.1]:1"))
    assert not is_lost_peer(RuntimeError("shapes do not fit"))


def test_an_adapter_that_another_machine_wrote_elsewhere_is_missed(tiny_model, data, monkeypatch):
    monkeypatch.setattr(stage, "SHOWN_S", 0.0)
    monkeypatch.setattr(stage.torchrun, "launch", lambda _: None)
    with pytest.raises(TrainingFailed, match=r"--out must lie where all machines see it"):
        stage.fine_tune(job(tiny_model, data, "node0:1"))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no Linux")
def test_a_process_that_ended_lives_no_more_though_nobody_has_asked_how():
    child = subprocess.Popen(["sleep", "60"])
    assert torchrun._lives(str(child.pid))
    assert torchrun._has_processes()
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not torchrun._lives(str(child.pid))
    child.wait()
    assert not torchrun._lives(str(child.pid))


def test_machines_that_share_a_folder_do_not_write_one_file(tiny_model, data, monkeypatch):
    specs = []
    monkeypatch.setattr(torchrun, "_run", lambda _, spec: specs.append(spec))
    for _ in range(2):
        launch(job(tiny_model, data, "node0:29500"))
    assert specs[0] != specs[1]
    assert data.parent not in [parent for spec in specs for parent in spec.parents]


@pytest.mark.slow
def test_machines_that_do_not_meet_say_so(tiny_model, data, meeting_place, monkeypatch):
    for name, value in LOOPBACK.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RunFailed, match=rf"2 machines were to meet at {re.escape(meeting_place)} within 8 s"):
        launch(job(tiny_model, data, meeting_place))


def train(data: Path, out: Path, config: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "training", "train", str(config), "--data", str(data), "--out", str(out)]
    return subprocess.Popen(
        [*command, "--nproc", "1", *options],
        cwd=ROOT,
        env=os.environ | LOOPBACK,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def written(tmp_path: Path, model: Path, **training: object) -> Path:
    """Write a configuration, as JSON, which is YAML."""
    path = tmp_path / f"c{len(list(tmp_path.glob('c*.yaml')))}.yaml"
    path.write_text(json.dumps({"name": path.stem, "model": {"name": str(model)}, "training": training}))
    return path


@pytest.mark.slow
def test_two_machines_give_the_adapter_of_one_process(tiny_model, data, meeting_place, tmp_path):
    from safetensors.torch import load_file

    common = {"precision": "float32", "learning_rate": 1e-2, "epochs": 2, "max_tokens": 256, "global_batch_size": 4}
    alone = train(data, tmp_path / "one", written(tmp_path, tiny_model, batch_size=4, **common))
    assert alone.wait(timeout=300) == 0, alone.stdout.read()
    config = written(tmp_path, tiny_model, batch_size=2, **common)
    where = ["--nnodes", "2", "--rendezvous", meeting_place]
    both = [train(data, tmp_path / "two", config, *where) for _ in range(2)]
    for machine in both:
        assert machine.wait(timeout=300) == 0, machine.stdout.read()
        assert "trained on 7 examples" in machine.stdout.read()
    one, two = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("one", "two"))
    assert one.keys() == two.keys()
    assert max(float((one[name] - two[name]).abs().max()) for name in one) < 2e-5
    assert any(float(tensor.abs().max()) > 0 for name, tensor in one.items() if "lora_B" in name)


@pytest.mark.slow
@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_lost_machine_ends_the_other_with_what_to_do(tiny_model, data, meeting_place, tmp_path, ended):
    """It is killed with all its processes, or answers no more."""
    import psutil

    lasting = job(tiny_model, data, meeting_place, epochs=100_000)
    lasting = FineTuning(**{name: getattr(lasting, name) for name in FineTuning.__slots__} | {"log": tmp_path / "log"})
    code = (
        "import sys; from pathlib import Path; from critics.errors import RunFailed\n"
        "from training.finetuning.job import read_job; from training.finetuning.torchrun import launch\n"
        "try: launch(read_job(Path(sys.argv[1])))\n"
        "except RunFailed as error: sys.exit(str(error))"
    )
    write_job(lasting, tmp_path / "machine.json")
    machines = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "machine.json")],
            cwd=ROOT,
            env=os.environ | LOOPBACK,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        _wait_for(tmp_path / "log")
        for process in [*psutil.Process(machines[1].pid).children(recursive=True), psutil.Process(machines[1].pid)]:
            process.send_signal(ended)
        began = time.monotonic()
        _, said = machines[0].communicate(timeout=120)
        assert time.monotonic() - began < 60
        assert machines[0].returncode == 1
        assert "start the same command on all machines again" in said.splitlines()[-1]
    finally:
        for machine in machines:
            machine.kill()
            machine.wait()


def _wait_for(path: Path) -> None:
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError("no step was taken")
