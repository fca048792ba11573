import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Formal, Problem
from critics.text.reference import theory
from rollout.published.prontoqa import load_deductions

LINE: dict[str, Any] = {
    "id": "one",
    "rule": "AndIntro",
    "hops": 2,
    "context": "Cold zumpuses are numpuses. Sam is cold. Sam is a zumpus.",
    "query": "Prove: Sam is a numpus.",
    "chain_of_thought": [],
}
FORMAL = Formal(("(cold 'x) -> (zumpus 'x) -> (numpus 'x)", "(cold sam)", "(zumpus sam)"), "(numpus sam)")


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_line_becomes_a_problem_whose_answer_is_true(tmp_path: Path):
    (problem,) = load_deductions(write(tmp_path / "a.jsonl", LINE))
    assert problem == Problem(
        id="one",
        dataset="prontoqa-ood",
        context=LINE["context"],
        question="Prove: Sam is a numpus.",
        answer="true",
        formal=FORMAL,
        meta={"rule": "AndIntro", "hops": 2},
    )


def test_what_the_kernel_cannot_express_says_why(tmp_path: Path):
    line = {**LINE, "rule": "OrElim", "context": "Sam is a zumpus or a rompus. Sam is a numpus."}
    (problem,) = load_deductions(write(tmp_path / "a.jsonl", line))
    assert (problem.formal, problem.answer) == (None, "true")
    assert "case analysis" in problem.meta["inexpressible"]


def test_the_generators_file_yields_its_test_examples(tmp_path: Path):
    test = {"question": LINE["context"], "query": LINE["query"], "chain_of_thought": []}
    document = {"example1": {"in_context_example0": {"query": "?"}, "test_example": test}}
    path = tmp_path / "2hop_AndIntro_random_seed2026.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (problem,) = load_deductions(path)
    assert problem.id == "2hop_AndIntro_random_seed2026/example1"
    assert (problem.formal, problem.meta) == (FORMAL, {"rule": "AndIntro", "hops": 2})


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_deductions(write(tmp_path / "a.jsonl", LINE)))
    assert list(load_deductions(write(tmp_path / "b.jsonl", problems[0].record()))) == problems


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ([], "JSON object"),
        ({**LINE, "query": "True or false: Sam is a numpus."}, "Prove"),
        ({**LINE, "query": None}, "Prove"),
        ({**LINE, "id": 3}, "problem.id"),
        ({**LINE, "context": None}, "problem.context"),
        ({"id": "p", "dataset": "prontoqa"}, "not prontoqa-ood"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, record: Any, why: str):
    path = write(tmp_path / "bad.jsonl", LINE, record)
    problems = load_deductions(path)
    next(problems)
    with pytest.raises(InputError, match=why) as caught:
        next(problems)
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_an_example_without_a_problem_is_refused(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"example1": {}}), encoding="utf-8")
    with pytest.raises(InputError, match="example1"):
        list(load_deductions(path))


def test_the_published_problems_load_and_what_has_a_formalisation_is_proved(shared: Path):
    problems = list(load_deductions(shared / "data" / "prontoqa_ood_seed2026.jsonl.gz"))
    assert len({problem.id for problem in problems}) == 480
    assert all(theory(problem.formal).decided == problem.answer == "true" for problem in problems if problem.formal)
    assert all((problem.formal is None) == ("inexpressible" in problem.meta) for problem in problems)
    assert Counter(problem.meta["rule"] for problem in problems if problem.formal) == {
        "AndIntro": 80,
        "AndElim": 80,
        "OrIntro": 80,
        "Composed": 56,
    }
