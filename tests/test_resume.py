"""Kill -9 anywhere, start again: every data file is byte-equal to that of a run left alone."""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from training.configuration.run import RunConfig

ROOT = Path(__file__).parents[1]
DATA = ("traces*.jsonl*", "verdicts*", "dataset/*", "evaluation*", "adapter/*")


def data_files(run: Path) -> dict[str, bytes]:
    """Return the bytes of every trace, example, evaluation and adapter file, of unfinished ones too."""
    found = [path for pattern in DATA for path in run.rglob(pattern) if path.is_file()]
    return {str(path.relative_to(run)): _content(path) for path in found}


def _content(path: Path) -> bytes:
    if path.name != "adapter_config.json":
        return path.read_bytes()
    # peft writes the set of target modules down in an order that is another one in each process.
    record = json.loads(path.read_text())
    return json.dumps({**record, "target_modules": sorted(record["target_modules"])}).encode()


@pytest.fixture(scope="module")
def config(tiny_model, tmp_path_factory) -> RunConfig:
    """Return a run of two rounds with retries, of a model that ends some of its texts, so that it learns something."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("ending")
    shutil.copytree(tiny_model, folder, dirs_exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(folder)
    weights = model.get_input_embeddings().weight.data
    weights[model.config.eos_token_id] = weights.mean(0) * 3
    model.save_pretrained(folder)
    return RunConfig.model_validate(
        {
            "name": "test",
            "model": {"name": str(folder)},
            "problems": {"hops": [1], "extra_kinds": [0, 0]},
            "arms": [{"name": "unfiltered", "keep": "unfiltered", "decoding": "free"}],
            "star": {"rounds": 2, "problems_per_round": 5, "rationalise": True},
            "sampling": {"max_new_tokens": 20, "batch_size": 2, "samples_per_problem": 2},
            "training": {"global_batch_size": 4, "learning_rate": 1e-3},
            "evaluation": {"num_problems": 4, "batch_size": 2, "greedy": "ends"},
        }
    )


WORKS = """
import os, random, signal, sys
from pathlib import Path
import torch, transformers, peft, accelerate  # here, and used in children alone: a fork of what has threads may hang
import training.finetuning.stage
from critics.judge import judge_record
from training.configuration.run import load_run
from training.rounds.line import Line
from training.rounds.loop import measure, run_line
from training.workers.local import LocalWorkers

config, folder = load_run(Path(sys.argv[1])), Path(sys.argv[2])

class Here(LocalWorkers):
    def judge(self, records):
        return [judge_record(record) for record in records]

def work(run):
    torch.set_num_threads(1)
    line = Line(config, run, config.arms[0], 0, Here())
    measure(line, None, None)
    run_line(line)

def writes(arguments):
    path, _, flags = arguments
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(folder))

def dying_at(moment, run):
    num = 0
    def event(name, arguments):
        nonlocal num
        if name in ("os.rename", "os.remove", "os.truncate") or (name == "open" and writes(arguments)):
            num += 1
            if num == moment:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(event)
    work(run)
    (folder / "num").write_text(str(num))

def forked(*arguments):
    if (child := os.fork()) == 0:
        try:
            dying_at(*arguments)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

assert forked(0, folder / "alone") == 0
num, chance, statuses = int((folder / "num").read_text()), random.Random(0), []
for left in (num, num // 2, num // 3, num // 4, num // 5):  # each start gets further: fewer operations are left to do
    statuses.append(forked(chance.randrange(1, left), folder / "run-0"))
assert forked(0, folder / "run-0") == 0
assert set(statuses) <= {-signal.SIGKILL, 0}
print(num, statuses.count(-signal.SIGKILL))
"""


def test_a_run_killed_at_file_operations_ends_with_the_bytes_of_one_left_alone(config, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    command = [sys.executable, "-c", WORKS, str(path), str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    num_operations, num_kills = map(int, done.stdout.split())
    assert num_operations > 40
    assert num_kills >= 4
    wanted = data_files(tmp_path / "alone")
    assert "round-001/adapter/adapter_model.safetensors" in wanted
    assert not [name for name in wanted if ".open" in name]
    assert data_files(tmp_path / "run-0") == wanted


def killed_runs(config: Path, folder: Path, *, kills: int, seed: int) -> None:
    """Kill the command, or one of its processes, at random until so many kills are done; compare each finished run."""
    chance, done, number = random.Random(seed), 0, 0
    wanted: dict[str, bytes] = {}
    took_s = 0.0
    while done < kills or number < 2:
        run = folder / f"run-{number}"
        began, is_finished = time.monotonic(), False
        while not is_finished:
            limit_s = took_s if number and done < kills else None
            is_finished, num = _run_once(config, run, limit_s, kills - done, chance)
            done += num
        took_s = took_s or time.monotonic() - began
        wanted = wanted or data_files(run)
        assert data_files(run) == wanted, f"after {done} kills"
        number += 1
    assert done == kills
    assert any(name.endswith("adapter_model.safetensors") for name in wanted)


def _run_once(config: Path, run: Path, limit_s: float | None, most: int, chance: random.Random) -> tuple[bool, int]:
    """Start the command, kill at moments below the limit, and return whether it finished and how many were killed.

    What loses a process may go on without it, or end with the advice to start it again.
    """
    command = [sys.executable, "-m", "training", "run", str(config), "--out", str(run)]
    errors, num = run.with_suffix(".errors"), 0
    with errors.open("wb") as told:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=told)
    while True:
        try:
            status = process.wait(timeout=None if limit_s is None or num == most else chance.uniform(0, limit_s))
        except subprocess.TimeoutExpired:
            num += 1
            if chance.random() < 0.5 or not _kill_descendant(process.pid, chance):
                process.kill()
                process.wait()
                return False, num
            continue
        said = errors.read_text()
        assert status == 0 or (status == 1 and num and "run the command again" in said), said
        return status == 0, num


def _kill_descendant(pid: int, chance: random.Random) -> bool:
    import psutil

    try:
        chance.choice(psutil.Process(pid).children(recursive=True)).kill()
    except (psutil.Error, IndexError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, 40])
def test_the_smoke_run_killed_at_random_ends_with_the_bytes_of_one_left_alone(tmp_path, kills):
    if not (ROOT / "checkpoints/seed/model.safetensors").exists():
        pytest.skip("checkpoints/seed is not there")
    pytest.importorskip("psutil", reason="psutil is not installed")
    killed_runs(ROOT / "configs/smoke.yaml", tmp_path, kills=kills, seed=kills)
