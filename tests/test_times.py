"""Times of a run's stages are read from its log."""

import json
from pathlib import Path

from training.records.run_folder import StageTime, add_time, read_times
from training.reporting.runs import time_lines


def time(stage: str, seconds: float, peak: int = 2**30) -> StageTime:
    return StageTime("strict-seed-0", stage, seconds, 1, 2, peak)


def test_times_and_memory_are_told_by_stage(tmp_path: Path) -> None:
    assert list(time_lines(tmp_path)) == []
    for stage, seconds in (("roll_out", 30.0), ("roll_out", 20.0), ("fine_tune_round", 80.0), ("evaluate", 6.0)):
        add_time(tmp_path, time(stage, seconds))
    with (tmp_path / "log" / "stage-times.jsonl").open("a") as file:
        file.write('{"line": "torn')
    log = {"step": 10, "peak_memory_bytes": 2 * 2**30}
    (tmp_path / "log" / "training-strict-0.jsonl").write_text(json.dumps(log) + "\n{torn\n")
    assert len(read_times(tmp_path)) == 4
    assert list(time_lines(tmp_path)) == [
        "rollout: 50.0 s, 0.028 GPU-hours, 1.00 GiB",
        "curation: 0.0 s",
        "fine-tuning: 80.0 s, 0.044 GPU-hours, 2.00 GiB",
        "evaluation: 6.0 s, 0.0033 GPU-hours, 1.00 GiB",
    ]
