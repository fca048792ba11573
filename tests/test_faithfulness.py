"""Checks of a formalisation on trust: each catches the cheat that it is for, and lets its honest look-alike through."""

from collections.abc import Iterator
from typing import Any

import pytest

from critics.audit import faithful
from critics.audit.agreement import MAX_COMPARED
from critics.audit.faithful import ALL_CHECKS, gather, outcome, read_judged, text_findings
from critics.formats.guided.critic import judge_guided
from critics.judge import judge_on_trust
from critics.problem import Attempt, Problem, read_attempt
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed
from critics.text.reference import formalisation_trusted
from critics.verdict import verdict_record
from rollout.problems import prontoqa, proofwriter
from rollout.records.traces import read_trace
from training.curation.filters import faithfulness_counts, select

CONTEXT = "Every cat is furry. Furry things are not cold. Tom is a cat. The dog chases the cat."
FACTS = "[[axiom:(cat 'x) -> (furry 'x)]] [[axiom:(furry 'x) -> (not (cold 'x))]] [[axiom:(cat tom)]]"


def attempt(
    text: str, *, context: str = CONTEXT, question: str, format_: str = "guided", id_: str = "a"
) -> dict[str, Any]:
    problem = {"id": "p", "dataset": "own", "context": context, "question": question, "options": None, "answer": None,
               "formal": None, "meta": {}}  # fmt: skip
    return {"id": id_, "problem": problem, "format": format_, "completion": text}


def fol(premise: str, conclusion: str, *, context: str, question: str) -> dict[str, Any]:
    text = f"Premises:\n{premise}\nConclusion:\n{conclusion}\n"
    return attempt(text, context=context, question=question, format_="fol")


def found(check: str, made: dict[str, Any]) -> type:
    return type(text_findings(read_attempt(made), None)[check])


def findings(made: dict[str, Any], *others: dict[str, Any]) -> dict[str, Finding]:
    return faithful.findings(read_judged(made), gather(map(read_judged, others)))


@pytest.mark.parametrize(
    ("question", "goal", "expected"),
    [
        ("Tom is furry.", "Furry(tom)", Passed),
        ("Tom is furry.", "¬Furry(tom)", Failed),
        ("Tom is not furry.", "¬Furry(tom)", Passed),
        ("Tom is not furry.", "Furry(tom)", Failed),
        ("Tom isn't furry.", "Furry(tom)", Failed),
        ("Is the following statement true or false? Tom is not furry.", "Furry(tom)", Failed),
        ("It is not the case that Tom is not furry.", "¬Furry(tom)", Failed),
        ("It is not the case that Tom is not furry.", "Furry(tom)", NotApplicable),
        ("No cat is cold.", "∀x (Cat(x) → ¬Cold(x))", Passed),
        ("No cat is cold.", "¬∃x (Cat(x) ∧ Cold(x))", Passed),
        ("No cat is cold.", "∀x (Cat(x) → Cold(x))", Failed),
        ("Tom is neither cold nor wet.", "¬Cold(tom) ∧ ¬Wet(tom)", Passed),
        ("Tom is neither cold nor wet.", "¬(Cold(tom) ∨ Wet(tom))", Passed),
        ("Tom is neither cold nor wet.", "¬Cold(tom) ∧ Wet(tom)", Failed),
        ("Tom is neither cold nor wet.", "Cold(tom) ∧ Wet(tom)", Failed),
        ("Tom is cold unless Tom is wet.", "¬Wet(tom) → Cold(tom)", Passed),
        ("Tom is cold unless Tom is wet.", "Wet(tom) → Cold(tom)", Failed),
        ("Tom is cold unless Tom is wet.", "Wet(tom) ∨ Cold(tom)", NotApplicable),
        ("If Tom is not cold then Tom is wet.", "Cold(tom) → ¬Wet(tom)", Failed),
        ("If Tom is cold then Tom is wet.", "¬Cold(tom) → ¬Wet(tom)", Failed),
        ("Tom is not cold or wet.", "¬Cold(tom) ∨ Wet(tom)", NotApplicable),
        ("Only cats are furry.", "∀x (Furry(x) → Cat(x))", NotApplicable),
        ("Tom is not only cold.", "¬Cold(tom)", NotApplicable),
    ],
)
def test_the_goals_signs_are_the_questions(question: str, goal: str, expected: type) -> None:
    made = fol("Cat(tom)", goal, context="Tom is a cat.", question=question)
    assert found("polarity_of_goal", made) is expected


@pytest.mark.parametrize(
    ("check", "premise", "sentence", "expected"),
    [
        ("polarity_of_premises", "∀x (Cat(x) → Cold(x))", "Every cat is not cold.", Failed),
        ("polarity_of_premises", "∀x (Cat(x) → ¬Cold(x))", "Every cat is not cold.", Passed),
        ("names_of_premises", "Dog(tom)", "Tom is a cat. Rex is a dog.", Failed),
        ("names_of_premises", "FormedIn(diamondmine, wwe)", "Diamond Mine was formed in WWE.", Passed),
        ("completeness_of_premises", "∀x (Cold(x))", "Every cat is cold.", Failed),
        ("completeness_of_premises", "Big(bob)\nRed(bob)", "Bob is big and red.", Passed),
        ("completeness_of_premises", "Big(bob)", "Bob is big and red.", Failed),
        ("order_of_premises", "Chase(dog, cat)", "The dog chases the cat.", Passed),
        ("order_of_premises", "Chase(cat, dog)", "The dog chases the cat.", Failed),
        ("order_of_premises", "∀x (Furry(x) → Cat(x))", "Every cat is furry.", Failed),
        ("order_of_premises", "∀x ((Nice(x) ∧ Red(x)) → Big(x))", "Red, nice things are big.", Passed),
        ("order_of_premises", "Chase(cat, dog)", "The dog is chased by the cat.", NotApplicable),
    ],
)
def test_premises_are_laid_beside_their_sentences(check: str, premise: str, sentence: str, expected: type) -> None:
    assert found(check, fol(premise, "Cat(tom)", context=sentence, question="Tom is a cat.")) is expected


@pytest.mark.parametrize(
    ("check", "goal"),
    [
        ("names_of_goal", "Bird(tom)"),
        ("structure_of_goal", "∃x Chase(x, cat)"),
        ("order_of_goal", "Chase(cat, dog)"),
    ],
)
def test_the_goal_is_what_is_asked(check: str, goal: str) -> None:
    made = fol("Cat(tom)", goal, context=CONTEXT, question="The dog chases the cat.")
    assert found(check, made) is Failed


def test_a_models_comment_is_not_the_text() -> None:
    made = fol("Cat(tom)", "¬Furry(tom) ::: Tom is not furry.", context=CONTEXT, question="Tom is furry.")
    assert found("polarity_of_goal", made) is Failed


def test_what_cannot_be_laid_beside_sentences_is_never_faithful() -> None:
    made = attempt('{"Model": []}', question="Tom is furry.", format_="asp")
    judgement = {"verdict": "certified", "answer": "true", "certificate": {"formalisation": "trusted"}}
    assert outcome(read_judged({**made, "judgement": judgement})) == ("nothing_applies", ())


def proof(goal: str, steps: str, answer: str, *, question: str, id_: str) -> dict[str, Any]:
    made = attempt(f"{FACTS} [[goal:{goal}]] {steps}\nAnswer: {answer}", question=question, id_=id_)
    return {**made, "judgement": judge_on_trust(made)}


HONEST = proof("(furry tom)", "[[infer:(furry tom)]]", "true", question="Tom is furry.", id_="honest")
FLIPPED = proof("(not (furry tom))", "[[infer:(furry tom)]]", "false", question="Tom is furry.", id_="flipped")
with formalisation_trusted():
    # As critics certified it before it was refused (`question_denied`).
    FLIPPED["judgement"] = verdict_record("flipped", judge_guided(read_attempt(FLIPPED).problem, read_attempt(FLIPPED)))


def test_strict_keeps_the_honest_proof_and_drops_the_flipped_one_that_is_kept_on_trust() -> None:
    assert [t.id for t in select(map(read_trace, [HONEST, FLIPPED]), "trusted")] == ["honest", "flipped"]
    assert [t.id for t in select(map(read_trace, [HONEST, FLIPPED]), "strict")] == ["honest"]
    assert [t.id for t in select(map(read_trace, [HONEST, FLIPPED]), "faithful")] == ["honest"]
    assert faithfulness_counts(list(map(read_trace, [HONEST, FLIPPED]))) == {
        "faithfulness": {"failed": 1, "passed": 1},
        "unfaithful": {"polarity_of_goal": 1, "round_trip": 1},
    }


def test_an_uncertified_or_cut_off_attempt_is_not_kept() -> None:
    unproved = proof("(furry tom)", "", "true", question="Tom is furry.", id_="unproved")
    assert select(map(read_trace, [unproved, {**HONEST, "finished": False}]), "faithful") == []


def test_what_was_checked_passes_outright() -> None:
    certificate = {**FLIPPED["judgement"]["certificate"], "formalisation": "checked"}
    judged = read_judged({**FLIPPED, "judgement": {**FLIPPED["judgement"], "certificate": certificate}})
    assert outcome(judged) == ("checked", ())


def other_format(answer: str) -> dict[str, Any]:
    made = {**HONEST, "id": "other", "format": "fol", "completion": "Premises:\nCat(tom)\nConclusion:\nFurry(tom)"}
    return {**made, "judgement": {**HONEST["judgement"], "answer": answer}}


@pytest.mark.parametrize(("answer", "expected"), [("true", Passed), ("false", Failed)])
def test_two_formats_must_certify_one_answer(answer: str, expected: type) -> None:
    both = [HONEST, {**other_format(answer)}]
    assert isinstance(findings(HONEST, *both)["cross_agreement"], expected)
    assert isinstance(findings(HONEST, HONEST)["cross_agreement"], NotApplicable)


def sample(completion: str, id_: str) -> dict[str, Any]:
    return {**HONEST, "id": id_, "completion": completion}


def test_another_sample_that_says_the_same_is_a_second_opinion_and_a_copy_is_none() -> None:
    reordered = sample(" ".join(HONEST["completion"].split("]] ")[::-1]), "unreadable")
    again = sample("So. " + HONEST["completion"], "again")
    copy = sample(HONEST["completion"], "copy")
    assert isinstance(findings(HONEST, HONEST, again)["round_trip"], Passed)
    assert isinstance(findings(HONEST, HONEST, copy, reordered)["round_trip"], NotApplicable)


def test_a_sample_that_says_otherwise_fails_both_unless_the_text_contradicts_it() -> None:
    both_in_the_text = {**HONEST["problem"], "context": CONTEXT + " Every cat is not furry."}
    one = {**HONEST, "problem": both_in_the_text}
    signs = HONEST["completion"].replace("-> (furry 'x)", "-> (not (furry 'x))")
    two = {**sample(signs, "two"), "problem": both_in_the_text}
    assert isinstance(findings(one, one, two)["round_trip"], Failed)
    against_the_text = sample(signs, "two")
    assert isinstance(findings(HONEST, HONEST, against_the_text)["round_trip"], NotApplicable)


def test_comparing_with_other_samples_is_bounded() -> None:
    many = [sample(f"{'So. ' * n}{HONEST['completion']}", str(n)) for n in range(1, 50)]
    assert isinstance(findings(HONEST, *many)["round_trip"], Passed)
    assert MAX_COMPARED < 10


def test_every_check_has_its_finding() -> None:
    assert tuple(findings(HONEST)) == ALL_CHECKS


def test_a_long_text_of_negations_costs_little_and_passes_nothing() -> None:
    made = fol("Cat(tom)", "Cat(tom)", context="not " * 5_000, question="not " * 5_000 + "Tom is a cat.")
    assert found("polarity_of_goal", made) is not Passed


def generated() -> Iterator[Problem]:
    yield from prontoqa.generate(prontoqa.PrOntoQA(), 150, seed=11)
    yield from proofwriter.generate(proofwriter.ProofWriter(), 150, seed=11)


def test_what_our_translators_formalise_never_fails_polarity_names_or_order_and_denied_goals_always_do() -> None:
    num_goals = 0
    for problem in generated():
        assert problem.formal is not None
        axioms = " ".join(f"[[axiom:{axiom}]]" for axiom in problem.formal.axioms)
        goal = problem.formal.goal
        denied = goal.removeprefix("(not ").removesuffix(")") if goal.startswith("(not ") else f"(not {goal})"
        honest = text_findings(Attempt("a", problem, "guided", f"{axioms} [[goal:{goal}]]"), None)
        assert not [name for name, each in honest.items() if isinstance(each, Failed)], (problem, honest)
        flipped = text_findings(Attempt("a", problem, "guided", f"{axioms} [[goal:{denied}]]"), None)[
            "polarity_of_goal"
        ]
        assert not isinstance(flipped, Passed)
        num_goals += isinstance(flipped, Failed)
    assert num_goals >= 290
