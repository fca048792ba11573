"""Reference replies for controlled English: the critic certifies every one, with the right answer."""

import json
from dataclasses import replace

import pytest

from critics.formats.asp.critic import judge_asp
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.actor_critic.demonstration import demonstrate, draft, literal, rules
from rollout.actor_critic.feedback import Reply, review
from rollout.problems.controlled_english import All, ControlledEnglish, EitherOr, IfThen, Is, Trait, generate

PROBLEM = Problem(
    "p", "controlled-english", "Ada is calm.\nNobody who is calm is loud.", "Ada is loud.", meta={"num_premises": 2}
)


@pytest.mark.parametrize("num", [100, pytest.param(500, marks=pytest.mark.slow)])
def test_every_one_is_certified_with_the_right_answer(num):
    for problem in generate(ControlledEnglish(), num, seed=3):
        verdict = judge_asp(problem, Attempt("a", problem, "asp", demonstrate(problem)))
        assert isinstance(verdict, Certified), (problem, verdict)
        assert verdict.answer == problem.answer


def test_the_critic_has_nothing_to_say_at_any_depth():
    for problem in generate(ControlledEnglish(), 30, seed=4):
        assert review(Reply.to(problem, demonstrate(problem), finished=True, depth="strict")).kind == "clean"


def test_it_does_not_know_the_answer():
    for problem in generate(ControlledEnglish(), 10, seed=5):
        assert demonstrate(replace(problem, answer=None, options=None)) == demonstrate(problem)


def test_each_rule_and_each_test_stands_under_its_premise():
    reply = json.loads(demonstrate(PROBLEM))
    assert reply == {
        "Model": [
            "% R1: Ada is calm.",
            "calm(ada).",
            "% R2: Nobody who is calm is loud.",
            "-loud(X) :- calm(X).",
            "-calm(X) :- loud(X).",
        ],
        "Tests": [
            {
                "Rules": ["R2"],
                "Explanation": "Nobody who is calm is loud.",
                "Facts": ["calm(kim)."],
                "infer-All": ["-loud(kim)"],
            }
        ],
        "Query": ["ATOM(loud(ada))"],
    }


def test_rules_say_what_claims_say():
    calm, loud = Trait("Ada", "calm"), Trait("Ben", "loud", positive=False)
    assert rules(Is(loud)) == ("-loud(ben).",)
    assert rules(All("calm", "loud")) == ("loud(X) :- calm(X).", "-calm(X) :- -loud(X).")
    assert rules(IfThen(calm, loud)) == ("-loud(ben) :- calm(ada).", "-calm(ada) :- loud(ben).")
    assert rules(EitherOr(calm, loud)) == (
        "1 {calm(ada); -loud(ben)} 1.",
        "loud(ben) :- calm(ada).",
        "-calm(ada) :- -loud(ben).",
    )
    assert literal(loud) == "-loud(ben)"


@pytest.mark.parametrize(
    ("context", "question"),
    [
        ("Ada is calm.\nSnow falls.", "Ada is calm."),
        ("Ada is calm.\nNobody who is calm is loud.", "Nobody who is calm is loud."),
        ("Everybody who is calm is loud.\nNobody who is calm is loud.", "Ada is calm."),
    ],
)
def test_what_it_cannot_write_for_is_refused(context, question):
    with pytest.raises(ValueError, match=r"."):
        draft(replace(PROBLEM, context=context, question=question))
