"""Programs that say the opposite of a sentence that the grammar of English reads."""

import json

import pytest

from critics.formats.asp.signs import turned
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.replay.answer_sets.submission import submission_of
from rollout.actor_critic.demonstration import demonstrate
from rollout.problems.controlled_english import ControlledEnglish, generate

CONTEXT = "Ada is calm.\nBen is not tall.\nNobody who is neat is tall."
RULES = ("calm(ada).", "-tall(ben).", "-tall(X) :- neat(X).")
TEST = {"Rules": ["R3"], "Facts": ["neat(kim)."], "infer-All": ["-tall(kim)"]}
TALL = {**TEST, "infer-All": ["tall(kim)"]}


def reason(*rules: str, test: dict = TEST, query: str = "neat(ada)", context: str = CONTEXT) -> str:
    """Return why a program is not certified; `proved` where it is. Nothing follows about what is asked."""
    model = [line for number, rule in enumerate(rules, 1) for line in (f"% R{number}:", *rule.split("; "))]
    said = json.dumps({"Model": model, "Tests": [test], "Query": [f"ATOM({query})"]})
    asked = Problem("p", "mine", context, "Ada is neat.", answer="unknown", meta={"num_premises": len(rules)})
    return judge(asked, Attempt("a", asked, "asp", said)).reason


def test_a_sign_turned_is_refused_though_answer_and_test_are_right():
    assert reason(*RULES) == "proved"
    assert reason(*RULES[:2], "tall(X) :- neat(X).", test=TALL) == "sign_turned"
    assert reason(RULES[0], "tall(ben).", RULES[2]) == "sign_turned"
    assert reason("-calm(ada).", *RULES[1:]) == "sign_turned"
    assert reason(*RULES, query="-neat(ada)") == "sign_turned"


def test_a_turned_rule_beside_the_right_one_is_refused():
    assert reason(*RULES[:2], f"{RULES[2]}; neat(X) :- tall(X).") == "sign_turned"


@pytest.mark.parametrize("more", ["-neat(X) :- tall(X).", "-tall(X) :- neat(X), calm(X)."])
def test_what_follows_from_its_sentence_is_not_turned(more: str):
    assert reason(*RULES[:2], f"{RULES[2]}; {more}") == "proved"


def test_what_is_not_read_stays_on_trust():
    odd = CONTEXT.replace("Ben is not tall.", "Ben, they say, hardly ever looks tall, if that.")
    assert reason(RULES[0], "tall(ben).", RULES[2], context=odd) == "proved"


def test_each_sign_of_a_reference_counts():
    for problem in generate(ControlledEnglish(num_premises=(2,)), 6, seed=7):
        reply = json.loads(demonstrate(problem, brief=True))
        assert turned(submission_of(json.dumps(reply)), problem) is None
        for place, line in enumerate(reply["Model"]):
            if line.startswith(("%", "1 ")):
                continue
            other = line[1:] if line.startswith("-") else f"-{line}"
            model = [*reply["Model"][:place], other, *reply["Model"][place + 1 :]]
            found = turned(submission_of(json.dumps({**reply, "Model": model})), problem)
            assert found is not None, (problem.context, other)
