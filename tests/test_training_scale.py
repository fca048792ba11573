"""Fine-tuning beyond one plain process: four bits, 8-bit moments, packing, sharding, and what must stop it."""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from critics.errors import InputError
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.section import ConfigError
from training.finetuning.examples import IGNORED, Collator, Example, length, packed
from training.finetuning.job import FineTuning, TrainingFailed, read_job, write_job
from training.finetuning.stage import fine_tune, train_here
from training.finetuning.torchrun import launch
from training.lineage.adapters import MANIFEST
from training.watchdog import Progress

ROOT = Path(__file__).parents[1]
NUM_EXAMPLES = 7


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """A dataset folder of few short completions, of which no batch of two or four is made up without a rest."""
    folder = tmp_path_factory.mktemp("examples")
    lines = [
        {
            "id": str(i),
            "prompt": "Every cat is a dog. " * (1 + i % 3),
            "completion": " Answer: " + "true false " * (1 + i),
        }
        for i in range(NUM_EXAMPLES)
    ]
    (folder / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def job(tiny_model, data, tmp_path) -> FineTuning:
    training = TrainingConfig(
        batch_size=4, global_batch_size=4, learning_rate=1e-2, epochs=2, precision="float32", max_tokens=256
    )
    return FineTuning(ModelConfig(name=str(tiny_model)), training, data, tmp_path / "adapter", seed=3)


def with_(job: FineTuning, **keys: object) -> FineTuning:
    return replace(job, training=TrainingConfig.model_validate(job.training.model_dump() | keys))


def weights(folder: Path) -> dict:
    from safetensors.torch import load_file

    return load_file(folder / "adapter_model.safetensors")


def difference(a: Path, b: Path) -> float:
    one, other = weights(a), weights(b)
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.parametrize(
    "keys",
    [
        {"quantisation": "nf4"},
        {"optimizer": "adamw_bnb_8bit"},
        {"method": "dora"},
        {"layout": "packed", "attention": "sdpa"},
        {"layout": "grouped", "gradient_checkpointing": True},
        {"quantisation": "nf4", "optimizer": "adamw_bnb_8bit", "layout": "packed", "gradient_checkpointing": True},
    ],
    ids=lambda keys: "-".join(map(str, keys.values())),
)
def test_each_way_of_saving_memory_trains(job, keys):
    made = train_here(with_(job, **keys))
    assert math.isfinite(made.mean_loss)
    saved = weights(job.out)
    moved = [name for name, tensor in saved.items() if "lora_B" in name and tensor.abs().max() > 0]
    assert moved, "the second factor of LoRA starts at zero, and nothing has moved it"
    assert any("magnitude" in name for name in saved) == (keys.get("method") == "dora")


def loss_of(model, batch) -> float:
    import torch

    with torch.no_grad():
        logits = model(**{name: value for name, value in batch.items() if name != "labels"}, use_cache=False).logits
    shifted = torch.nn.functional.cross_entropy(
        logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=IGNORED, reduction="sum"
    )
    return float(shifted)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_packed_examples_do_not_see_each_other(tiny_model, attention):
    from rollout.policies.policy import load_model

    model = load_model(str(tiny_model), attn_implementation=attention).eval()
    examples = [Example.of(str(i), (5, 6 + i, 7), tuple(range(20 + i, 30 + 2 * i))) for i in range(4)]
    rows = packed(examples, room=32)
    assert len(rows) < len(examples)
    apart = sum(loss_of(model, Collator(0)([(example,)])) for example in examples)
    together = loss_of(model, Collator(0, packed=True)(rows))
    assert together == pytest.approx(apart, rel=1e-5)
    seen = Collator(0, packed=True)(rows) | {"position_ids": None}
    assert loss_of(model, seen) != pytest.approx(apart, rel=1e-5)


def test_rows_are_filled_by_first_fit_and_lose_nothing():
    examples = [Example.of(str(n), (1,) * n, (2,)) for n in (3, 9, 2, 5, 4)]
    rows = packed(examples, room=10)
    assert [[example.id for example in row] for row in rows] == [["9"], ["5", "3"], ["4", "2"]]
    assert all(length(row) <= 10 for row in rows)


def test_the_first_token_of_a_packed_example_is_not_learnt():
    batch = Collator(0, packed=True)(packed([Example.of("a", (1,), (2,)), Example.of("b", (), (3, 4))], room=9))
    assert batch["labels"].tolist() == [[IGNORED, 2, IGNORED, 4]]
    assert batch["position_ids"].tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize(
    ("batch_size", "settled"),
    [
        (2, [(2, 8), (2, 4), (2, 2), (2, 1), (1, 1)]),
        (3, [(2, 8), (2, 4), (2, 2), (2, 1), (1, 1)]),
        (None, [(4, 4), (4, 2), (4, 1), (2, 1), (1, 1)]),
    ],
)
def test_rows_at_once_and_accumulation_follow_from_a_global_batch_size(batch_size, settled):
    config = TrainingConfig(batch_size=batch_size, global_batch_size=16)
    found = [config.on(n, lambda rows: rows <= 5) for n in (1, 2, 4, 8, 16)]
    assert [(one.batch_size, one.accumulated(n)) for one, n in zip(found, (1, 2, 4, 8, 16), strict=True)] == settled
    assert {config.num_steps(50, n) for n in (1, 2, 4, 8, 16)} == {4}
    assert {one.digested_json() for one in found} == {config.digested_json()}


@pytest.mark.parametrize(
    ("rows", "processes", "told"),
    [
        (16, 3, "write 15 or 18, or train on 2 or 4$"),
        (2, 8, "write 8, or train on 2$"),
        (6, 4, "write 4 or 8, or train on 3 or 6$"),
    ],
)
def test_rows_that_cannot_be_shared_evenly_are_refused_with_the_nearest_numbers(rows, processes, told):
    refused = (
        rf"training\.global_batch_size: {rows} rows a step cannot be shared evenly by {processes} processes; {told}"
    )
    with pytest.raises(ConfigError, match=refused):
        TrainingConfig(global_batch_size=rows).on(processes)


def test_warm_up_is_in_steps_and_leaves_half_of_them():
    assert [TrainingConfig(warmup_steps=5).num_warmup(steps) for steps in (1, 4, 100)] == [0, 2, 5]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"quantisation": "nf4", "method": "full"}, "four-bit weights cannot be trained"),
        ({"offload": True}, "is for what is sharded"),
        ({"optimizer": "adamw_bnb_8bit", "sharding": "fsdp2"}, "write adamw_torch"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(keys, told):
    with pytest.raises(ValueError, match=told):
        TrainingConfig(**keys)


def test_what_changes_a_result_changes_the_digest():
    text = TrainingConfig().digested_json()
    assert TrainingConfig(quantisation="nf4").digested_json() != text
    assert TrainingConfig(trackers=["wandb"]).digested_json() == text
    assert TrainingConfig(global_batch_size=2).digested_json() != text
    assert TrainingConfig(warmup_steps=4).digested_json() != text
    assert TrainingConfig(layout="grouped").digested_json() != text, "rows come in another order"


def test_remedies_for_memory_say_which_of_them_a_run_goes_on_with():
    from training.configuration.run import RunConfig
    from training.finetuning.compute import explanation, remedies

    def digest(training: TrainingConfig) -> str:
        return RunConfig(name="t", model=ModelConfig(name="m"), training=training).digest()

    seen = set()
    for keys in (
        {"batch_size": 6, "global_batch_size": 24, "method": "full"},
        {"global_batch_size": 8, "attention": "eager", "quantisation": "nf4"},
        {"layout": "packed", "global_batch_size": 4},
    ):
        config = TrainingConfig.model_validate(keys)
        for remedy in remedies(config.on(2), num_processes=2):
            changed = TrainingConfig.model_validate(config.model_dump() | dict(remedy.changes))
            assert (digest(changed) == digest(config)) == remedy.keeps_result(config), remedy
            assert changed.rows_a_step(2) == config.rows_a_step(2)
            goes_on, _, anew = explanation(config.on(2), 2).partition("with another --out")
            assert remedy.said in (goes_on if remedy.keeps_result(config) else anew)
            seen |= {(key, remedy.keeps_result(config)) for key in remedy.changes}
    kept = {"batch_size", "gradient_checkpointing", "attention", "sharding"}
    assert seen == {(key, key in kept) for key in (*kept, "max_tokens", "method", "quantisation", "optimizer")}


def test_one_order_of_rows_for_one_process_and_for_many():
    from training.finetuning.trainer import RowOrder

    one = RowOrder([1] * 7, seed=5, at_once=4, rows_a_step=8, grouped=False)
    first = list(one)
    assert sorted(first) == list(range(8))
    assert first[-1] == 7, "the blank row comes last"
    assert list(one) != first, "each epoch has an order of its own"
    one.set_epoch(0)
    assert list(one) == first


def test_grouped_rows_come_in_one_order_however_many_are_computed_at_once():
    from training.finetuning.trainer import RowOrder

    lengths = [(13 * i) % 101 for i in range(500)]
    orders = [list(RowOrder(lengths, seed=5, at_once=n, rows_a_step=4, grouped=True)) for n in (1, 2, 4)]
    assert orders[0] == orders[1] == orders[2]


def test_each_step_of_a_fine_tuning_and_each_part_of_one_is_told():
    from transformers import TrainerState

    from training.finetuning.trainer import StepBeats

    told: list[Progress] = []
    beats = StepBeats(told.append, Path("round-000/adapter"))
    beats.on_train_begin(None, TrainerState(global_step=0, max_steps=7), None)
    beats.on_substep_end(None, TrainerState(global_step=0, max_steps=7), None)
    beats.on_step_end(None, TrainerState(global_step=1, max_steps=7), None)
    assert told == [Progress("training", "a step of round-000/adapter", done, 7) for done in (0, 0, 1)]


def test_a_fine_tuning_beats_for_its_line_in_whichever_process(job, tmp_path):
    telling = replace(job, heartbeat=tmp_path / "log/a-line.heartbeat.json")
    write_job(telling, tmp_path / "job.json")
    train_here(read_job(tmp_path / "job.json"))
    told = json.loads(telling.heartbeat.read_text())
    assert (told["line"], told["stage"], told["total"]) == ("a-line", "training", 2 * job.training.epochs)


def test_grouped_rows_of_a_batch_are_of_like_length():
    from training.finetuning.trainer import RowOrder

    lengths = [(7 * i) % 100 for i in range(100)]
    order = list(RowOrder(lengths, seed=0, at_once=10, rows_a_step=10, grouped=True))
    assert sorted(order) == list(range(100))
    spans = [
        max(lengths[i] for i in b) - min(lengths[i] for i in b) for b in (order[s : s + 10] for s in range(0, 100, 10))
    ]
    assert max(spans) < 20


@pytest.mark.slow
def test_fsdp2_takes_steps_over_gloo(job, tmp_path):
    from torch.distributed import is_gloo_available

    if not is_gloo_available():
        pytest.skip("this torch has no gloo")
    train_here(with_(job, global_batch_size=4))
    sharded = with_(replace(job, out=tmp_path / "sharded", nproc=2), batch_size=2, sharding="fsdp2")
    fine_tune(sharded)
    assert difference(job.out, sharded.out) < 2e-4


def test_a_wrong_world_size_is_an_error(job, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(TrainingFailed, match="1 training processes were asked for and 2 run"):
        train_here(job)


def test_a_failure_in_a_launched_process_is_told_in_one_line(job):
    with pytest.raises(InputError, match=r"exceed training\.max_tokens = 5"):
        launch(with_(job, max_tokens=5))


def test_a_process_that_aborts_after_its_part_spoils_nothing_and_one_before_it_everything(job, monkeypatch):
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: start(["false"]))
    with pytest.raises(TrainingFailed, match="ended with status 1"):
        launch(job)
    job.out.mkdir()
    (job.out / MANIFEST).touch()
    launch(job)


def test_several_machines_need_a_place_to_meet(job):
    with pytest.raises(InputError, match="--rendezvous"):
        fine_tune(replace(job, nnodes=2))


def test_a_lost_loss_stops_the_training_and_saves_nothing(job):
    with pytest.raises(TrainingFailed, match=r"the loss is (nan|inf) at step \d+, so nothing was saved"):
        train_here(with_(job, learning_rate=1e30, epochs=20))
    assert not job.out.exists()


def test_out_of_memory_names_the_knobs(job, monkeypatch):
    import torch

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    monkeypatch.setattr("training.finetuning.architecture.trainable_model", fail)
    with pytest.raises(TrainingFailed) as caught:
        train_here(job)
    for knob in ("gradient_checkpointing=true", "batch_size=2", "max_tokens", "quantisation=nf4"):
        assert f"training.{knob}" in str(caught.value)


def test_an_allocation_that_fails_on_a_cpu_is_known():
    import torch

    from rollout.decoding.rows import is_out_of_memory

    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**55)
    assert is_out_of_memory(caught.value)
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))


def test_speed_and_memory_are_logged_beside_the_data(job, tmp_path):
    logged = with_(replace(job, log=tmp_path / "log" / "training.jsonl"), global_batch_size=1)
    train_here(logged)
    lines = [json.loads(line) for line in logged.log.read_text().splitlines()]
    assert [line["step"] for line in lines] == [10]
    assert lines[0]["tokens_per_s"] > 0
    assert lines[0]["peak_memory_bytes"] > 0
    assert not [path for path in job.out.iterdir() if "log" in path.name]


def test_the_processes_of_a_job_die_with_the_command(job, tmp_path):
    """torchrun is told to, and tells its own."""
    spec = tmp_path / "job.json"
    write_job(with_(replace(job, nproc=1), epochs=100_000), spec)
    starts = (
        "import subprocess, sys; subprocess.run([sys.executable, '-m', 'training.finetuning.torchrun', "
        f"'--standalone', '--nproc-per-node=1', '-m', 'training.finetuning.stage', {str(spec)!r}])"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = subprocess.Popen([sys.executable, "-c", starts], cwd=ROOT, env=environment)
    import psutil

    try:
        family = _grown(psutil.Process(command.pid), 2)
    finally:
        command.kill()
        command.wait()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_torchrun_dies_where_who_started_it_ended_before_it_could_ask_to(job, tmp_path, monkeypatch):
    """Else it would train on, beside the fine-tuning of the run that goes on."""
    told = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, *, env: told.append((command, env)) or _Done())
    launch(replace(job, nproc=2))
    ((command, environment),) = told
    assert environment["CERTISTAR_STARTED_BY"] == str(os.getpid())
    monkeypatch.undo()
    orphan = [*command[:3], str(tmp_path / "none.json")]
    done = subprocess.run(orphan, cwd=ROOT, env={**environment, "CERTISTAR_STARTED_BY": str(2**30)}, check=False)
    assert done.returncode == -signal.SIGKILL


class _Done:
    def terminate(self) -> None:
        """Take a signal."""

    def wait(self) -> int:
        return 0


def _grown(process, num: int) -> list:
    import time

    for _ in range(600):
        family = process.children(recursive=True)
        if len(family) >= num:
            time.sleep(3)  # until the last of them has asked to die with its parent
            return process.children(recursive=True)
        time.sleep(0.1)
    raise AssertionError("torchrun did not start")
