"""One semantics a data set: what is certified in one format is not denied in another."""

import json

import pytest

from critics.judge import judge_record
from critics.replay.semantics import semantics_of
from critics.text.reference import answer_of
from critics.text.translators.syllogism import translate

FORWARD = "If someone is kind then they are big. Bob is not big."
PREMISES = "∀x (kind(x) → big(x))\n¬big(bob)"


def told(dataset: str, format_: str, completion: str, **problem: object) -> tuple[str, str]:
    asked = {"id": "p", "dataset": dataset, "context": "Prose.", "question": "Is it?", **problem}
    found = judge_record({"id": "a", "problem": asked, "format": format_, "completion": completion})
    return found["verdict"], found["reason"]


def fol(premises: str, conclusion: str) -> str:
    return f"Premises:\n{premises}\nConclusion:\n{conclusion}\n"


def test_rules_that_run_forwards_are_not_reasoned_from_backwards() -> None:
    text = {"context": FORWARD, "question": "Bob is kind."}
    assert told("proofwriter", "fol", fol(PREMISES, "kind(bob)"), **text) == ("unproved", "other_semantics")
    forwards = {"context": "If someone is kind then they are big. Bob is kind.", "question": "Bob is big."}
    program = fol("∀x (kind(x) → big(x))\nkind(bob)", "big(bob)")
    assert told("proofwriter", "fol", program, **forwards) == ("certified", "proved")


@pytest.mark.parametrize("dataset", ["mine", "prontoqa"])
def test_elsewhere_they_are_and_saturation_decides_nothing(dataset: str) -> None:
    formal = {"axioms": ["(kind 'x) -> (big 'x)", "(not (big bob))"], "goal": "(kind bob)"}
    assert told(dataset, "fol", fol(PREMISES, "kind(bob)"), formal=formal) == ("certified", "proved")
    guided = (
        "[[axiom:(kind 'x) -> (big 'x)]] [[axiom:(not (big bob))]] [[goal:(kind bob)]] [[infer:nothing]]\n"
        "Answer: unknown"
    )
    assert told(dataset, "guided", guided, formal=formal) == ("unproved", "decided_classically")
    open_ = {**formal, "goal": "(not (kind tom))"}
    asked = guided.replace("[[goal:(kind bob)]]", "[[goal:(not (kind tom))]]")
    assert told(dataset, "guided", asked, formal=open_) == ("certified", "proved")


RULES = "Facts:\n{one}(Tom, True)\nRules:\n{many}($x, True) >>> Sold($x, True)\nQuery:\nSold(Tom, True)\n"


@pytest.mark.parametrize(
    ("context", "one", "many", "verdict"),
    [
        ("Tom is good. Goods are sold.", "Good", "Goods", "unproved"),
        ("Tom is new. News are sold.", "New", "News", "unproved"),
        ("Tom is a pen. Pens are sold.", "Pen", "Pens", "certified"),
        ("Tom is a bald eagle. Bald eagles are sold.", "BaldEagle", "Bald_Eagles", "certified"),
        ("Tom is a pen. Pen are sold.", "Pen", "Pens", "unproved"),
        ("Tom is a pen. Pens are sold.", "Pen", "pen", "certified"),
    ],
)
def test_names_are_one_where_the_text_has_both_as_one_noun(context: str, one: str, many: str, verdict: str) -> None:
    program = RULES.format(one=one, many=many)
    assert told("mine", "rules", program, context=context, question="Is Tom sold?")[0] == verdict


@pytest.mark.parametrize("dataset", ["FOLIO", "Folio", "folio ", "mine", "prontoqa", "", "autoeval folio", "AR-LSAT"])
def test_an_equivalence_answers_only_who_asks_for_one(dataset: str) -> None:
    same = json.dumps({"language": "propositional", "left": "p", "right": "p"})
    assert told(dataset, "equivalence", same) == ("unproved", "other_task")
    assert told("autoeval-pl", "equivalence", same) == ("certified", "proved")
    named = {"formal": {"axioms": [], "goal": "p"}, "meta": {"language": "propositional"}}
    assert told("mine", "equivalence", same, **named) == ("certified", "proved")


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("∃x. (p(x) → (∀y. p(y)))", "constant_formula"),
        ("(∃x. (∀y. r(x, y))) → (∀y. (∃x. r(x, y)))", "constant_formula"),
        ("(∀x. p(x)) ∧ (∃x. ¬p(x))", "constant_formula"),
        ("(∀y. (∃x. r(x, y))) → (∃x. (∀y. r(x, y)))", "proved"),
        ("∃x. (p(x) → (∀y. q(y)))", "proved"),
    ],
)
def test_a_formula_that_holds_always_or_never_says_nothing(formula: str, reason: str) -> None:
    problem = {"formal": {"axioms": [], "goal": formula}, "meta": {"language": "first-order"}}
    same = json.dumps({"language": "first-order", "left": formula, "right": formula})
    assert told("autoeval-fol", "equivalence", same, **problem)[1] == reason


CONSTANTS = {
    "guided": "[[axiom:(p a)]] [[axiom:(p 'x) -> (q 'x)]] [[goal:(q a)]] [[infer:(q a)]]\nAnswer: true",
    "rules": "Facts:\nP(A, True)\nRules:\nP($x, True) >>> Q($x, True)\nQuery:\nQ(A, True)\n",
    "fol": fol("∀x (p(x) → q(x))\np(a)", "q(a)"),
    "english": "It is so. The answer is true.",
}
PROSE = (
    ("It rained and nobody came.", "Did they come?"),
    ("Ada wrote to Ben, who had moved away a year before.", "Has Ben moved?"),
    ("A is p. All p are q or r.", "Is A q?"),
    ("Tom is a cat. Every cat that is not old purrs.", "Does Tom purr?"),
)


@pytest.mark.parametrize(("format_", "completion"), CONSTANTS.items())
def test_a_constant_program_is_never_more_than_trusted(format_: str, completion: str) -> None:
    for context, question in PROSE:
        problem = {"id": "p", "dataset": "someone's", "context": context, "question": question}
        found = judge_record({"id": "a", "problem": problem, "format": format_, "completion": completion})
        assert found["certificate"] is None or found["certificate"]["formalisation"] == "trusted", found


def test_no_kind_is_said_to_have_members() -> None:
    formal = translate("All dogs are cats. All dogs are birds.", "Does it follow that some cats are birds?")
    assert answer_of(formal, forward=semantics_of("syllogism").forward) == "unknown"
