"""What is taken on trust must speak of its question: programs that fit any problem, and honest ones like them."""

from typing import Any

import pytest

from critics.judge import judge, judge_record
from critics.problem import Attempt, Formal, Problem
from critics.text.trust.words import shares_words

CONTEXT = "All aliens are extraterrestrial.\nMarvin comes from Mars.\nWhoever comes from Mars is an alien."
QUESTION = "Marvin is an alien."
HONEST = "Premises:\n∀x (FromMars(x) → Alien(x))\nFromMars(marvin)\nConclusion:\nAlien(marvin)\n"
LOTS = "Kay, Lee and Pat go one after another. Kay does not go first. Lee goes before Pat, and Pat before Kay."
OPTIONS = ["Kay goes first.", "Lee goes first.", "Pat goes first."]
GOES = """# Declarations
people = EnumSort([Kay, Lee, Pat])
places = EnumSort([1, 2, 3])
place = Function([people] -> [places])
# Constraints
Distinct([p:people], place(p))
place(Kay) != 1
place(Lee) < place(Pat)
place(Pat) < place(Kay)
# Options
Question ::: Which one of the following must be true?
is_valid(place(Kay) == 1) ::: (A)
is_valid(place(Lee) == 1) ::: (B)
is_valid(place(Pat) == 1) ::: (C)
"""
ROW = """Domain:
1: first
3: last
Variables:
kay [IN] [1, 2, 3]
lee [IN] [1, 2, 3]
pat [IN] [1, 2, 3]
Constraints:
lee < pat
pat < kay
AllDifferentConstraint([kay, lee, pat])
Query:
A) kay == 1
B) lee == 1
C) pat == 1
"""
ANSWER_SETS = (
    '{"Model": "% R1: Whoever comes from Mars is an alien.\\nalien(X) :- mars(X).\\n% R2: Marvin comes from Mars.\\n'
    'mars(marvin).\\n% R3: All aliens are extraterrestrial.\\nextraterrestrial(X) :- alien(X).\\n", "Tests": '
    '[{"facts": ["mars(m1)."], "infer-All": ["alien(m1)"], "rules": ["R1"], "why": "from Mars"}], '
    '"Query": ["ATOM(alien(marvin))"]}'
)


def told(format_: str, completion: str, *, context: str = CONTEXT, question: str = QUESTION, **more: Any) -> str:
    problem = {"id": "p", "dataset": "mine", "context": context, "question": question, **more}
    verdict = judge_record({"id": "a", "problem": problem, "format": format_, "completion": completion})
    return verdict["reason"]


def fol(*premises: str, goal: str = "Alien(marvin)") -> str:
    return "\n".join(["Premises:", *premises, "Conclusion:", goal])


@pytest.mark.parametrize(
    ("format_", "completion"),
    [
        ("fol", HONEST),
        ("fol", fol("Alien(marvin) ∨ FromEarth(marvin)", "FromMars(marvin)", "∀x (FromMars(x) → ¬FromEarth(x))")),
        ("guided", "[[axiom:(from-mars marvin)]] [[axiom:(from-mars 'x) -> (alien 'x)]] [[goal:(alien marvin)]]"
                   "[[infer:(alien marvin)]]\nAnswer: true"),
        ("rules", "Facts:\nFromMars(Marvin, True)\nRules:\nFromMars($x, True) >>> Alien($x, True)\n"
                  "Query:\nAlien(Marvin, True)"),
        ("asp", ANSWER_SETS),
    ],
)  # fmt: skip
def test_an_honest_program_keeps_its_verdict(format_: str, completion: str) -> None:
    assert told(format_, completion) == "proved"


@pytest.mark.parametrize(("format_", "completion"), [("logic-program", GOES), ("csp", ROW)])
def test_an_honest_puzzle_keeps_its_verdict(format_: str, completion: str) -> None:
    question = "Which one of the following must be true?"
    assert told(format_, completion, context=LOTS, question=question, options=OPTIONS) == "proved"
    foreign = ["The red jar is heavier.", "The blue jar is heavier.", "The green jar is heavier."]
    reason = told(format_, completion, context="Three jars stand on a shelf.", question=question, options=foreign)
    assert reason == "question_words_missing"


def test_letters_are_words_where_all_of_them_are_named() -> None:
    assert shares_words(["V", "picks", "W"], "E) V, W")
    assert not shares_words(["v", "qq"], "E) V, W")


CHEATS = {
    "a constant program": ("fol", fol("F(a)", "∀x (F(x) → P(x))", goal="P(a)"), "question_words_missing"),
    "another object": ("fol", HONEST.replace("marvin", "zed"), "question_words_missing"),
    "another predicate of the same object": ("fol", HONEST.replace("Alien", "Q"), "question_words_missing"),
    "premises of no text": ("fol", fol("Zork(marvin)", "Zork(marvin) → Blip(marvin)", "∀x (Blip(x) → Alien(x))"),
                            "context_words_missing"),
    "the claim by cases": ("fol", fol("FromMars(a) ∨ Alien(marvin)", "¬FromMars(a) ∨ Alien(marvin)"),
                           "premises_are_the_claim"),
    "the claim beside a tautology": ("fol", fol("Alien(marvin) ∧ (FromMars(a) ∨ ¬FromMars(a))"), "goal_assumed"),
    "a premise that hands it over": ("fol", fol("¬(Alien(marvin) → FromMars(marvin))"), "goal_assumed"),
    "the opposite": ("fol", HONEST.replace("\nAlien(marvin)", "\n¬Alien(marvin)"), "question_denied"),
    "unknown of little": ("fol", fol("∀x (FromMars(x) → Alien(x))", "FromMars(marvin) ∨ FromEarth(marvin)"),
                          "unknown_on_trust"),
    "guided": ("guided", "[[axiom:(a tom)]] [[axiom:(a 'x) -> (b 'x)]] [[goal:(b tom)]] [[infer:(b tom)]]\n"
                         "Answer: true", "question_words_missing"),
    "guided with the question's words": (
        "guided",
        "[[axiom:(zork marvin)]] [[axiom:(zork 'x) -> (alien 'x)]] [[goal:(alien marvin)]] [[infer:(alien marvin)]]\n"
        "Answer: true",
        "context_words_missing",
    ),
    "rules": ("rules", "Facts:\nA(Tom, True)\nRules:\nA($x, True) >>> B($x, True)\nQuery:\nB(Tom, True)",
              "question_words_missing"),
    "asp": ("asp", ANSWER_SETS.replace("marvin", "zed").replace("alien(", "glad("), "question_words_missing"),
    "asp, a test of what nothing needs": (
        "asp",
        ANSWER_SETS.replace("mars(m1).", "alien(m1).").replace('"alien(m1)"', '"extraterrestrial(m1)"').replace(
            '"R1"', '"R3"'
        ),
        "untested_answer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_program_that_fits_any_problem_is_refused(name: str) -> None:
    format_, completion, reason = CHEATS[name]
    assert told(format_, completion) == reason


def test_a_formalisation_of_another_text_is_no_reference() -> None:
    formal = {"axioms": ["(cat tom)", "(cat 'x) -> (dog 'x)"], "goal": "(dog tom)"}
    proof = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (dog 'x)]] [[goal:(dog tom)]] [[infer:(dog tom)]]\nAnswer: true"
    question = "True or false: Tom is a dog."
    for context, reason in (
        ("Tom is a cat. Every bird is a dog. Tom is here today.", "formal_not_in_text"),
        ("Tom is a cat. Every cat is a dog. Tom is here today.", "proved"),
    ):
        said = told("guided", proof, context=context, question=question, dataset="prontoqa", formal=formal)
        assert said == reason


def test_a_formalisation_of_another_text_is_given_by_nobody() -> None:
    """Attack: a problem of one's own whose `formal` is about something else than its text."""
    text = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (kind 'x)]] [[goal:(kind tom)]] [[infer:(kind tom)]]\nAnswer: true"
    formal = Formal(("(cat tom)", "(cat 'x) -> (kind 'x)"), "(kind tom)")
    for context, question, reason in (
        ("Bananas are yellow fruit that grow on tall plants.", "Do bananas grow?", "formal_not_in_text"),
        ("Our cat sleeps on the warm sofa.", "Is it kind?", "proved"),
        ("blah", "Q1", "proved"),
    ):
        problem = Problem("mine", "mine", context, question, formal=formal)
        assert judge(problem, Attempt("a", problem, "guided", text)).reason == reason


def test_a_formalisation_in_first_order_logic_is_read_whatever_its_notation() -> None:
    formal = Formal(("∀x (Cat(x) → Kind(x))", "Cat(tom)"), "¬Kind(tom) ∨ Kind(tom) ∧ Cat(tom)")
    problem = Problem("mine", "mine", "Our cat Tom sleeps on the warm sofa.", "Is Tom kind?", formal=formal)
    program = "Premises:\n∀x (Cat(x) → Kind(x))\nCat(tom)\nConclusion:\n¬Kind(tom) ∨ Kind(tom) ∧ Cat(tom)"
    assert judge(problem, Attempt("a", problem, "fol", program)).verdict != "error"
    assert judge_record({"id": "a", "problem": problem.record(), "format": "fol", "completion": program})[
        "reason"
    ] not in ("critic_failed", "formal_not_in_text")
