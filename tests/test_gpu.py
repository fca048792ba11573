"""What is different on a GPU: each test runs there, and as a rehearsal on a CPU with CERTISTAR_GPU_TESTS_ON=cpu.

`certistar bench gpu` runs them on machines that have no more than torch, transformers, peft, accelerate and pytest.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from rollout.decoding.choice import score_batch
from rollout.decoding.rows import Request, RequestLimits, is_out_of_memory
from rollout.decoding.sampling import DecodingLoop, generate_batch
from rollout.policies.policy import HuggingFacePolicy, load_tokenizer
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import ALL_OFF, Sampling, Switches
from tools.gpu.decoding import (
    END,
    PADDING,
    TOY,
    FreshOffers,
    OpeningEngine,
    OpeningRow,
    offer_sets,
    random_model,
    vocabulary,
    write_model,
)
from tools.gpu.fine_tuning import full_rows
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.finetuning.job import FineTuning
from training.finetuning.stage import train_here

pytestmark = pytest.mark.gpu
REHEARSES = os.environ.get("CERTISTAR_GPU_TESTS_ON") == "cpu"
TOKENS = vocabulary(TOY.size.vocab_size)


@pytest.fixture(scope="module")
def device() -> str:
    if REHEARSES:
        torch.set_num_threads(1)
        return "cpu"
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return "cuda"


@pytest.fixture(scope="module")
def folder(device: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(TOY, tmp_path_factory.mktemp("gpu") / "model", device)


@pytest.fixture
def job(folder: Path, tmp_path: Path) -> FineTuning:
    (tmp_path / "kept").mkdir()
    rows = full_rows(load_tokenizer(str(folder)), 8, 40, seed="gpu")
    (tmp_path / "kept" / "examples.jsonl").write_text("\n".join(rows) + "\n")
    config = TrainingConfig(global_batch_size=2, max_tokens=40, learning_rate=1e-3)
    return FineTuning(ModelConfig(name=str(folder)), config, tmp_path / "kept", tmp_path / "adapter", 0)


def with_(job: FineTuning, **keys: object) -> FineTuning:
    return replace(job, training=TrainingConfig.model_validate(job.training.model_dump() | keys))


def model_on(where: str):
    """The same weights anywhere: random numbers of a GPU are others than a CPU's."""
    return random_model(TOY, "cpu").float().to(where)


def requests(*, guided: bool) -> list[Request]:
    made: list[Request] = []
    for number in range(5):
        row = OpeningRow(FreshOffers(f"gpu {number}", offer_sets(6, 8, seed=number))) if guided else None
        made.append(Request(list(range(10, 20 + 3 * number)), number, row))
    return made


def written(where: str, *, guided: bool, temperature: float, switches: Switches = ALL_OFF) -> list[list[int]]:
    asked = requests(guided=guided)
    limits = RequestLimits(temperature, 40, END, PADDING)
    DecodingLoop(model_on(where), OpeningEngine(TOKENS), limits, switches).run(asked, 3)
    return [request.output for request in asked]


@pytest.mark.parametrize("guided", [True, False], ids=["guided", "free"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_loop_writes_on_a_gpu_what_it_writes_on_a_cpu(device, guided, temperature):
    assert written(device, guided=guided, temperature=temperature) == written(
        "cpu", guided=guided, temperature=temperature
    )


@pytest.mark.parametrize("guided", [True, False], ids=["guided", "free"])
def test_generate_writes_what_the_loop_writes(device, guided):
    asked = requests(guided=guided)
    found = generate_batch(model_on(device), asked, OpeningEngine(TOKENS), RequestLimits(1.0, 40, END, PADDING))
    assert found == written(device, guided=guided, temperature=1.0)


def test_a_gathered_head_changes_nothing(device):
    gathered = Switches(jump_forward=True, gathered_head=True)
    plain = replace(gathered, gathered_head=False)
    assert written(device, guided=True, temperature=1.0, switches=gathered) == written(
        device, guided=True, temperature=1.0, switches=plain
    )


def test_log_probabilities_are_those_of_a_cpu(device):
    pairs = [(list(range(10, 20)), list(range(30, 44))), (list(range(5, 9)), [50])]
    here, there = (score_batch(model_on(where), pairs, pad_id=PADDING) for where in (device, "cpu"))
    assert here == pytest.approx(there, abs=1e-3)


def test_half_precision_writes_finite_probabilities(device):
    model = model_on(device).to(torch.bfloat16)
    asked = requests(guided=True)
    switches = Switches(log_probabilities=True)
    DecodingLoop(model, OpeningEngine(TOKENS), RequestLimits(1.0, 30, END, PADDING), switches).run(asked, 5)
    values = torch.tensor([value for request in asked for value in request.log_probabilities])
    assert torch.isfinite(values).all()
    assert (values <= 1e-3).all()


METHODS = [{}, {"method": "dora"}, {"method": "full"}, {"layout": "packed"}, {"gradient_checkpointing": True}]


@pytest.mark.parametrize("keys", METHODS, ids=str)
def test_a_fine_tuning_ends_in_weights_that_a_policy_writes_with(job, keys):
    manifest = train_here(with_(job, **keys))
    assert manifest.examples == 8
    assert manifest.precision == ("float32" if REHEARSES and not _native() else "bfloat16")
    policy = HuggingFacePolicy(job.model.name, job.out, prompt_style=PromptStyle())
    (done,) = policy.complete(["Rex is a cat."], None, [0], Sampling(max_new_tokens=5))
    assert done.ids


def _native() -> bool:
    from training.finetuning.trainer import uses_bfloat16

    return uses_bfloat16(TrainingConfig())


@pytest.mark.parametrize("keys", [{"quantisation": "nf4"}, {"method": "full", "optimizer": "adamw_bnb_8bit"}], ids=str)
def test_four_and_eight_bits_train(job, keys):
    pytest.importorskip("bitsandbytes")
    assert train_here(with_(job, **keys)).trained


def test_float32_trains_on_a_gpu_what_it_trains_on_a_cpu(job, device, tmp_path):
    if device == "cpu":
        pytest.skip("needs both")
    from safetensors.torch import load_file

    from training.finetuning import trainer

    job = with_(job, precision="float32")
    job = replace(job, model=job.model.model_copy(update={"dtype": "float32"}))
    train_here(job)
    spec = tmp_path / "job.json"
    import subprocess
    import sys

    from training.finetuning.job import write_job

    write_job(replace(job, out=tmp_path / "cpu"), spec)
    command = [sys.executable, "-m", "training.finetuning.stage", str(spec)]
    root = Path(trainer.__file__).parents[2]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    ours, theirs = (load_file(path / "adapter_model.safetensors") for path in (job.out, tmp_path / "cpu"))
    for name, weights in theirs.items():
        torch.testing.assert_close(ours[name], weights, rtol=1e-2, atol=1e-4)


def test_speed_and_memory_of_the_gpu_are_logged(job, device, tmp_path):
    train_here(replace(with_(job, global_batch_size=1, epochs=2), log=tmp_path / "log.jsonl"))
    line = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    assert line["peak_memory_bytes"] > 0
    assert device == "cpu" or line["mfu"] is None or line["mfu"] > 0
    assert device == "cpu" or line["device"] == torch.cuda.get_device_name(0)


def test_the_gpu_is_known_and_told_apart_from_the_host(device):
    from training.hardware import HOST, device_here
    from training.workers.choice import visible_gpus

    found = device_here()
    assert (found.name == HOST) is (device == "cpu")
    assert bool(visible_gpus()) is (device != "cpu")


def test_memory_that_a_gpu_has_not_is_told_as_such(device):
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50, device=device)
    assert is_out_of_memory(caught.value)


def test_a_model_that_is_forgotten_gives_its_memory_back(device):
    if device == "cpu":
        pytest.skip("needs a GPU's own count")
    from training.workers.strategies import forget_models

    before = torch.cuda.memory_allocated()
    model = model_on(device)
    assert torch.cuda.memory_allocated() > before
    del model
    forget_models()
    assert torch.cuda.memory_allocated() <= before


def test_a_stage_finds_its_gpu_in_a_process_of_its_own(device):
    from training.rounds.processes import Child

    (found,) = Child(_count_gpus).result()
    assert found == (0 if device == "cpu" else torch.cuda.device_count())


def _count_gpus(channel: object) -> tuple[int]:
    return (torch.cuda.device_count(),)
