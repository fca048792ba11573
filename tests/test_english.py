"""The format `english`: what is read, what is one step, and what stands behind each piece of the text."""

import json
import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from critics.formats.english.critic import read_english
from critics.judge import judge_record
from critics.problem import Attempt, Problem, read_problem
from critics.recheck.rejudging import recheck
from critics.replay.clauses import Implication, fact, follows, is_consistent, read_clause
from critics.replay.formula import Literal
from critics.text.english.passage import lines
from critics.text.english.steps import Ledger, Warrant
from critics.verdict import Certified, Verdict

PARAPHRASES = Path(__file__).parent / "data" / "english_paraphrases.jsonl"
PIP = Problem(
    "pip",
    "prontoqa",
    "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt. Every newt is not a bird.",
    "True or false: Pip is feathered.",
)
GOOD = "Pip is a wren. Every wren is a bird. So Pip is a bird. Birds are feathered. So Pip is feathered."
KIND = Problem(
    "kind",
    "proofwriter",
    "Bob is kind. Bob is rough. Kind, rough people are big. If someone is big then they like the dog.",
    "Based on the above information, is the following statement true, false, or unknown? Bob likes the dog.",
    ("A) True", "B) False", "C) Unknown"),
)
ARGUMENT = Problem(
    "argument",
    "syllogism",
    "All otters are swimmers. No swimmers are birds.",
    "Does it follow that no otters are birds?",
    ("Valid", "Invalid"),
)
OFFICE = Problem(
    "office",
    "deontiqa",
    "One of the events is the kickoff. One of the events is the retreat. The kickoff is short. "
    "If an event is short, then it is obligatory to cancel the event.",
    "Given these rules, is it obligatory to cancel the kickoff?",
)
CASES = Problem(
    "cases",
    "prontoqa-ood",
    "Impuses are gorpuses. Each gorpus is a zumpus. Every dumpus is a zumpus. Wren is an impus or a dumpus. "
    "Rex is not a zumpus.",
    "Prove: Wren is a zumpus.",
)


def read(problem: Problem, text: str) -> Verdict:
    return read_english(problem, Attempt("an attempt", problem, "english", text))


def said(problem: Problem, text: str) -> str:
    verdict = read(problem, text)
    return f"{verdict.verdict} {verdict.reason}"


def test_paraphrases_of_both_halves_are_certified() -> None:
    records = [json.loads(line) for line in PARAPHRASES.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 200
    problems = [read_problem(record["problem"]) for record in records]
    verdicts = [read(p, record["completion"]) for p, record in zip(problems, records, strict=True)]
    failed = [r["id"] for r, verdict in zip(records, verdicts, strict=True) if not isinstance(verdict, Certified)]
    # Their styles put words into the context's mouth: a derived fact, said to be given, or the context's.
    assert "english/quoting/proofwriter/7" in failed
    others = [id_ for id_ in failed if not id_.startswith("english/steps/")]
    assert (others, len(failed)) == (["english/quoting/proofwriter/7"], 16)


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (PIP, f"{GOOD}\nAnswer: true"),
        (PIP, f"{GOOD} Therefore, the statement is **true**."),
        (PIP, f"We need to determine whether Pip is feathered. {GOOD} So the answer is: True."),
        (
            PIP,
            "As Pip is a wren and every wren is a bird, Pip is a bird. Pip is feathered, as birds are feathered. True",
        ),
        (
            PIP,
            "Pip is a wren. Any wren is a bird, so Pip is a bird. All birds are feathered. Pip must be feathered. True",
        ),
        (
            PIP,
            "Every wren is a bird and birds are feathered, so every wren is feathered. Hence Pip is feathered. True.",
        ),
        (PIP, "Pip is a wren -> Pip is a bird -> Pip is feathered. The answer is true."),
        (
            PIP,
            "1. Pip is a wren.\n2. Every wren is a bird.\n3. From 1 and 2, Pip is a bird.\n4. Birds are feathered.\n"
            "5. Pip is feathered (from 3 and 4).\n\nAnswer: true",
        ),
        (PIP, f"{GOOD} Suppose Pip is a newt. Then Pip is not a bird. This is a contradiction. Answer: true"),
        (KIND, "Bob is kind and rough. So Bob is big. So Bob likes the dog. Answer: A) True"),
        (
            KIND,
            "Bob is kind, and Bob is rough, so Bob is big. If someone is big, they like the dog. Bob likes the dog. A",
        ),
        (ARGUMENT, "No birds are swimmers. All otters are swimmers, so no otters are birds. The argument is valid."),
        (OFFICE, "The kickoff is short, so it is obligatory to cancel the kickoff. Answer: yes"),
        (
            CASES,
            "Assume Wren is an impus. Impuses are gorpuses. Wren is a gorpus. Each gorpus is a zumpus. "
            "Wren is a zumpus.\n\n"
            "Assume Wren is a dumpus. Every dumpus is a zumpus. Wren is a zumpus.\n\n"
            "Since Wren is an impus or a dumpus, Wren is a zumpus.\nAnswer: true",
        ),
    ],
)
def test_chatty_forms_are_certified(problem: Problem, text: str) -> None:
    assert said(problem, text) == "certified proved"


def test_every_character_is_accounted_for() -> None:
    text = f"Let's think step by step.\n\n1. **Pip is a wren.**\n2. Every wren is a bird.\n{GOOD}\nAnswer: true"
    reading = read(PIP, text)
    assert isinstance(reading, Certified)
    covered = [text[span.start : span.end] for span in reading.spans]
    assert "".join("".join(covered).split()) == "".join(text.split())
    kinds = {text[span.start : span.end].strip("* "): span.kind for span in reading.spans}
    assert kinds["So Pip is a bird."] == "step"
    assert kinds["Every wren is a bird."] == "premise"
    assert kinds["Answer: true"] == "answer"
    assert any(span.kind == "filler" and "step by step" in text[span.start : span.end] for span in reading.spans)
    assert 0.5 < reading.coverage < 1


def test_first_bad_step_quotes_the_sentence() -> None:
    reading = read(PIP, f"{GOOD} Ned is a bird.\nAnswer: true")
    assert reading.first_bad_step is not None
    assert (reading.first_bad_step.index, reading.first_bad_step.text) == (5, "Ned is a bird.")
    assert "Ned is a bird." in reading.feedback
    assert reading.spans[-1].kind == "unread"


def test_modus_tollens_is_a_step_where_the_semantics_is_classical() -> None:
    context, text = (
        "Every cat is a dog. Tom is not a dog.",
        "Tom is not a dog. Every cat is a dog. So Tom is not a cat.",
    )
    classical = Problem("tom", "prontoqa", context, "True or false: Tom is a cat.")
    assert read(classical, f"{text}\nAnswer: false").verdict == "certified"
    forward = Problem("bob", "proofwriter", "If someone is kind then they are big. Bob is not big.", "Bob is kind.")
    text = "Bob is not big. If someone is kind then they are big. So Bob is not kind.\nAnswer: false"
    assert said(forward, text) == "unproved unsupported_sentence"


def test_unknown_needs_everything_that_bears_on_the_question() -> None:
    problem = Problem("bob", "proofwriter", "If someone is kind then they are big. Bob is not big.", "Bob is kind.")
    assert said(problem, "Answer: unknown") == "unproved axiom_missing"
    assert said(problem, "We need to determine whether Bob is kind. Nothing else follows. Answer: unknown") == (
        "certified proved"
    )
    open_ = Problem("eve", "proofwriter", "If someone is kind then they are big. Eve is rough.", "Eve is big.")
    asked = "We need to determine whether Eve is big."
    assert said(open_, f"{asked} Answer: unknown") == "unproved axiom_missing"
    assert said(open_, f"{asked} If someone is kind then they are big. Answer: unknown") == "certified proved"
    assert said(PIP, "We need to determine whether Pip is feathered. Answer: unknown") == "unproved unknown_not_decided"


def test_what_cannot_be_read_of_the_problem_is_never_certified() -> None:
    unread = Problem("a", "prontoqa", PIP.context, "Is it likely that Pip is feathered?")
    assert said(unread, f"{GOOD}\nAnswer: true") == "error question_not_read"
    unread = Problem("b", "prontoqa", f"{PIP.context} Tom is here today.", PIP.question)
    assert said(unread, f"{GOOD}\nAnswer: true") == "error context_not_read"
    contradictory = Problem("c", "prontoqa", f"{PIP.context} Pip is a newt.", PIP.question)
    assert said(contradictory, f"{GOOD}\nAnswer: true") == "vacuous inconsistent_context"
    gold = Problem("d", "prontoqa", PIP.context, PIP.question, answer="false")
    assert said(gold, f"{GOOD}\nAnswer: true") == "refuted wrong_answer"


def test_verdict_records_say_what_stands_behind_the_text() -> None:
    attempt = {"id": "a", "problem": PIP.record(), "format": "english", "completion": f"{GOOD} Ned is a bird. True."}
    record = judge_record(attempt)
    assert record["first_bad_step"] == {"index": 5, "text": "Ned is a bird.", "reason": "the context says otherwise"}
    assert 0.5 < record["coverage"] < 1
    assert record["spans"][0] == {"start": 0, "end": 14, "kind": "premise", "by": 0}
    assert "coverage" not in judge_record({**attempt, "format": "cot"})
    honest = {**attempt, "completion": f"{GOOD} True."}
    report = recheck([{**honest, "judgement": judge_record(honest)}])
    assert (report["accepted"], report["rejected"]) == (1, [])


def test_passages_keep_their_places() -> None:
    text = "- **Pip** is a _wren_. So:\n> Pip is \u2018a\u2019 bird"
    for line in lines(text):
        assert [text[place] for place in line.passage.places] == [
            {"'": "\u2018"}.get(c, c) if text[p] != "\u2019" else "\u2019"
            for c, p in zip(line.passage.text, line.passage.places, strict=True)
        ]


NAMES, TRAITS = ("ann", "bob"), ("kind", "big", "rough")


def drawn(rng: random.Random) -> Implication:
    def literal(subject: str) -> Literal:
        return Literal(rng.random() < 0.7, rng.choice(TRAITS), (subject,))

    shape = rng.random()
    subject = rng.choice(NAMES)
    if shape < 0.35:
        return fact(literal(subject))
    if shape < 0.5:
        return Implication((), (literal(subject), literal(subject)))
    return Implication((literal("'x"),), (literal("'x"),) if shape < 0.9 else (literal("'x"), literal("'x")))


def models(clauses: list[Implication]) -> list[dict[tuple[str, str], bool]]:
    atoms = list(product((*NAMES, "another"), TRAITS))
    tables = [dict(zip(atoms, row, strict=True)) for row in product((False, True), repeat=len(atoms))]
    return [table for table in tables if all(holds(clause, table) for clause in clauses)]


def holds(clause: Implication, table: dict[tuple[str, str], bool]) -> bool:
    instances = [clause.substitute({"'x": name}) for name in (*NAMES, "another")]
    return all(
        any(table[str(a.arguments[0]), a.predicate] == a.positive for a in instance.alternatives())
        for instance in instances
    )


def test_steps_and_entailment_agree_with_truth_tables() -> None:
    rng = random.Random(5)
    found = 0
    for _ in range(60):
        clauses = [drawn(rng) for _ in range(5)]
        tables = models(clauses)
        assert is_consistent(tuple(clauses)) == bool(tables)
        ledger = Ledger(forward=False)
        for clause in clauses:
            ledger.add(clause, Warrant("context", ()))
        for target in (drawn(rng) for _ in range(8)):
            entailed = all(holds(target, table) for table in tables)
            assert follows(clauses, target) == entailed
            steps = list(ledger.steps(target))
            found += bool(steps)
            assert entailed or not steps
    assert found > 50


def test_clauses_are_read_back() -> None:
    for text in ("(cat tom)", "(cat 'x) -> (not (dog 'x))", "(cat 'x) -> (dog 'x) or (not (cow 'x))"):
        assert str(read_clause(text)) == text


NED = replace(PIP, question="True or false: Ned is a bird.")
REFUTED = "Ned is a newt. Every newt is not a bird. So Ned is not a bird."


@pytest.mark.parametrize(
    ("said_again", "expected"),
    [
        ("The conclusion is that Ned is a bird.", "unproved unsupported_sentence"),
        ("Claim: Ned is a bird.", "unproved unsupported_sentence"),
        ("We need to show that Ned is a bird.", "unproved unsupported_sentence"),
        ("We have to know that Ned is a bird.", "unproved unsupported_sentence"),
        ("We should say that Ned is a bird.", "unproved unsupported_sentence"),
        ("The question is whether Ned is a bird.", "certified proved"),
        ("True or false: Ned is a bird.", "certified proved"),
        ("We need to decide whether Ned is a bird.", "certified proved"),
    ],
)
def test_what_was_refuted_is_asked_again_and_not_said(said_again: str, expected: str) -> None:
    assert said(NED, f"{REFUTED} {said_again} Answer: false") == expected


def test_a_question_in_the_words_of_a_claim_is_one() -> None:
    """ProofWriter asks with the bare statement, which is false where its denial is proved."""
    problem = Problem(
        "bob", "proofwriter", "Bob is big. If someone is big then they are not rough.", "Bob is rough.", answer="false"
    )
    proof = "Bob is big. If someone is big then they are not rough. So Bob is not rough."
    for text in (f"{proof} Bob is rough. Answer: false", f"Bob is rough. {proof} Answer: false"):
        assert said(problem, text) == "unproved unsupported_sentence"
    assert said(problem, f"Question: Bob is rough. {proof} Answer: false") == "certified proved"
    turned = replace(problem, question="Bob is not rough.", answer="true")
    assert said(turned, f"{proof} Bob is not rough. Answer: true") == "certified proved"


def test_a_conclusion_is_named_before_its_proof_and_reached() -> None:
    assert said(PIP, f"The conclusion is that Pip is feathered. {GOOD} Answer: true") == "certified proved"
    assert (
        said(PIP, f"Pip is a wren. The conclusion is that Pip is feathered. {GOOD} Answer: true") == "certified proved"
    )
    assert (
        said(
            ARGUMENT,
            "All otters are swimmers. No swimmers are birds. The conclusion is that no otters are birds. "
            "Since no swimmers are birds and all otters are swimmers, no otters are birds. Valid",
        )
        == "certified proved"
    )


@pytest.mark.parametrize(
    "filler",
    [
        "Apply the rule to Pip_is_a_newt.",
        "Check the facts of newt to pip for bird.",
        "\n```Pip_is_a_newt\n",
        "(Pip is a newt.)",
        "Ned is not therefore feathered.",
    ],
)
def test_filler_holds_no_claims(filler: str) -> None:
    assert not said(PIP, f"{GOOD} {filler} Answer: true").startswith("certified")


@pytest.mark.parametrize(
    "filler", ["Apply the rules to Pip.", "\n```text\n", "\n```\n", "(Every wren is a bird.)", "```markdown\n"]
)
def test_fences_plans_and_parentheses_of_honest_texts(filler: str) -> None:
    assert said(PIP, f"{filler} {GOOD} {filler} Answer: true") == "certified proved"


def test_a_problem_without_a_context_breaks_nothing() -> None:
    problem = Problem("p", "rationales", "", "Is Rex warm?")
    judged = judge_record(Attempt("a", problem, "english", "Rex is a cat. So Rex is warm. Answer: yes").record())
    assert (judged["verdict"], judged["reason"]) == ("error", "context_not_read")
    assert "--columns context=NAME" in judged["feedback"]
