"""Certificates must be about the text, the question and the problem: attempts that once fooled a critic."""

import json
from pathlib import Path

from critics.judge import judge_record
from critics.recheck.rejudging import recheck


def is_right(case: dict) -> bool:
    """Say whether an attempt is not certified, or certified with the answer that the case expects."""
    verdict = judge_record({key: value for key, value in case.items() if key not in ("expect", "judgement")})
    right = case["expect"]["right"].split()
    if "certified" in right:
        return verdict["verdict"] == "certified" and verdict["answer"] == right[-1]
    return verdict["verdict"] != "certified" or verdict["answer"] in right


def test_every_known_case_comes_out_right(shared: Path) -> None:
    lines = (shared / "adversarial" / "aboutness.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [case for case in map(json.loads, lines) if case["expect"]["via"] == "judge"]
    assert {case["id"] for case in judged if not is_right(case)} == set()


def test_unknown_is_not_certified_where_modus_tollens_decides() -> None:
    problem = {
        "id": "p",
        "context": "Every cat is a dog. Tom is not a dog.",
        "question": "True or false: Tom is a cat.",
    }
    text = (
        "[[axiom:(cat 'x) -> (dog 'x)]] [[axiom:(not (dog tom))]] [[goal:(cat tom)]] [[infer:nothing]]\nAnswer: unknown"
    )
    record = {"id": "a", "problem": {**problem, "dataset": "prontoqa"}, "format": "guided", "completion": text}
    assert judge_record(record)["reason"] == "decided_classically"


def test_a_puzzle_with_an_unread_sentence_is_never_answered() -> None:
    context = "On a shelf, there are two jars: a red jar, and a blue jar. The red jar is older than the blue jar. "
    options = ["The red jar is the oldest.", "The blue jar is the oldest."]
    problem = {"id": "p", "dataset": "logicaldeduction", "question": "Which is true?", "options": options}
    program = (
        "Domain:\n1: oldest\n2: newest\nVariables:\nred_jar [IN] [1, 2]\nblue_jar [IN] [1, 2]\nConstraints:\n"
        "red_jar < blue_jar\nAllDifferentConstraint([red_jar, blue_jar])\nQuery:\nA) red_jar == 1\nB) blue_jar == 1"
    )
    reasons = []
    for more in ("", "The blue jar is the cheapest.", "Nothing of this is so."):
        record = {"id": "a", "problem": {**problem, "context": context + more}, "format": "csp", "completion": program}
        reasons.append(judge_record(record)["reason"])
    assert reasons == ["proved", "text_not_read", "text_not_read"]


def test_a_bare_verdict_may_not_bring_the_reference_that_its_text_lacks(shared: Path) -> None:
    lines = (shared / "adversarial" / "aboutness.jsonl").read_text(encoding="utf-8").splitlines()
    (bare,) = [case for case in map(json.loads, lines) if case["id"] == "rt-bare"]
    assert recheck([bare])["accepted"] == 0
    formal = {"axioms": ["(rock 'x) -> (dog 'x)", "(rock tom)"], "goal": "(dog tom)"}
    problem = {"id": "p", "dataset": "mine", "context": "It is as we know.", "question": "Is it?", "formal": formal}
    text = "[[axiom:(rock 'x) -> (dog 'x)]] [[axiom:(rock tom)]] [[goal:(dog tom)]] [[infer:(dog tom)]]\nAnswer: true"
    found = judge_record({"id": "a", "problem": problem, "format": "guided", "completion": text})
    assert recheck([found])["accepted"] == 1
