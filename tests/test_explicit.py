"""A proof is explicit where the premises of each step are said before it; the verdict names those that are not."""

import json

import pytest
from typer.testing import CliRunner

import certistar
from critics.formats.english.readings import judge_readings
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import objection
from critics.verdict import read_verdict, verdict_record
from training.cli import app

SAM = "Sam is shy. Every sterpus is a wumpus. Sam is a sterpus. Wumpuses are kind."
FIRST, SECOND, FACT = "(sterpus 'x) -> (wumpus 'x)", "(wumpus 'x) -> (kind 'x)", "(sterpus sam)"
STAFF = "Every employee who works remotely has a laptop. Everyone who has a laptop is insured. Anna is an employee. "
STAFF += "Anna works remotely. No insured employee is a visitor."
GROUNDS = "Anna is an employee. Anna works remotely. Every employee who works remotely has a laptop. "


@pytest.mark.parametrize(
    ("text", "unsaid"),
    [
        ("Sam is a sterpus. Every sterpus is a wumpus. So Sam is a wumpus. Wumpuses are kind. Sam is kind.", ()),
        ("Since Sam is a sterpus and every sterpus is a wumpus, Sam is a wumpus. Wumpuses are kind. Sam is kind.", ()),
        ("Sam is a wumpus because Sam is a sterpus and every sterpus is a wumpus. Sam is kind.", (SECOND,)),
        ("Sam is a sterpus. Sam is a wumpus. Sam is kind.", (FIRST, SECOND)),
        # The conclusion first, and its premise behind it.
        (
            "Sam is a wumpus. Sam is a sterpus. Every sterpus is a wumpus. Wumpuses are kind. Sam is kind.",
            (FIRST, FACT),
        ),
    ],
)
def test_the_verdict_names_what_a_step_rests_on_and_no_sentence_said(text, unsaid):
    verdict = certistar.judge(SAM, "Is Sam kind?", f"{text} Answer: yes")
    assert (verdict.verdict, verdict.reading.unsaid) == ("certified", unsaid)
    record = verdict_record("a", verdict)
    assert record["explicit"] == (list(unsaid) or True)
    assert read_verdict(record).reading == verdict.reading
    assert objection({**record, "explicit": ["nothing"]}, record) == "judged_otherwise"


@pytest.mark.parametrize(
    ("text", "num_unsaid"),
    [
        (f"{GROUNDS}So Anna has a laptop. Everyone who has a laptop is insured. So Anna is insured.", 0),
        (f"{GROUNDS}So Anna has a laptop. So Anna is insured.", 1),
        ("Anna is an employee. Anna has a laptop. Anna is insured.", 3),
    ],
)
def test_so_does_that_on_a_text_about_any_context(text, num_unsaid):
    problem = Problem("1", "mine", STAFF, "Anna is insured.")
    verdict = judge_readings(problem, Attempt("1", problem, "english", f"{text} Answer: true"))
    assert (verdict.verdict, verdict.grade) == ("certified", "aligned"), verdict.feedback
    assert len(verdict.reading.unsaid) == num_unsaid, verdict.reading.unsaid


def test_explain_and_the_folder_say_why_a_proof_is_not_explicit(tmp_path):
    row = {"context": SAM, "question": "Is Sam kind?", "rationale": "Sam is a sterpus. Sam is a wumpus. Sam is kind."}
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "rationale": f"{row['rationale']} Answer: yes"}) + "\n")
    asked = ["filter", str(tmp_path / "rows.jsonl"), "--keep", "explicit", "--out", str(tmp_path / "kept")]
    assert CliRunner().invoke(app, asked).exit_code == 0
    assert json.loads((tmp_path / "kept/rejected.jsonl").read_text())["reason"] == "premises_unsaid"
    shown = CliRunner().invoke(app, ["explain", str(tmp_path / "kept"), "1"]).output
    assert f"not said before the step that needs it: {FIRST}; {SECOND}" in shown


def test_the_filter_explicit_is_strict_and_asks_for_every_premise():
    def row(text: str) -> dict[str, str]:
        return {"context": SAM, "question": "Is Sam kind?", "rationale": f"{text} Answer: yes"}

    bare = row("Sam is a sterpus. Sam is a wumpus. Sam is kind.")
    whole = row("Sam is a sterpus. Every sterpus is a wumpus. So Sam is a wumpus. Wumpuses are kind. Sam is kind.")
    program = "Premises:\n∀x (Cat(x) → Warm(x))\nCat(tom)\nConclusion:\nWarm(tom)"
    fol = {"context": "Every cat is warm. Tom is a cat.", "question": "Tom is warm.", "rationale": program}
    assert len(certistar.filter([bare, whole, fol])) == 3
    assert [kept["rationale"] for kept in certistar.filter([bare, whole, fol], "explicit")] == [
        whole["rationale"],
        program,
    ]
