"""Arms that learn from references, or from nobody: baselines beside trained arms, in one run."""

import json
from pathlib import Path
from typing import Any

import pytest

from rollout.records.traces import read_trace
from tests.test_run import config_for, work
from training.configuration.run import RunConfig
from training.records.store import read_records
from training.rounds.run import num_attempts

ARMS: list[dict[str, Any]] = [
    {"name": "gold", "keep": "label", "decoding": "free", "strategy": "answer", "taught_by": "references"},
    {"name": "shown", "keep": "strict", "decoding": "free", "strategy": "cot", "taught_by": "proofs"},
    {"name": "bare", "keep": "label", "decoding": "free", "strategy": "cot", "taught_by": "nobody"},
]


@pytest.fixture(scope="module")
def run(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[RunConfig, Path]:
    folder = tmp_path_factory.mktemp("taught")
    config = config_for(
        tiny_model, arms=ARMS, star={"rounds": 1, "problems_per_round": 4},
        evaluation={"num_problems": 3, "greedy": "never"},
    )  # fmt: skip
    work(config, folder / "run")
    return config, folder / "run"


def test_references_are_judged_kept_and_trained_on(run: tuple[RunConfig, Path]) -> None:
    round_path = run[1] / "gold" / "seed-0" / "round-000"
    traces = list(map(read_trace, read_records(round_path / "traces.jsonl", checksum=True)))
    assert len(traces) == 4
    assert all(trace.completion.startswith("Answer: ") for trace in traces)
    assert all(trace.judged.answer == trace.problem.answer for trace in traces)
    examples = list(read_records(round_path / "dataset" / "examples.jsonl"))
    assert [example["completion"] for example in examples] == [trace.completion for trace in traces]
    assert [example["prompt"] for example in examples] == [trace.prompt for trace in traces]
    assert json.loads((round_path / "adapter" / "manifest.json").read_text())["trained"] is not False


def test_an_arm_that_proofs_teach_keeps_one_that_is_certified_of_each_problem(run: tuple[RunConfig, Path]) -> None:
    round_path = run[1] / "shown" / "seed-0" / "round-000"
    traces = list(map(read_trace, read_records(round_path / "traces.jsonl", checksum=True)))
    assert [trace.judged.verdict for trace in traces] == ["certified"] * 4
    examples = list(read_records(round_path / "dataset" / "examples.jsonl"))
    assert [example["completion"] for example in examples] == [trace.completion for trace in traces]
    assert json.loads((round_path / "adapter" / "manifest.json").read_text())["trained"] is not False


def test_an_arm_that_nobody_teaches_samples_no_training_problem_and_is_measured(run: tuple[RunConfig, Path]) -> None:
    round_path = run[1] / "bare" / "seed-0" / "round-000"
    assert list(read_records(round_path / "traces.jsonl", checksum=True)) == []
    assert json.loads((round_path / "adapter" / "manifest.json").read_text())["trained"] is False
    base, after = (json.loads(path.read_text()) for path in (
        run[1] / "base" / "free-cot" / "seed-0" / "evaluation.json", round_path / "evaluation.json"
    ))  # fmt: skip
    assert base["policy"] == after["policy"]
    assert after["modes"]["sampled"]["n"] == 3


def test_all_arms_stand_in_one_report(run: tuple[RunConfig, Path]) -> None:
    report = json.loads((run[1] / "report.json").read_text())
    assert set(report["arms"]) == {"gold", "shown", "bare"}
    assert num_attempts(run[0]) == 2 * 3 + 3 * 3


@pytest.mark.parametrize(
    ("arm", "named"),
    [
        ({"strategy": "actor-critic"}, "there are no references for `strategy: actor-critic`"),
        ({"gold": False, "keep": "unfiltered"}, "references hold the gold answers"),
        ({"strategy": "cot", "keep": "strict"}, "references are bare answers here, which `keep` refuses"),
        ({"taught_by": "proofs", "strategy": "cot", "gold": False}, "proofs hold the gold answers"),
        ({"taught_by": "proofs"}, "proofs are chains of thought"),
    ],
)
def test_references_that_cannot_be_had_are_refused(tiny_model: Path, arm: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        config_for(tiny_model, arms=[{**ARMS[0], **arm}])
