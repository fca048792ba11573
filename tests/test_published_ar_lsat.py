import json
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Problem
from rollout.published.loaders import load_published
from rollout.published.puzzles import load_ar_lsat

PASSAGE: dict[str, Any] = {
    "id": "199900_1-G_1",
    "passage": "Two cooks bake a pie or a tart each.",
    "questions": [
        {
            "id": "199900_1-G_1_1",
            "question": "Which one of the following must be true?",
            "tags": ["", "must be true"],
            "options": ["Ann bakes a pie.", "Bob bakes a tart."],
            "answer": "B",
        },
        {"id": "199900_1-G_1_2", "question": "Which could be true?", "options": ["one", "two"], "answer": "A"},
    ],
}
LOGICLM: dict[str, Any] = {
    "id": "ar_lsat_199900_1-G_1_1",
    "context": PASSAGE["passage"],
    "question": "Which one of the following must be true?",
    "options": ["A) Ann bakes a pie.", "B) Bob bakes a tart."],
    "answer": "B",
}


def write(path: Path, record: Any) -> Path:
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_a_passage_gives_a_problem_for_each_question(tmp_path: Path) -> None:
    one, other = load_published(write(tmp_path / "AR_TestData.json", [PASSAGE]))
    assert one == Problem(
        "199900_1-G_1_1",
        "ar-lsat",
        PASSAGE["passage"],
        "Which one of the following must be true?",
        ("A) Ann bakes a pie.", "B) Bob bakes a tart."),
        "B",
        meta={"tags": ["must be true"]},
    )
    assert (other.id, other.answer, other.meta) == ("199900_1-G_1_2", "A", {})


def test_logic_lms_records_are_recognised_by_their_ids_and_say_the_same(tmp_path: Path) -> None:
    (found,) = load_published(write(tmp_path / "dev.json", [LOGICLM]))
    one = next(iter(load_ar_lsat(write(tmp_path / "passages.json", [PASSAGE]))))
    assert (found.context, found.question, found.options) == (one.context, one.question, one.options)
    assert found.dataset == "ar-lsat"


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path) -> None:
    found = list(load_ar_lsat(write(tmp_path / "passages.json", [PASSAGE])))
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(problem.record()) + "\n" for problem in found), encoding="utf-8")
    assert list(load_ar_lsat(path)) == found


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({**LOGICLM, "dataset": "ProntoQA"}, "not AR-LSAT"),
        ({**LOGICLM, "answer": "E"}, "answer"),
        ({**LOGICLM, "options": None, "answer": None}, "options"),
        ({**PASSAGE, "questions": None}, "questions"),
        ({**PASSAGE, "questions": [{"id": "x", "question": "?", "options": [], "answer": "A"}]}, "x: options"),
        ({**PASSAGE, "questions": ["what?"]}, "must be an object"),
        ({**PASSAGE, "passage": 3}, "context"),
        ("text", "JSON object"),
    ],
)
def test_a_bad_record_is_named_with_a_remedy(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"record 1.*{message}"):
        list(load_ar_lsat(write(tmp_path / "bad.json", [record])))


def test_all_published_problems_are_read(shared: Path) -> None:
    for name, num in (("arlsat_train", 1585), ("arlsat_dev_partA", 108)):
        found = list(load_published(shared / "data" / f"{name}.jsonl.gz"))
        assert len(found) == num
        assert {len(problem.options or ()) for problem in found} == {5}
