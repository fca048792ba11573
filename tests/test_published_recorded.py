import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from critics.problem import read_attempt
from rollout.published.recorded import holds_recorded, load_recorded

PROBLEM: dict[str, Any] = {
    "id": "ProofWriter_Own-OWA-D1-1_Q1",
    "context": "Bob is cold. If something is cold then it is kind.",
    "question": "Based on the above information, is the following statement true, false, or unknown? Bob is kind.",
    "options": ["A) True", "B) False", "C) Unknown"],
    "answer": "A",
}
PROGRAM = """Facts:
Cold(Bob, True)
Rules:
Cold($x, True) >>> Kind($x, True)
Query:
Kind(Bob, True)
"""
OUTPUT = {**PROBLEM, "raw_logic_programs": [PROGRAM]}
LINE = {
    "id": "ProofWriter/m-1/Q1",
    "problem_id": "dev/Q1",
    "dataset": "ProofWriter",
    "model": "m-1",
    "answer": "A",
    "program": PROGRAM,
}


def write_lines(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def write_list(path: Path, *records: Any) -> Path:
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_logic_lms_outputs_are_attempts_of_the_data_set_and_model_in_their_name(tmp_path: Path) -> None:
    path = write_list(tmp_path / "ProofWriter_dev_text-davinci-003.json", OUTPUT)
    (found,) = load_recorded(path)
    assert {key: found[key] for key in ("format", "completion", "model")} == {
        "format": "rules",
        "completion": PROGRAM,
        "model": "text-davinci-003",
    }
    assert found["problem"]["dataset"] == "proofwriter"
    assert judge_record(found)["verdict"] == "certified"


@pytest.mark.parametrize(
    ("name", "format_", "model"),
    [
        ("AR-LSAT_dev_gpt-4.json", "logic-program", "gpt-4"),
        ("self-refine-2_FOLIO_dev_gpt-4.json", "fol", "gpt-4"),
        ("LogicalDeduction_mini_test_some_model.json", "csp", "some_model"),
    ],
)
def test_the_files_name_tells_the_format(tmp_path: Path, name: str, format_: str, model: str) -> None:
    (found,) = load_recorded(write_list(tmp_path / name, OUTPUT))
    assert (found["format"], found["model"]) == (format_, model)


def test_several_programs_are_attempts_with_ids_of_their_own(tmp_path: Path) -> None:
    path = write_list(tmp_path / "ProofWriter_dev_m.json", {**OUTPUT, "raw_logic_programs": [PROGRAM, "?"]})
    assert [read_attempt(record).id[-2:] for record in load_recorded(path)] == ["#1", "#2"]


def test_lines_find_their_problems_in_the_files_beside_them_or_in_those_given(tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "apart").mkdir()
    (tmp_path / "beside" / "notes.jsonl").write_text("{torn", encoding="utf-8")
    problems = write_lines(tmp_path / "beside" / "dev.jsonl.gz", {**PROBLEM, "id": "dev/Q1", "dataset": "ProofWriter"})
    beside = write_lines(tmp_path / "beside" / "programs.jsonl", LINE)
    apart = write_lines(tmp_path / "apart" / "programs.jsonl", LINE)
    assert list(load_recorded(beside)) == list(load_recorded(apart, [problems]))
    (found,) = load_recorded(beside)
    assert (found["id"], found["problem"]["id"], found["model"]) == ("ProofWriter/m-1/Q1", "dev/Q1", "m-1")
    with pytest.raises(InputError, match=r"line 1: problem_id: 'dev/Q1' is not in the files of .*apart"):
        list(load_recorded(apart))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**LINE, "answer": "B"}, "answer: 'B' where problem 'dev/Q1' has 'A'"),
        ({**LINE, "dataset": "AR-LSAT"}, "is of proofwriter, not of ar-lsat"),
        ({**LINE, "dataset": "riddles"}, "data sets are"),
        ({**LINE, "model": None}, "model"),
        ({**LINE, "program": 7}, "`program`"),
        ("text", "JSON object"),
    ],
)
def test_a_bad_line_is_named_with_a_remedy(tmp_path: Path, line: Any, message: str) -> None:
    problems = write_lines(tmp_path / "dev.jsonl", {**PROBLEM, "id": "dev/Q1", "dataset": "ProofWriter"})
    with pytest.raises(InputError, match=f"line 1: .*{message}.*correct the record"):
        list(load_recorded(write_lines(tmp_path / "programs.jsonl", line), [problems]))


def test_recorded_programs_are_told_from_attempts_and_from_problems(tmp_path: Path) -> None:
    assert holds_recorded(write_lines(tmp_path / "a.jsonl", LINE))
    assert holds_recorded(write_list(tmp_path / "b.json", OUTPUT))
    assert not holds_recorded(write_lines(tmp_path / "c.jsonl", PROBLEM))
    assert not holds_recorded(write_lines(tmp_path / "d.jsonl", {"id": "a", "problem": PROBLEM, "completion": ""}))
    assert not holds_recorded(write_lines(tmp_path / "e.txt", LINE))
    assert not holds_recorded(tmp_path / "gone.jsonl")


def test_all_recorded_programs_become_attempts_and_annotations_are_no_reference_of_theirs(shared: Path) -> None:
    found = [read_attempt(record) for record in load_recorded(shared / "data" / "logiclm_programs_partA.jsonl.gz")]
    assert all(attempt.problem.formal is None for attempt in found if attempt.format == "fol")
    assert Counter(attempt.format for attempt in found) == {
        "rules": 1284,
        "csp": 370,
        "logic-program": 216,
        "fol": 170,
    }
    assert len({attempt.id for attempt in found}) == len(found)
