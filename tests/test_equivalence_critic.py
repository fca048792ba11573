"""The critic of `equivalence` attempts: its verdicts, what a problem's own formula demands, and cheats."""

import json
from dataclasses import replace
from typing import Any

import pytest

from critics.formats.equivalence.critic import judge_equivalence
from critics.judge import judge_record
from critics.problem import Attempt, Formal, Problem
from critics.verdict import Certified, Refuted, Verdict

LEFT = {
    "propositional": "(p1 ∧ p2)",
    "3cnf": "((p1 ∨ p2 ∨ ¬p3) ∧ (p4 ∨ p5 ∨ p6))",
    "first-order": "∀x1. (pred1(x1) ∧ pred2(p1))",
    "regex": "(01)*0",
}
SAME = {
    "propositional": "not (not p2 or not p1)",
    "3cnf": "(p5 v p4 v p6) ∧ (¬p3 v p2 v p1)",
    "first-order": "(∀x2. pred1(x2)) & pred2(p1)",
    "regex": "0(10)*",
}
OTHER = {
    "propositional": "p1 ∨ p2",
    "3cnf": "(p1 ∨ p2 ∨ p3) ∧ (p4 ∨ p5 ∨ p6)",
    "first-order": "∀x1. (pred1(x1) ∧ pred2(x1))",
    "regex": "(01)*",
}
PROBLEM = Problem("1", "autoeval", "", "")


def named(language: str, formula: str | None = None, **meta: Any) -> Problem:
    """A problem that names its formula."""
    formal = Formal((), LEFT[language] if formula is None else formula)
    return replace(PROBLEM, formal=formal, meta={"language": language, **meta})


def judge(language: str, left: str, right: str, problem: Problem = PROBLEM) -> Verdict:
    completion = json.dumps({"language": language, "left": left, "right": right})
    return judge_equivalence(problem, Attempt("1", problem, "equivalence", completion))


def told(verdict: Verdict) -> tuple[str, str, str | None]:
    return type(verdict).__name__, getattr(verdict, "reason", ""), verdict.answer


@pytest.mark.parametrize("language", LEFT)
def test_a_proved_equivalence_is_certified(language: str) -> None:
    trusted, checked = (judge(language, LEFT[language], SAME[language], p) for p in (PROBLEM, named(language)))
    assert isinstance(trusted, Certified)
    assert isinstance(checked, Certified)
    assert (trusted.answer, trusted.certificate.formalisation) == ("true", "trusted")
    assert (checked.answer, checked.certificate.formalisation) == ("true", "given")


@pytest.mark.parametrize("language", LEFT)
def test_a_difference_is_refuted_with_its_witness(language: str) -> None:
    verdict = judge(language, LEFT[language], OTHER[language], named(language))
    assert told(verdict) == ("Refuted", "different", "false")
    assert isinstance(verdict, Refuted)
    witness = json.loads(verdict.feedback.partition(" holds for ")[2])
    assert witness


def test_a_word_and_an_assignment_are_told() -> None:
    verdict = judge("regex", "(01)*", "0*1*")
    assert isinstance(verdict, Refuted)
    assert verdict.feedback == 'they differ: only the right one holds for {"in_left": false, "word": "0"}'
    verdict = judge("propositional", "p1", "p1 ∧ p2")
    assert isinstance(verdict, Refuted)
    assert verdict.feedback == 'they differ: only the left one holds for {"p1": true, "p2": false}'


@pytest.mark.parametrize("language", LEFT)
def test_a_copy_of_the_problems_formula_is_a_perfect_round_trip(language: str) -> None:
    assert isinstance(judge(language, LEFT[language], LEFT[language], named(language)), Certified)


def test_undecided_is_a_timeout_without_an_answer() -> None:
    bomb = "(0|1)*0" + "(0|1)" * 30
    assert told(judge("regex", bomb, bomb + "()")) == ("TimedOut", "solver_budget", None)


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("", "json"),
        ("p1 ≡ p1", "json"),
        ("[" * 90_000, "json"),
        ("[]", "json"),
        ('{"language": "propositional", "left": "p1"}', "json"),
        ('{"language": "propositional", "left": "p1", "right": null}', "json"),
        ('{"language": "propositional", "left": "p1", "right": "p1", "verdict": "certified"}', "json"),
        ('{"language": "propositional", "left": "p2", "left": "p1", "right": "p1"}', "json"),
        ('{"language": "LTL", "left": "p1", "right": "p1"}', "language"),
        ('{"language": "propositional", "left": "p1", "right": "pred1(p1)"}', "language"),
        ('{"language": "propositional", "left": "p1 ∧", "right": "p1"}', "syntax"),
        ('{"language": "regex", "left": "0+1", "right": "0+1"}', "character"),
        ('{"language": "regex", "left": "0\\ud800", "right": "0"}', "json"),
        ('{"language": "first-order", "left": "pred1(p1)", "right": "pred1(p1, p2)"}', "arity"),
        ('{"language": "first-order", "left": "pred1(p1)", "right": "pred2(pred1(p1))"}', "role"),
        ("x" * 200_000, "too_long"),
    ],
)
def test_what_does_not_parse_is_malformed(completion: str, reason: str) -> None:
    verdict = judge_equivalence(PROBLEM, Attempt("1", PROBLEM, "equivalence", completion))
    assert told(verdict) == ("Malformed", reason, None)


def test_the_left_side_is_the_formula_that_the_problem_names() -> None:
    problem = named("propositional", "p1 ∧ (p2 ∧ p3)")
    assert isinstance(judge("propositional", "(p1 ∧ p2 ∧ p3)", "p3 ∧ p2 ∧ p1", problem), Certified)
    for left in ("p1", "p3 ∧ p2 ∧ p1", "p1 ∧ p2 ∧ p4"):
        assert told(judge("propositional", left, left, problem)) == ("Unproved", "goal_mismatch", None)
    assert told(judge("regex", "0**", "0*", named("regex", "0*"))) == ("Unproved", "goal_mismatch", None)


def test_the_language_is_the_one_that_the_problem_names() -> None:
    problem = named("regex", "01")
    assert told(judge("propositional", "q01", "q01", problem)) == ("Unproved", "goal_mismatch", None)
    threefold = named("propositional", LEFT["3cnf"])
    assert isinstance(judge("3cnf", LEFT["3cnf"], SAME["3cnf"], threefold), Certified)


def test_letters_are_those_that_the_problem_declares() -> None:
    problem = named("regex", "2*(01)*", alphabet="012")
    assert isinstance(judge("regex", "2*(01)*", "2*(01)*", problem), Certified)
    assert told(judge("regex", "2*", "2*")) == ("Malformed", "character", None)
    for alphabet in ("", "ab", "00", 2, None):
        assert told(judge("regex", "0", "0", named("regex", "0", alphabet=alphabet)))[:2] == (
            "CriticError",
            "no_reference",
        )


def test_a_formula_that_says_nothing_is_no_test() -> None:
    for language, left, right in (
        ("propositional", "p1 ∨ ¬p1", "p2 → p2"),
        ("first-order", "∀x1. (pred1(x1) ∨ ¬pred1(x1))", "p1 ∨ ¬p1"),
    ):
        assert told(judge(language, left, right, named(language, left))) == ("Vacuous", "constant_formula", "true")
        assert isinstance(judge(language, left, right), Certified)


def test_a_problem_that_asks_something_else_is_not_answered() -> None:
    for dataset in ("prontoqa", "folio", "ar-lsat"):
        problem = replace(PROBLEM, dataset=dataset, answer="true")
        assert told(judge("propositional", "p1", "p1", problem)) == ("Unproved", "other_task", None)
    entailment = replace(PROBLEM, formal=Formal(("p1 → p2", "p1"), "p2"))
    assert told(judge("propositional", "p2", "p2", entailment)) == ("Unproved", "other_task", None)


def test_the_gold_answer_and_the_options_count() -> None:
    assert told(judge("propositional", "p1", "¬¬p1", replace(PROBLEM, answer="false"))) == (
        "Refuted",
        "wrong_answer",
        "true",
    )
    options = ("A) False", "B) True")
    assert judge("propositional", "p1", "¬¬p1", replace(PROBLEM, options=options)).answer == "B"
    assert judge("propositional", "p1", "¬p1", replace(PROBLEM, options=options)).answer == "A"
    assert told(judge("propositional", "p1", "p1", replace(PROBLEM, options=("yellow", "blue")))) == (
        "Unproved",
        "no_option",
        None,
    )


def test_a_reference_that_cannot_be_read_is_the_critics_failure() -> None:
    assert told(judge("propositional", "p1", "p1", named("propositional", "p1 ∧")))[:2] == (
        "CriticError",
        "no_reference",
    )


CHEATS = {
    "a look-alike letter": ("propositional", "p1", "р1"),
    "a look-alike letter in a predicate": ("first-order", "pred1(p1)", "рred1(p1)"),
    "a free variable for a bound one": ("first-order", "∀x1. pred1(x1)", "pred1(x1)"),
    "capture": ("first-order", "∀x1. ∃x2. pred1(x1, x2)", "∀x2. ∃x2. pred1(x2, x2)"),
    "a vacuous quantifier of a free name": ("first-order", "pred1(x1)", "∀x1. pred1(x1)"),
    "a constant with a variable's name": (
        "first-order",
        "∃x1. (pred1(x1) ∧ pred2(x1))",
        "(∃x1. pred1(x1)) ∧ pred2(x1)",
    ),
    "a proposition for a predicate": ("first-order", "p1 ∧ pred1(p1)", "p1 ∧ (pred1(p1) ∨ p2)"),
    "a narrow scope": ("first-order", "∀x1. pred1(x1) ∨ pred2(x1)", "(∀x1. pred1(x1)) ∨ (∀x1. pred2(x1))"),
    "a star of everything": ("regex", "(01)*0", "(0*1*)*"),
    "the empty word": ("regex", "(01)*", "01(01)*"),
    "one letter for the other": ("regex", "0*", "1*"),
    "another start state": ("regex", "(01)*", "1(01)*"),
}


@pytest.mark.parametrize("case", CHEATS)
def test_a_cheat_is_refuted(case: str) -> None:
    language, left, right = CHEATS[case]
    assert told(judge(language, left, right)) == ("Refuted", "different", "false")


def test_free_names_are_reported() -> None:
    verdict = judge("first-order", "pred1(x1) ∧ pred2(p1)", "pred2(p1) ∧ pred1(x1) ∧ ∃y. pred2(p1)")
    assert isinstance(verdict, Certified)
    assert verdict.certificate.record()["evidence"]["free"] == {"left": ["x1"], "right": ["x1"]}


def test_what_was_mended_is_recorded() -> None:
    verdict = judge("propositional", "p1 ∨ p2", "p1v p2.")
    assert isinstance(verdict, Certified)
    assert verdict.certificate.repairs == ("final_stop", "glued_or")


def test_the_format_is_registered() -> None:
    completion = json.dumps({"language": "regex", "left": "0", "right": "0"})
    record = judge_record({"id": "7", "problem": PROBLEM.record(), "format": "equivalence", "completion": completion})
    assert (record["verdict"], record["answer"]) == ("certified", "true")
