"""Audits of gold labels: planted errors are found, with no false alarm, and what is not decided is not counted."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certistar
from critics.judge import judge_record
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from rollout.problems.catalogue import family
from training.cli import app
from training.commands.attempts import judging
from training.exchange.gold_labels import EMPTY, MEMBERS, Finding, audited, read_labelled
from training.exchange.rationales import Reading

DATASETS = ("prontoqa", "proofwriter", "syllogism", "deontiqa", "prontoqa-ood")
"""Of all of them each text is read."""
LABELS = ("true", "false", "unknown")
CATS = "Every cat is a mammal. Every mammal is warm. Tom is a cat."


def here(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [judge_record(record) for record in records]


def audit(*problems: Problem, quick: bool = False) -> list[Finding]:
    return audited(problems, here, quick=quick)


def english(context: str, question: str, answer: str | None, **others: Any) -> Problem:
    return Problem("it", "rationales", context, question, answer=answer, **others)


def told(finding: Finding) -> tuple[str, str]:
    return finding.outcome, finding.reason


def flipped(problem: Problem) -> Problem:
    """Return the problem with another of the answers that it can have."""
    known = {
        in_terms_of(label, problem.options) for label in (LABELS if problem.dataset == "proofwriter" else LABELS[:2])
    }
    other = sorted(answer for answer in known if answer not in (None, problem.answer))
    return replace(problem, answer=other[len(problem.id) % len(other)])


def generated(name: str, num: int) -> list[Problem]:
    made = family(name)
    return list(made.generate(made.configured({}, "test"), num, seed=7))


def check_planted(num: int, every: int, judge: Any) -> None:
    """Plant a wrong label in one problem of `every`, and compare what is found."""
    for name in DATASETS:
        problems = generated(name, num)
        planted = {problem.id for problem in problems[::every]}
        labelled = [flipped(problem) if problem.id in planted else problem for problem in problems]
        found = audited(labelled, judge, quick=True)
        assert {finding.problem.id for finding in found if finding.outcome == "wrong"} == planted, name
        assert {finding.outcome for finding in found if finding.problem.id not in planted} == {"right"}, name


def test_planted_labels_are_found_and_no_others():
    check_planted(4, 2, here)


@pytest.mark.slow
def test_two_hundred_planted_labels_of_four_thousand_are_found_and_no_others():
    check_planted(800, 20, judging(2, 60.0))


def test_a_wrong_label_has_a_proof_of_another_answer_that_can_be_rechecked(tmp_path: Path):
    right, wrong = audit(english(CATS, "Is Tom warm?", "true"), replace(english(CATS, "Is Tom warm?", "false"), id="b"))
    assert (told(right), right.grade) == (("right", "proved"), "checked")
    assert (told(wrong), wrong.proved) == (("wrong", "proved_otherwise"), "true")
    assert {proof.format for proof in wrong.proofs} == {"english", "fol"}
    assert all(proof.problem.answer is None for proof in wrong.proofs)


@pytest.mark.parametrize("answer", ["true", "false", "unknown"])
@pytest.mark.parametrize(
    ("dataset", "context", "question"),
    [
        ("rationales", f"{CATS} Tom is not warm.", "Is Tom warm?"),
        ("rationales", "Every cat is warm. No cat is warm. Tom is a cat.", "Is Tom warm?"),
        ("rationales", "Tom is kind or big. Tom is not kind. Tom is not big.", "Is Tom big?"),
        ("proofwriter", "Bob is kind. Bob is not kind. Kind people are big.", "Bob is big."),
        ("prontoqa", "Every wumpus is a yumpus. Every yumpus is not a wumpus. Max is a wumpus.", "Max is a yumpus."),
    ],
)
def test_statements_that_contradict_each_other_make_no_label_right_or_wrong(
    dataset: str, context: str, question: str, answer: str
):
    (found,) = audit(Problem("it", dataset, context, question, answer=answer))
    assert found.outcome == "not checked"
    assert found.proved is None


@pytest.mark.parametrize(
    ("context", "question"),
    [
        ("Every cat is not warm. Tom is a cat.", "Is Tom warm?"),
        ("Most cats are warm. Tom is a cat.", "Is Tom warm?"),
        ("Cats may be warm. Tom is a cat.", "Is Tom warm?"),
        ("Only cats are warm. Tom is warm.", "Is Tom a cat?"),
        ("Not every cat is warm. Tom is a cat.", "Is Tom warm?"),
        (CATS, "Which of them is warm?"),
        (CATS, "Is Tom probably warm?"),
        ("Visitors admire relatives that bore them. Tom is a visitor.", "Is Tom bored?"),
    ],
)
def test_ambiguous_english_is_not_checked(context: str, question: str):
    for answer in LABELS:
        (found,) = audit(english(context, question, answer))
        assert found.outcome == "not checked"


def test_an_unknown_that_nothing_decides_is_right_in_an_open_world_and_false_may_be_meant_in_a_closed_one():
    nothing = ("Every cat is warm. Tom is a dog.", "Tom is warm.")
    (false,) = audit(Problem("a", "prontoqa", *nothing, answer="false"))
    assert told(false) == ("by reading", "world")
    assert false.readings == {"open world": "unknown", "closed world": "false"}
    (true,) = audit(Problem("a", "prontoqa", *nothing, answer="true"))
    assert told(true) == ("wrong", "proved_otherwise")
    found = audit(
        Problem("a", "prontoqa", *nothing, answer="false"), Problem("b", "prontoqa", *nothing, answer="unknown")
    )
    assert [finding.outcome for finding in found] == ["wrong", "right"]
    (declared,) = audit(Problem("a", "proofwriter", "Bob is big. Kind people are big.", "Bob is kind.", answer="false"))
    assert told(declared) == ("wrong", "proved_otherwise")


def test_negation_as_failure_is_not_called_an_error():
    rules = "Max is a wumpus. Everything that is not big is kind."
    for answer in ("true", "false"):
        (found,) = audit(english(rules, "Max is kind.", answer))
        assert found.outcome == "not checked"


def test_an_unknown_label_that_is_wrong_does_not_open_the_world():
    found = audit(
        Problem("a", "prontoqa", "Every cat is warm. Tom is a dog.", "Tom is warm.", answer="false"),
        Problem("b", "prontoqa", "Every cat is warm. Tom is a cat.", "Tom is warm.", answer="unknown"),
    )
    assert [finding.outcome for finding in found] == ["by reading", "wrong"]


@pytest.mark.parametrize(
    ("premises", "conclusion", "valid", "invalid"),
    [
        ("All dogs are mammals. All mammals are birds.", "some dogs are birds", "by reading", "by reading"),
        ("All dogs are mammals. Some mammals are birds.", "some dogs are birds", "wrong", "right"),
        ("All dogs are mammals. All mammals are birds.", "all dogs are birds", "right", "wrong"),
        ("All dogs are mammals. Some mammals are birds.", "some mammals are dogs", "by reading", "by reading"),
        ("No dogs are mammals. Some mammals are birds.", "no mammals are dogs", "right", "wrong"),
        ("No dogs are mammals. Some mammals are birds.", "all mammals are dogs", "wrong", "right"),
    ],
)
def test_a_syllogism_is_wrong_only_if_it_is_whether_classes_may_be_empty_or_not(
    premises: str, conclusion: str, valid: str, invalid: str
):
    problem = Problem("it", "syllogism", premises, f"Does it follow that {conclusion}?", ("Valid", "Invalid"))
    found = audit(replace(problem, id="a", answer="A"), replace(problem, id="b", answer="B"), quick=True)
    assert [finding.outcome for finding in found] == [valid, invalid]
    if valid == "by reading":
        assert found[0].readings == {EMPTY: "B", MEMBERS: "A"}


def test_that_something_does_not_follow_is_all_that_a_no_to_an_argument_says():
    asked = ("All dogs are mammals. Some mammals are birds.", "Does it follow that some dogs are birds?")
    found = audit(*(Problem(answer, "syllogism", *asked, answer=answer) for answer in ("false", "true")), quick=True)
    assert [finding.outcome for finding in found] == ["right", "wrong"]


def test_somebody_elses_formulas_never_make_a_label_wrong():
    said = "Marvin cannot be from Earth and from Mars.\nEvery alien is odd."
    problem = english(said, "Marvin is not from Earth.", "unknown")
    formulas = {"premises_fol": ["¬FromEarth(marvin) ∧ ¬FromMars(marvin)", "∀x (Alien(x) → Odd(x))"]}
    (found,) = audit(replace(problem, meta={**formulas, "conclusion_fol": "¬FromEarth(marvin)"}))
    assert found.outcome == "not checked"


GYM = (
    "Consider these statements:\n1. {}\n2. {}\n\nDoes it logically follow that:\n{}?\n(Answer Yes or No)",
    "All cats are dogs",
)


def write(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def gym(other: str, conclusion: str, answer: str) -> dict[str, object]:
    return {"question": GYM[0].format(GYM[1], other, conclusion), "answer": answer, "metadata": {"is_valid": True}}


def test_the_command_writes_labels_certificates_and_figures_and_ends_in_1_where_a_label_is_wrong(tmp_path: Path):
    rows = [
        gym("Some dogs are ants", "Some cats are ants", "Yes"),
        gym("All dogs are ants", "All cats are ants", "Yes"),
        gym("All dogs are ants", "Some ants are dogs", "Yes"),
        gym("Most dogs are ants", "Some ants are dogs", "No"),
        {"question": "", "answer": "Yes", "metadata": {}},
    ]
    file, out = write(tmp_path / "gym.jsonl", rows), tmp_path / "audited"
    ran = CliRunner().invoke(app, ["audit-data", str(file), "--out", str(out), "--json"])
    assert ran.exit_code == 1, ran.stderr
    figures = json.loads(ran.stdout)
    assert figures == json.loads((out / "figures.json").read_text())
    assert (figures["labels"], figures["checked"], figures["agree"], figures["by_reading"]) == (5, 3, 1, 1)
    assert (figures["not_checked"], figures["unread"]) == (2, 2)
    assert [(wrong["id"], wrong["gold"], wrong["proved"]) for wrong in figures["wrong"]] == [
        ("gym/1", "valid", "invalid")
    ]
    assert figures["wrong"][0]["shown"].startswith("a case where all is so and the conclusion is not: ants: ")
    assert figures["rate"]["n"] == 3
    assert {name: rate["wrong"] for name, rate in figures["readings"].items()} == {EMPTY: 2, MEMBERS: 1}
    lines = [json.loads(line) for line in (out / "labels.jsonl").read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["wrong", "right", "by reading", "not checked", "not checked"]
    assert [line["row"] for line in lines[:4]] == rows[:4]
    proofs = [json.loads(line) for line in (out / "certificates.jsonl").read_text().splitlines()]
    checked = certistar.recheck(proofs)
    assert (checked["accepted"], checked["rejected"]) == (len(proofs), [])
    assert {proof["problem"]["answer"] for proof in proofs} == {None}
    again = CliRunner().invoke(app, ["audit-data", str(file), "--out", str(out)])
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_where_all_labels_are_right_the_status_is_0_and_where_nothing_is_checked_1(tmp_path: Path):
    right = write(tmp_path / "right.jsonl", [{"context": CATS, "question": "Is Tom warm?", "label": True}])
    assert CliRunner().invoke(app, ["audit-data", str(right), "--quick"]).exit_code == 0
    unread = write(tmp_path / "unread.jsonl", [{"context": "Tom may purr.", "question": "Is Tom warm?", "label": True}])
    assert CliRunner().invoke(app, ["audit-data", str(unread)]).exit_code == 1
    bare = write(tmp_path / "bare.jsonl", [{"context": CATS, "question": "Is Tom warm?"}])
    ran = CliRunner().invoke(app, ["audit-data", str(bare)])
    assert (ran.exit_code, "--columns answer=NAME" in ran.stderr) == (2, True)


def test_rows_with_one_id_are_each_audited(tmp_path: Path):
    row = {"id": "x", "dataset": "prontoqa", "context": CATS, "question": "Tom is warm.", "answer": "true"}
    file = write(tmp_path / "twice.jsonl", [row, {**row, "answer": "false"}])
    found = audited(read_labelled(str(file), Reading(), None, 0, None).problems, here, quick=True)
    assert [(finding.problem.id, finding.outcome) for finding in found] == [("x", "right"), ("x~2", "wrong")]


def test_published_files_are_read_by_their_readers(shared: Path):
    labelled = read_labelled(str(shared / "data/logicaldeduction_partA.jsonl.gz"), Reading(), 2, 0, None)
    found = audited([labelled.problems[0], flipped_letter(labelled.problems[1])], here)
    assert [finding.outcome for finding in found] == ["right", "wrong"]


def flipped_letter(problem: Problem) -> Problem:
    return replace(problem, answer="B" if problem.answer == "A" else "A")


def test_reasoning_gyms_syllogisms_are_mislabelled_as_often_as_by_brute_force():
    pytest.importorskip("reasoning_gym")
    ran = CliRunner().invoke(app, ["audit-data", "reasoning-gym:syllogism", "--num", "300", "--quick", "--json"])
    figures = json.loads(ran.stdout)
    assert (ran.exit_code, figures["checked"]) == (1, 300)
    assert 0.08 < figures["readings"][MEMBERS]["rate"] < 0.18


@pytest.mark.parametrize(
    ("context", "question", "label"),
    [
        ("Tom is kind, and Ann is big if Bob is rough. Bob is not rough.", "Is Tom kind?", "false"),
        ("Arms are weapons. Weapons are dangerous. Tom is an arm.", "Is Tom dangerous?", "unknown"),
        ("Glasses are tools. Tools are useful. Tom is a glass.", "Is Tom useful?", "unknown"),
        ("Spirits are drinks. Drinks are wet. Tom is a spirit.", "Is Tom wet?", "unknown"),
        ("Leaves are green. Tom is a leave.", "Is Tom green?", "unknown"),
        ("Caddies are people. Tom is a caddie. People are kind.", "Is Tom kind?", "unknown"),
        (CATS, "Is Tom not warm?", "true"),
        (CATS, "Isn't Tom warm?", "false"),
        (CATS, "Is Tom a cat or a dog?", "false"),
        ("A dog is kind. Tom is a dog.", "Is Tom kind?", "unknown"),
    ],
)
def test_a_doubtful_reading_makes_no_label_wrong(context, question, label):
    (finding,) = audit(english(context, question, label))
    assert finding.outcome == "not checked", finding
