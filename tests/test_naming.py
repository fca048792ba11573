"""A thing that a text names itself, an arbitrary one or one of some, and what only looks like such a proof."""

import json
from pathlib import Path

import pytest

import certistar
from critics.verdict import verdict_record

NAMED = Path(__file__).parent / "data" / "named_things.jsonl"
"""Texts that name a thing; `why` says what is wrong where one is not `certified`."""
NOVELS = "Some novels are bestsellers. All novels are books."


@pytest.mark.parametrize("row", map(json.loads, NAMED.read_text(encoding="utf-8").splitlines()))
def test_what_is_so_of_a_named_thing_comes_to_what_it_stands_for_and_to_no_more(row: dict[str, str]) -> None:
    verdict = certistar.judge(row["context"], row["question"], row["text"])
    assert (verdict.verdict == "certified") is row["certified"], verdict.feedback
    if row["certified"]:
        record = {"id": "a", **verdict_record("a", verdict)}
        assert certistar.recheck([record])["accepted"] == 1
        evidence = record["certificate"]["evidence"]
        # The name is bound in each step.
        assert not any("(zyr" in step["says"] for step in evidence["steps"])


@pytest.mark.parametrize(
    "lead", ["Is this argument valid or invalid? Therefore,", "Is the argument valid? Conclusion:"]
)
def test_a_question_may_ask_whether_an_argument_is_valid(lead: str) -> None:
    text = "There is at least one novel that is a bestseller. Call it n. As all novels are books, n is a book. "
    text += "So some books are bestsellers. The argument is valid."
    assert certistar.judge(NOVELS, f"{lead} some books are bestsellers.", text).verdict == "certified"
    assert certistar.judge(NOVELS, f"{lead} all books are bestsellers.", text).verdict != "certified"
