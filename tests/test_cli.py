"""The command line as a stranger meets it: good files go through, bad ones get one line and exit status 2."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from critics.replay.certificate import digest
from training.cli import app
from training.extras import PACKAGES
from training.records.run_folder import locked
from training.records.store import StoreError

ROOT = Path(__file__).parents[1]
RUN_CONFIG = """\
name: tiny
model: {{name: {model}}}
problems: {{hops: [1], extra_kinds: [0, 0]}}
sampling: {{max_new_tokens: 12, batch_size: 3}}
evaluation: {{batch_size: 3}}
"""


def certistar(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def refusal(*words: object) -> str:
    """Run a command that must be refused; return what it says."""
    result = certistar(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("certistar: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    path = tmp_path / "problems.jsonl"
    assert certistar("problems", "prontoqa", "--num", 4, "--hops", "1,2", "--out", path).exit_code == 0
    return path


@pytest.fixture
def attempts(problems: Path) -> Path:
    path = problems.with_name("attempts.jsonl")
    assert certistar("demonstrate", problems, "--out", path).exit_code == 0
    return path


@pytest.fixture
def verdicts(attempts: Path) -> Path:
    path = attempts.with_name("verdicts.jsonl")
    assert certistar("judge", attempts, "--out", path).exit_code == 0
    return path


def config(folder: Path, model: Path | str) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(RUN_CONFIG.format(model=model))
    return path


def test_demonstrations_are_certified_and_kept(attempts: Path, verdicts: Path, tmp_path: Path) -> None:
    assert [(v["id"], v["verdict"]) for v in read(verdicts)] == [(a["id"], "certified") for a in read(attempts)]

    rechecked = certistar("recheck", verdicts, "--json")
    assert rechecked.exit_code == 0
    counts = json.loads(rechecked.stdout)
    assert (counts["checked"], counts["accepted"], counts["rejected"]) == (4, 4, [])

    out = tmp_path / "dataset"
    filtered = certistar("filter", attempts, "--verdicts", verdicts, "--keep", "strict", "--out", out, "--json")
    assert json.loads(filtered.stdout)["kept"] == 4
    digests = [verdict["certificate"]["digest"] for verdict in read(verdicts)]
    assert [example["certificate"] for example in read(out / "examples.jsonl")] == digests


def test_filter_judges_what_has_no_verdict(attempts: Path, tmp_path: Path) -> None:
    wrong = read(attempts)
    wrong[0]["completion"] = wrong[0]["completion"].rpartition("Answer:")[0]
    result = certistar(
        "filter",
        write(tmp_path / "wrong.jsonl", wrong),
        "--keep",
        "strict",
        "--out",
        tmp_path / "d",
        "--json",
    )
    summary = json.loads(result.stdout)
    assert (summary["sampled"], summary["certified"], summary["kept"]) == (4, 3, 3)


@pytest.mark.parametrize("digest_fits", [False, True], ids=["stale digest", "new digest"])
def test_recheck_finds_a_record_that_was_tampered_with(verdicts: Path, digest_fits: bool) -> None:
    records = read(verdicts)
    certificate = records[2]["certificate"]
    last = certificate["evidence"]["steps"][-1]
    last["premises"] = [0] * len(last["premises"])
    if digest_fits:
        certificate["digest"] = digest(certificate)

    result = certistar("recheck", write(verdicts, records), "--json")

    assert result.exit_code == 1
    counts = json.loads(result.stdout)
    assert (counts["checked"], counts["accepted"]) == (4, 3)
    assert [rejection["id"] for rejection in counts["rejected"]] == [records[2]["id"]]


def test_filter_rejects_a_certificate_that_does_not_hold(attempts: Path, verdicts: Path) -> None:
    records = read(verdicts)
    records[1]["certificate"]["claim"] = "true" if records[1]["answer"] == "false" else "false"
    forged, out = write(verdicts, records), attempts.with_name("d")
    result = certistar("filter", attempts, "--verdicts", forged, "--keep", "strict", "--out", out, "--json")
    summary = json.loads(result.stdout)
    assert (summary["kept"], summary["rejected"]) == (3, [{"id": records[1]["id"], "reason": "judged_otherwise"}])


@pytest.mark.parametrize("record", [{"id": ["a list"]}, {"id": "{id}"}, {"verdict": "certified"}])
def test_a_verdict_file_with_a_broken_record_is_refused(record: dict[str, Any], attempts: Path) -> None:
    (first, *_) = read(attempts)
    write(attempts, [first])
    broken = [{key: first["id"] if value == "{id}" else value for key, value in record.items()}]
    path = write(attempts.with_name("broken.jsonl"), broken)
    said = refusal("filter", attempts, "--verdicts", path, "--keep", "strict", "--out", attempts.with_name("d"))
    assert str(path) in said


def test_a_folder_in_the_place_of_the_output_is_refused(attempts: Path) -> None:
    assert str(attempts.parent) in refusal("problems", "prontoqa", "--num", 1, "--out", attempts.parent)
    assert not list(attempts.parent.parent.glob(".*.new"))


def test_rollout_and_evaluation_of_an_untrained_model(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    run = config(tmp_path, tiny_model)
    out = tmp_path / "traces.jsonl"
    assert certistar("rollout", run, "--problems", problems, "--out", out).exit_code == 0
    traces = read(out)
    assert [trace["problem"]["id"] for trace in traces] == [problem["id"] for problem in read(problems)]
    assert all(0 < len(trace["completion_ids"]) <= 12 for trace in traces)
    assert all(list(trace)[-1] == "crc" for trace in traces)
    assert all(trace["sampling"]["temperature"] == 1.0 and trace["policy"]["base"] for trace in traces)

    result = certistar("evaluate", run, "--problems", problems, "--json")
    assert result.exit_code == 0
    mode = json.loads(result.stdout)
    assert (mode["n"], mode["certified"]) == (4, 0)


def test_the_configuration_switches_how_the_loop_decodes(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    run = config(tmp_path, tiny_model)
    plain, seated, switched = (tmp_path / name for name in ("plain.jsonl", "seated.jsonl", "switched.jsonl"))
    rollout = ("rollout", run, "--problems", problems)
    assert certistar(*rollout, "--out", plain).exit_code == 0
    assert certistar(*rollout, "--out", seated, "--set", "sampling.num_seats=1").exit_code == 0
    assert [t["completion_ids"] for t in read(seated)] == [t["completion_ids"] for t in read(plain)]
    keys = ("--set", "sampling.jump_forward=true", "--set", "sampling.log_probabilities=true")
    assert certistar(*rollout, "--out", switched, *keys).exit_code == 0
    for trace in read(switched):
        assert trace["sampling"]["jump_forward"]
        assert len(trace["log_probabilities"]) == len(trace["completion_ids"])


def test_a_line_that_is_no_json_is_named(attempts: Path) -> None:
    with attempts.open("a") as file:
        file.write('{"id": "torn", "prob')
    assert f"{attempts}:5:" in refusal("judge", attempts, "--out", attempts.with_name("v"))
    rechecked = certistar("recheck", attempts)
    assert (rechecked.exit_code, f"{attempts}:5:" in rechecked.stderr) == (1, True)


def test_a_problem_file_that_cannot_be_read_is_named(problems: Path, tmp_path: Path) -> None:
    with problems.open("a") as file:
        file.write('{"id": "torn", "cont')
    assert str(problems) in refusal("demonstrate", problems, "--out", tmp_path / "a")
    text = tmp_path / "problems.txt"
    text.touch()
    assert str(text) in refusal("demonstrate", text, "--out", tmp_path / "a")


def test_a_duplicate_id_is_named(attempts: Path) -> None:
    records = read(attempts)
    write(attempts, [*records, records[1]])
    said = refusal("judge", attempts, "--out", attempts.with_name("v"))
    assert repr(records[1]["id"]) in said
    assert "record 5" in said


def test_a_record_without_a_key_is_named(attempts: Path) -> None:
    records = read(attempts)
    del records[3]["format"]
    said = refusal("judge", write(attempts, records), "--out", attempts.with_name("v"))
    assert "record 4" in said
    assert "attempt.format" in said


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    for words in (
        ("judge", gone, "--out", tmp_path / "v"),
        ("recheck", gone),
        ("demonstrate", gone, "--out", tmp_path / "a"),
        ("filter", gone, "--keep", "strict", "--out", tmp_path / "d"),
        ("run", gone),
        ("rollout", gone, "--problems", gone, "--out", tmp_path / "t"),
    ):
        assert str(gone) in refusal(*words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--set", "star.round=1"), "'rounds'"),
        (("--set", "star.rounds=none"), "star.rounds"),
        (("--set", "star.rounds"), "key=value"),
        (("--set", "star.rounds=[1"), "star.rounds=[1"),
        (("--set", "problems.hops=[99]"), "hops"),
    ],
    ids=["unknown key", "wrong value", "no value", "no yaml", "out of range"],
)
def test_a_configuration_that_cannot_be_used(words: Sequence[str], expected: str, tmp_path: Path) -> None:
    said = refusal("run", config(tmp_path, "/nowhere/model"), "--out", tmp_path / "run", *words)
    assert expected in said
    assert not (tmp_path / "run").exists()


def test_an_unknown_key_in_the_file_gets_a_suggestion(tmp_path: Path) -> None:
    path = config(tmp_path, "/nowhere/model")
    path.write_text(path.read_text() + "train: {epochs: 1}\n")
    said = refusal("run", path, "--out", tmp_path / "run")
    assert str(path) in said
    assert "'training'" in said or "'train_split'" in said


@pytest.mark.parametrize(
    "words",
    [
        ("filter", "{attempts}", "--keep", "strictest", "--out", "{out}"),
        ("problems", "prontoqa", "--hops", "1,two", "--out", "{out}"),
        ("problems", "prontoqa", "--hops", "99", "--out", "{out}"),
        ("problems", "prontoqa", "--ontology", "fictitious", "--out", "{out}"),
        ("problems", "prontoqa", "--split", "exam", "--out", "{out}"),
        ("problems", "clutrr", "--out", "{out}"),
        ("bench", "kernels"),
        ("compare", "{out}"),
        ("report", "{out}"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-4:-2]),
)
def test_a_wrong_word_is_refused(words: Sequence[str], attempts: Path, tmp_path: Path) -> None:
    said = refusal(*(word.format(attempts=attempts, out=tmp_path / "out") for word in words))
    wrong = next(
        w for w in ("strictest", "1,two", "99", "fictitious", "exam", "clutrr", "kernels", str(tmp_path)) if w in said
    )
    assert any(wrong in word or wrong == str(tmp_path) for word in words)
    assert not (tmp_path / "out").exists()


def test_a_missing_model_folder_is_named(problems: Path, tmp_path: Path) -> None:
    gone = tmp_path / "no-model"
    run = config(tmp_path, gone)
    assert str(gone) in refusal("rollout", run, "--problems", problems, "--out", tmp_path / "t")
    assert str(gone) in refusal("evaluate", run, "--problems", problems)


def test_a_run_without_its_model_claims_no_folder(tmp_path: Path) -> None:
    run = config(tmp_path, tmp_path / "no-model")
    result = certistar("run", run, "--out", tmp_path / "run")
    assert result.exit_code == 2, result.output
    assert result.stderr.splitlines()[-1].startswith("certistar: model folder")
    assert not (tmp_path / "run" / "config.yaml").exists()  # a corrected name would be another configuration


def test_a_tokenizer_without_end_of_text_is_refused(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    folder = tmp_path / "endless"
    shutil.copytree(tiny_model, folder)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "eos_token"}))
    said = refusal("rollout", config(tmp_path, folder), "--problems", problems, "--out", tmp_path / "t")
    assert str(folder) in said
    assert "end-of-text" in said


def test_a_model_without_a_chat_template_is_refused(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    chat = ("--set", "model.prompt=chat", "--set", "model.examples=0")
    said = refusal("evaluate", config(tmp_path, tiny_model), "--problems", problems, *chat)
    assert "model.prompt" in said
    assert "few-shot" in said


def test_a_folder_that_cannot_be_made_is_named(tiny_model: Path, problems: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    out = tmp_path / "file" / "out"
    said = refusal("evaluate", config(tmp_path, tiny_model), "--problems", problems, "--out", out)
    assert str(out) in said
    assert "choose another place" in said
    with pytest.raises(StoreError, match="choose another place"), locked(out):
        pytest.fail("nobody holds the lock")
    assert (tmp_path / "file").read_text() == "mine"


def test_what_is_read_is_not_written_over(attempts: Path, problems: Path, tmp_path: Path) -> None:
    before = attempts.read_bytes(), problems.read_bytes()
    link = tmp_path / "link.jsonl"
    link.symlink_to(attempts)
    assert "would be lost" in refusal("judge", attempts, "--out", attempts)
    assert "would be lost" in refusal("judge", attempts, "--out", link)
    assert "would be lost" in refusal("demonstrate", problems, "--out", problems)
    words = ("evaluate", config(tmp_path, "gone"), "--problems", problems, "--table", problems)
    assert "--table" in refusal(*words)
    assert (attempts.read_bytes(), problems.read_bytes()) == before


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(StoreError, match="choose another place"), locked(tmp_path):
        pytest.fail("nobody holds the lock")


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    for command in ("report", "compare"):
        assert "holds no run" in refusal(command, tmp_path)


def test_an_error_in_a_real_process_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    code = "from training.cli import app; app()"
    command = [sys.executable, "-c", code, "judge", str(tmp_path / "gone"), "--out", str(tmp_path / "v")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_doctor_names_what_it_looked_at() -> None:
    result = certistar("doctor", "--json")
    assert result.exit_code == 0
    findings = json.loads(result.stdout)["findings"]
    named = {"certistar", "python", "cores", "disk", "clingo", "z3", "cvc5", "pebble", "seed model", "torch"}
    assert named | {f"extra {extra}" for extra in PACKAGES} <= {f["what"] for f in findings}
    solvers = {f["what"]: f["note"] for f in findings if f["what"] in ("clingo", "z3", "cvc5")}
    assert all(note.endswith("decides a small problem") for note in solvers.values()), solvers
    assert all(finding["note"] for finding in findings)
