import json
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.published.loaders import load_published
from rollout.published.puzzles import QUESTION, load_logicaldeduction

STORY = "A shelf holds three cups: a red cup, a blue cup, and a tin cup."
FACTS = "The red cup is to the left of the blue cup. The tin cup is the rightmost."
OPTIONS = ["The red cup is the leftmost.", "The blue cup is the leftmost.", "The tin cup is the leftmost."]
LOGICLM: dict[str, Any] = {
    "id": "logical_deduction_7",
    "context": f"Three objects in a fixed order.\n\n{STORY} {FACTS}",
    "question": QUESTION,
    "options": [f"{letter}) {text}" for letter, text in zip("ABC", OPTIONS, strict=True)],
    "answer": "A",
}
TASK: dict[str, Any] = {
    "name": "logical_deduction_three_objects",
    "examples": [{"input": f"{STORY} {FACTS}", "target_scores": dict(zip(OPTIONS, (1, 0, 0), strict=True))}],
}
PROGRAM = """Domain:
1: leftmost
3: rightmost
Variables:
red_cup [IN] [1, 2, 3]
blue_cup [IN] [1, 2, 3]
tin_cup [IN] [1, 2, 3]
Constraints:
red_cup < blue_cup
tin_cup == 3
AllDifferentConstraint([red_cup, blue_cup, tin_cup])
Query:
A) red_cup == 1
B) blue_cup == 1
C) tin_cup == 1
"""


def write(path: Path, record: Any) -> Path:
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def test_logic_lms_records_are_recognised_by_their_ids(tmp_path: Path) -> None:
    (found,) = load_published(write(tmp_path / "dev.json", [LOGICLM]))
    assert found == Problem(
        "logical_deduction_7",
        "logicaldeduction",
        LOGICLM["context"],
        QUESTION,
        tuple(LOGICLM["options"]),
        "A",
        meta={"num_objects": 3},
    )


def test_big_benchs_task_file_gives_a_problem_for_each_example(tmp_path: Path) -> None:
    (found,) = load_logicaldeduction(write(tmp_path / "task.json", TASK))
    assert (found.options, found.answer, found.meta) == (tuple(LOGICLM["options"]), "A", {"num_objects": 3})
    assert found.id == "logical_deduction_1"


def test_what_is_loaded_can_be_judged_against_its_text(tmp_path: Path) -> None:
    (found,) = load_logicaldeduction(write(tmp_path / "task.json", TASK))
    verdict = judge(found, Attempt("a", found, "csp", PROGRAM))
    assert isinstance(verdict, Certified)
    assert (verdict.answer, verdict.certificate.formalisation) == ("A", "checked")


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path) -> None:
    (found,) = load_logicaldeduction(write(tmp_path / "task.json", TASK))
    assert list(load_logicaldeduction(write(tmp_path / "own.jsonl", found.record()))) == [found]


def test_a_text_of_another_kind_is_kept_and_says_so(tmp_path: Path) -> None:
    (found,) = load_logicaldeduction(write(tmp_path / "a.jsonl", {**LOGICLM, "context": "Cups are nice."}))
    assert "inexpressible" in found.meta


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([{**LOGICLM, "dataset": "folio"}], "not LogicalDeduction"),
        ([{**LOGICLM, "answer": "D"}], "answer"),
        ([{**LOGICLM, "options": None, "answer": None}], "options"),
        ({"examples": [{"input": STORY, "target_scores": dict.fromkeys(OPTIONS, 1)}]}, "exactly one 1, not 3"),
        ({"examples": [{"input": STORY}]}, "target_scores"),
        (LOGICLM, "no task file"),
        ([3], "JSON object"),
    ],
)
def test_a_bad_record_is_named_with_a_remedy(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(load_logicaldeduction(write(tmp_path / "bad.json", record)))


def test_all_published_problems_are_read_and_expressible(shared: Path) -> None:
    found = list(load_published(shared / "data" / "logicaldeduction_partA.jsonl.gz"))
    assert len(found) == 883
    assert {problem.meta.get("num_objects") for problem in found} == {3, 5, 7}
    assert all(len(problem.options or ()) == problem.meta["num_objects"] for problem in found)
