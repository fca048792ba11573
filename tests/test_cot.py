"""Chains of thought in free text: judged by their answer, and sentence by sentence where the data set has a reader."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Verdict
from training.cli import app

PIP = Problem(
    "pip",
    "prontoqa",
    "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt.",
    "True or false: Pip is feathered.",
    answer="true",
)
STEPS = "Reasoning: Pip is a wren. Every wren is a bird. Pip is a bird. Birds are feathered. Pip is feathered.\n"


def told(text: str, problem: Problem = PIP) -> Verdict:
    return judge(problem, Attempt("a", problem, "cot", text))


def test_a_chain_of_thought_that_proves_its_answer_is_certified() -> None:
    verdict = told(f"{STEPS}Answer: true")
    assert (verdict.verdict, verdict.answer, verdict.grade) == ("certified", "true", "checked")
    assert verdict.coverage is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Answer: true", "goal_not_reached"),
        ("Pip is a newt. Pip is feathered.\nAnswer: true", "unsupported_sentence"),
        ("Pip is feathered.\nAnswer: true", "skipped_steps"),
        ("Who would not think so?\nAnswer: true", "not_read"),
    ],
)
def test_a_right_answer_whose_text_proves_nothing_stays_lucky(text: str, reason: str) -> None:
    verdict = told(text)
    assert (verdict.verdict, verdict.answer, verdict.reason) == ("unproved", "true", reason)


def test_the_text_gives_one_answer() -> None:
    assert told(f"{STEPS}Answer: false").verdict == "refuted"
    assert told(f"{STEPS}So the statement is true.").reason == "proved"
    assert told(STEPS).reason == "no_answer"


def test_where_no_reader_is_the_answer_alone_is_judged() -> None:
    problem = Problem("p", "folio", "Hardly anything is a wren.", PIP.question, answer="true")
    verdict = told(f"{STEPS}Answer: true", problem)
    assert (verdict.verdict, verdict.reason, verdict.coverage) == ("unproved", "free_text", None)
    unread = Problem("p", "prontoqa", "Hardly anything is a wren.", PIP.question, answer="true")
    assert told(f"{STEPS}Answer: true", unread).reason == "free_text"


def test_a_problem_of_no_data_set_is_read_by_the_grammar() -> None:
    context = "Every tenant is a debtor. Every debtor is careful. Mika is a tenant."
    problem = Problem("p", "own", context, "Is Mika careful?", answer="true")
    steps = "Mika is a tenant, so Mika is a debtor. Every debtor is careful. So Mika is careful."
    assert told(f"{steps}\nAnswer: true", problem).verdict == "certified"
    assert told("Mika is old. So Mika is careful.\nAnswer: true", problem).verdict == "unproved"


def test_steps_are_exported_with_their_labels(tmp_path: Path) -> None:
    texts = {
        "whole": f"{STEPS}Answer: true",
        "bad": "Pip is a wren. Pip is a newt. Pip is feathered.\nAnswer: true",
        "unread": "Pip is a wren. Who would not think so? Pip is feathered.\nAnswer: true",
        "wrong": f"{STEPS}Answer: false",
    }
    attempts = [{"id": n, "problem": PIP.record(), "format": "cot", "completion": text} for n, text in texts.items()]
    guided = "[[axiom:(wren pip)]] [[axiom:(wren 'x) -> (newt 'x)]] [[goal:(feathered pip)]]\nAnswer: true"
    attempts.append({"id": "guided", "problem": PIP.record(), "format": "guided", "completion": guided})
    attempts.append(
        {
            "id": "f",
            "problem": {**PIP.record(), "context": "Hardly anything is a wren."},
            "format": "cot",
            "completion": "Answer: true",
        }
    )
    given, out = tmp_path / "attempts.jsonl", tmp_path / "steps.jsonl"
    given.write_text("".join(json.dumps(attempt) + "\n" for attempt in attempts), encoding="utf-8")
    done = CliRunner().invoke(app, ["export", str(given), "--to", "steps", "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = {row["id"]: row for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    labels = {name: [step["label"] for step in row["steps"]] for name, row in rows.items()}
    assert labels == {
        "whole": ["good"] * 6,
        "bad": ["good", "bad", "after-bad", "after-bad"],
        "unread": ["good", "unknown", "unknown", "unknown"],
        "wrong": ["good"] * 5 + ["bad"],
        "guided": ["good", "bad", "after-bad", "after-bad"],
    }
    assert rows["bad"]["steps"][1]["text"] == "Pip is a newt."
