import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Problem
from critics.text.reference import theory
from critics.text.translators.syllogism import translate
from rollout.published.content_effects import load_syllogism

ARGUMENT: dict[str, Any] = {
    "id": "one",
    "name": "dogs_mammals_birds",
    "kind": "realistic",
    "belief_consistent": True,
    "initial_prompt": "none",
    "order_first": 2,
    "input": "Argument: ..",
    "premises": ["No mammals are birds.", "All dogs are mammals."],
    "conclusion": "No dogs are birds.",
    "valid": True,
}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_an_argument_becomes_a_problem_with_two_options(tmp_path: Path):
    (problem,) = load_syllogism(write(tmp_path / "a.jsonl", ARGUMENT))
    context, question = "No mammals are birds. All dogs are mammals.", "Does it follow that no dogs are birds?"
    assert problem == Problem(
        id="one",
        dataset="syllogism",
        context=context,
        question=question,
        options=("Valid", "Invalid"),
        answer="A",
        formal=translate(context, question),
        meta={"condition": "consistent", "name": "dogs_mammals_birds", "order": 2, "instruction": "none"},
    )


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ({"belief_consistent": False}, "inconsistent"),
        ({"kind": "nonsense"}, "nonsense"),
        ({"kind": "nonsense", "belief_consistent": False}, "nonsense"),
    ],
)
def test_the_condition_says_what_belief_makes_of_the_conclusion(tmp_path: Path, change: dict[str, Any], condition: str):
    (problem,) = load_syllogism(write(tmp_path / "a.jsonl", {**ARGUMENT, **change}))
    assert problem.meta["condition"] == condition


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_syllogism(write(tmp_path / "a.jsonl", ARGUMENT, {**ARGUMENT, "valid": False})))
    again = write(tmp_path / "b.jsonl", *(problem.record() for problem in problems))
    assert list(load_syllogism(again)) == problems


def test_an_argument_outside_the_language_says_why_it_has_no_formalisation(tmp_path: Path):
    strange = {**ARGUMENT, "premises": ["Most dogs are mammals.", "No mammals are birds."]}
    (problem,) = load_syllogism(write(tmp_path / "a.jsonl", strange))
    assert problem.formal is None
    assert problem.meta["inexpressible"].startswith("'Most dogs are mammals.'")


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ([], "JSON object"),
        ({**ARGUMENT, "valid": "yes"}, "neither true nor false"),
        ({**ARGUMENT, "valid": 1}, "neither true nor false"),
        ({**ARGUMENT, "premises": "All dogs are mammals."}, "premises"),
        ({**ARGUMENT, "premises": [1]}, "premises"),
        ({**ARGUMENT, "conclusion": None}, "conclusion"),
        ({**ARGUMENT, "kind": "real"}, "kind"),
        ({**ARGUMENT, "belief_consistent": None}, "kind"),
        ({**ARGUMENT, "id": 3}, "problem.id"),
        ({"id": "p", "dataset": "prontoqa"}, "not syllogism"),
    ],
)
def test_a_bad_line_is_named_with_its_number(tmp_path: Path, record: Any, why: str):
    path = write(tmp_path / "bad.jsonl", ARGUMENT, record)
    problems = load_syllogism(path)
    next(problems)
    with pytest.raises(InputError, match=why) as caught:
        next(problems)
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_the_published_set_loads_and_every_label_is_proved_or_saturated(shared: Path):
    problems = list(load_syllogism(shared / "data" / "syllogisms.jsonl.gz"))
    assert len({problem.id for problem in problems}) == 426
    decided = {problem.id: theory(problem.formal).decided for problem in problems if problem.formal}
    assert all((decided[problem.id] == "true") == (problem.answer == "A") for problem in problems)
    assert Counter(problem.meta["condition"] for problem in problems) == {
        "consistent": 108,
        "inconsistent": 108,
        "nonsense": 210,
    }
