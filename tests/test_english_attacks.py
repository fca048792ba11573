"""Texts that would cost the critic of `english` much, and certificates of it that are forged.

The other cheats are in the catalogue of `critics.audit`.
"""

import copy
import time
from dataclasses import replace
from typing import Any

import pytest

import certistar
from critics.formats.english.critic import read_english
from critics.problem import Attempt, Problem
from critics.replay.certificate import Rejected, digest
from critics.replay.english import check_english
from critics.verdict import Certified

PIP = Problem(
    "pip",
    "prontoqa",
    "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt. Every newt is not a bird.",
    "True or false: Pip is feathered.",
)
GOOD = "Pip is a wren. Every wren is a bird. So Pip is a bird. Birds are feathered. So Pip is feathered."


def said(problem: Problem, text: str) -> str:
    verdict = read_english(problem, Attempt("an attempt", problem, "english", text))
    return f"{verdict.verdict} {verdict.reason}"


@pytest.mark.parametrize(
    "context",
    ["Noone is a cat. Tom is a dog.", "Tom is a non-cat.", "Axes are tools. Alex is an axis.", "Tom is a 3- dog."],
)
def test_words_that_hide_a_negation_or_a_number_are_not_names(context: str) -> None:
    problem = Problem("tom", "prontoqa", context, "True or false: Tom is a cat.")
    assert said(problem, "Tom is a cat. Answer: true").startswith("error ")


@pytest.mark.parametrize(
    "text",
    [
        "Pip is a wren and " * 1600,
        "Since " * 4900,
        "Pip is a bird, " * 1900,
        "." * 29_000,
        "Pip is a wren. " * 1900,
        "**" * 14_000,
        "(" * 29_000,
        f"{GOOD} Answer: true\n" + " " * 28_000 + ".",
        "1. " * 9_000,
        "so " * 9_000,
        "x" * 40_000,
    ],
)
def test_long_texts_cost_little(text: str) -> None:
    start = time.process_time()
    said(PIP, text)
    assert time.process_time() - start < 3


def certificate(problem: Problem, text: str) -> dict[str, Any]:
    verdict = read_english(problem, Attempt("an attempt", problem, "english", text))
    assert isinstance(verdict, Certified)
    return verdict.certificate.record()


def forged(record: dict[str, Any]) -> str:
    """Say why a certificate is rejected, its digest made right again."""
    try:
        check_english({**record, "digest": digest(record)})
    except Rejected as rejection:
        return str(rejection)
    return "accepted"


def test_forged_evidence_is_rejected() -> None:
    honest = certificate(PIP, f"{GOOD}\nAnswer: true")
    assert forged(honest) == "accepted"
    entries = honest["evidence"]["entries"]
    bird = next(at for at, entry in enumerate(entries) if entry["says"] == "(bird pip)")

    def changed(place: list[Any], value: object) -> str:
        record: Any = copy.deepcopy(honest)
        part = record
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        return forged(record)

    assert changed(["claim"], "false") == "claim"
    assert changed(["evidence", "semantics"], "forward") == "semantics"
    assert changed(["evidence", "reference"], "proofwriter") == "semantics"
    assert changed(["evidence", "goal"], ["(bird pip)"]) == "goal_mismatch"
    assert changed(["problem", "formal", "goal"], "(bird pip)") == "goal_mismatch"
    assert changed(["problem", "answer"], "false") == "answer"
    assert changed(["evidence", "entries", bird, "says"], "(newt pip)") == "invalid_step"
    assert changed(["evidence", "entries", bird, "premises"], [0]) == "invalid_step"
    assert changed(["evidence", "entries", bird, "premises"], [0, bird]) == "forward_reference"
    assert changed(["evidence", "entries", bird, "how"], "context") == "axiom_not_in_context"
    assert changed(["evidence", "entries", bird, "how"], "guess") == "ill_formed"
    assert changed(["evidence", "entries", bird, "how"], "discharge") == "invalid_step"
    assert changed(["evidence", "entries", 0, "says"], "(newt pip)") == "axiom_not_in_context"
    assert changed(["problem", "formal", "axioms", 0], "(newt pip)") == "axiom_not_in_context"
    assert changed(["problem", "formal", "axioms"], [*honest["problem"]["formal"]["axioms"], "(newt pip)"]) == (
        "inconsistent_context"
    )
    assert changed(["evidence", "entries"], entries[:-1]) in ("goal_not_reached", "spans")
    assert changed(["evidence", "spans", 0, "end"], 3) == "spans"
    assert changed(["evidence", "spans", 0, "kind"], "unread") == "spans"
    assert changed(["evidence", "spans", 2, "kind"], "premise") == "spans"
    assert changed(["evidence", "spans"], honest["evidence"]["spans"][1:]) == "spans"
    assert changed(["evidence", "closure"], []) == "semantics"


def test_assumptions_do_not_leak_from_certificates() -> None:
    text = "Assume Pip is a newt. Then Pip is not a bird. This is a contradiction. Pip is not a newt. "
    honest = certificate(PIP, f"{GOOD} {text} Answer: true")
    assert forged(honest) == "accepted"
    assumed: Any = copy.deepcopy(honest)
    at = next(i for i, e in enumerate(assumed["evidence"]["entries"]) if e["says"] == "(feathered pip)")
    assumed["evidence"]["entries"][at] |= {"how": "assumption", "premises": []}
    assert forged(assumed) == "goal_not_reached"


def test_a_closure_must_be_one() -> None:
    problem = Problem("eve", "proofwriter", "If someone is kind then they are big. Eve is rough.", "Eve is big.")
    text = "We need to determine whether Eve is big. If someone is kind then they are big. Answer: unknown"
    honest = certificate(problem, text)
    assert forged(honest) == "accepted"
    short: Any = copy.deepcopy(honest)
    short["evidence"]["closure"] = short["evidence"]["closure"][:-1]
    assert forged(short) == "axiom_missing"


@pytest.mark.parametrize(
    ("ending", "verdict"),
    [
        ("Answer: true\nAssume Pip is a newt.", "unproved answer_in_context"),
        ("The answer is true because Pip is a wren.", "certified proved"),
        ("The answer is true because every wren is a bird and Pip is a bird.", "certified proved"),
        ("The answer is true because Ned is a newt.", "unproved unsupported_sentence"),
        ("Since Pip is feathered, the statement is true.", "certified proved"),
        ("Since every newt is not a bird, the statement is true.", "unproved unsupported_sentence"),
        ("Ned is a newt, so Ned is not a bird, so the statement is true.", "unproved unsupported_sentence"),
        ("True, Ned is a newt.", "unproved unsupported_sentence"),
        ("True, Pip is feathered.", "certified proved"),
        ("This means that Pip is feathered. Answer: true", "certified proved"),
        ("This means that Ned is a newt. Answer: true", "unproved unsupported_sentence"),
        ("Pip is a wren. It follows that Ned is a newt. Answer: true", "unproved unsupported_sentence"),
        ("Every wren is a bird. This implies that all wrens are birds. Answer: true", "certified proved"),
    ],
)
def test_an_answer_ends_the_text_and_has_its_own_reasons(ending: str, verdict: str) -> None:
    assert said(PIP, f"{GOOD} {ending}") == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Answer: true", "unproved goal_not_reached"),
        ("We need to determine whether Pip is a wren. Ned is a newt. Answer: true", "unproved goal_not_reached"),
        ("Pip is a wren. Answer: true", "certified proved"),
        ("Yes, Pip is a wren.", "malformed not_read"),
        ("The statement that Pip is a wren is true.", "certified proved"),
        ("Answer: false", "refuted answer_mismatch"),
    ],
)
def test_the_answer_alone_is_no_chain_of_thought(text: str, verdict: str) -> None:
    """Also where the context says what is asked: the text has to."""
    assert said(replace(PIP, question="True or false: Pip is a wren."), text) == verdict


@pytest.mark.parametrize(
    ("text", "is_certified"),
    [
        ("Ned is a newt. So Pip is a bird.", False),  # of which Ned is no reason
        ("Pip is a wren. So Pip is a bird.", True),
        ("Every wren is a bird. So Pip is a bird.", True),
        ("Pip is a wren. Every wren is a bird. Ned is a newt. So Pip is a bird.", True),  # all of it was said
        ("Pip is a wren. So Pip is a bird. Ned is a newt. Therefore, Pip is feathered.", True),  # of the last step
        ("Ned is a newt. This means that Pip is a bird.", False),
    ],
)
def test_a_conclusion_uses_what_was_said(text: str, is_certified: bool) -> None:
    found = said(PIP, f"{text} Pip is a bird. Birds are feathered. Pip is feathered. Answer: true")
    assert (found == "certified proved") == is_certified, found


@pytest.mark.parametrize(
    ("said_more", "is_certified"),
    [
        ("Ned is a newt.", True),
        ("Therefore Ned is a newt.", False),  # a premise of the context is no conclusion
        ("Given that, Ned is a newt.", False),
        ("We can infer that Ned is a newt.", False),
        ("Ned is a newt (derived above).", False),
        ("We have shown above that Ned is a newt.", False),
        ("We have shown above that Pip is a bird.", True),
        ("The rule says that Ned is a newt.", False),  # a fact is no rule
        ("Premise 2: Ned is a newt.", False),
        ("The last premise says that Ned is a newt.", False),
        ("Since Pip is a wren and Ned is a newt, Pip is a bird.", False),
    ],
)
def test_what_is_called_derived_given_or_a_rule_is_that(said_more: str, is_certified: bool) -> None:
    found = said(PIP, f"{GOOD} {said_more} Pip is feathered. Answer: true")
    assert (found == "certified proved") == is_certified, found


@pytest.mark.parametrize(("answer", "is_certified"), [("(A) True", True), ("(A) Untrue", False), ("A) Nope", False)])
def test_a_letter_with_other_words_than_its_options_is_no_answer(answer: str, is_certified: bool) -> None:
    found = said(replace(PIP, options=("A) True", "B) False")), f"{GOOD} Answer: {answer}")
    assert (found == "certified proved") == is_certified, found


def test_the_question_is_not_said_again_behind_its_answer() -> None:
    assert said(PIP, f"{GOOD} Answer: true. Statement: Pip is feathered.") == "unproved answer_in_context"


@pytest.mark.parametrize("dataset", ["prontoqa", "mine"])
@pytest.mark.parametrize("adverb", ["definitely", "clearly", "directly", "actually", "therefore", "necessarily", "too"])
def test_an_adverb_behind_not_or_before_what_is_said_is_not_dropped(dataset: str, adverb: str) -> None:
    rule = "Every newt is not a bird." if dataset == "prontoqa" else "No newt is a bird."
    asked = "True or false: Ned is not a bird."
    proof = f"Ned is a newt. {rule} So Ned is not {{}}a bird. Answer: true"
    assert certistar.judge(f"Ned is a newt. {rule}", asked, proof.format(""), dataset=dataset).verdict == "certified"
    said = proof.format(f"{adverb} ")
    assert certistar.judge(f"Ned is a newt. {rule}", asked, said, dataset=dataset).verdict != "certified", said


@pytest.mark.parametrize(
    "text",
    ["Tom speaks clearly.", "Tom directly speaks.", "Tom speaks directly.", "Tom speaks as well as Ann."],
)
def test_an_adverb_that_says_how_something_is_done_is_not_dropped(text: str) -> None:
    problem = Problem("tom", "own", "Tom speaks. Everyone who speaks is calm.", "Tom is calm.")
    found = said(problem, f"{text} Everyone who speaks is calm. So Tom is calm. Answer: true")
    assert not found.startswith("certified"), found


@pytest.mark.parametrize("before", ["<|Ned_is_a_bird|>", "```Ned.is.a.bird\n", "```false\n"])
def test_nothing_is_said_where_a_special_token_or_a_language_stands(before: str) -> None:
    behind = "\n```" if before.startswith("`") else ""
    rows = [
        {
            "id": "a",
            "context": PIP.context,
            "question": PIP.question,
            "rationale": f"{before}{GOOD} Answer: true{behind}",
        }
    ]

    assert not certistar.filter(rows, "strict")


@pytest.mark.parametrize("padding", ["Let us see. " * 9, "Therefore, " * 3, "So then " * 3])
def test_repeated_filler_does_not_lengthen_a_proof(padding: str) -> None:
    for lead in ("", "In summary, "):
        verdict = certistar.judge(PIP.context, PIP.question, f"{padding}{lead}{GOOD} Answer: true")
        assert not isinstance(verdict, Certified)


def test_modus_tollens_ends_in_a_denial() -> None:
    context = PIP.context.replace("Every newt is not", "No newt is")

    def judged(claim: str) -> str:
        text = f"{GOOD} By modus tollens, {claim} Answer: true"
        return certistar.judge(context, PIP.question, text).verdict

    assert judged("Pip is a bird.") == "unproved"
    assert judged("Pip is not a newt.") == "certified"


LISTED = (
    "Tom is kind. Tom is red. If someone is kind then they are big. If someone is big then they are nice. Bob is red."
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "Tom is not nice.",
            "Tom is kind. So Tom is big. So Tom is nice. We can see the statement is true.\nAnswer: false",
        ),
        ("Tom is not nice.", "Tom is kind. So Tom is big. So Tom is nice. So we can see it's true.\nAnswer: false"),
        ("Tom is nice.", "We can see that Tom is Small. Tom is kind. So Tom is big. So Tom is nice.\nAnswer: true"),
        (
            "Bob is nice.",
            "We do not know whether Bob is kind, and Bob is big. So Bob is nice is unknown.\nAnswer: unknown",
        ),
        ("Tom is nice.", "Tom is kind. Then Bob is red. So Tom is big. So Tom is nice.\nAnswer: true"),
        ("Tom is nice.", "Tom is kind. To conclude, Bob is red. Tom is big. So Tom is nice.\nAnswer: true"),
        ("Tom is nice.", "We already know that Tom is big. So Tom is nice.\nAnswer: true"),
        ("Tom is nice.", 'From "Bob is red" we know "Tom is big". So Tom is nice.\nAnswer: true'),
        ("Tom is nice.", "From the premise that Bob is red, Tom is big. So Tom is nice.\nAnswer: true"),
    ],
)
def test_words_that_say_nothing_hide_no_claim(question: str, text: str) -> None:
    for dataset in (None, "proofwriter"):
        assert certistar.judge(LISTED, question, text, dataset=dataset).verdict != "certified"


@pytest.mark.parametrize("lead", ["Tom is kind. We already know that Tom is kind.", 'From "Tom is kind" we know'])
def test_the_same_words_around_what_holds_are_certified(lead: str) -> None:
    text = f"{lead} Tom is big. If someone is big then they are nice. So Tom is nice.\nAnswer: true"
    assert certistar.judge(LISTED, "Tom is nice.", text).verdict == "certified"


def test_a_plural_with_a_meaning_of_its_own_has_no_singular() -> None:
    text = "Tom is a work. Works are factories. So Tom is a factory.\nAnswer: true"
    assert certistar.judge("Works are factories. Tom is a work.", "Tom is a factory.", text).verdict != "certified"
