"""What was foretold of a run's stages stands beside what was measured."""

import json
from pathlib import Path

import pytest

from training.records.run_folder import Plan, PlannedStage, StageTime, add_time, read_plan, read_times, write_plan
from training.reporting.costs import time_lines, times_of

PLAN = Plan(
    {
        "rollout": PlannedStage(100.0, 0.5, 2 * 2**30),
        "curation": PlannedStage(2.0, 0.01),
        "fine-tuning": PlannedStage(40.0, 0.2, 3 * 2**30),
        "evaluation": PlannedStage(60.0, 0.3, 2 * 2**30),
    },
    at_once=2,
    device="2 x A100 (data sheet)",
    engine="vllm",
    source="estimated from the data sheet of A100, not measured",
)


def time(stage: str, seconds: float, peak: int = 2**30) -> StageTime:
    return StageTime("strict-seed-0", stage, seconds, 1, 2, peak)


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_plan(tmp_path) is None
    write_plan(tmp_path, PLAN)
    assert read_plan(tmp_path) == PLAN
    assert (PLAN.wall_s, PLAN.gpu_hours) == (101.0, pytest.approx(1.01))
    (tmp_path / "log" / "plan.json").write_text("{}")
    assert read_plan(tmp_path) is None


def test_predicted_and_measured_stand_beside_each_other(tmp_path: Path) -> None:
    assert times_of(tmp_path) is None
    write_plan(tmp_path, PLAN)
    assert times_of(tmp_path) is None
    for stage, seconds in (("roll_out", 30.0), ("roll_out", 20.0), ("fine_tune_round", 80.0), ("evaluate", 6.0)):
        add_time(tmp_path, time(stage, seconds))
    with (tmp_path / "log" / "stage-times.jsonl").open("a") as file:
        file.write('{"line": "torn')
    log = {"step": 10, "peak_memory_bytes": 2 * 2**30}
    (tmp_path / "log" / "training-strict-0.jsonl").write_text(json.dumps(log) + "\n{torn\n")
    assert len(read_times(tmp_path)) == 4
    found = times_of(tmp_path)
    assert found is not None
    rollout, curation, training, evaluation = found["stages"]
    assert (rollout["measured_s"], rollout["ratio"], rollout["memory_ratio"]) == (50.0, 2.0, 2.0)
    assert rollout["gpu_hours"] == pytest.approx(2 * 50 / 3600)
    assert (curation["measured_s"], curation["ratio"], curation["memory_ratio"]) == (0, None, None)
    assert (training["ratio"], training["memory_ratio"]) == (0.5, 1.5)
    assert evaluation["ratio"] == 10
    told = "\n".join(time_lines(found))
    assert "not measured; engine: vllm" in told
    assert "rollout: predicted 2 min, measured 50.0 s" in told
    assert "ratio 2.00" in told


def test_a_stage_that_was_not_foretold_says_so(tmp_path: Path) -> None:
    """What a server takes is not known."""
    stages = {name: stage for name, stage in PLAN.stages.items() if name != "rollout"}
    write_plan(tmp_path, Plan(stages, 1, "CPU", "a server", "measured"))
    add_time(tmp_path, time("roll_out", 5.0, 0))
    found = times_of(tmp_path)
    assert found is not None
    assert list(time_lines(found))[1] == "rollout: predicted -, measured 5.0 s; 0.0028 GPU-hours"
