"""`keep: proved`, LogicGuide's strict filter: what it asks for, what it lets through, and what stays `strict`'s."""

from dataclasses import replace

import pytest
from pydantic import ValidationError

from critics.judge import judge_record
from critics.problem import Formal, Problem
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, read_trace
from training.configuration.run import ArmConfig
from training.curation.filters import kept, kept_by_grade, proves_label

FORMAL = Formal(("(cat tom)", "(cat 'x) -> (warm 'x)"), "(warm tom)")
TRUE = Problem("t", "mine", "Prose.", "Is Tom warm?", None, "true", FORMAL)
AXIOMS = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (warm 'x)]]"
PROOF = f"{AXIOMS} [[goal:(warm tom)]] [[infer:(warm tom)]]\nAnswer: true"
DISPROOF = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (not (warm 'x))]] [[goal:(warm tom)]] [[infer:(not (warm tom))]]"


def judged(problem: Problem, completion: str, decoding="guided") -> Trace:
    attempt = {"id": problem.id, "problem": problem.record(), "format": "guided", "completion": completion}
    trace = read_trace({**attempt, "judgement": judge_record(attempt)})
    return replace(trace, sampling=Sampling(decoding))


KEPT = {
    "a proof": (PROOF, True),
    "other names, which strict refuses": (PROOF.replace("cat", "feline"), True),
    "an irrelevant premise misread, which strict refuses": (f"[[axiom:(dog tom)]] {PROOF}", True),
    "attack: the goal assumed, which strict refuses": (
        "[[axiom:(warm tom)]] [[goal:(warm tom)]] [[infer:(warm tom)]]\nAnswer: true",
        True,
    ),
}
REFUSED = {
    "attack: a disproof under the right answer": f"{DISPROOF}\nAnswer: true",
    "attack: a step that does not follow": "[[axiom:(cat tom)]] [[goal:(warm tom)]] [[infer:(warm tom)]]\nAnswer: true",
    "attack: a proof and the wrong answer": PROOF.replace("Answer: true", "Answer: false"),
    "attack: no goal": f"{AXIOMS} [[infer:(warm tom)]]\nAnswer: true",
    "attack: an answer alone": "Answer: true",
    "exhausted": "[[axiom:(cat tom)]] [[goal:(warm tom)]] [[infer:nothing]]\nAnswer: true",
}


@pytest.mark.parametrize("name", KEPT)
def test_a_proof_whose_outcome_is_the_label_is_kept_whatever_it_rests_on(name: str) -> None:
    completion, expected = KEPT[name]
    trace = judged(TRUE, completion)
    assert kept(trace, "proved") is expected
    assert kept(trace, "strict") is (name == "a proof")


@pytest.mark.parametrize("name", REFUSED)
def test_no_proof_no_example(name: str) -> None:
    assert not kept(judged(TRUE, REFUSED[name]), "proved")


def test_it_asks_for_the_guide_for_a_gold_answer_and_for_an_end() -> None:
    proof = judged(TRUE, PROOF)
    assert kept(proof, "proved")
    assert not kept(replace(proof, finished=False), "proved")
    assert not kept(judged(TRUE, PROOF, "free"), "proved")
    assert not proves_label(replace(proof, problem=replace(TRUE, answer=None)))


def test_that_nothing_follows_proves_no_label() -> None:
    formal = Formal(("(cat tom)",), "(warm tom)")
    unknown = Problem("u", "mine", "Prose.", "?", ("A) True", "B) False", "C) Unknown"), "C", formal)
    assert not proves_label(judged(unknown, "[[axiom:(cat tom)]] [[goal:(warm tom)]] [[infer:nothing]]\nAnswer: C"))


def test_what_is_kept_is_counted_by_grade_and_without_one() -> None:
    traces = [judged(TRUE, completion) for completion, _ in KEPT.values()]
    assert kept_by_grade(traces) == {"checked": 0, "given": 1, "aligned": 0, "trusted": 0, "none": 3}


def test_only_guided_arms_can_have_it() -> None:
    assert ArmConfig(name="a", keep="proved", decoding="guided").keep == "proved"
    for keys in ({"decoding": "free"}, {"decoding": "free", "strategy": "cot"}):
        with pytest.raises(ValidationError, match="keep: proved"):
            ArmConfig.model_validate({"name": "a", "keep": "proved", **keys})
