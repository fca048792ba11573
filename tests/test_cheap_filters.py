"""Filters without a critic are measured against certificates."""

from dataclasses import replace

from critics.problem import Problem
from rollout.records.traces import Judgement, Trace
from tools.cheap_filters import measured

PROBLEM = Problem("p", "prontoqa", "Tom is a cat.", "True or false: Tom is shy.", answer="true", meta={"hops": 2})
PROVED, LONG, SHORT, WRONG = (
    "Tom is a cat. Tom is a dog. Tom is shy.\nAnswer: true",
    "Tom is a cat. Tom is a newt. Tom is shy.\nAnswer: true",
    "Tom is shy.\nAnswer: true",
    "Tom is a cat. Tom is a dog. Tom is not shy.\nAnswer: false",
)


def attempt(number: int, text: str) -> Trace:
    certificate = {"formalisation": "checked", "evidence": {}} if text == PROVED else None
    judged = Judgement("certified" if certificate else "unproved", "r", text.split()[-1], "", certificate)
    return Trace(f"t{number}", PROBLEM, "cot", text, finished=True, judgement=judged)


def test_precision_and_recall_of_filters_are_shares_of_what_is_kept_and_of_what_is_certified() -> None:
    traces = [attempt(n, text) for n, text in enumerate((PROVED, LONG, SHORT, SHORT, WRONG))]
    found = {name: (p.count, p.n, r.count, r.n) for name, (p, r) in measured(traces).items()}
    assert found == {
        "right answer": (1, 4, 1, 1),
        "vote of answers": (1, 4, 1, 1),
        "right, commonest text": (0, 2, 0, 1),
        "right, ends in the question's words, long enough": (1, 2, 1, 1),
    }


def test_an_attempt_that_was_cut_off_is_not_counted() -> None:
    assert measured([replace(attempt(0, PROVED), finished=False)])["right answer"][0].n == 0
