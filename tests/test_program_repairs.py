"""Liberties of the reader of `logic-program` texts that have one meaning, and those that are run and not believed."""

from dataclasses import replace

import pytest

from critics.judge import judge, judge_record
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.verdict import Certified, Verdict

PROGRAM = """# Declarations
cooks = EnumSort([ann, bob, cy])
boys = EnumSort([bob, cy])
girls = EnumSort([ann])
dishes = EnumSort([pie, tart])
bakes = Function([cooks, dishes] -> [bool])

# Constraints
{constraint}
bakes(ann, pie)
Not(bakes(ann, tart))
ForAll([d:dishes], Count([c:cooks], bakes(c, d)) == 1)

# Options
Question ::: Which one of the following must be true?
is_valid(bakes(bob, pie)) ::: (A)
is_valid(bakes(bob, tart)) ::: (B)
is_valid(bakes(cy, tart)) ::: (C)
"""
GIVEN = Problem(
    "p", "ar-lsat", "Prose.", "Which one of the following must be true?",
    ("A) Bob bakes a pie.", "B) Bob bakes a tart.", "C) Cy bakes a tart."), "B",
)  # fmt: skip


def judged(constraint: str) -> Verdict:
    return judge(GIVEN, Attempt("a", GIVEN, "logic-program", PROGRAM.format(constraint=constraint)))


@pytest.mark.parametrize(
    ("constraint", "repair"),
    [
        ("bakes(bob, tart), Not(bakes(cy, pie))", "arguments_conjoined"),
        ("ForAll([b:boys], Count([d:dishes], And(bakes(b, d), b == cy))) == 0", "comparison_moved_inside"),
        ("Exists([b:boys], Count([d:dishes], And(bakes(b, d), b == bob))) >= 1", "comparison_moved_inside"),
        ("And(bakes(bob, tart), ForAll([c:boys + girls], Implies(bakes(c, pie), c != bob)))", "sort_union"),
    ],
)
def test_what_can_mean_one_thing_only_is_read_so_and_rechecks(constraint: str, repair: str) -> None:
    text = PROGRAM.format(constraint=constraint)
    record = {"id": "a", "problem": GIVEN.record(), "format": "logic-program", "completion": text}
    verdict = judge_record(record)
    assert verdict["verdict"] == "certified", verdict["feedback"]
    assert repair in verdict["certificate"]["repairs"]
    assert recheck([{**record, "judgement": verdict}])["accepted"] == 1


def test_names_with_escaped_underscores_are_read() -> None:
    """Models escape them where they think of Markdown, as Mixtral does in Prototype-then-Refine's appendix D."""
    problem = replace(GIVEN, answer="B")
    text = PROGRAM.replace("bakes", "has_baked").format(constraint="has_baked(bob, tart)")
    plain = judge(problem, Attempt("a", problem, "logic-program", text))
    escaped = judge(problem, Attempt("a", problem, "logic-program", text.replace("_", "\\_")))
    assert type(escaped) is type(plain)
    assert escaped.answer == plain.answer == "B"


def test_a_comma_between_formulas_does_not_make_a_list_of_anything_else() -> None:
    assert not isinstance(judged("bakes(bob, tart), pie"), Certified)
    assert not isinstance(judged("bakes(bob, tart), , bakes(cy, pie)"), Certified)


def test_only_a_number_is_moved_into_a_quantifier() -> None:
    verdict = judged("ForAll([b:boys], Count([d:dishes], bakes(b, d))) == Count([d:dishes], bakes(ann, d))")
    assert not isinstance(verdict, Certified)
    assert verdict.reason == "type"


@pytest.mark.parametrize("constraint", ["And(bakes(bob, tart), bakes(c, pie))", "bakes(bob, d)\nbakes(bob, d)"])
def test_a_variable_that_nothing_binds_answers_as_z3_would_and_is_never_certified(constraint: str) -> None:
    verdict = judged(constraint)
    assert not isinstance(verdict, Certified)
    assert (verdict.reason, verdict.answer) == ("free_variable", "B")


def test_an_unbound_variable_with_a_wrong_answer_is_still_refuted() -> None:
    verdict = judged("And(Not(bakes(bob, tart)), bakes(x, pie))")
    assert not isinstance(verdict, Certified)
    assert (verdict.reason, verdict.answer) == ("wrong_answer", "C")


@pytest.mark.parametrize("name", ["noon", "Bob2", "_", "bobb"])
def test_a_name_that_is_no_variables_must_be_declared(name: str) -> None:
    verdict = judged(f"bakes({name}, tart)")
    assert not isinstance(verdict, Certified)
    assert verdict.reason == "undeclared_name"


def test_unions_of_sorts_that_have_nothing_in_common_are_refused() -> None:
    verdict = judged("ForAll([c:boys + dishes], bakes(c, tart))")
    assert not isinstance(verdict, Certified)
    assert verdict.reason == "type"
