import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.problem import Formal, Problem
from rollout.problems.proofwriter import ProofWriter, generate
from rollout.published.proofwriter import load_proofwriter

LEAD = "Based on the above information, is the following statement true, false, or unknown?"
CONTEXT = "Ada is brave. Brave people are tall. If someone is tall then they greet Otto."
AXIOMS = ("(brave ada)", "(brave 'x) -> (tall 'x)", "(tall 'x) -> (greets 'x otto)")
LOGICLM = {
    "id": "ProofWriter_AttNeg-OWA-D5-7_Q1",
    "context": CONTEXT,
    "question": f"{LEAD} Ada does not greet Otto.",
    "options": ["A) True", "B) False", "C) Unknown"],
    "answer": "B",
}
LOGICGUIDE = {"id": "one", "context": CONTEXT, "query": "True or false: Otto is tall.", "answer": "Unknown"}
THEORY = {
    "id": "RelNeg-OWA-D3-12",
    "theory": CONTEXT,
    "questions": {
        "Q1": {"question": "Ada is brave.", "answer": True, "QDep": 0},
        "Q2": {"question": "Ada is not tall.", "answer": False, "QDep": 1},
        "Q3": {"question": "Otto is brave.", "answer": "Unknown", "QDep": 0},
    },
}


def write(path: Path, *records: Any) -> Path:
    text = "".join(json.dumps(record) + "\n" for record in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("extra", [{}, {"dataset": "ProofWriter"}, {"dataset": "proofwriter"}])
def test_logiclm_lines_keep_options_and_letter(tmp_path: Path, extra: dict[str, str]):
    (problem,) = load_proofwriter(write(tmp_path / "dev.jsonl.gz", {**LOGICLM, **extra}))
    assert problem == Problem(
        id="ProofWriter_AttNeg-OWA-D5-7_Q1",
        dataset="proofwriter",
        context=CONTEXT,
        question=f"{LEAD} Ada does not greet Otto.",
        options=("A) True", "B) False", "C) Unknown"),
        answer="B",
        formal=Formal(AXIOMS, "(not (greets ada otto))"),
        meta={"depth": 5, "hops": 2},
    )


def test_logicguide_lines_answer_in_words(tmp_path: Path):
    (problem,) = load_proofwriter(write(tmp_path / "3hop.jsonl", LOGICGUIDE))
    assert (problem.options, problem.answer) == (None, "unknown")
    assert problem.formal == Formal(AXIOMS, "(tall otto)")
    assert problem.meta == {"hops": None}


def test_each_question_of_a_theory_becomes_a_problem(tmp_path: Path):
    problems = list(load_proofwriter(write(tmp_path / "meta-test.jsonl", THEORY)))
    assert [(p.id, p.answer, p.meta) for p in problems] == [
        ("RelNeg-OWA-D3-12_Q1", "true", {"depth": 3, "hops": 0}),
        ("RelNeg-OWA-D3-12_Q2", "false", {"depth": 3, "hops": 1}),
        ("RelNeg-OWA-D3-12_Q3", "unknown", {"depth": 3, "hops": None}),
    ]
    assert [p.formal.goal for p in problems if p.formal] == ["(brave ada)", "(not (tall ada))", "(brave otto)"]


def test_logiclms_own_file_is_one_list(tmp_path: Path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([LOGICLM, {**LOGICLM, "id": "three"}]), encoding="utf-8")
    assert [problem.id for problem in load_proofwriter(path)] == ["ProofWriter_AttNeg-OWA-D5-7_Q1", "three"]


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_proofwriter(write(tmp_path / "a.jsonl", LOGICGUIDE, LOGICLM)))
    problems += generate(ProofWriter(), 6, seed=0)
    again = write(tmp_path / "b.jsonl", *(problem.record() for problem in problems))
    assert list(load_proofwriter(again)) == problems


def test_what_the_translator_refuses_has_no_formalisation_and_says_why(tmp_path: Path):
    (problem,) = load_proofwriter(write(tmp_path / "a.jsonl", {**LOGICLM, "context": "Some people are tall."}))
    assert problem.formal is None
    assert problem.answer == "B"
    assert "Some people are tall." in problem.meta["inexpressible"]
    assert "hops" not in problem.meta


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ([], "JSON object"),
        ({**LOGICGUIDE, "answer": "yes"}, "none of 'True', 'False' and 'Unknown'"),
        ({**LOGICGUIDE, "answer": True}, "none of 'True', 'False' and 'Unknown'"),
        ({**LOGICGUIDE, "id": 3}, "problem.id"),
        ({**LOGICLM, "answer": "D"}, "option letters"),
        ({**LOGICLM, "dataset": "folio"}, "not ProofWriter"),
        ({**LOGICLM, "dataset": 3}, "not ProofWriter"),
        ({**LOGICLM, "id": "AttNeg-CWA-D5-7_Q1"}, "closed-world"),
        ({**LOGICLM, "formal": {"axioms": ["(brave ada)"], "goal": "(brave ada)"}}, "not what the problem's text says"),
        ({**LOGICLM, "meta": ["depth"]}, "problem.meta"),
        ({**THEORY, "questions": []}, "questions"),
        ({**THEORY, "questions": {"Q1": "Ada is brave."}}, "questions.Q1"),
        ({**THEORY, "questions": {"Q1": {"question": "Ada is brave.", "answer": 1}}}, "answer: 1"),
        ({**THEORY, "theory": None}, "problem.context"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, record: Any, why: str):
    path = write(tmp_path / "bad.jsonl", LOGICLM, record)
    problems = load_proofwriter(path)
    next(problems)
    with pytest.raises(ValueError, match=why) as caught:
        next(problems)
    assert str(caught.value).startswith(f"{path}, line 2: ")


@pytest.mark.slow
def test_the_published_sets_load(shared: Path):
    problems = [
        problem
        for name in ("proofwriter_train.jsonl.gz", "proofwriter_dev_partA.jsonl.gz")
        for problem in load_proofwriter(shared / "data" / name)
    ]
    assert len({problem.id for problem in problems}) == 3344
    assert all(problem.formal is not None and problem.meta["depth"] == 5 for problem in problems)
    hops = Counter(problem.meta["hops"] for problem in problems)
    assert hops == {None: 1121, 0: 345, 1: 371, 2: 357, 3: 362, 4: 376, 5: 390, 6: 19, 7: 3}
    assert all((problem.answer == "C") == (problem.meta["hops"] is None) for problem in problems)


def test_the_published_problems_to_develop_on_load(shared: Path):
    problems = list(load_proofwriter(shared / "data" / "proofwriter_dev_partA.jsonl.gz"))
    assert len({problem.id for problem in problems}) == 344
    assert all(problem.formal is not None and problem.meta["depth"] == 5 for problem in problems)
    assert all((problem.answer == "C") == (problem.meta["hops"] is None) for problem in problems)
