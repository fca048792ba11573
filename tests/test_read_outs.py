"""What stands beside the blocks of a guided attempt: cheats that a proof used to carry, and honest texts like them."""

import json
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import pytest

from critics.judge import judge, judge_record
from critics.problem import Attempt, Formal, Problem, read_problem
from critics.recheck.rejudging import objection
from critics.text.pieces import pieces
from critics.verdict import Verdict, verdict_record
from critics.verdict.reading import BadStep
from rollout.problems.catalogue import QUESTIONS, family
from rollout.prompts.demonstration import demonstrate
from rollout.published.prontoqa import load_prontoqa

CONTEXT = "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt. Every newt is not a bird."
PIP = Problem("pip", "prontoqa", CONTEXT, "True or false: Pip is feathered.", answer="true")
AXIOMS = ("(wren pip)", "(wren 'x) -> (bird 'x)", "(bird 'x) -> (feathered 'x)")
GOAL = "Formalized goal: [[goal:(feathered pip)]]"
PROOF = "[[infer:(bird pip)]] [[infer:(feathered pip)]]"


def told(text: str, problem: Problem = PIP) -> Verdict:
    return judge(problem, Attempt("a", problem, "guided", text))


def text(
    context: str = " ".join(f"{i}- [[axiom:{axiom}]]" for i, axiom in enumerate(AXIOMS, 1)),
    goal: str = GOAL,
    reasoning: str = PROOF,
    answer: str = "Answer: true",
) -> str:
    return f"Formalized context: {context}\n{goal}\nReasoning: {reasoning}\n{answer}"


def steps(*read_outs: str) -> str:
    """Return the two inferences with something before each, and something behind them."""
    first, second, end = read_outs
    return f"{first} [[infer:(bird pip)]] {second} [[infer:(feathered pip)]] {end}"


HONEST = {
    "bare": text(),
    "rules read out": text(reasoning=steps(AXIOMS[1], AXIOMS[2], "")),
    "other variables": text(reasoning=steps("(wren 'y) -> (bird 'y)", AXIOMS[2], "")),
    "facts and rules": text(reasoning=steps(f"By {AXIOMS[0]} and {AXIOMS[1]},", AXIOMS[2], "")),
    "sentences behind": text(reasoning=steps("", "Pip is a bird.", "Pip is feathered.")),
    "sentences before": text(reasoning=steps("Pip is a bird.", "Pip is feathered.", "")),
    "premises before": text(reasoning=steps("Pip is a wren. Every wren is a bird.", "Birds are feathered, so", "")),
    "since": text(reasoning=steps("Since Pip is a wren and every wren is a bird,", "Pip is a bird.", "")),
    "an argument": text(reasoning=steps("", "Pip is a bird because Pip is a wren and every wren is a bird.", "")),
    "chatty": text(reasoning=steps("Step 1: Every wren is a bird.", "So Pip is a bird.", "So it is true.")),
    "the goal": text(reasoning=steps("", "", "This was the goal.")),
    "lines": text(reasoning="\n" + "\n".join(f"{i}. {step}" for i, step in enumerate(PROOF.split(" [[ "), 1))),
    "every sentence beside its axiom": text(
        "1- Pip is a wren. [[axiom:(wren pip)]] 2- Every wren is a bird. [[axiom:(wren 'x) -> (bird 'x)]] "
        "3- Birds are feathered. [[axiom:(bird 'x) -> (feathered 'x)]]"
    ),
    "every axiom before its sentence": text(
        "1- [[axiom:(wren pip)]] Pip is a wren. 2- [[axiom:(wren 'x) -> (bird 'x)]] All wrens are birds. "
        "3- [[axiom:(bird 'x) -> (feathered 'x)]] Birds are feathered."
    ),
    "sentences, then axioms": text(
        "Pip is a wren. Every wren is a bird. Birds are feathered. "
        + " ".join(f"[[axiom:{axiom}]]" for axiom in AXIOMS)
    ),
    "words marked": text(
        "1- [[object:pip]] is a [[prop:wren]]. [[axiom:(wren pip)]]. 2- Every [[prop:wren]] is a [[prop:bird]]. "
        "[[axiom:(wren 'x) -> (bird 'x)]]. "
        "3- [[prop:bird]] are [[prop:feathered]]. [[axiom:(bird 'x) -> (feathered 'x)]]."
    ),
    "names declared": text(
        "1- Pip is a wren. [[prop:wren]] [[object:pip]] [[axiom:(wren pip)]] 2- [[prop:wren]] [[prop:bird]] "
        "[[axiom:(wren 'x) -> (bird 'x)]] 3- [[axiom:(bird 'x) -> (feathered 'x)]]"
    ),
    "the whole problem first": f"Context: {CONTEXT}\n" + text(),
    "the question again": text(goal=f"We need to determine whether Pip is feathered.\n{GOAL}"),
    "a sentence in parentheses": text(reasoning=steps("(Every wren is a bird.)", "(so Pip is feathered)", "")),
    "the conclusion": text(reasoning=steps("", "", "The conclusion is that Pip is feathered.")),
    "what is to be shown": text(goal=f"We need to show that Pip is feathered.\n{GOAL}"),
    "tags": text(reasoning=steps("<b>Every wren is a bird.</b>", "", "")),
    "the goal in words": text(goal="Goal: Pip is feathered. [[goal:(feathered pip)]]"),
}  # fmt: skip

CHEATS = {
    "a rule that nobody states": text(reasoning=steps("(newt 'x) -> (bird 'x)", "", "")),
    "another rule than the one used": text(reasoning=steps(AXIOMS[2], AXIOMS[1], "")),
    "the opposite rule": text(reasoning=steps("(wren 'x) -> (not (bird 'x))", AXIOMS[2], "")),
    "a rule that follows and is not stated": text(reasoning=steps("", "(wren 'x) -> (feathered 'x)", "")),
    "half a rule": text(reasoning=steps("(wren 'x) -> (not (bird (wren 'x) -> (bird 'x)", AXIOMS[2], "")),
    "a rule without its end": text(reasoning=steps("(wren 'x) ->", AXIOMS[2], "")),
    "a fact that nobody states": text(reasoning=steps("(newt pip)", "", "")),
    "a false sentence": text(reasoning=steps("", "Pip is a newt.", "")),
    "a false sentence on its own line": text() .replace("\nAnswer", "\nPip is a newt.\nAnswer"),
    "a false rule in words": text(reasoning=steps("Every newt is a bird.", "", "")),
    "the wrong rule in words": text(reasoning=steps("Birds are feathered.", "Every wren is a bird.", "")),
    "a denial": text(reasoning=steps("", "It is not the case that Pip is a bird.", "")),
    "words put into the context's mouth": text(reasoning=steps("", "The context says that Pip is a bird.", "")),
    "a false reason": text(reasoning=steps("", "Pip is a bird because Ned is a newt.", "")),
    "a false premise": text(reasoning=steps("Since Pip is a newt,", "", "")),
    "a fact before it is inferred": text(reasoning=steps("Pip is feathered.", "", "")),
    "another sentence than the inference": text(reasoning=steps("", "Pip is a wren.", "")),
    "another sentence than the last inference": text(reasoning=steps("", "", "Pip is a wren.")),
    "another sentence than the axiom": text(
        "1- Birds are feathered. [[axiom:(wren pip)]] 2- Pip is a wren. [[axiom:(wren 'x) -> (bird 'x)]] "
        "3- Every wren is a bird. [[axiom:(bird 'x) -> (feathered 'x)]]"
    ),
    "a false sentence beside an axiom": text(
        "1- [[axiom:(wren pip)]] Pip is a newt. " + " ".join(f"[[axiom:{axiom}]]" for axiom in AXIOMS[1:])
    ),
    "a false sentence of marked words": text(
        "1- [[object:pip]] is a [[prop:newt]]. " + " ".join(f"[[axiom:{axiom}]]" for axiom in AXIOMS)
    ),
    "another goal in words": text(goal="Formalized goal: Pip is a wren. [[goal:(feathered pip)]]"),
    "another question": text(goal=f"We need to determine whether Ned is feathered.\n{GOAL}"),
    "another end": text(reasoning=steps("", "", "This contradicts the goal.")),
    "nothing more follows": text(reasoning=steps("", "Nothing more can be inferred.", "")),
    "a false cited sentence": text(reasoning=steps("From 1 and 2, Pip is a newt.", "", "")),
    "a false sentence in parentheses": text(reasoning=steps("", "(Pip is a newt.)", "")),
    "a false reason in parentheses": text(reasoning=steps("", "(since Pip is a newt)", "")),
    "a false sentence in a comment": text(reasoning=steps("", "<!-- Pip is a newt. -->", "")),
    "a false sentence in tags": text(reasoning=steps("", "<b>Pip is a newt.</b>", "")),
    "a false sentence with a footnote": text(reasoning=steps("", "Pip is a newt[1].", "")),
    "a fact in words that nobody has": text(reasoning=steps("(purple pip)", "", "")),
    "a relation that nobody has": text(reasoning=steps("(isa pip newt)", "", "")),
    "the denial as the conclusion": text(reasoning=steps("", "", "The conclusion is that Pip is not feathered.")),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_honest_read_outs_are_certified_and_covered(name: str) -> None:
    verdict = told(HONEST[name])
    assert (verdict.verdict, verdict.feedback) == ("certified", "the proof holds")
    unread = [HONEST[name][span.start : span.end] for span in verdict.spans if span.kind == "unread"]
    assert unread == []
    assert verdict.first_bad_step is None


@pytest.mark.parametrize("name", CHEATS)
def test_a_read_out_that_does_not_hold_refuses_the_attempt(name: str) -> None:
    verdict = told(CHEATS[name])
    assert (verdict.verdict, verdict.reason) == ("unproved", "unsupported_sentence")
    bad = verdict.first_bad_step
    assert bad is not None
    assert bad.text in CHEATS[name]
    assert bad.text[:100] in verdict.feedback


def test_every_character_belongs_to_at_most_one_span() -> None:
    for written in (*HONEST.values(), *CHEATS.values()):
        spans = told(written).spans
        assert all(before.end <= after.start for before, after in pairwise(spans))
        uncovered = set(range(len(written))) - {at for span in spans for at in range(span.start, span.end)}
        assert all(written[at].isspace() for at in uncovered)


def test_pieces_leave_nothing_out() -> None:
    for written in HONEST.values():
        assert "".join(written[piece.start : piece.end] for piece in pieces(written)) == written.rstrip()


def test_spans_point_at_the_entries_of_the_proof() -> None:
    verdict = told(HONEST["rules read out"])
    assert verdict.certificate is not None
    entries = verdict.certificate.record()["evidence"]["steps"]
    behind = [(span.kind, entries[span.by]["statement"]) for span in verdict.spans if span.by is not None]
    assert ("premise", AXIOMS[2]) in behind
    assert ("step", "(feathered pip)") in behind


def test_what_cannot_be_read_is_not_covered_and_refuses_nothing() -> None:
    written = text(reasoning=steps("", "Pip, I dare say, would fly if asked.", ""))
    verdict = told(written)
    assert verdict.verdict == "certified"
    assert [written[s.start : s.end] for s in verdict.spans if s.kind == "unread"] == [
        "Pip, I dare say, would fly if asked."
    ]
    assert verdict.coverage is not None
    assert 0 < verdict.coverage < told(text()).coverage  # type: ignore[operator]


@pytest.mark.parametrize(
    "marks",
    [
        "[[prop:pip-is-a-newt]]",
        "[[prop:pip-is-newt]]",
        "[[prop:pip_newt]]",
        "[[object:pip]] [[relation:is-a]] [[prop:newt]]",
    ],
)
def test_names_in_disguise_are_not_filler(marks: str) -> None:
    kinds = {span.kind for span in told(text().replace("1- ", f"1- {marks} ")).spans}
    assert "unread" in kinds


@pytest.mark.parametrize(
    "name", ["Pi\u200bp is a newt.", "\u202ePip is a newt.", "P\u0456p is a newt.", "Pip is a bi\u00adrd."]
)
def test_what_nobody_sees_is_not_certified(name: str) -> None:
    verdict = told(text(reasoning=steps("", name, "")))
    assert (verdict.verdict, verdict.reason) == ("malformed", "hidden_character")


@pytest.mark.parametrize("hedge", ["perhaps", "probably not", "not", "in truth", "actually", "not really"])
def test_an_answer_that_is_hedged_is_given_twice(hedge: str) -> None:
    assert told(text(reasoning=steps("", "", f"The answer is {hedge} false."))).reason == "answer_in_context"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("The conclusion is that Ned is a bird.", "unproved"),
        ("Claim: Ned is a bird.", "unproved"),
        ("We need to show that Ned is a bird.", "unproved"),
        ("The question is whether Ned is a bird.", "certified"),
        ("We need to decide if Ned is a bird.", "certified"),
    ],
)
def test_what_was_refuted_is_asked_again_and_not_said(said: str, verdict: str) -> None:
    problem = Problem("ned", "prontoqa", CONTEXT, "True or false: Ned is a bird.", answer="false")
    axioms = "[[axiom:(newt ned)]] [[axiom:(newt 'x) -> (not (bird 'x))]] [[goal:(bird ned)]]"
    assert told(f"{axioms} [[infer:(not (bird ned))]]\n{said}\nAnswer: false", problem).verdict == verdict


def test_on_trust_formulas_are_held_to_the_axioms_of_the_attempt() -> None:
    problem = Problem("p", "mine", "Prose about Pip, wrens, birds, feathers.", "Is Pip feathered?", answer="true")
    assert told(HONEST["rules read out"], problem).verdict == "certified"
    assert told(CHEATS["a rule that nobody states"], problem).reason == "unsupported_sentence"
    assert told(CHEATS["a false sentence"], problem).verdict == "certified"


OWN = Problem("own", "mine", "Tom is a cat. Every cat is kind. Tom is big.", "Is Tom kind?")
OWN_FORMAL = replace(OWN, formal=Formal(("(cat tom)", "(cat 'x) -> (kind 'x)", "(big tom)"), "(kind tom)"))


@pytest.mark.parametrize("problem", [OWN, OWN_FORMAL], ids=["on trust", "given"])
@pytest.mark.parametrize(
    ("before", "behind", "verdict"),
    [
        ("", "", "certified"),
        ("Every cat is kind.", "Tom is kind.", "certified"),
        ("Tom is a cat, so", "This was the goal.", "certified"),
        ("", "Tom is not a cat.", "unproved"),
        ("Tom is a dog.", "", "unproved"),
        ("(dog tom)", "", "unproved"),
        ("Tom is big.", "", "unproved"),
    ],
)
def test_a_text_in_controlled_english_has_a_reader_whatever_its_data_set(
    problem: Problem, before: str, behind: str, verdict: str
) -> None:
    axioms = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (kind 'x)]] [[goal:(kind tom)]]"
    found = told(f"{axioms} {before} [[infer:(kind tom)]] {behind}\nAnswer: true", problem)
    assert found.verdict == verdict
    assert verdict != "certified" or not any(span.kind == "unread" for span in found.spans)


def test_the_first_bad_step_is_the_block_or_the_answer_that_was_refused() -> None:
    invented = text(reasoning="[[infer:(newt pip)]] [[infer:(bird pip)]]")
    assert told(invented).first_bad_step == BadStep(4, "[[infer:(newt pip)]]", told(invented).feedback)
    guess = text(reasoning="")
    assert told(guess).first_bad_step == BadStep(4, "Answer: true", told(guess).feedback)
    wrong = text(answer="Answer: false")
    assert told(wrong).first_bad_step == BadStep(6, "Answer: false", told(wrong).feedback)
    malformed = text(reasoning="[[infer:(bird 'x)]]")
    assert told(malformed).first_bad_step == BadStep(4, "[[infer:(bird 'x)]]", told(malformed).feedback)


def test_a_refused_read_out_before_a_refused_block_is_the_first_bad_step() -> None:
    verdict = told(text(reasoning="(newt 'x) -> (bird 'x) [[infer:(newt pip)]]"))
    assert verdict.reason == "invalid_step"
    assert verdict.first_bad_step is not None
    assert verdict.first_bad_step.text == "(newt 'x) -> (bird 'x)"


def test_a_stored_verdict_of_before_is_judged_otherwise() -> None:
    record = {"id": "a", "problem": PIP.record(), "format": "guided", "completion": CHEATS["a false sentence"]}
    honest = told(text())
    stored = verdict_record("a", honest)
    assert objection(stored, judge_record(record)) == "judged_otherwise"


@pytest.mark.parametrize("dataset", sorted(name for name in QUESTIONS if name not in ("wason", "controlled-english")))
@pytest.mark.parametrize("style", ["compact", "annotated"])
def test_reference_attempts_are_certified_and_say_nothing_unread(dataset: str, style: str) -> None:
    made = family(dataset)
    for problem in islice(made.generate(made.configured(made.shown, "develop"), 30, seed=5), 30):
        if problem.formal is None:
            continue
        written = demonstrate(problem, problem.formal, style=style)  # type: ignore[arg-type]
        verdict = told(written, problem)
        assert (verdict.verdict, verdict.feedback) == ("certified", "the proof holds"), written


def test_published_problems_keep_their_certified_attempts(shared: Path) -> None:
    listed = list(islice(load_prontoqa(shared / "data" / "prontoqa_seed19_1to5hop.jsonl.gz"), 0, None, 60))
    for problem in listed:
        assert problem.formal is not None
        for style in ("compact", "annotated"):
            verdict = told(demonstrate(problem, problem.formal, style=style), problem)  # type: ignore[arg-type]
            assert verdict.verdict == "certified"
            assert {span.kind for span in verdict.spans} <= {"premise", "goal", "step", "citation", "answer", "filler"}


def test_a_forged_trace_answers_otherwise_or_is_unbalanced(shared: Path) -> None:
    path = shared / "adversarial" / "aboutness.jsonl"
    cases = {case["id"]: case for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    for name in ("rt-01", "rt-03", "rt-04"):
        case = cases[name]
        attempt = Attempt(name, read_problem(case["problem"]), "guided", case["completion"])
        assert judge(attempt.problem, attempt).verdict != "certified"
