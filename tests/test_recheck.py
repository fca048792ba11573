import json
from typing import Any

import pytest

from critics.judge import judge_record
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest

CONTEXT = "Rex is a dog. Every dog is a mammal. Mammals are warm."
AXIOMS = ["(dog rex)", "(dog 'x) -> (mammal 'x)", "(mammal 'x) -> (warm 'x)"]
FORMAL = {"axioms": AXIOMS, "goal": "(warm rex)"}
BLOCKS = "".join(f"[[axiom:{axiom}]]" for axiom in AXIOMS)
PROOF = f"{BLOCKS}[[goal:(warm rex)]][[infer:(mammal rex)]][[infer:(warm rex)]]\nAnswer: true"


def attempt(**problem: Any) -> dict[str, Any]:
    asked = {"id": "p", "dataset": "prontoqa", "context": CONTEXT, "question": "Rex is warm.", "answer": "true"}
    return {"id": "a", "problem": {**asked, **problem}, "format": "guided", "completion": PROOF}


def trace(**problem: Any) -> dict[str, Any]:
    """Return a judged attempt, as it is read back from a file."""
    record = attempt(**problem)
    judged = {**record, "judgement": judge_record(record)}
    assert judged["judgement"]["verdict"] == "certified", judged["judgement"]["reason"]
    return json.loads(json.dumps(judged))


def resealed(record: dict[str, Any]) -> dict[str, Any]:
    certificate = record["judgement"]["certificate"]
    certificate["digest"] = digest(certificate)
    return record


def reason(record: Any) -> str | None:
    """Return why a record is rejected; None if it is accepted."""
    result = recheck([record])
    assert result["checked"] == 1
    assert result["accepted"] + len(result["rejected"]) == 1
    return result["rejected"][0]["reason"] if result["rejected"] else None


def opposite(certificate: dict[str, Any]) -> None:
    """Turn a proof that Rex is warm into one that he is not, reference and all."""
    text = json.dumps([certificate["problem"]["formal"], certificate["evidence"]])
    formal, evidence = json.loads(text.replace("-> (warm 'x)", "-> (not (warm 'x))"))
    evidence["steps"][-1]["statement"] = "(not (warm rex))"
    certificate["problem"]["formal"], certificate["evidence"] = formal, evidence
    certificate["claim"] = certificate["problem"]["answer"] = "false"


def test_traces_and_verdicts_are_accepted_and_counted():
    records = [trace(), trace(formal=FORMAL), trace(dataset="mine", formal=FORMAL), trace(dataset="mine")]
    expected = {"checked": 4, "accepted": 4, "skipped": 0, "second_opinion": 0, "rejected": []}
    assert recheck(records) == expected
    assert recheck([record["judgement"] for record in records]) == expected


def test_what_is_not_certified_is_skipped():
    lucky = {**attempt(), "completion": "Answer: true"}
    records = [
        judge_record(lucky),
        {**lucky, "judgement": judge_record(lucky)},
        lucky,
        {"judgement": None},
        {},
        None,
        [1],
        "x",
    ]
    result = recheck(records)
    assert (result["checked"], result["skipped"]) == (0, len(records))


@pytest.mark.parametrize("certificate", [None, {}, [], "proved", {"digest": ""}, 7])
def test_certified_without_a_certificate_is_rejected(certificate: Any):
    assert reason({"id": "a", "verdict": "certified", "answer": "true", "certificate": certificate}) == "ill_formed"
    assert reason({"id": "a", "verdict": "certified"}) == "ill_formed"


def test_rejections_name_the_record():
    broken = trace()
    broken["judgement"]["certificate"]["claim"] = "false"
    result = recheck([trace(), broken, {"verdict": "certified"}])
    assert result["rejected"] == [{"id": "a", "reason": "digest"}, {"id": "2", "reason": "ill_formed"}]
    assert result["accepted"] == 1


@pytest.mark.parametrize("answer", ["false", None, "True", ["true"]])
def test_the_answer_must_be_the_claim(answer: Any):
    record = trace()
    record["judgement"]["answer"] = answer
    assert reason(record) == "answer_is_not_claim"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("context", CONTEXT + " Rex is kind."),
        ("question", "Rex is a mammal."),
        ("answer", "false"),
        ("answer", None),
        ("options", ["A) True", "B) False"]),
        ("formal", {"axioms": AXIOMS, "goal": "(mammal rex)"}),
        ("formal", {"axioms": AXIOMS[:2], "goal": "(warm rex)"}),
    ],
)
def test_a_certificate_about_another_problem_is_rejected(key: str, value: Any):
    record = trace()
    record["problem"][key] = value
    assert reason(record) == "other_problem"


def test_a_judgement_of_another_attempt_is_rejected():
    assert reason({**trace(), "id": "b"}) == "other_attempt"


def test_notes_beside_the_given_formalisation_do_no_harm():
    assert reason(trace(formal={**FORMAL, "source": "by hand"})) is None


@pytest.mark.parametrize("formal", [None, FORMAL])
def test_a_reference_that_says_the_opposite_of_the_text_is_rejected(formal: Any):
    for source in ("prontoqa", "given"):
        record = trace(formal=formal)["judgement"]
        opposite(record["certificate"])
        record["certificate"]["evidence"]["reference"] = source
        record["certificate"]["formalisation"] = "checked" if source == "prontoqa" else "given"
        record["answer"] = "false"
        expected = "reference_is_not_the_text" if source == "prontoqa" else "text_says_otherwise"
        assert reason(resealed({"judgement": record})["judgement"]) == expected


def test_a_trusted_proof_of_the_opposite_of_a_plain_text_is_rejected():
    record = trace(dataset="mine")["judgement"]
    certificate = record["certificate"]
    opposite(certificate)
    record["answer"] = "false"
    assert reason(resealed({"judgement": record})["judgement"]) == "text_says_otherwise"


def test_an_axiom_slipped_into_reference_and_proof_is_rejected():
    certificate = (record := trace())["judgement"]["certificate"]
    certificate["problem"]["formal"]["axioms"].append("(dog rex) -> (warm rex)")
    certificate["evidence"]["steps"] = [
        {"statement": "(dog rex)", "by": "axiom"},
        {"statement": "(dog rex) -> (warm rex)", "by": "axiom"},
        {"statement": "(warm rex)", "by": "rule", "rule": 1, "premises": [0]},
    ]
    assert reason(resealed(record)) == "judged_otherwise"
    bare = {key: value for key, value in record["judgement"].items() if key != "completion"}
    assert reason(bare) == "reference_is_not_the_text"
    certificate["evidence"]["reference"] = certificate["formalisation"] = "given"
    assert reason(resealed(record)) == "other_problem"


def test_withholding_the_reference_of_a_prontoqa_trace_is_rejected():
    certificate = (record := trace())["judgement"]["certificate"]
    certificate["problem"]["formal"], certificate["formalisation"] = None, "trusted"
    certificate["evidence"]["reference"] = "none"
    assert reason(resealed(record)) == "reference_is_missing"


def test_a_translated_text_that_is_no_longer_translatable_is_rejected():
    record = trace()["judgement"]
    record["certificate"]["problem"]["context"] = CONTEXT + " Or so they say."
    assert reason(resealed({"judgement": record})["judgement"]) == "reference_is_not_the_text"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["(cold rex)", "(not (cold rex))"], "inconsistent_context"),
        (["(mammal 'x) -> (not (dog 'x))"], "inconsistent_context"),
        (["(warm rex rex)"], "ill_formed"),
        (["(cold"], "ill_formed"),
        ([f"(p o{i})" for i in range(400)] + ["(p 'a) -> (p 'b) -> (p 'c) -> (q 'a)"], "too_large"),
    ],
)
def test_a_given_reference_that_the_critic_would_not_have_used_is_rejected(more: list[str], expected: str):
    record = trace(dataset="mine", context="Prose.", formal=FORMAL)["judgement"]
    record["certificate"]["problem"]["formal"]["axioms"] += more
    assert reason(resealed({"judgement": record})["judgement"]) == expected
