"""Texts as chat models write them, each with a twin in which one step is broken: on everyday topics, and on data sets.

The draws were written before anyone looked at what is read. What is certified of each is held as a bar.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import certistar
from critics.judge import judge_record
from critics.recheck.rejudging import recheck
from critics.verdict.reading import NOT_READ, BadStep

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data/honest_texts.jsonl").read_text().splitlines()]
CERTIFIED = {
    1: 24,
    2: 14,
    3: 20,
    4: 20,
    5: 10,
    "6: prontoqa": 14,
    "6: proofwriter": 9,
    "6: syllogism": 2,
    "6: everyday": 1,
    "7: prontoqa": 6,
    "7: proofwriter": 5,
    "7: syllogism": 3,
    "7: everyday": 0,
    "8: prontoqa": 10,
    "8: proofwriter": 3,
    "8: syllogism": 3,
    "8: folio": 2,
    "8: everyday": 3,
    "9: prontoqa": 2,
    "9: proofwriter": 3,
    "9: syllogism": 0,
    "9: folio": 1,
    "9: everyday": 0,
}
"""Of each draw how many are certified at least.

Of 30, 20, 20, 25, 15; of 15, 12, 8 and 25, twice; of 10, 10, 6, 10, 14; of 5, 5, 5, 15, 20.
"""

CATS = (
    "Rex is a cat. Every cat is a mammal. Mammals are warm. Tom is a dog. No dog is a cat. Tom is not warm. Bob is big."
)
PROOF = "Rex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm."
TABLE = "| # | Claim | Reason |\n|---|---|---|\n"
MAY = "Every dog that has a tag may enter the park. Rex is a dog. Rex has a tag. Tom is a dog."
CHAIN = "If Rex is old, Rex is wise. If Rex is wise, Rex is calm. If Rex is calm, Rex is kind."
BOTH = "Rex is a cat or Rex is a dog. Every cat is a mammal. Every dog is a mammal. Every wren is a bird."
IF_TOM = "If Tom were a cat, he would be a mammal."
THEN = "Then Tom would be a mammal. Tom would be warm."
END = "Mammals are warm, so Rex is warm. Answer: yes"

READ = [
    ("Is Rex warm?", f"Yes.\n\n{PROOF}"),
    ("Is Rex warm?", f"Rex is warm. Here's why:\n{PROOF}\nAnswer: yes"),
    ("Is Rex warm?", "Yes, Rex is warm. Rex is a cat, so Rex is a mammal. Mammals are warm."),
    ("Is Rex warm?", "Rex is a cat $\\Rightarrow$ Rex is a mammal $\\to$ Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", "Rex is a cat.\n→ Rex is a mammal.\n\\(\\therefore\\) Rex is warm.\nAnswer: yes"),
    (
        "Is Rex warm?",
        f"{TABLE}| 1 | Rex is a cat | given |\n| 2 | **Rex is a mammal** | from 1 |\nRex is warm. Answer: yes",
    ),
    ("Is Rex warm?", "As a cat, Rex is a mammal. Mammals are warm, so Rex is warm. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. Premise 2 applies to Rex, so Rex is a mammal. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. Every cat is a mammal. The condition is met. So Rex is a mammal. Answer: yes"),
    ("Is Rex warm?", "Rex is a cat, so it is a mammal. Mammals are warm, so Rex is warm. Answer: yes"),
    ("Is Rex warm?", "Rex is a cat, so Rex is a mammal. Mammals are warm, so he is warm. Answer: yes"),
    ("Is Tom a cat?", f"{IF_TOM} Then he would be warm. But Tom is not warm. Answer: no"),
    ("Is Tom a cat?", f"{IF_TOM} So he would be warm. Tom is not warm, which is a contradiction. Answer: no"),
    ("Is Tom a cat?", f"Suppose Tom were a cat. {THEN} But Tom is not warm. This is a contradiction. Answer: no"),
]
REFUSED = [
    ("Is Rex warm?", "Yes.\n\nRex is a cat. Bob is big."),
    ("Is Rex warm?", "Yes, Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", f"No.\n\n{PROOF}"),
    ("Is Rex warm?", f"No. {PROOF} Answer: yes"),
    ("Is Rex warm?", f"Tom is warm. Here's why:\n{PROOF}\nAnswer: yes"),
    ("Is Tom warm?", "Yes.\n\nRex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm."),
    ("Is Rex warm?", "Rex is a cat $\\Rightarrow$ Tom is a mammal $\\to$ Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", "Rex is a cat $\\not\\Rightarrow$ Rex is a mammal $\\to$ Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", "Rex is a cat $\\Leftrightarrow$ Rex is a mammal. Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", "→ Bob is a mammal.\nRex is a mammal, so Rex is warm.\nAnswer: yes"),
    ("Is Rex warm?", f"{TABLE}| 1 | Rex is a cat | given |\n| 2 | Bob is a mammal | from 1 |\n{PROOF} Answer: yes"),
    ("Is Rex warm?", f"{TABLE}| 1 | Rex is a mammal | given |\n{PROOF} Answer: yes"),
    ("Is Rex warm?", f"{TABLE}| 1 | Bob is big | given |\n| 2 | Rex is a mammal | from 1 |\n{PROOF} Answer: yes"),
    ("Is Rex warm?", f"{TABLE}| Bob is a cat | Rex is a cat | given |\n{PROOF} Answer: yes"),
    ("Is Rex warm?", f"| Bob is a cat | Reason |\n|---|---|\n| Rex is a cat | given |\n{PROOF} Answer: yes"),
    ("Is Rex warm?", "As a cat, Bob is a mammal. Rex is a mammal. Mammals are warm, so Rex is warm. Answer: yes"),
    ("Is Rex warm?", f"Let me show why Bob is a cat. {PROOF} Answer: yes"),
    ("Is Rex warm?", f"Here's why Bob is a cat: {PROOF} Answer: yes"),
    ("Is Rex warm?", f"{PROOF} Bob would be a cat. Answer: yes"),
    ("Is Rex warm?", "Rex would be a mammal. Mammals are warm, so Rex is warm. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. Premise 2 applies to Tom, so Rex is a mammal. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. Premise 3 applies to Rex, so Rex is a mammal. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. No dog is a cat. The condition is met. So Rex is a mammal. Answer: yes"),
    ("Is Rex a mammal?", "Every cat is a mammal. The condition is met for Tom, so Rex is a mammal. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. So Rex is a mammal. Mammals are warm. The condition is met. Answer: yes"),
    ("Is Rex a mammal?", "Rex is a cat. The condition is met. So Rex is a mammal. Answer: yes"),
    ("Is Rex warm?", "Rex is a cat, so Rex is a mammal. Bob is big. Mammals are warm, so he is warm. Answer: yes"),
    ("Is Rex warm?", "Rex is a cat, so Rex is a mammal. Mammals are warm, so they are warm. Answer: yes"),
    ("Is Tom a cat?", "If Tom were a cat, he would be big. But Tom is not big. So Tom is not a cat. Answer: no"),
    ("Is Tom a cat?", f"{IF_TOM} Bob would be warm. But Tom is not warm. Answer: no"),
    ("Is Bob a cat?", "If Bob were a cat, he would be a mammal. This is a contradiction. So he is no cat. Answer: no"),
    ("Is Bob a cat?", "If Bob were a cat, he would be a mammal. So Bob is a mammal. Answer: yes"),
    ("Is Tom a cat?", "If Tom were a cat, he would be big. This is a contradiction. So Tom is no cat. Answer: no"),
]  # fmt: skip


def verdict(context: str, question: str, text: str, dataset: str | None = None) -> str:
    found = certistar.judge(context, question, text, dataset=dataset)
    return f"{found.verdict}: {found.feedback}"


@pytest.mark.parametrize("draw", CERTIFIED)
def test_of_texts_that_were_drawn_blindly_as_many_are_certified_and_no_twin(draw: int | str) -> None:
    rows = [row for row in ROWS if row["draw"] == draw]
    found = {
        kind: [trace for row in rows if (trace := judged(row, kind))["judgement"]["verdict"] == "certified"]
        for kind in ("honest", "twin")
    }
    assert not found["twin"]
    assert len(found["honest"]) >= CERTIFIED[draw]
    assert recheck(found["honest"])["accepted"] == len(found["honest"])


def judged(row: dict[str, Any], kind: str) -> dict[str, Any]:
    dataset = row.get("dataset") or "own"
    problem = {"id": row["name"], "dataset": dataset, "context": row["context"], "question": row["question"]}
    attempt = {"id": row["name"], "problem": problem, "format": "english", "completion": row[kind]}
    return {**attempt, "judgement": judge_record(attempt)}


def test_a_text_of_a_data_set_that_the_grammar_reads_is_checked_again() -> None:
    context = (
        "Charlie is cold. Charlie is rough. If something is cold and rough then it is white. White things are kind."
    )
    text = (
        "The third premise says that if something is cold and rough then it is white. Charlie is cold and rough, so "
        "Charlie is white. White things are kind, so Charlie is kind. True."
    )
    row = {"name": "charlie", "context": context, "question": "Charlie is kind.", "dataset": "proofwriter"}
    trace = judged({**row, "honest": text}, "honest")
    assert trace["judgement"]["certificate"]["kind"] == "english-entailment"
    assert recheck([trace])["accepted"] == 1


@pytest.mark.parametrize(("question", "text"), READ)
def test_a_proof_is_read_in_the_form_in_which_models_write_it(question: str, text: str) -> None:
    assert verdict(CATS, question, text).startswith("certified")


@pytest.mark.parametrize(("question", "text"), REFUSED)
def test_what_has_the_form_of_a_proof_and_is_none_is_refused(question: str, text: str) -> None:
    assert not verdict(CATS, question, text).startswith("certified")


@pytest.mark.parametrize(
    ("context", "question", "text", "is_proof"),
    [
        (
            MAY,
            "May Rex enter the park?",
            "Every dog that has a tag may enter the park, so Rex may enter the park. Yes.",
            True,
        ),
        (
            MAY,
            "May Rex enter the park?",
            "Tom is a dog, so Tom may enter the park. So Rex may enter the park. Yes.",
            False,
        ),
        (MAY, "May Tom enter the park?", "Tom may enter the park. Answer: yes", False),
        (CHAIN, "If Rex is old, then Rex is kind.", f"{CHAIN} So if Rex is old, then Rex is kind. Yes.", True),
        (CHAIN, "If Rex is old, then Rex is kind.", f"{CHAIN[:59]} So if Rex is old, then Rex is kind. Yes.", False),
        (CHAIN, "If Rex is kind, then Rex is old.", f"{CHAIN} So if Rex is kind, then Rex is old. Yes.", False),
        (
            BOTH,
            "Is Rex a mammal?",
            "If Rex is a cat, Rex is a mammal. If Rex is a dog, Rex is a mammal. In either case, Rex is a mammal. Yes.",
            True,
        ),
        (BOTH, "Is Rex a mammal?", "If Rex is a cat, Rex is a mammal. In either case, Rex is a mammal. Yes.", False),
        (BOTH, "Is Rex a mammal?", "Every wren is a bird. In either case, Rex is a mammal. Yes.", False),
        (CATS, "Is Rex warm?", "Rex is a cat, so Rex is a mammal, regardless of whether Bob is big. " + END, True),
        (
            CATS,
            "Is Rex warm?",
            f"{PROOF[:31]} {END[:-12]}, regardless of whether Bob is big, and Tom is a cat. Yes.",
            False,
        ),
        (CATS, "Is Rex warm?", f"{PROOF} So Tom is big, regardless of whether Bob is big. Answer: yes", False),
    ],
)
def test_a_form_is_held_to_what_it_says(context: str, question: str, text: str, is_proof: bool) -> None:
    assert verdict(context, question, text).startswith("certified") == is_proof


HOOVES = "All horses have hooves. No humans have hooves."
NO_HOOVES = "All horses have hooves. No humans have hooves. So there {} Answer: no"
FROST = "If the frost comes early, Alma makes no jam. The frost comes early."
VEGAN = "No vegan eats meat. Tom is a vegan."
COLD = (
    "If the boiler is off, the flat is cold. If the flat is cold, Noor is sad. The boiler is off. "
    "If the boiler is off, Tom is sad."
)
OFF, SHOW = "The boiler is off.", "We must show that Noor is sad."
CLAIM = (
    "A claim is paid if it was filed within 30 days and the damage is covered. Claim 77 was filed within 30 days. "
    "Claim 77 is a claim. The damage is covered. Every claim is old."
)
OF_CLAIM = (
    "Claim 77 is a claim. Claim 77 was filed within 30 days. The damage is covered. "
    "Both conditions are met, so Claim 77 is paid. Answer: yes"
)


@pytest.mark.parametrize(
    ("context", "question", "text", "is_proof"),
    [
        (HOOVES, "Some humans are horses.", NO_HOOVES.format("can be no humans who are horses."), True),
        (HOOVES, "Some humans are horses.", NO_HOOVES.format("can't be a human that is a horse."), True),
        (HOOVES, "Some humans are horses.", NO_HOOVES.format("can be no horses that have hooves."), False),
        (HOOVES, "Some humans are horses.", NO_HOOVES.format("can be humans who are horses."), False),
        (FROST, "Does Alma make jam?", f"{FROST} So Alma makes no jam. So the answer is no.", True),
        (FROST, "Does Alma make juice?", f"{FROST} So Alma makes no jam. So the answer is no.", False),
        (VEGAN, "Does Tom eat meat?", "Tom is a vegan. No vegan eats meat. So Tom eats no meat. Answer: no", True),
        (VEGAN, "Does Tom eat meat?", "Tom is a vegan. No vegan eats meat. So Tom eats no fish. Answer: no", False),
        ("Tom does not sign contracts. Deed B is a contract. Whoever signs Deed B is bound.", "Does Tom sign Deed B?",
         "Tom does not sign contracts. So Tom signs no contracts. So Tom does not sign Deed B. Answer: no", False),
        ("Alma tries to make no jam. Bob tries to make jam.", "Does Alma try to make jam?",
         "Alma tries to make no jam. So Alma does not try to make jam. Answer: no", False),
        ("Alma may make no jam. Bob may make jam.", "May Alma make jam?", "Alma may make no jam. Answer: no", False),
        (COLD, "Is Noor sad?", f"{OFF} This is given. So the flat is cold. So Noor is sad. Yes.", True),
        (COLD, "Is Noor sad?", f"{OFF} So the flat is cold. This is given. So Noor is sad. Yes.", False),
        (COLD, "Is Noor sad?", f"{OFF} {SHOW} This is given. So the flat is cold. So Noor is sad. Yes.", False),
        (COLD, "Is Noor sad?", f"{OFF} The flat is cold. {COLD[:39]} Noor is sad. Yes.", True),
        (COLD, "Is Noor sad?", f"{OFF} The flat is cold. {COLD[-34:]} Noor is sad. Yes.", False),
        (CLAIM, "Is Claim 77 paid?", f"{CLAIM.partition('. ')[0]}. {OF_CLAIM}", True),
        (CLAIM, "Is Claim 77 paid?", f"Every claim is old. {OF_CLAIM}", False),
        ("Tom is a cook and tall. Every cook is paid.", "Is Tom paid?", "Tom is a cook, so Tom is paid. Yes.", True),
        ("Tom is a cook and tall. Every cook is paid.", "Is Tom paid?", "Tom is tall, so Tom is paid. Yes.", False),
    ],
)  # fmt: skip
def test_a_form_of_a_chat_text_is_held_to_what_it_says(context: str, question: str, text: str, is_proof: bool) -> None:
    assert verdict(context, question, text).startswith("certified") == is_proof


HOSTILE = (Path(__file__).parent / "data/hostile_texts.jsonl").read_text(encoding="utf-8").splitlines()


def test_of_texts_that_twist_a_meaning_those_alone_are_certified_whose_bare_plurals_are_taken_for_all() -> None:
    """Drawn blindly, of 132 phenomena; counted before anything was mended."""
    rows = [json.loads(line) for line in HOSTILE]
    found = [row for row in rows if verdict(row["context"], row["question"], row["text"]).startswith("certified")]
    assert [row["phenomenon"] for row in found] == ["generic vs universal"] * 2


def test_a_refused_text_shows_what_stands_before_its_first_bad_sentence_and_a_false_one_before_an_unread_one() -> None:
    false, unread = "So Tom is a cat.", "Blorp the of."
    found = certistar.judge(CATS, "Is Rex warm?", f"Rex is a cat. So Rex is a mammal. {unread} Answer: yes")
    assert [span.kind for span in found.spans][:2] == ["premise", "step"]
    assert found.first_bad_step == BadStep(2, unread, NOT_READ)
    assert found.answer == "true"
    found = certistar.judge(CATS, "Is Rex warm?", f"Rex is a cat. {false} {unread} Answer: yes")
    assert (found.verdict, found.answer) == ("unproved", "true")
    assert found.first_bad_step is not None
    assert (found.first_bad_step.index, found.first_bad_step.text) == (1, false)
    # What does not follow from what is read may follow from what is not.
    found = certistar.judge(f"{CATS} {unread}", "Is Rex warm?", f"{false} Answer: yes")
    assert (found.verdict, found.reason, found.answer) == ("error", "context_not_read", "true")
    assert found.first_bad_step is not None


@pytest.mark.parametrize(
    ("context", "question", "text"),
    [
        ("Every dog is loyal. Rex is not loyal.", "Is Rex a dog?",
         "If Rex were a dog, he would be loyal. But Rex is not loyal. So Rex is not a dog. Answer: no"),
        ("Every lease that is signed is valid. L1 is a lease. L1 is not valid.", "Is L1 signed?",
         "If L1 were signed, it would be valid. But L1 is not valid. So L1 is not signed. Answer: no"),
    ],
)  # fmt: skip
def test_what_would_be_by_a_rule_says_something_though_it_is_not_so(context: str, question: str, text: str) -> None:
    assert certistar.judge(context, question, text).verdict == "certified"
    vain = text.replace(", he would be loyal", ", he would be red").replace(", it would be valid", ", it would be red")
    assert certistar.judge(context, question, vain).verdict != "certified"
