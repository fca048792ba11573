"""Grades: what a certificate says of its formulas is derived anew, and a forged grade is refused or lowered."""

from typing import Any

import pytest

from critics.judge import judge_record
from critics.recheck.index import examine
from critics.recheck.rejudging import recheck_texts
from critics.replay.grades import GRADES, Grade, count_by_grade
from critics.verdict import read_verdict
from critics.verdict.certificate import read_certificate, regraded

CONTEXT, QUESTION = "Every cat is furry. Tom is a cat.", "Tom is furry."
FORMAL = {"axioms": ["(cat 'x) -> (furry 'x)", "(cat tom)"], "goal": "(furry tom)"}
PROOF = "[[axiom:(cat 'x) -> (furry 'x)]] [[axiom:(cat tom)]] [[goal:(furry tom)]]\n[[infer:(furry tom)]]\nAnswer: true"
UNBORNE = f"[[axiom:(dog rex)]] {PROOF}"
"""No sentence says what it assumes first, and does not need."""


def trace(completion: str = PROOF, *, dataset: str = "mine", formal: Any = None) -> dict[str, Any]:
    problem = {"id": "p", "dataset": dataset, "context": CONTEXT, "question": QUESTION, "formal": formal}
    record = {"id": "a", "problem": problem, "format": "guided", "completion": completion}
    return {**record, "judgement": judge_record(record)}


def forged(record: dict[str, Any], word: Grade) -> dict[str, Any]:
    certificate = regraded(read_certificate(record["judgement"]["certificate"]), word)
    return {**record, "judgement": {**record["judgement"], "certificate": certificate.record()}}


def reasons(record: dict[str, Any]) -> list[str]:
    found = recheck_texts([record], lambda attempts: list(map(judge_record, attempts)))
    return [entry["reason"] for entry in found.record()["rejected"]]


@pytest.mark.parametrize(
    ("made", "grade"),
    [
        (trace(dataset="prontoqa"), "checked"),
        (trace(dataset="prontoqa", formal=FORMAL), "checked"),
        (trace(formal=FORMAL), "given"),
        (trace(), "aligned"),
        (trace(UNBORNE), "trusted"),
    ],
)
def test_a_grade_says_on_whose_word_formulas_are_about_the_text(made: dict[str, Any], grade: Grade) -> None:
    assert read_verdict(made["judgement"]).grade == grade
    found = recheck_texts([made], lambda attempts: list(map(judge_record, attempts))).evidence
    assert (found.grades, found.rejected) == ({grade: 1}, [])
    assert examine([made]).grades == {grade if grade == "given" else "trusted": 1}


@pytest.mark.parametrize("word", ["checked", "given"])
def test_nobody_compared_what_has_no_reference(word: Grade) -> None:
    assert reasons(forged(trace(), word)) == ["ill_formed"]


def test_a_text_that_does_not_bear_formulas_out_is_asked_again() -> None:
    made = forged(trace(UNBORNE), "aligned")
    assert reasons(made) == ["judged_otherwise"]
    report = examine([made["judgement"]])
    assert (report.rejected, report.confirmed()) == (
        [],
        {"checked": 0, "given": 0, "aligned": 0, "trusted": 1, "lowered": 1},
    )


def test_a_grade_below_the_critics_own_is_believed() -> None:
    assert reasons(forged(trace(), "trusted")) == []


def test_nobody_read_a_reference_that_came_with_the_problem() -> None:
    assert reasons(forged(trace(formal=FORMAL), "checked")) == ["ill_formed"]


def test_counts_name_every_grade_the_best_first() -> None:
    counts = count_by_grade([None, "trusted", "checked", "trusted"])
    assert list(counts.items()) == list(zip(GRADES, (1, 0, 0, 2), strict=True))
