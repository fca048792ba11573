"""Rationales in rich English: a model formalises each sentence, and nothing else than the text itself is certified."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from critics.formats.steps import labelled
from critics.judge import judge_on_trust, judge_record
from critics.problem import Problem, read_attempt
from critics.recheck.rejudging import recheck
from critics.verdict import read_verdict
from rollout.policies.policy import ScriptedPolicy
from rollout.prompts.prompt import problem_text
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, with_judgement
from rollout.strategies.formalisation import RATIONALE, request
from training.cli import app
from training.exchange import formalising
from training.exchange.columns import Parts, read_rationale
from training.exchange.rationales import Table, to_be_formalised, write_dataset
from training.workers.strategies import Formalising

CONTEXT = (
    "All people who regularly drink coffee are dependent on caffeine. People regularly drink coffee or joke about it. "
    "No one who jokes about coffee is a student. Rina does not joke about coffee. Ann is a student. "
    "Every student is a voter."
)
QUESTION = "Is the following statement true, false, or uncertain? Ann is a voter."
OPTIONS = ["True", "False", "Uncertain"]
TEXT = """Let's think step by step.
We know that Ann is a student.
Since every student is a voter, Ann is a voter.
Therefore, the statement is true.
Answer: True"""
FORMULAS: dict[str, Any] = {
    "context": [
        "∀x (DrinkCoffee(x) → DependentOnCaffeine(x))",
        "∀x (DrinkCoffee(x) ∨ Joke(x))",
        "∀x (JokesAboutCoffee(x) → ¬Student(x))",
        "¬JokeAboutCoffee(rina)",
        "Student(ann)",
        "∀x (Student(x) → Voter(x))",
    ],
    "question": "Voter(ann)",
    "text": [None, "Student(ann)", "∀x (Student(x) → Voter(x)) ∧ Voter(ann)", None, None],
}
BANANAS = "Bananas are yellow.\nMonkeys eat bananas.\nSo the statement is true.\nAnswer: True"
FOREIGN = "Tom is a wren.\nEvery wren is a bird.\nTherefore, Tom is a bird.\nAnswer: True"


def attempt(text: str = TEXT, formulas: Any = FORMULAS, answer: str | None = "A", **problem: Any) -> dict[str, Any]:
    asked = {"context": CONTEXT, "question": QUESTION, "options": OPTIONS, "answer": answer, **problem}
    asked = {"id": "p", "dataset": "mine", "meta": {"formulas": formulas}, **asked}
    return {"id": "p#0", "problem": asked, "format": "english", "completion": text}


def judged(text: str = TEXT, formulas: Any = FORMULAS, **problem: Any) -> dict[str, Any]:
    return judge_record(attempt(text, formulas, **problem))


def changed(part: str, index: int, formula: str | None) -> dict[str, Any]:
    listed = list(FORMULAS[part])
    listed[index] = formula
    return {**FORMULAS, part: listed}


def test_an_honest_text_is_certified_and_checked_again() -> None:
    record = attempt()
    verdict = judge_record(record)
    assert (verdict["verdict"], verdict["answer"]) == ("certified", "A")
    certificate = verdict["certificate"]
    assert (certificate["kind"], certificate["formalisation"]) == ("english-entailment", "aligned")
    assert (verdict["step_validity"], verdict["premise_grounding"]) == (1.0, pytest.approx(0.5, abs=0.34))
    assert verdict["coverage"] > 0.7
    report = recheck([{**record, "judgement": verdict}])
    assert (report["accepted"], report["rejected"]) == (1, [])


def test_an_answer_needs_no_line_of_its_own() -> None:
    assert judged(TEXT.replace("\nAnswer: ", " Answer: "))["verdict"] == "certified"


def test_what_one_model_wrote_is_not_taken_for_what_another_would(tmp_path: Path, monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(formalising, "_reply", lambda server, _: (asked.append(server.model) or "", True))
    problems = [Problem("p", "mine", CONTEXT, QUESTION, meta={"rationale": TEXT})]
    for name in ("one", "one", "other"):
        server = formalising.server_of(f"{name}@http://localhost/v1")
        assert server is not None
        assert len(list(formalising.served(server, problems, tmp_path / "work"))) == 1
    assert asked == ["one", "other"]


def test_a_false_answer_is_proved_by_the_denial() -> None:
    text = "Ann is a student.\nNo student is a voter.\nSo Ann is not a voter.\nAnswer: False"
    context = "No student is a voter. Ann is a student."
    formulas = {
        "context": ["∀x (Student(x) → ¬Voter(x))", "Student(ann)"],
        "question": "Voter(ann)",
        "text": ["Student(ann)", "¬∃x (Student(x) ∧ Voter(x))", "¬Voter(ann)", None],
    }
    verdict = judged(text, formulas, context=context, answer="B")
    assert (verdict["verdict"], verdict["answer"]) == ("certified", "B")
    told = {**formulas, "text": [*formulas["text"], None]}
    for again, reason in (
        ("The conclusion is that Ann is a voter.", "unsupported_sentence"),
        ("Claim: Ann is a voter.", "unsupported_sentence"),
        ("Ann is a voter.", "not_read"),
        ("The question is whether Ann is a voter.", "proved"),
    ):
        # Attack: say what was refuted once more, in the guise of the question.
        found = judged(text.replace("Answer", f"{again}\nAnswer"), told, context=context, answer="B")
        assert found["reason"] == reason, again
    first = judged(f"We need to show that Ann is a voter.\n{text}", {**told, "text": [None, *formulas["text"]]},
                   context=context, answer="B")  # fmt: skip
    assert first["verdict"] == "certified"


def test_a_step_whose_formula_is_none_or_another_is_not_known_to_be_bad() -> None:
    text = "Ann is a student.\nAnn is not a voter.\nAnswer: True"
    for formula in ("Voter(ann)", None):
        record = attempt(text, {**FORMULAS, "text": ["Student(ann)", formula, None]})
        found = labelled(read_verdict(judge_record(record)), read_attempt(record))
        assert [step.label for step in found] == ["unknown"] * 3


CHEATS: list[tuple[str, str, Any, str]] = [
    ("bananas, formalised honestly", BANANAS, ["∀x (Banana(x) → Yellow(x))", "Eat(monkey, banana)", None, None], ""),
    ("bananas, formalised as the context", BANANAS, ["Student(ann)", "Voter(ann)", None, None], "formalised_otherwise"),
    ("bananas, not formalised", BANANAS, [None] * 4, "not_read"),
    ("bananas, as propositions", BANANAS, ["BananasYellow", "MonkeysEatBananas", None, None], "unsupported_sentence"),
    (
        "a foreign problem",
        FOREIGN,
        ["Wren(tom)", "∀x (Wren(x) → Bird(x))", "Bird(tom)", None],
        "unsupported_sentence",
    ),
    ("a foreign problem as this one", FOREIGN, ["Student(ann)", "∀x (Student(x) → Voter(x))", "Voter(ann)", None], ""),
    ("the answer alone", "Answer: True", [None], "goal_not_reached"),
    (
        "true and beside the point",
        "Rina does not joke about coffee.\nAnswer: True",
        ["¬JokeAboutCoffee(rina)", None],
        "",
    ),
    ("two answers", "Ann is a student.\nAnswer: False\nAnswer: True", ["Student(ann)", None, None], "no_answer"),
    (
        "two answers in a line",
        "The answer is false. Ann is a student. The answer is true.",
        [None, "Student(ann)", None],
        "no_answer",
    ),
    (
        "a step that does not follow",
        "Ann is a student.\nRina is a voter.\nSo Ann is a voter.\nAnswer: True",
        ["Student(ann)", "Voter(rina)", "Voter(ann)", None],
        "unsupported_sentence",
    ),
    (
        "a quotation that is none",
        "Ann is a student.\nEvery student is a voter.\nThe context says that Ann is a voter.\nAnswer: True",
        ["Student(ann)", "∀x (Student(x) → Voter(x))", "Voter(ann)", None],
        "unsupported_sentence",
    ),
    (
        "a polarity flipped in the text",
        "Ann is a student.\nAnn is not a voter.\nAnswer: True",
        ["Student(ann)", "Voter(ann)", None],
        "formalised_otherwise",
    ),
    (
        "a hedge",
        "Ann is a student.\nAnn might be a voter.\nAnswer: True",
        ["Student(ann)", "Voter(ann)", None],
        "formalised_otherwise",
    ),
]


@pytest.mark.parametrize(("text", "formulas", "reason"), [case[1:] for case in CHEATS], ids=[c[0] for c in CHEATS])
@pytest.mark.parametrize("answer", ["A", None])
def test_a_text_that_proves_nothing_is_not_certified(text: str, formulas: Any, reason: str, answer: str | None) -> None:
    verdict = judged(text, {**FORMULAS, "text": formulas}, answer=answer)
    assert verdict["verdict"] != "certified"
    assert reason in ("", verdict["reason"])


PREMISES: list[tuple[str, int, str]] = [
    ("the answer leaked into a premise", 3, "Voter(ann)"),
    ("and hidden in a conjunction", 3, "¬JokeAboutCoffee(rina) ∧ Voter(ann)"),
    ("the rule turned round, and another leaked", 4, "Voter(ann) ∧ Student(ann)"),
    ("a rule for everything", 5, "∀x (Student(x) ∧ Voter(x))"),
    ("a sign flipped", 4, "¬Student(ann)"),
]


@pytest.mark.parametrize(("index", "formula"), [case[1:] for case in PREMISES], ids=[c[0] for c in PREMISES])
def test_an_invented_premise_supports_nothing(index: int, formula: str) -> None:
    without = {**changed("context", index, formula)}
    without["context"][5 if index != 5 else 4] = None
    verdict = judged(formulas=without)
    assert verdict["verdict"] != "certified"
    assert verdict["premise_grounding"] < 1


SENTENCES: list[tuple[str, str, bool]] = [
    ("Every cat is a mammal.", "∀x (Cat(x) → Mammal(x))", True),
    ("Cats are mammals.", "∀x (Cat(x) → Mammal(x))", True),
    ("Some cats are black.", "∃x (Cat(x) ∧ Black(x))", True),
    ("Tom is a cat or a dog.", "Cat(tom) ∨ Dog(tom)", True),
    ("If Tom is kind, then Ann is happy.", "Kind(tom) → Happy(ann)", True),
    ("Tom likes Ann.", "Likes(tom, ann)", True),
    ("No cat is a dog.", "∀x (Cat(x) → ¬Dog(x))", True),
    ("Every cat is a mammal.", "∀x (Mammal(x) → Cat(x))", False),
    ("Every cat is a mammal.", "∃x (Cat(x) ∧ Mammal(x))", False),
    ("Every cat is a mammal.", "∀x (Cat(x) ∧ Mammal(x))", False),
    ("Every cat is a mammal.", "∀x (Cat(x) ↔ Mammal(x))", False),
    ("Every black cat is a mammal.", "∀x (Cat(x) → Mammal(x))", False),
    ("Some cats are black.", "∀x (Cat(x) → Black(x))", False),
    ("Most cats are black.", "∀x (Cat(x) → Black(x))", False),
    ("Tom may be kind.", "Kind(tom)", False),
    ("Tom is a cat or a dog.", "Cat(tom) ∧ Dog(tom)", False),
    ("Tom is a cat or a dog.", "Cat(tom)", False),
    ("Tom is a cat and a dog.", "Cat(tom) ∨ Dog(tom)", False),
    ("If Tom is kind, then Ann is happy.", "Kind(tom) ∧ Happy(ann)", False),
    ("If Tom is kind and big, then Ann is happy.", "Kind(tom) ∧ (Big(tom) → Happy(ann))", False),
    ("Tom likes Ann.", "Likes(ann, tom)", False),
    ("No cat is a dog.", "∀x (Cat(x) → Dog(x))", False),
    ("Tom is not a cat.", "Cat(tom)", False),
    ("Only cats purr.", "∀x (Cat(x) → Purr(x))", False),
    ("Two cats are black.", "∃x (Cat(x) ∧ Black(x))", False),
]


@pytest.mark.parametrize(("said", "formula", "is_it"), SENTENCES)
def test_a_formula_is_laid_beside_its_one_sentence(said: str, formula: str, is_it: bool) -> None:
    from critics.replay.first_order.parser import parse
    from critics.text.faithfulness.alignment import Passed, ReadProblem

    read = ReadProblem(Problem("p", "mine", said, said))
    parsed = parse(formula).formula
    assert isinstance(read.beside(parsed, [said], read.names([parsed])), Passed) is is_it


@pytest.mark.parametrize(
    "question",
    [
        "Is the following statement false? Ann is a voter.",
        "Which statement is not true? Ann is a voter.",
        "It is not possible that: Ann is a voter.",
    ],
)
def test_a_question_turned_round_is_not_read(question: str) -> None:
    assert judged(question=question)["reason"] in ("formulas_unreadable", "goal_mismatch")


@pytest.mark.parametrize(
    "goal", ["¬Voter(ann)", "Student(ann)", "Voter(ann) ∨ Student(ann)", None, "Voter(ann) Student"]
)
def test_another_goal_is_refused(goal: str | None) -> None:
    assert judged(formulas={**FORMULAS, "question": goal})["verdict"] != "certified"


def test_formulas_shifted_by_a_sentence_are_refused() -> None:
    shifted = {**FORMULAS, "context": FORMULAS["context"][1:]}
    assert judged(formulas=shifted)["reason"] == "formulas_unreadable"
    assert judged(formulas="all")["reason"] == "formulas_unreadable"


def test_contradicting_premises_prove_nothing() -> None:
    context = f"{CONTEXT} Ann is not a student."
    formulas = {**FORMULAS, "context": [*FORMULAS["context"], "¬Student(ann)"]}
    verdict = judged(formulas=formulas, context=context)
    assert (verdict["verdict"], verdict["reason"]) == ("vacuous", "inconsistent_premises")


def test_a_data_set_with_a_reader_is_judged_by_its_reader() -> None:
    assert judged(dataset="proofwriter")["verdict"] != "certified"


def test_on_trust_no_reader_is_used() -> None:
    text = "Tom is a cat. Cats are mammals. So Tom is a mammal.\nAnswer: true"
    problem = {"context": "Cats are mammals. Tom is a cat.", "question": "Is Tom a mammal?", "options": None}
    record = attempt(text, None, answer="true", meta={}, **problem)
    assert judge_record(record)["verdict"] == "certified"
    assert judge_on_trust(record)["verdict"] == "error"
    assert judge_on_trust(attempt())["certificate"]["formalisation"] == "aligned"


def test_a_forged_chain_is_rejected() -> None:
    from critics.replay.certificate import digest

    record = attempt()
    verdict = judge_record(record)
    for forge in ("steps", "premises", "formulas", "formalisation"):
        forged = json.loads(json.dumps(verdict))
        certificate = forged["certificate"]
        if forge == "steps":
            certificate["evidence"]["steps"][0]["says"] = "Voter(rina)"
        elif forge == "premises":
            certificate["evidence"]["premises"] = ["Voter(ann)", "Student(ann)"]
        elif forge == "formulas":
            certificate["evidence"]["formulas"]["context"][0] = "Voter(ann)"
        else:
            certificate["formalisation"] = "checked"
        certificate["digest"] = digest(certificate)
        assert recheck([{**record, "judgement": forged}])["accepted"] == 0, forge


def reply(formulas: dict[str, Any]) -> str:
    def labelled(letter: str, listed: Sequence[str | None]) -> list[str]:
        return [f"{letter}{number}: {formula or '-'}" for number, formula in enumerate(listed, 1)]

    lines = [*labelled("C", formulas["context"]), f"Q: {formulas['question']}", *labelled("T", formulas["text"])]
    return "\n".join(lines)


def table(*texts: str) -> Table:
    rows = [{"context": CONTEXT, "question": QUESTION, "options": OPTIONS, "rationale": text} for text in texts]
    return Table([read_rationale(Parts(**row), name=f"t/{i}", dataset="mine") for i, row in enumerate(rows)], [])


def formalised(read: Table, replies: Sequence[str]) -> list[Trace]:
    policy = ScriptedPolicy(list(replies))
    problems = to_be_formalised(read.rationales)
    attempts = Formalising("english").attempts(policy, problems, Sampling("free"), seed=0)
    return [with_judgement(trace, judge_record(trace.record())) for trace in attempts]


def test_a_policy_is_asked_for_each_sentence_and_the_text_is_the_example(tmp_path: Path) -> None:
    read = table(TEXT, BANANAS, TEXT.replace("student", "pupil"), f"{TEXT} ")
    (problem, *_) = to_be_formalised(read.rationales)
    asked = request(problem)[-1]["content"]
    assert "C5: Ann is a student." in asked
    assert "T3: Since every student is a voter, Ann is a voter." in asked
    assert RATIONALE in problem.meta
    twice = f"{reply(FORMULAS)}\nC5: Voter(ann)"
    traces = formalised(read, [reply(FORMULAS), reply(FORMULAS), reply(FORMULAS), twice])
    assert [trace.judged.verdict for trace in traces] == ["certified", "malformed", "unproved", "unproved"]
    summary = write_dataset(
        traces, traces, read, "strict", tmp_path / "kept", {"as": "english"}, lambda found: map(judge_record, found)
    )
    (example,) = (json.loads(line) for line in (tmp_path / "kept/examples.jsonl").read_text().splitlines())
    assert (example["completion"], example["prompt"]) == (TEXT, problem_text(traces[0].problem))
    assert (example["formalisation"], example["step_validity"]) == ("aligned", 1.0)
    assert 0 < summary["step_validity"] < 1
    rejected = [json.loads(line) for line in (tmp_path / "kept/rejected.jsonl").read_text().splitlines()]
    assert all({"step_validity", "premise_grounding"} <= set(row) for row in rejected if row["reason"] != "no_answer")
    checked = CliRunner().invoke(app, ["recheck", str(tmp_path / "kept/certificates.jsonl"), "--json"])
    assert json.loads(checked.stdout)["accepted"] == 1


def test_formalising_takes_english_and_nothing_else(tmp_path: Path) -> None:
    rows = tmp_path / "own.jsonl"
    rows.write_text(json.dumps({"question": QUESTION, "rationale": TEXT}) + "\n")
    words = [
        "filter",
        str(rows),
        "--columns",
        "question=question",
        "--formalise",
        str(Path(__file__).parents[1] / "configs" / "smoke.yaml"),
        "--out",
        str(tmp_path / "k"),
    ]
    for more, told in (
        (["--formalise", "http://localhost/v1", "--keep", "strict"], "NAME@http"),
        (["--as", "fol", "--keep", "strict"], "--as english"),
        (["--keep", "naive"], "--keep strict"),
        (["--keep", "strict", "--dataset", "proofwriter"], "itself"),
    ):
        result = CliRunner().invoke(app, [*words, *more])
        assert (result.exit_code, told in result.stderr) == (2, True)
