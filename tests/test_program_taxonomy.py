"""What execution says is wrong: a program for each of the paper's nine kinds, and for what it took for a success."""

from typing import Any

import pytest

from critics.judge import judge_record
from critics.problem import read_attempt
from rollout.programs.taxonomy import ERRORS, Category, Diagnosis, diagnose
from rollout.records.traces import Judgement, read_judgement
from training.reporting.programs import error_columns, error_table, read_programs

PROGRAM = """# Declarations
cooks = EnumSort([ann, bob])
dishes = EnumSort([pie, tart, cake])
bakes = Function([cooks] -> [dishes])
sweet = Function([dishes] -> [bool])

# Constraints
{constraint}
bakes(ann) != bakes(bob)

# Options
Question ::: Which one of the following {asked} true?
{helper}(bakes(ann) == pie) ::: (A)
{helper}(bakes(ann) == tart) ::: (B)
{helper}(bakes(ann) == cake) ::: (C)
"""


def attempt(constraint: str, helper: str = "is_valid", completion: str | None = None) -> dict[str, Any]:
    asked = "must be" if helper == "is_valid" else "could be"
    text = PROGRAM.format(constraint=constraint, helper=helper, asked=asked) if completion is None else completion
    options = ["A) Ann bakes a pie.", "B) Ann bakes a tart.", "C) Ann bakes a cake."]
    question = f"Which one of the following {asked} true?"
    problem = {"id": "p", "dataset": "ar-lsat", "context": "..", "question": question, "options": options}
    return {"id": "a", "problem": {**problem, "answer": "A"}, "format": "logic-program", "completion": text}


def diagnosed(record: dict[str, Any]) -> Diagnosis:
    return diagnose(read_attempt(record), read_judgement(judge_record(record)))


@pytest.mark.parametrize(
    ("constraint", "category"),
    [
        ("sweet(bakes(ann))", Category.UNDERCONSTRAINED),
        ("sweet(pie) < sweet(tart)", Category.TYPE_ERROR),
        ("bakes(ann) == pie pie", Category.SYNTAX_ERROR),
        ("bakes(carl) == pie", Category.NAME_ERROR),
        ("cooks(ann) == pie", Category.NAME_ERROR),
        ("bakes.ann == pie", Category.ATTRIBUTE_ERROR),
        ("sweet(ann)", Category.Z3_EXCEPTION),
        ("And(bakes(ann), sweet(pie))", Category.Z3_EXCEPTION),
        ("sweet(pie, tart)", Category.Z3_EXCEPTION),
    ],
)
def test_the_papers_kinds_of_errors_are_told_apart(constraint: str, category: Category) -> None:
    assert diagnosed(attempt(constraint)).category == category


def test_a_text_that_is_no_program_is_a_parsing_error() -> None:
    assert diagnosed(attempt("", completion="I cannot do that.")).category == Category.PARSING_ERROR
    lost = attempt("sweet(pie)")["completion"].replace("::: (C)", "::: (B)")
    assert diagnosed(attempt("", completion=lost)).category == Category.PARSING_ERROR


@pytest.mark.parametrize(
    ("constraint", "helper", "expected"),
    [
        ("sweet(pie)", "is_valid", Diagnosis(Category.UNDERCONSTRAINED, "underconstrained")),
        ("bakes(ann) == bakes(bob)", "is_sat", Diagnosis(Category.OVERCONSTRAINED, "overconstrained")),
        ("bakes(ann) == bakes(bob)", "is_valid", Diagnosis(Category.ALL_TRUE, "overconstrained")),
        ("sweet(pie)", "is_sat", Diagnosis(Category.ALL_TRUE, "underconstrained")),
        ("bakes(ann) != cake", "is_sat", Diagnosis(Category.SEVERAL_TRUE, "underconstrained")),
        ("sweet(pie)", "is_unsat", Diagnosis(Category.UNDERCONSTRAINED, "underconstrained")),
        ("bakes(ann) == pie", "is_unsat", Diagnosis(Category.SEVERAL_TRUE, "overconstrained")),
        ("bakes(ann) == pie", "is_valid", Diagnosis(Category.ANSWERED)),
    ],
)
def test_under_and_over_constrained_are_told_apart_by_the_helpers(
    constraint: str, helper: str, expected: Diagnosis
) -> None:
    assert diagnosed(attempt(constraint, helper)) == expected


def test_helpers_that_disagree_leave_the_cause_to_a_reader() -> None:
    mixed = PROGRAM.format(constraint="sweet(pie)", helper="is_valid", asked="is").replace(
        "is_valid(bakes(ann) == cake)", "is_unsat(bakes(ann) == cake)"
    )
    assert diagnosed(attempt("", completion=mixed)).cause == "underconstrained"
    mixed = mixed.replace("is_unsat(bakes(ann) == cake)", "is_sat(And(bakes(ann) == cake, bakes(bob) == cake))")
    assert diagnosed(attempt("", completion=mixed)) == Diagnosis(Category.NO_OUTPUT)


def test_a_wrong_gold_answer_changes_no_category() -> None:
    record = attempt("bakes(ann) == tart")
    assert judge_record(record)["verdict"] == "refuted"
    assert diagnosed(record).category == Category.ANSWERED


def test_a_failed_critic_and_a_timeout_are_held_against_no_program() -> None:
    empty = read_attempt(attempt(""))
    assert diagnose(empty, Judgement("error", "critic_failed", None, "")).category == Category.CRITIC_ERROR
    assert diagnose(empty, Judgement("timeout", "solver_limit", None, "")).category == Category.NO_OUTPUT


CSP = """Domain:
1: first
2: last
Variables:
ann [IN] [1, 2]
bob [IN] [1, 2]
Constraints:
{}
Query:
A) ann == 1
B) bob == 1
"""


@pytest.mark.parametrize(
    ("constraint", "category"),
    [
        ("ann != bob", Category.UNDERCONSTRAINED),
        ("ann < ann", Category.OVERCONSTRAINED),
        ("ann + bob == 2", Category.ALL_TRUE),
        ("ann < bob", Category.ANSWERED),
    ],
)
def test_programs_of_other_languages_have_the_same_categories(constraint: str, category: Category) -> None:
    asked = {"question": "Which is true?", "options": ["A) Ann.", "B) Bob."]}
    problem = {"id": "p", "dataset": "own", "context": "..", **asked}
    record = {"id": "a", "problem": problem, "format": "csp", "completion": CSP.format(constraint)}
    assert diagnosed(record).category == category


def test_the_counts_of_a_column_add_up() -> None:
    records = [attempt("sweet(pie)"), attempt("bakes(ann) == pie"), attempt("sweet(pie)", "is_sat")]
    (found,) = error_columns(read_programs(records, [judge_record(record) for record in records]))
    assert (found["n"], found["errors"], sum(found["categories"].values())) == (3, 1, 3)
    assert found["causes"] == {"underconstrained": 1}
    assert error_table([found]).row_count == 1
    assert len(ERRORS) == 9


@pytest.mark.parametrize(
    ("line", "category"),
    [
        ("print(undefined)", Category.NAME_ERROR),
        ("Solver().ad(True)", Category.ATTRIBUTE_ERROR),
        ("Int('x') + 'a'", Category.TYPE_ERROR),
        ("3(4)", Category.TYPE_ERROR),
        ("if Int('x') > 3:\n    print('A')", Category.Z3_EXCEPTION),
        ("Solver().add('x')", Category.Z3_EXCEPTION),
        ("Solver().model()", Category.Z3_EXCEPTION),
        ("print(1 // 0)", Category.OTHER_ERROR),
        ("assert 1 == 2", Category.OTHER_ERROR),
        ("import os", Category.REFUSED),
        ("try:\n    pass\nexcept Exception:\n    pass", Category.REFUSED),
        ("print('A'", Category.SYNTAX_ERROR),
    ],
)
def test_errors_of_scripts_are_told_apart_as_python_would(line: str, category: Category):
    problem = {"id": "p", "dataset": "prontoqa", "context": "Max is a cat.", "question": "Max is a cat.",
               "options": ["A) True", "B) False"], "answer": "A"}  # fmt: skip
    script = f"from z3 import *\n{line}\n"
    assert diagnosed({"id": "a", "problem": problem, "format": "z3-python", "completion": script}).category == category
