"""Looking ahead: what a run takes, on paper, and a refusal where it cannot fit."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from critics.errors import InputError
from tools.capacity import Store, Workload, a100, cost, simulate
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.finetuning.compute import ModelShape, most_sparing, num_trained, training_flops, training_memory
from training.hardware import Device
from training.planning import forecast as looking_ahead
from training.planning import forecast as planning
from training.planning.forecast import CannotFit, forecast

LLAMA_8B = ModelShape(8_030_261_248, 7_504_658_432, 6_979_321_856, 2_981_888, 32, 4096, 14336, 32, 1024, 128_256)
A100 = Device("NVIDIA A100 80GB", 80 * 2**30, 312e12)


@pytest.fixture
def config(tiny_model) -> RunConfig:
    return RunConfig.model_validate(
        {"name": "t", "model": {"name": str(tiny_model)}, "problems": {"hops": [1]}, "jobs": 1}
    )


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A device of our choice."""
    monkeypatch.setattr(looking_ahead, "device_here", lambda: A100)


def test_the_shape_of_a_model_is_that_of_its_weights(tiny_model):
    from safetensors.torch import load_file

    shape = looking_ahead.shape_for(ModelConfig(name=str(tiny_model)))
    assert shape.num_params == sum(tensor.numel() for tensor in load_file(tiny_model / "model.safetensors").values())
    assert num_trained(shape, TrainingConfig(lora_rank=8)) == 8 * shape.linear_widths


def test_lora_has_two_thirds_of_the_operations_of_full_training():
    full = training_flops(LLAMA_8B, TrainingConfig(method="full"), 1000)
    assert full == pytest.approx(6 * 7.5e9, rel=0.1)
    assert training_flops(LLAMA_8B, TrainingConfig(), 1000) / full == pytest.approx(2 / 3, rel=0.01)


@pytest.mark.parametrize(
    "keys",
    [
        {"gradient_checkpointing": True},
        {"quantisation": "nf4"},
        {"batch_size": 1},
        {"optimizer": "adamw_bnb_8bit"},
    ],
    ids=str,
)
def test_every_knob_that_is_named_for_memory_saves_some(keys):
    plain = training_memory(LLAMA_8B, TrainingConfig(), tokens=2048, bytes_a_weight=2)
    saved = training_memory(LLAMA_8B, TrainingConfig.model_validate(keys), tokens=2048, bytes_a_weight=2)
    assert saved.total < plain.total


def test_sharding_divides_what_is_held():
    full = TrainingConfig(method="full")
    alone = training_memory(LLAMA_8B, full, tokens=512, bytes_a_weight=2)
    shared = training_memory(
        LLAMA_8B, full.model_copy(update={"sharding": "fsdp2"}), tokens=512, bytes_a_weight=2, num_processes=8
    )
    assert shared.trained == pytest.approx(alone.trained / 8)


def test_a_forecast_counts_lines_attempts_and_tokens(config):
    found = forecast(config)
    assert found.num_lines == 1
    assert found.num_units == 2
    assert found.lengths.known
    assert any("attempts:" in line for line in found.lines())


def test_a_configuration_that_cannot_fit_says_why_and_what_to_change(config, monkeypatch):
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    large = config.model_copy(update={"training": TrainingConfig(method="full", batch_size=4)})
    with pytest.raises(CannotFit, match=r"most of it what is trained .* 80\.0 GiB.*training\.method=lora"):
        forecast(large)


@pytest.mark.parametrize(
    ("gib", "told"), [(16, r"one worker at a time takes \d+\.\d GiB$"), (2, r"not enough .* a smaller model$")]
)
def test_a_configuration_that_cannot_fit_says_whether_the_knobs_are_enough(config, monkeypatch, gib, told):
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    monkeypatch.setattr(looking_ahead, "device_here", lambda: replace(A100, memory=gib * 2**30))
    with pytest.raises(CannotFit, match=told):
        forecast(config)


@pytest.mark.parametrize("keys", [{}, {"method": "full"}, {"sharding": "fsdp2"}], ids=str)
def test_the_most_sparing_fine_tuning_takes_least(keys):
    config = TrainingConfig.model_validate(keys)
    spared = most_sparing(config, num_processes=4)
    sizes = [
        training_memory(LLAMA_8B, one, tokens=2048, bytes_a_weight=2, num_processes=4).total for one in (spared, config)
    ]
    assert sizes[0] < sizes[1]
    assert spared.rows_a_step(4) == config.rows_a_step(4)


def test_a_rollout_that_cannot_fit_names_the_seats(config, monkeypatch):
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    monkeypatch.setattr(looking_ahead, "device_here", lambda: replace(A100, memory=20 * 2**30))
    small = config.model_copy(update={"training": TrainingConfig(quantisation="nf4", gradient_checkpointing=True)})
    seated = small.model_copy(update={"sampling": small.sampling.model_copy(update={"num_seats": 100})})
    with pytest.raises(CannotFit, match=r"rolling out .* sampling\.num_seats=50"):
        forecast(seated)
    assert forecast(small).rollout_bytes > 20 * 2**30, "without a number, as many are seated as memory holds"


def test_the_policies_of_a_line_share_the_machine_as_the_run_would_start_them(config, monkeypatch):
    """One a core where there is no GPU: what fits once need not fit 96 times."""
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    monkeypatch.setattr(planning, "cores_for_each", lambda jobs: 96 // jobs)
    host = Device("CPU, one thread", 2**40)
    monkeypatch.setattr(looking_ahead, "device_here", lambda: host)
    star = config.star.model_copy(update={"problems_per_round": 1000 * config.sampling.batch_size})
    large = config.model_copy(update={"star": star})
    with pytest.raises(CannotFit, match=r"rolling out .* for each of 96 at a time: .*workers\.samplers=48"):
        forecast(large)
    few = large.workers.model_copy(update={"samplers": 2})
    assert forecast(large.model_copy(update={"workers": few})).division.samplers == 2
    monkeypatch.setattr(looking_ahead, "device_here", lambda: A100)
    assert forecast(large).division.samplers == 1


def test_lines_have_gpus_of_their_own_as_the_run_gives_them(config, monkeypatch):
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    training = TrainingConfig(global_batch_size=16, gradient_checkpointing=True)
    eight = config.model_copy(update={"seeds": list(range(8)), "training": training})
    plans = {jobs: forecast(eight.model_copy(update={"jobs": jobs}), "A100:8") for jobs in (0, 1, 2, 8)}
    found = {jobs: (p.division.lines, p.division.processes, p.division.policies) for jobs, p in plans.items()}
    assert found == {0: (1, 8, 2), 1: (1, 8, 2), 2: (2, 4, 2), 8: (8, 1, 1)}
    assert len({plan.training_steps for plan in plans.values()}) == 1
    assert "8 at a time, 1 of 8 GPUs each" in plans[8].lines()[0]
    assert f"{plans[8].training_steps:,} optimiser steps in all, each of 16 rows" in "\n".join(plans[8].lines())
    with pytest.raises(CannotFit, match=r"for each of 4 at a time.*jobs=16"):
        forecast(eight.model_copy(update={"jobs": 32, "seeds": list(range(32))}), "A100:8")
    with pytest.raises(
        InputError, match=r"16 rows a step cannot be shared .*jobs=3 gives 3 of 8 GPUs .*write jobs=2 or 4"
    ):
        forecast(eight.model_copy(update={"jobs": 3}), "A100:8")


def test_other_gpus_are_planned_for_by_their_data_sheets(config):
    found = forecast(config, "T4:4")
    assert found.device.name == "T4 (data sheet)"
    assert found.gpus == 4
    assert "T4 (data sheet)" in found.lines()[-1]


def test_a_model_is_looked_at_as_its_revision_has_it(monkeypatch):
    asked = []
    monkeypatch.setattr(looking_ahead, "empty_model", lambda name: asked.append(name))
    monkeypatch.setattr(looking_ahead, "shape_of_model", lambda _: LLAMA_8B)
    assert looking_ahead.shape_for(ModelConfig(name="someone/model", revision="v1")) == LLAMA_8B
    assert asked == ["someone/model@v1"]


@pytest.mark.parametrize("text", ["P100", "A100:0", "A100:x"])
def test_an_unknown_gpu_lists_the_known_ones(config, text):
    with pytest.raises(InputError, match=r"--on .* one of H200, .*A100:8"):
        forecast(config, text)


def test_seats_are_no_advice_where_the_weights_alone_do_not_fit(config, monkeypatch):
    monkeypatch.setattr(looking_ahead, "shape_for", lambda _: LLAMA_8B)
    monkeypatch.setattr(looking_ahead, "device_here", lambda: replace(A100, memory=14 * 2**30))
    small = config.model_copy(update={"training": TrainingConfig(quantisation="nf4", gradient_checkpointing=True)})
    with pytest.raises(CannotFit, match=r"rolling out .* with one seat, .*: set a smaller model$"):
        forecast(small)


def test_the_formula_and_the_simulation_agree_where_nothing_waits():
    pytest.importorskip("simpy", reason="simpy, of the extra [dev], is not installed")
    work, worker, store = Workload(), a100(), Store()
    for workers in (1, 16):
        attempts = workers * worker.rows * 10
        formula = cost(work, worker, store, attempts=attempts, workers=workers, kept=0, epochs=0)
        seen = simulate(work, worker, store, attempts=attempts, workers=workers, seed=1)
        assert seen.bottleneck == formula.bottleneck == "rollout"
        assert seen.seconds == pytest.approx(formula.sampling_s, rel=0.35)


def test_slow_critics_on_few_cores_become_what_all_wait_for():
    pytest.importorskip("simpy", reason="simpy, of the extra [dev], is not installed")
    work, worker = Workload(critic_s=1.0, timeout_rate=0.0), a100(critics=1)
    formula = cost(work, worker, Store(), attempts=worker.rows * 8, workers=1, kept=0, epochs=0)
    seen = simulate(work, worker, Store(), attempts=worker.rows * 8, workers=1, seed=1)
    assert seen.bottleneck == formula.bottleneck == "certification"


def test_one_writer_becomes_what_all_wait_for_in_the_end():
    found = [
        cost(Workload(), a100(), Store(), attempts=10**6, workers=n, kept=0, epochs=0).bottleneck for n in (1, 100_000)
    ]
    assert found == ["rollout", "store"]


def test_the_tables_of_the_documentation_are_those_of_the_code():
    from tools.capacity import _million

    page = Path(__file__).parents[1] / "docs" / "results" / "scaling" / "README.md"
    assert _million() in page.read_text(encoding="utf-8")


def test_the_memory_model_is_the_one_that_was_measured():
    """Whoever changes it measures again: `python -m tools.bench memory --json`."""
    from tools.bench.memory import CASES, MIB, predicted

    root = Path(__file__).parents[1] / "docs"
    rows = {row["name"]: row for row in json.loads((root / "results/scaling/memory.json").read_text())["rows"]}
    text = (root / "results" / "scaling" / "README.md").read_text(encoding="utf-8")
    for case in CASES:
        row = rows[case.name]
        measured = row["baseline"].split()[0]
        assert f"| {measured} | {row['value']:.2f} |" in text
        assert predicted(case) / MIB / float(measured) == pytest.approx(row["value"], rel=0.01)
