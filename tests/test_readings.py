"""Chains of thought about any context that the grammar reads: what is certified, and what never is."""

import json
import re
from typing import Any

import pytest

import certistar
from critics.formats.english.readings import judge_readings
from critics.problem import Attempt, Problem
from critics.replay.certificate import digest
from critics.text.english.discourse import moves
from critics.text.english.moves import Aim, Claim, Contradicts, Judged, NotKnown
from critics.verdict import verdict_record

CONTEXT = (
    "Every employee who works remotely has a laptop. Everyone who has a laptop is insured. "
    "Anna is an employee. Anna works remotely. Ben is an employee. No insured employee is a visitor."
)
PROOF = (
    "Let's think step by step. We want to evaluate if Anna is insured. From the premises, we know that Anna is an "
    "employee and that Anna works remotely. From premise 1, every employee who works remotely has a laptop, so Anna "
    "has a laptop. Since everyone who has a laptop is insured, we can conclude that Anna is insured. Therefore, the "
    "statement is true.\nANSWER: True"
)


def judged(text: str, context: str = CONTEXT, question: str = "Anna is insured.", **more: Any) -> Any:
    return certistar.judge(context, question, text, **more)


def test_a_text_about_a_context_of_ones_own_is_certified_and_rechecked() -> None:
    verdict = judged(PROOF, answer=True)
    assert (verdict.verdict, verdict.answer, verdict.grade) == ("certified", "true", "aligned")
    assert verdict.coverage > 0.9
    assert "certified" in verdict._repr_html_()
    assert certistar.recheck([verdict])["accepted"] == 1
    record = json.dumps(verdict_record("1", verdict))
    certificate = json.loads(record.replace("has a laptop, so", "has a lap, so"))["certificate"]
    certificate["digest"] = digest(certificate)
    forged = {**json.loads(record), "certificate": certificate}
    assert certistar.recheck([json.loads(record), forged])["accepted"] == 1


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("Anna works remotely. From", "Anna sleeps. From"),  # a premise that is not there
        ("From premise 1", "From premise 2"),  # one that says something else
        ("so Anna has a laptop", "so Anna has no laptop"),
        ("the statement is true", "the statement is false"),
        ("ANSWER: True", "ANSWER: False"),
        ("every employee who", "only employees who"),
        ("we can conclude that Anna is insured", "we can conclude that Ben is insured"),
        ("evaluate if Anna", "evaluate if Ben"),
        ("Let's think step by step.", "The moon is made of cheese."),
        ("ANSWER: True", "ANSWER: True. This answer is incorrect."),
    ],
)
def test_no_mutant_of_a_proof_is_certified(was: str, becomes: str) -> None:
    assert was in PROOF
    assert judged(PROOF.replace(was, becomes)).verdict != "certified"


def test_a_step_that_needs_two_rules_is_skipped() -> None:
    verdict = judged("We know that Anna is an employee. Anna works remotely. So Anna is insured. Answer: True")
    assert (verdict.verdict, verdict.reason) == ("unproved", "skipped_steps")


@pytest.mark.parametrize(
    ("reasons", "is_certified"),
    [
        ("all big things are green, and all green things are rough", True),
        ("all big things are green, and all cold things are rough", False),
        ("all big things are green", False),
        (
            "all big things are green, and all green things are rough, and all cold things are rough",
            False,
        ),  # one is idle
    ],
)
def test_two_rules_are_one_step_where_both_are_its_reasons(reasons: str, is_certified: bool) -> None:
    context = "All big things are green. All green things are rough. All cold things are rough. Tom is big."
    text = f"Since Tom is big, and {reasons}, we can conclude that Tom is rough. Answer: True"
    verdict = certistar.judge(context, "Is Tom rough?", text, format="english")
    assert (verdict.verdict == "certified") is is_certified, verdict.feedback


def test_that_a_condition_does_not_mean_something_is_a_rule_that_is_not_known() -> None:
    rule = "if Tom is big then Tom is cold"
    assert moves("Being big does not mean that Tom is cold.", lambda text: text == rule) == [
        NotKnown(rule, both_ways=False)
    ]


@pytest.mark.parametrize(
    ("said", "is_certified"),
    [
        ("All cats are pets. No pet is a wolf. So no cat is a wolf.", True),
        ("No pet is a wolf. So no cat is a wolf.", False),  # a rule that was not said
        ("All cats are pets, which are tame. No pet is a wolf. So no cat is a wolf.", True),
        ("All cats are pets. No pet is a wolf. All pets are tame. So no cat is a wolf or a bear.", False),
        ("All cats are pets. No pet is a wolf. So no wolf is tame.", False),
        ("All cats are pets. No pet is a wolf. So it is not possible for a cat to be a wolf.", True),
        ("All cats are pets. No pet is a wolf. So it is not possible for a pet to be a cat.", False),
    ],
)
def test_two_rules_that_were_just_said_give_a_third(said: str, is_certified: bool) -> None:
    context = "All cats are pets. No pet is a wolf. All pets are tame. Some dogs are fast runners."
    verdict = judged(f"{said} Answer: true", context, "No cat is a wolf.")
    assert (verdict.verdict == "certified") == is_certified, verdict.feedback


def test_a_pronoun_stands_for_the_name_that_is_the_subject_also_beside_a_thing() -> None:
    context = "James is from the law school. Everyone from the law school is rich. If James is rich then James is big."
    text = "James is from the law school, so he is rich. If he is rich then he is big. So he is big. Answer: true"
    assert judged(text, context, "James is big.").verdict == "certified"
    assert judged(text, context.replace("James", "Bob"), "Bob is big.").verdict != "certified"
    other = (
        "James is from the law school, so it is rich. If James is rich then James is big. So he is big. Answer: true"
    )
    assert judged(other, context, "James is big.").verdict != "certified"


def test_a_relation_of_three_is_read_and_rechecked() -> None:
    context = "Tom has won the cup in Rome. If Tom has won the cup in Rome then Tom is rich."
    text = "Tom has won the cup in Rome. So Tom is rich. Answer: true"
    assert judged(text, context, "Tom is rich.").verdict == "certified"


def test_a_pronoun_stands_for_a_name_of_several_words() -> None:
    context, question = "Robert Lee is a striker at Bern. Strikers are players.", "Robert Lee is a player."
    text = "Strikers are players. We know that Robert Lee is a striker. Therefore, he must be a player. Answer: true"
    assert judged(text, context.replace(" at Bern", ""), question).verdict == "certified"
    assert (
        judged(text.replace("he must", "she must not"), context.replace(" at Bern", ""), question).verdict
        != "certified"
    )


def test_a_premise_in_the_guise_of_a_conclusion_is_refused() -> None:
    text = PROOF.replace("From premise 1", "Ben is an employee. This shows that Anna is an employee. From premise 1")
    assert judged(text.replace("Anna is an employee and that ", "")).verdict != "certified"


@pytest.mark.parametrize("text", ["Tom is a cat, so Tom is warm.", "Ann is big. So Tom is warm.", "So Tom is warm."])
def test_what_is_asked_does_not_follow_from_a_reason_that_has_nothing_to_do_with_it(text: str) -> None:
    """The context says it itself; said by itself, or behind its premise, it stands."""
    for ending, is_kept in ((text, False), ("Premise 2 says that Tom is warm. So Tom is warm.", True)):
        found = certistar.judge("Tom is a cat. Tom is warm. Ann is big.", "Is Tom warm?", f"{ending} Answer: yes")
        assert (found.verdict == "certified") is is_kept, ending


def test_an_answer_without_a_reason_is_refused() -> None:
    assert judged("ANSWER: True").verdict != "certified"


def test_unknown_is_never_certified_where_a_phrase_stands_alone() -> None:
    text = "We don't have any information about whether Ben is insured. Therefore, it is uncertain.\nANSWER: Unknown"
    assert judged(text, question="Ben is insured.").verdict != "certified"


THEORY = "Bob is kind. Bob is rough. If something is kind and rough then it is big. All big things are quiet."


def test_claims_of_not_knowing_are_checked() -> None:
    text = "We know that Bob is kind. However, we don't have any information about whether Bob is {}. Therefore, it is "
    text += "uncertain whether Bob is {}, so the statement is uncertain.\nANSWER: Unknown"
    context = THEORY + " If someone is young then they are big."
    for word, verdict in (("young", "certified"), ("quiet", "unproved")):
        found = judged(text.format(word, word), context, f"Bob is {word}.", dataset="proofwriter")
        assert found.verdict == verdict or (found.verdict != "certified" and verdict != "certified"), found


def test_contradictions_citations_and_asides_are_read() -> None:
    text = (
        "We want to evaluate if Bob is not quiet. From premise 1 and 2, we know that Bob is kind and rough. From "
        "premise 3, Bob, being kind and rough, must be big. Since all big things are quiet (premise 4), Bob is quiet. "
        'This contradicts the conclusion that Bob is not quiet. Therefore, the statement "Bob is not quiet" is false.\n'
        "ANSWER: False"
    )
    found = judged(text, THEORY, "Bob is not quiet.", dataset="proofwriter")
    assert (found.verdict, found.answer) == ("certified", "false")
    assert certistar.recheck([found])["accepted"] == 1


def test_unknown_is_said_of_the_question_itself() -> None:
    context = THEORY + " If someone is young then they are big."
    text = "We cannot determine whether {} is young, so the statement is uncertain.\nANSWER: Unknown"
    about_bob, about_ann = (
        judged(text.format(name), context + " Ann is big.", "Bob is young.", dataset="proofwriter")
        for name in ("Bob", "Ann")
    )
    assert about_bob.verdict == "certified"
    assert certistar.recheck([about_bob])["accepted"] == 1
    assert about_ann.verdict != "certified"


def test_either_must_not_matter() -> None:
    context = "Tom is either warm or kind. Tom is warm. If Tom is not kind then Tom is big."
    text = "We know that Tom is warm. Since Tom is either warm or kind, Tom is not kind. So Tom is big.\nANSWER: True"
    assert judged(text, context, "Tom is big.").verdict != "certified"


def test_an_inconsistent_context_proves_nothing() -> None:
    context = "Tom is warm. Tom is not warm. If Tom is warm then Tom is big."
    assert (
        judged(
            "Tom is warm. If Tom is warm then Tom is big. So Tom is big.\nANSWER: True", context, "Tom is big."
        ).verdict
        != "certified"
    )


def reads(text: str) -> bool:
    return re.fullmatch(r"tom is (?:not )?\w+", text, re.IGNORECASE) is not None


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("From the third premise, we know that Tom is warm.", [Claim]),
        ("Since Tom is warm, Tom is kind.", [Claim, Claim]),
        ("Tom is kind because Tom is warm.", [Claim, Claim]),
        ("We cannot determine whether Tom is warm or not.", [NotKnown]),
        ("None of the premises tell us whether Tom is warm.", [NotKnown]),
        ("We don't know if Tom is warm, so the statement is uncertain.", [NotKnown, Judged]),
        ("We want to evaluate if Tom is warm.", [Aim]),
        ("This contradicts the statement that Tom is warm.", [Contradicts]),
        ("Therefore, the statement that Tom is warm is true.", [Judged]),
        ("Let's think step by step.", []),
    ],
)
def test_sentences_are_taken_apart(sentence: str, kinds: list[type]) -> None:
    found = moves(sentence, reads)
    assert found is not None
    assert [type(move) for move in found] == kinds


def test_what_is_no_move_is_not_read() -> None:
    assert moves("Napoleon won.", reads) is None
    assert moves("Tom is warm, Napoleon won, and Tom is kind.", reads) is None


def test_long_sentences_end() -> None:
    problem = Problem("1", "own", "Tom is kind.", "Tom is kind.", None, None, None, {})
    text = "Tom is kind and " * 40 + "Tom is zz zz. Answer: true"
    assert judge_readings(problem, Attempt("1", problem, "english", text)).verdict != "certified"


BIRDS = "Pip is a bird. Ned is a newt. Pip is small. If someone is a bird they are winged. All winged things are quick."


def read(text: str) -> str:
    problem = Problem("1", "proofwriter", BIRDS, "Pip is quick.", None, None, None, {})
    return judge_readings(problem, Attempt("1", problem, "english", text)).verdict


@pytest.mark.parametrize(
    ("said", "is_held"),
    [
        ("Since Pip is a bird, Pip is winged.", True),
        ("Ned is a newt, so Pip is winged.", False),  # no reason of it
        ("Since Ned is a newt, Pip is winged.", False),
        ("Pip is winged because Pip is winged.", False),
        ("Pip is a bird. If Ned is a newt then Pip is winged.", False),  # says less than what is known
        ("Pip is winged or Pip is green.", False),
        ("From premise 4, Pip is winged.", True),
        ("From premise 5, Pip is winged.", False),
        ("From premise 3 and 4, Pip is winged.", False),  # of which one has nothing to do with it
        ("If Pip is a bird, then, based on premise 4, he is winged. Pip is a bird, so Pip is winged.", True),
        ("If Pip is a bird, then, based on premise 5, he is winged. Pip is a bird, so Pip is winged.", False),
        ("All birds are winged, which are quick. Pip is a bird, so Pip is winged.", False),  # two nouns to attach to
        ("We don't know whether Ned is small. Pip is a bird, so Pip is winged.", False),  # lengthens the proof
    ],
)
def test_reasons_and_citations_are_held_to(said: str, is_held: bool) -> None:
    verdict = read(f"{said} All winged things are quick, so Pip is quick.\nANSWER: True")
    assert (verdict == "certified") == is_held, verdict


def test_a_condition_of_which_nobody_knows_tells_why_a_rule_is_not_used() -> None:
    text = (
        "From the fourth premise, if someone is a bird then they are winged. We don't know whether Ned is a bird. "
        "Since Pip is a bird, Pip is winged. All winged things are quick, so Pip is quick.\nANSWER: True"
    )
    assert read(text) == "certified"


def test_work_is_bounded_over_all_sentences() -> None:
    context = "Tom is kind or Ann is kind and Bob is kind."
    text = " ".join(f"Tom{n} is {'kind and big and warm or ' * 6}red." for n in range(10))
    assert judged(text, context, "Tom is kind.").verdict != "certified"


def test_declared_knowledge_is_in_the_certificate_and_graded_given() -> None:
    context, question = "Every contract is binding. L-2021 is a lease.", "Is L-2021 binding?"
    text = "L-2021 is a lease, so L-2021 is a contract. Every contract is binding, so L-2021 is binding. Answer: true"
    axiom = "Every lease is a contract."
    verdict = certistar.judge(context, question, text, axioms=[axiom])
    assert isinstance(verdict, certistar.Certified), verdict
    evidence = verdict.certificate.record()["evidence"]
    assert (verdict.grade, evidence["reference"], evidence["formulas"]["axioms"]) == ("given", "axioms", [axiom])
    assert not certistar.recheck([verdict])["rejected"]
    rows = [{"context": context, "question": question, "rationale": text, "axioms": axiom}]
    assert [row["grade"] for row in certistar.filter(rows)] == ["given"]
    assert certistar.judge(context, question, text).verdict == "unproved"
    # Attack: an axiom that only asks.
    for unread in ("Most leases are contracts.", "Is every lease a contract?", "Every lease is a contract?"):
        assert certistar.judge(context, question, text, axioms=[unread]).reason == "context_not_read"


def test_a_verdict_names_what_is_lacking() -> None:
    context = "Tom gets invited. Everyone who is invited is happy. Every contract is binding. L-2021 is a lease."
    told = certistar.judge(context, "Is L-2021 binding?", "So L-2021 is binding. Answer: true").feedback
    assert told.endswith("proved if: L-2021 is a contract")
    told = certistar.judge(context, "Is Tom happy?", "Tom is invited. So Tom is happy. Answer: true").feedback
    assert told.endswith("you say 'invited', the context says 'get invited'")


def test_what_may_go_without_saying_is_not_unknown() -> None:
    # That Kiki is an animal is taken for granted.
    context = "If an animal barks, then it is loud. If an animal is old, then it barks. Kiki is old. Ann is loud."
    text = "We cannot tell whether Kiki is loud. The answer is unknown."
    assert certistar.judge(context, "Kiki is loud.", text).verdict != "certified"


SMALL = "Bob is kind. Bob is rough. Anne is quiet. If someone is young then they are big. All big people are cold."


@pytest.mark.parametrize(
    ("said", "is_certified"),
    [
        ("If someone is young then they are big, but this does not mean the reverse.", True),
        ("If someone is big then they are cold, but the converse is not necessarily true.", True),
        ("Bob is kind, but this does not imply the reverse.", False),  # of which there is none
        ("We know that Bob is kind. This does not tell us whether Bob is cold.", True),
        ("We know that Bob is kind. This does not tell us whether Bob is kind.", False),
        ("All we know about Bob is that he is kind and rough.", True),
        ("All we know about Bob is that he is kind.", False),
        ("The only premise about Anne is that she is quiet.", True),
        ("The only premise about Bob is that he is rough.", False),
        ("None of the other premises mention Bob.", False),  # none was told
        ("Bob is kind and rough. None of the other premises mention Bob.", True),
        ("Nothing else is known about Anne.", False),
        ("Just because Bob is kind does not mean that he is cold.", True),
        ("Even if Bob is young, we don't know whether he is cold.", False),
        ("Even if Bob is kind, we don't know whether he is cold.", True),
        ("More information is needed to determine whether Bob is young.", True),
        ("More information is needed to determine whether Bob is kind.", False),
        ("The given information is insufficient to conclude that Bob is cold.", True),
        ("The given information is insufficient to conclude that Bob is rough.", False),
        ("Bob's texture is not mentioned.", False),
        (
            "If someone is young then they are big, and all big people are cold, but we don't know if Bob is young.",
            True,
        ),
        (
            "If someone is young then they are old, and all big people are cold, but we don't know if Bob is young.",
            False,
        ),
        ("We have a rule that all big people are cold, but we don't know if Bob is big.", True),
        ("We have a rule that all cold people are big, but we don't know if Bob is big.", False),
        ("We have a rule that Bob is kind.", False),
        ("Although we have various statements about the traits of people, there is no word of it.", False),
        ("Although we have various statements about the traits of people, we don't know if Bob is cold.", True),
        ("The condition of this rule is not met, so we cannot apply this rule.", True),
        ("As established before, Bob is big.", False),
        ("We have already established that Bob is cold.", False),
        ("The moon is not mentioned.", False),
    ],
)
def test_what_else_is_not_known_is_held_to_the_context(said: str, is_certified: bool) -> None:
    text = f"{said} Therefore, it is uncertain whether Bob is cold.\nANSWER: Unknown"
    verdict = judged(text, SMALL, "Bob is cold.", dataset="proofwriter")
    assert (verdict.verdict == "certified") == is_certified, verdict.feedback


@pytest.mark.parametrize(
    ("said", "is_held"),
    [
        ("If someone is a bird they are winged and all winged things are quick, so Pip is quick.", True),
        ("If someone is a bird they are winged and all small things are quick, so Pip is quick.", False),
        ("If someone is a bird they are winged and all quick things are winged, so Pip is quick.", False),
        ("Pip is a bird and hence he is winged according to premise 4.", True),
        ("Pip is a bird and hence he is winged according to premise 5.", False),
        ("Pip is a bird and hence he is winged according to premise 1.", False),
        ("Looking at Pip, we know that he is small. Applying premise 4 to Pip, he is winged.", False),
        ("Looking at Ned, we know that he is small.", False),  # it is Pip
        ("Looking at Pip, we know that he is a bird, so it follows that he is winged.", True),
        ("If someone is a bird they are winged. Both conditions are met, so Ned is winged.", False),
        ("If someone is a bird they are winged. The condition is met, so Pip is winged.", True),
        ("The fact that Pip is a bird means that he is winged.", True),
        ("The fact that Pip is small means that he is winged.", False),
        ("Due to Pip being a newt, he is winged.", False),
        ('According to "If someone is a bird they are winged", Pip is winged.', True),
        ('According to "If someone is small they are winged", Pip is winged.', False),
        ('The premise "Ned is a newt" means that Pip is winged.', False),
        ('Pip is winged due to the premise "If someone is a bird they are winged".', True),
        ('Pip is winged due to the premise "All winged things are quick".', False),
        ("Pip is small, but the statement follows from the premises.", False),
        ("This confirms the statement.", False),
        ("If someone is a bird they are winged. Pip meets the condition, so he is winged.", True),
        ("If someone is a bird they are winged. Ned meets the condition, so he is winged.", False),
        ("Being a bird, Pip is winged.", True),
        ("The fourth premise is that someone is a bird.", False),
        ("The conclusion contradicts premise 2.", False),
    ],
)
def test_more_reasons_are_held_to(said: str, is_held: bool) -> None:
    end = "" if "so Pip is quick" in said else " All winged things are quick, so Pip is quick."
    verdict = read(f"Pip is a bird. {said}{end}\nANSWER: True")
    assert (verdict == "certified") == is_held, verdict


@pytest.mark.parametrize(
    ("context", "question"),
    [
        ("MacBook is not made in China. All phones are made in China. All cheap phones sell.", "The MacBook is cheap."),
        ("All koalas are cute. No koala is cute. Some cats are koalas or cute.", "Koalas are cute cats."),
        (
            "Astro is a van. Lumina is sold by Opel. Cars sold by Opel are vans or cheap. Vans are cheap.",
            "Lumina is a van.",
        ),
    ],
)
def test_unknown_is_not_certified_where_a_name_or_a_kind_goes_without_saying(context: str, question: str) -> None:
    text = f"We don't know whether {question[0].lower()}{question[1:-1]}. The statement is uncertain.\nANSWER: Unknown"
    assert judged(text, context, question).verdict != "certified"


@pytest.mark.parametrize(("number", "is_certified"), [(4, True), (3, False)])
def test_a_premise_that_is_said_to_contradict_the_question_does(number: int, is_certified: bool) -> None:
    context = "Tom is old. Tom is big. Tom is cold. Tom is kind. All old cats are cold."
    text = f"The conclusion contradicts premise {number}. Therefore, the statement is false.\nANSWER: False"
    assert (judged(text, context, "Tom is not kind.").verdict == "certified") == is_certified
