"""Hand-written programs for FOLIO's problems, and what the critic says of each."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from critics.formats.asp.critic import judge_asp
from critics.problem import Attempt, Problem
from critics.replay.answer_sets.submission import submission_of
from critics.verdict import Certified, Refuted, Unproved, Vacuous
from rollout.published.first_order import load_folio

PROGRAMS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("folio_programs.yaml").read_text("utf-8"))
QUERIES: dict[str, tuple[dict[str, Any], list[str]]] = {
    name: (entry, query) for entry in PROGRAMS for name, query in entry["queries"].items()
}


@pytest.fixture
def problems(shared: Path) -> dict[str, Problem]:
    return {problem.id: problem for problem in load_folio(shared / "data" / "folio_validation_partA.jsonl")}


def written(name: str, **changed: Any) -> str:
    entry, query = QUERIES[name]
    return json.dumps({"Model": entry["model"].splitlines(), "Tests": entry["tests"], "Query": query, **changed})


def judged(problem: Problem, completion: str) -> Any:
    return judge_asp(problem, Attempt("a", problem, "asp", completion))


def test_there_are_29_programs_for_79_conclusions_each_rule_of_a_premise_tested():
    assert (len(PROGRAMS), len(QUERIES)) == (29, 79)
    for name in QUERIES:
        read = submission_of(written(name))
        named = {number for test in read.tests for number in test.rules}
        facts = {i for i, rule in enumerate(read.program.rules) if rule.is_fact()}
        ruled = {number for number, rules in read.program.numbered().items() if not facts.issuperset(rules)}
        assert ruled <= named, name


def test_every_program_is_certified_with_the_published_answer(problems: dict[str, Problem]):
    verdicts = {name: judged(problems[name], written(name)) for name in QUERIES}
    assert {name: verdict for name, verdict in verdicts.items() if not isinstance(verdict, Certified)} == {}
    assert all(verdict.answer == problems[name].answer for name, verdict in verdicts.items())


def test_another_label_would_refute_every_program(problems: dict[str, Problem]):
    other = {"true": "false", "false": "unknown", "unknown": "true"}
    for name in QUERIES:
        problem = replace(problems[name], answer=other[str(problems[name].answer)])
        assert isinstance(judged(problem, written(name)), Refuted), name


def test_a_program_without_its_last_premise_is_not_certified(problems: dict[str, Problem]):
    for name in ("FOLIO/validation/55", "FOLIO/validation/74", "FOLIO/validation/140"):
        num = problems[name].meta["num_premises"]
        model = QUERIES[name][0]["model"].partition(f"% R{num}:")[0].splitlines()
        verdict = judged(problems[name], written(name, Model=model))
        assert isinstance(verdict, Unproved | Vacuous | Refuted), name
