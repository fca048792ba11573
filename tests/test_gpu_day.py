"""The day there is a GPU: its steps in order, the model in parts, and a rehearsal of all of it on a CPU."""

import json
from pathlib import Path

import pytest

from tools import gpu_day, real_model


def test_each_step_has_a_name_of_its_own_and_the_whole_day_has_all_parts(tmp_path: Path):
    for toy in (False, True):
        names = [step.name for step in gpu_day.steps(tmp_path, toy=toy)]
        assert len(set(names)) == len(names)
        wanted = ("decoding", "training", "warm-1-adapter", "run-1", "run-2", "compare", "rules-trained", "rules-self")
        places = [names.index(name) for name in wanted]
        assert places == sorted(places)
        assert names[-1] == "vllm"
    assert gpu_day.PART_BYTES < 64 * 2**20


def test_the_model_travels_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gpu_day, "PART_BYTES", 4)
    monkeypatch.setattr(gpu_day, "PACKAGE", tmp_path / "here")
    (tmp_path / "here" / "gguf").mkdir(parents=True)
    (tmp_path / "here" / real_model.FILE).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "here" / real_model.FILE).write_bytes(b"weights")
    gpu_day.pack(tmp_path / "sent")
    monkeypatch.setattr(gpu_day, "PACKAGE", tmp_path / "there")
    gpu_day.unpack(tmp_path / "sent")
    assert (tmp_path / "there" / real_model.FILE).read_bytes() == b"weights"


@pytest.mark.slow
def test_a_rehearsal_at_toy_size_does_everything_and_goes_on_where_it_stopped(tmp_path: Path):
    out = tmp_path / "day"
    if not gpu_day.run(out, 60, toy=True):
        failed = {step.name for step in gpu_day.steps(out, toy=True)} - {path.stem for path in (out / "done").iterdir()}
        pytest.fail("\n".join((out / f"{name}.log").read_text()[-2000:] for name in sorted(failed)))
    done = {path.stem: json.loads(path.read_text())["seconds"] for path in (out / "done").iterdir()}
    assert set(done) == {step.name for step in gpu_day.steps(out, toy=True)}
    assert json.loads((out / "filters" / "bases.json").read_text())["leads"][0]["b"] == "well-formed"
    assert gpu_day.run(out, 0, toy=True)  # nothing is left to do
