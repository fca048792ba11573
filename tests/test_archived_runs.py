"""Archives of runs that are committed with the results."""

import gzip
import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from tools.archived_runs import write
from training.cli import app
from training.commands.traces import trace_files


def _run(folder: Path) -> Path:
    """Write what a run of two rounds and two seeds leaves, with one certified attempt everywhere."""
    attempt = {
        "id": "p1",
        "problem": {"id": "p1", "dataset": "mine", "context": "Ann is red. Every cat is warm. Ann is a cat."},
    }
    attempt["problem"] |= {"question": "Is Ann warm?", "options": None, "answer": "true", "formal": None, "meta": {}}  # type: ignore[operator]
    attempt |= {"format": "english", "completion": "Ann is a cat. Every cat is warm. So Ann is warm. Answer: true"}
    (folder / "base/free-cot/seed-3").mkdir(parents=True)
    (folder / "config.yaml").write_text("seeds: [3, 4]\nstar: {rounds: 2}\n")
    (folder / "report.json").write_text("{}")
    judged = folder.parent / "judged.jsonl"
    judged.write_text(json.dumps(attempt) + "\n")
    verdicts = folder.parent / "verdicts.jsonl"
    assert CliRunner().invoke(app, ["judge", str(judged), "--out", str(verdicts)]).exit_code == 0
    verdict = json.loads(verdicts.read_text())
    line = json.dumps({**attempt, "judgement": {k: v for k, v in verdict.items() if k != "id"}}) + "\n"
    for place in (
        "base/free-cot/seed-3",
        "strict/seed-3/round-000",
        "strict/seed-3/round-001",
        "strict/seed-4/round-001",
    ):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "evaluation.json").write_text("{}")
        (folder / place / "evaluation.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    return folder


def test_an_archive_has_what_a_comparison_reads_and_one_seeds_last_attempts_which_hold(tmp_path: Path):
    archive = write(_run(tmp_path / "run"), tmp_path)
    with tarfile.open(archive) as packed:
        names = packed.getnames()
        packed.extractall(tmp_path / "else", filter="data")
    attempts = [name for name in names if name.endswith(".jsonl")]
    assert attempts == ["run/base/free-cot/seed-3/evaluation.jsonl", "run/strict/seed-3/round-001/evaluation.jsonl"]
    assert sum(name.endswith("evaluation.json") for name in names) == 4
    assert len(trace_files([tmp_path / "else"])) == 2
    checked = CliRunner().invoke(app, ["recheck", str(tmp_path / "else" / "run"), "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["accepted"] == 2


def test_archives_of_one_run_are_byte_equal_and_an_unfinished_run_has_none(tmp_path: Path):
    run = _run(tmp_path / "run")
    (tmp_path / "a").mkdir()
    assert write(run, tmp_path).read_bytes() == write(run, tmp_path / "a").read_bytes()
    (run / "report.json").unlink()
    with pytest.raises(InputError, match="no finished run"):
        write(run, tmp_path)
