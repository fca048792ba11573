"""Any number of processes, one result: gradients of a step, steps, adapters, and what goes on from a checkpoint.

Float error is the only difference: sums over a step's tokens are taken in another order (about 1e-7 of the largest
term), and AdamW divides by the root of the second moment, which makes it larger where a gradient is near zero. After
eight steps at a learning rate of 1e-2 weights differ by less than 2e-5, which is 0.2% of one step. Learning one row
twice moves them by 50 times that at least.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from critics.errors import InputError
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.finetuning.job import FineTuning, write_job
from training.finetuning.torchrun import check_launcher
from training.preemption import STATUS, Preempted

ROOT = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
NUM_EXAMPLES = 11
BOUND = 2e-5
LONG_BOUND = 1e-3
"""After 120 steps, over which differences grow: a tenth of one step."""
GRADIENTS = """
import sys
from pathlib import Path
import torch
from transformers import TrainerCallback
from training.finetuning import stage, trainer
from training.finetuning.job import read_job

class Keep(TrainerCallback):
    def __init__(self, kept):
        self.kept = kept
    def on_pre_optimizer_step(self, args, state, control, model=None, **others):
        model = getattr(model, "module", model)
        self.kept.append({name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})

def main(specs):
    build = trainer.build_trainer
    for spec in specs:
        kept = []
        def building(*arguments):
            made = build(*arguments)
            made.add_callback(Keep(kept))
            return made
        trainer.build_trainer = building
        stage.train_here(read_job(Path(spec)))
        torch.save(kept, spec + ".gradients") if torch.distributed.get_rank() == 0 else None

main(sys.argv[1:])
"""
"""Runs fine-tunings, each of which leaves the gradients of all its steps."""
CASES = {
    "padded": {"batch_size": 1},
    "as many as fit": {},
    "grouped": {"layout": "grouped", "batch_size": 1},
    "packed": {"layout": "packed", "attention": "sdpa", "batch_size": 2, "max_tokens": 224},
    "covered": {"loss_on": "covered", "batch_size": 2},
}


@pytest.fixture
def data(tmp_path) -> Path:
    """A dataset folder with completions of 4 to 120 words, so that a mean of means is far from the mean."""
    folder = tmp_path / "data"
    folder.mkdir()
    lengths = [120, 4, 90, 6, 110, 5, 8, 100, 4, 7, 60]
    lines = [
        {
            "id": str(i),
            "prompt": f"Question {i}. " * (1 + i % 4),
            "completion": ("true " if i % 2 else "false ") * length,
            "unread": [[0, length * 4]] if i % 3 == 0 else [],
        }
        for i, length in enumerate(lengths)
    ]
    assert len(lines) == NUM_EXAMPLES
    (folder / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture
def job(tiny_model, data, tmp_path) -> FineTuning:
    training = TrainingConfig.model_validate(
        {"global_batch_size": 4, "learning_rate": 1e-2, "epochs": 2, "precision": "float32", "max_tokens": 512}
        | {"warmup_steps": 2}
    )
    return FineTuning(ModelConfig(name=str(tiny_model)), training, data, tmp_path / "adapter", seed=3)


def with_(job: FineTuning, out: str, **keys: object) -> FineTuning:
    training = TrainingConfig.model_validate(job.training.model_dump() | keys)
    return replace(job, training=training, out=job.out.with_name(out))


def still(job: FineTuning, out: str, **keys: object) -> FineTuning:
    """All weights are trained and none moves, so that each step's gradient is that of the base."""
    return with_(job, out, method="full", learning_rate=1e-12, warmup_steps=0, epochs=1, **keys)


def gradients(job: FineTuning, num_processes: int) -> dict[str, list]:
    """Return the gradients of the steps of each case, in so many processes."""
    import torch

    folder = job.out.parent
    (folder / "gradients.py").write_text(GRADIENTS)
    specs = []
    for name, keys in CASES.items():
        specs.append(folder / f"{name}-{num_processes}.json")
        mine = still(job, f"{name}-{num_processes}", **keys)
        write_job(replace(mine, nproc=num_processes), specs[-1])
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={num_processes}"]
    subprocess.run([*command, folder / "gradients.py", *specs], cwd=ROOT, env=ENVIRONMENT, check=True)
    return {name: torch.load(f"{spec}.gradients") for name, spec in zip(CASES, specs, strict=True)}


def expected(job: FineTuning, **keys: object) -> tuple[list, list]:
    """Return the clipped gradients of the steps by a loop of our own, a row at a time, and those of a mean of means."""
    import torch

    from rollout.policies.policy import load_model, load_tokenizer
    from training.finetuning.examples import Collator, length, read_examples, rows_of
    from training.finetuning.trainer import RowOrder

    config = still(job, "expected", **keys).training
    tokenizer = load_tokenizer(job.model.name)
    examples = read_examples(job.data, job.model, tokenizer, max_tokens=config.max_tokens, loss_on=config.loss_on)
    rows = rows_of(examples, config)
    order = RowOrder(
        list(map(length, rows)),
        seed=job.seed,
        at_once=1,
        rows_a_step=4,
        grouped=config.layout == "grouped",
    )
    collate = Collator(tokenizer.pad_token_id, config.layout == "packed")
    model = load_model(job.model.name, attn_implementation=config.attention if keys.get("attention") else "eager")
    numbers, found = list(order), ([], [])
    for start in range(0, len(numbers), 4):
        batches = [collate([rows[number]]) for number in numbers[start : start + 4]]
        counts = [int((batch["labels"][:, 1:] != -100).sum()) for batch in batches]
        for way in (0, 1):
            model.zero_grad()
            for batch, count in zip(batches, counts, strict=True):
                inputs = {name: value for name, value in batch.items() if name != "labels"}
                logits = model(**inputs, use_cache=False).logits[:, :-1].flatten(0, 1)
                labels = batch["labels"][:, 1:].flatten()
                loss = torch.nn.functional.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
                (loss / (sum(counts) if way == 0 else count * len(batches))).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            found[way].append({name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None})
    return found


def furthest(some: list, others: list) -> float:
    """Return the largest distance between gradients of a step, as a share of the gradient's own length."""
    import torch

    assert len(some) == len(others)
    shares = []
    for one, other in zip(some, others, strict=True):
        assert one.keys() == other.keys()
        both = [torch.cat([grads[name].flatten() for name in one]) for grads in (one, other)]
        shares.append(float((both[0] - both[1]).norm() / both[1].norm()))
    return max(shares)


@pytest.mark.parametrize("num_processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_gradient_of_a_step_is_the_mean_over_its_tokens_on_any_number_of_processes(job, num_processes):
    """Of very different lengths, in several batches a step, and a last step that is not full."""
    for name, found in gradients(job, num_processes).items():
        right, of_means = expected(job, **CASES[name])
        assert furthest(found, right) < 1e-5, name
        if name != "packed":  # whose rows are about as long as one another
            assert furthest(of_means, right) > 0.05, name


def configured(job: FineTuning, tmp_path: Path, **keys: object) -> Path:
    """Write a configuration file, as JSON, which is YAML."""
    path = tmp_path / "config.yaml"
    training = job.training.model_dump() | {"epochs": 4} | keys
    path.write_text(json.dumps({"name": "t", "model": {"name": job.model.name}, "training": training}))
    return path


def trained(config: Path, data: Path, out: Path, num_processes: int) -> subprocess.Popen[str]:
    """Start the fine-tuning of a configuration file in so many processes."""
    words = ["train", config, "--data", data, "--out", out, "--nproc", num_processes, "--seed", 3]
    command = [sys.executable, "-m", "training", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)


def finished(process: subprocess.Popen[str]) -> str:
    told = process.communicate(timeout=1800)[1]
    assert process.returncode == 0, told
    return told


def distance(one: Path, other: Path) -> float:
    """Return the largest difference between two adapters' numbers."""
    from safetensors.torch import load_file

    some, others = (load_file(folder / "adapter_model.safetensors") for folder in (one, other))
    assert some.keys() == others.keys()
    return max(float((some[name] - others[name]).abs().max()) for name in some)


def logged(out: Path) -> list[tuple[int, float]]:
    """Return the steps that were logged, with the mean loss of their tokens."""
    lines = (out.parent / "log" / f"{out.name}.jsonl").read_text().splitlines()
    return [(line["step"], line["loss"]) for line in map(json.loads, lines)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys", [{}, {"layout": "packed", "attention": "sdpa", "max_tokens": 224, "epochs": 12}], ids=["padded", "packed"]
)
def test_one_configuration_trains_one_adapter_on_one_two_and_four_processes(job, data, tmp_path, keys):
    config = configured(job, tmp_path, **keys)
    for num in (1, 2, 4):
        finished(trained(config, data, tmp_path / f"on-{num}", num))
    one = json.loads((tmp_path / "on-1" / "manifest.json").read_text())
    for num in (2, 4):
        assert distance(tmp_path / "on-1", tmp_path / f"on-{num}") < BOUND
        assert logged(tmp_path / f"on-{num}") == [
            (s, pytest.approx(loss, rel=1e-3)) for s, loss in logged(tmp_path / "on-1")
        ]
        manifest = json.loads((tmp_path / f"on-{num}" / "manifest.json").read_text())
        assert manifest["config"] == one["config"]
        assert manifest["mean_loss"] == pytest.approx(one["mean_loss"], rel=1e-3)


def test_the_bound_tells_a_row_that_is_learnt_twice(job, data, tmp_path):
    """A step of a mistake is far beyond float error."""
    from training.finetuning.stage import train_here

    train_here(replace(job, out=tmp_path / "right"))
    lines = (data / "examples.jsonl").read_text().splitlines(keepends=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "examples.jsonl").write_text("".join([*lines, lines[3]]))
    train_here(replace(job, data=other, out=tmp_path / "wrong"))
    assert distance(tmp_path / "right", tmp_path / "wrong") > 50 * BOUND


@pytest.mark.slow
@pytest.mark.parametrize("agent", [False, True], ids=["train", "torchrun"])
def test_sigterm_to_two_processes_leaves_a_checkpoint_that_any_number_goes_on_from(job, data, tmp_path, agent):
    """By the command alone, and under a launcher such as accelerate's, whose agent the scheduler signals."""
    config = configured(job, tmp_path, checkpoint_steps=2, epochs=40)
    finished(trained(config, data, tmp_path / "alone", 1))
    out = tmp_path / "adapter"
    words = ["-m", "training", "train", config, "--data", data, "--out", out, "--seed", 3]
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"] if agent else []
    command = [sys.executable, *launcher, *map(str, words), *([] if agent else ["--nproc", "2"])]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    work = out.with_name(".adapter.work")
    until = time.monotonic() + 300
    while not list(work.glob("checkpoint-*/whole.json")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    told = process.communicate(timeout=120)[1]
    said = [line for line in told.splitlines() if "asked to end (SIGTERM): checkpoint at step" in line]
    assert len(said) == 1, told
    assert process.returncode != 0 if agent else process.returncode == STATUS, told
    for num in (1, 4):
        copy = tmp_path / f"on-{num}"
        shutil.copytree(work, copy.with_name(f".{copy.name}.work"))
        finished(trained(config, data, copy, num))
        assert distance(tmp_path / "alone", copy) < LONG_BOUND
        one, other = ((tmp_path / name / "manifest.json").read_text() for name in ("alone", copy.name))
        assert json.loads(other)["mean_loss"] == pytest.approx(json.loads(one)["mean_loss"], rel=1e-3)


def test_a_checkpoint_of_other_examples_or_settings_is_not_gone_on_from(job, data, tmp_path, monkeypatch):
    from training.finetuning.stage import train_here

    saving = with_(job, "adapter", checkpoint_steps=1)
    with monkeypatch.context() as patch:
        patch.setattr("training.finetuning.trainer.is_asked", lambda: True)
        with pytest.raises(Preempted):
            train_here(saving)
    for other in (with_(saving, "adapter", learning_rate=1e-3), replace(saving, seed=4)):
        with pytest.raises(InputError, match=r"checkpoint-1 is of a fine-tuning with .* other settings; delete"):
            train_here(other)
    changed = (data / "examples.jsonl").read_text()
    (data / "examples.jsonl").write_text(changed.replace("true", "false"))
    with pytest.raises(InputError, match="other examples"):
        train_here(saving)
    (data / "examples.jsonl").write_text(changed)
    train_here(with_(saving, "adapter", batch_size=1, gradient_checkpointing=True, checkpoint_steps=0))


@pytest.mark.parametrize(
    ("environment", "keys", "told"),
    [
        ({"ACCELERATE_USE_DEEPSPEED": "true"}, {}, "DeepSpeed"),
        ({"ACCELERATE_USE_FSDP": "true"}, {"sharding": "fsdp2"}, "fsdp1 and training.sharding is fsdp2; write fsdp2"),
        ({"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}, {}, "set training.sharding=fsdp2"),
        ({"ACCELERATE_USE_MEGATRON_LM": "true"}, {}, "Megatron-LM"),
        ({"ACCELERATE_USE_PARALLELISM_CONFIG": "true"}, {}, "parallelism_config"),
        ({"ACCELERATE_MIXED_PRECISION": "fp16"}, {}, "mixed_precision fp16 and training.precision is auto"),
        ({"ACCELERATE_MIXED_PRECISION": "bf16"}, {"precision": "float32"}, "training.precision decides"),
    ],
)
def test_a_launch_file_that_asks_for_something_else_is_refused_by_name(environment, keys, told):
    with pytest.raises(InputError, match=told):
        check_launcher(TrainingConfig.model_validate(keys), environment)


@pytest.mark.parametrize(
    ("environment", "keys"),
    [
        ({}, {"sharding": "fsdp2"}),
        ({"ACCELERATE_MIXED_PRECISION": "bf16"}, {}),
        ({"ACCELERATE_MIXED_PRECISION": "no"}, {"precision": "float32"}),
        ({"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"}, {"sharding": "fsdp2"}),
    ],
)
def test_a_launch_file_that_asks_for_the_same_is_as_good_as_none(environment, keys):
    check_launcher(TrainingConfig.model_validate(keys), environment)


def test_full_weights_are_sampled_in_the_precision_of_the_model_also_from_shards(tiny_model, tmp_path):
    """Float32 masters of 13 billion parameters are more than one file holds."""
    import torch

    from rollout.policies.policy import HuggingFacePolicy, load_model
    from rollout.prompts.style import PromptStyle

    load_model(str(tiny_model)).save_pretrained(tmp_path, max_shard_size="40KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    for dtype, held in (("bfloat16", torch.bfloat16), ("auto", torch.float32)):
        policy = HuggingFacePolicy(str(tiny_model), tmp_path, prompt_style=PromptStyle("bare"), dtype=dtype)
        assert {p.dtype for p in policy.model.parameters()} == {
            held if not torch.cuda.is_available() else torch.bfloat16
        }
