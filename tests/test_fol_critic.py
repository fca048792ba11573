"""The `fol` critic: what it certifies, what it refuses, and the attempts to cheat it."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.judge import JudgePool, judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.verdict import verdict_record
from critics.workers.own_time import own_time

OPTIONS = ("A) True", "B) False", "C) Uncertain")
AXIOMS = ("∀x (Cat(x) → Warm(x))", "∀x (Fish(x) → ¬Warm(x))", "Cat(tom)", "Fish(wanda)", "Small(rex) ∨ Small(tom)")
TEXT = "Cats are warm. Fish are not. Tom is a cat. Wanda is a fish. Rex or Tom is small."
GOALS = {"A": "Warm(tom)", "B": "Warm(wanda)", "C": "Small(tom)"}


def problem(answer: str | None = "A", *, checked: bool = False, **changes: Any) -> Problem:
    formal = Formal(AXIOMS, GOALS[answer or "A"]) if checked else None
    record = {"options": OPTIONS, "answer": answer, "formal": formal, **changes}
    return Problem("p", "mine", TEXT, "Is it so?", **record)


def program(premises: tuple[str, ...] = AXIOMS, conclusion: str = GOALS["A"]) -> str:
    lines = "\n".join(f"{premise} ::: a sentence" for premise in premises)
    return f"Predicates:\nCat(x) ::: x is a cat.\nPremises:\n{lines}\nConclusion:\n{conclusion} ::: the question"


def record(given: Problem, text: str) -> dict[str, Any]:
    found = verdict_record("a", judge(given, Attempt("a", given, "fol", text)))
    assert found["feedback"]
    assert len(found["feedback"]) <= 300
    assert (found["certificate"] is None) == (found["verdict"] != "certified")
    return found


def told(given: Problem, text: str) -> tuple[str, str, str | None]:
    found = record(given, text)
    return found["verdict"], found["reason"], found["answer"]


@pytest.mark.parametrize("answer", ["A", "B", "C"])
@pytest.mark.parametrize("checked", [True, False])
def test_what_the_premises_say_is_certified_and_can_be_checked_again(answer: str, checked: bool):
    given = problem(answer, checked=checked)
    found = record(given, program(conclusion=GOALS[answer]))
    assert (found["verdict"], found["reason"], found["answer"]) == ("certified", "proved", answer)
    assert found["certificate"]["formalisation"] == ("given" if checked else "trusted")
    trace = {"id": "a", "problem": given.record(), "judgement": json.loads(json.dumps(found))}
    report = recheck([trace])
    assert (report["checked"], report["rejected"]) == (1, [])


def test_an_answer_is_in_the_terms_of_the_problem():
    assert told(problem("true", options=None), program()) == ("certified", "proved", "true")
    assert told(problem(None, options=("No", "Yes")), program())[2] == "B"
    assert told(problem(None, options=("maybe", "perhaps")), program()) == ("unproved", "no_option", None)
    assert told(problem("unknown", options=None), program(conclusion="Small(tom)"))[0] == "certified"


LOOK_ALIKES = {
    "no predicates": program().replace("Predicates:\nCat(x) ::: x is a cat.\n", ""),
    "an empty section of predicates": program().replace("Cat(x) ::: x is a cat.\n", ""),
    "headings in bold": program().replace("Premises:", "**Premises:**").replace("Conclusion:", "## Conclusion"),
    "the conclusion beside its heading": program().replace("Conclusion:\n", "Conclusion: "),
    "numbers and bullets": program().replace("Cat(tom) :::", "3. Cat(tom) :::").replace("Fish(wanda)", "• Fish(wanda)"),
    "a fence": f"```\n{program()}\n```",
    "ASCII": program(tuple(axiom.replace("∀x (", "all x. (").replace("→", "->").replace("¬", "-") for axiom in AXIOMS)),
    "other variables": program(tuple(axiom.replace("x", "y") for axiom in AXIOMS if axiom != AXIOMS[4])),
    "another order": program(AXIOMS[::-1]),
    "a premise twice": program((*AXIOMS, AXIOMS[0])),
    "only what is needed": program((AXIOMS[0], AXIOMS[2])),
    "in other words": program(("∀x (¬Warm(x) → ¬Cat(x))", *AXIOMS[1:])),
    "joined": program((" ∧ ".join(AXIOMS[2:4]), *AXIOMS[:2])),
    "a conclusion in other words": program(conclusion="¬¬Warm(tom)"),
    "an equivalent conclusion": program(conclusion="Warm(tom) ∧ (Warm(tom) ∨ Cat(tom))"),
}  # fmt: skip


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_an_honest_look_alike_is_certified(name: str, checked: bool):
    assert told(problem(checked=checked), LOOK_ALIKES[name]) == ("certified", "proved", "A")


CHEATS = {
    "contradict yourself": (program((*AXIOMS, "¬Cat(tom)")), "vacuous", "inconsistent_premises"),
    "contradict yourself in two steps": (program((*AXIOMS, "Fish(tom)")), "vacuous", "inconsistent_premises"),
    "assume the goal": (program((*AXIOMS, "Warm(tom)")), "vacuous", "goal_assumed"),
    "assume the goal twice denied": (program(("Cat(tom)", "¬¬Warm(tom)")), "vacuous", "goal_assumed"),
    "conclude a tautology": (program(conclusion="Warm(tom) ∨ ¬Warm(tom)"), "vacuous", "trivial_conclusion"),
    "conclude an identity": (program(conclusion="tom = tom"), "vacuous", "trivial_conclusion"),
    "leave a variable free": (program((*AXIOMS, "Small(y)")), "unproved", "free_variable"),
    "conclude about a variable": (
        program(("∀x (Cat(x) → Warm(x))", "∀x Cat(x)"), "Warm(x)"), "unproved", "free_variable"),
    "answer wrong": (program(conclusion="¬Warm(tom)"), "refuted", "wrong_answer"),
    "answer wrong by leaving out": (program(AXIOMS[1:]), "refuted", "wrong_answer"),
    "no premises": (program(()), "malformed", "no_premises"),
    "no conclusion": (program().partition("Conclusion")[0], "malformed", "sections"),
    "two conclusions": (program() + "\nCat(tom)", "malformed", "conclusion"),
    "two sections of conclusions": (program() + "\nConclusion:\nCat(tom)", "malformed", "sections"),
    "premises after the conclusion": (program() + "\nPremises:\nWarm(tom)", "malformed", "sections"),
    "prose first": ("Sure!\n" + program(), "malformed", "sections"),
    "prose for a formula": (program(conclusion="Tom is warm."), "malformed", "syntax"),
    "a predicate as a function": (program((*AXIOMS, "Believes(tom, Warm(tom))")), "malformed", "role"),
    "two arities": (program((*AXIOMS, "Warm(tom, rex)")), "malformed", "arity"),
    "a truth value": (program((*AXIOMS, "Sour(max, False)")), "malformed", "syntax"),
    "SMT-LIB": (program((*AXIOMS, "(assert false)")), "malformed", "syntax"),
    "too long a program": (program() + " " * 20_000, "malformed", "too_long"),
    "nothing": ("", "malformed", "sections"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_not_certified(name: str):
    text, verdict, reason = CHEATS[name]
    assert told(problem(), text)[:2] == (verdict, reason)


UNLIKE_THE_REFERENCE = {
    "assume what is not said": (program(("Cat(tom)", "∀x (Small(x) → Warm(x))", *AXIOMS)), "axiom_not_in_context"),
    "assume the goal": (program((*AXIOMS, "Warm(tom)")), "axiom_not_in_context"),
    "assume nothing but the goal": (program(("Warm(tom)",)), "axiom_not_in_context"),
    "assume the goal as a rule": (program((*AXIOMS, "∀x (x = tom → Warm(x))")), "axiom_not_in_context"),
    "assume the goal in a group": (program((*AXIOMS, "Warm(tom) ∧ Small(rex)")), "axiom_not_in_context"),
    "assume more in other words": (program((*AXIOMS, "∀x (Warm(x) ↔ Cat(x))")), "axiom_not_in_context"),
    "prove something else": (program(conclusion="¬Warm(wanda)"), "goal_mismatch"),
    "prove less": (program(conclusion="Warm(tom) ∨ Small(rex)"), "goal_mismatch"),
    "other symbols": (program(("Dog(tom)", "∀x (Dog(x) → Warm(x))"),), "other_vocabulary"),
    "another arity": (program((*AXIOMS, "Cat(rex, rex)")).replace("Cat(x)", "Cat(x, x)")
                      .replace("Cat(tom)", "Cat(tom, tom)"), "other_vocabulary"),
    "a look-alike of another script": (program((*AXIOMS, "∀x (Small(x) → Wаrm(x))")), "other_vocabulary"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNLIKE_THE_REFERENCE)
def test_what_the_reference_does_not_say_is_not_certified(name: str):
    text, reason = UNLIKE_THE_REFERENCE[name]
    assert told(problem(checked=True), text)[:2] == ("unproved", reason)


def test_unknown_needs_all_that_is_said():
    some = program(("Fish(wanda)", "∀x (Fish(x) → ¬Warm(x))"), "Warm(tom)")
    assert told(problem(None, checked=True), some) == ("unproved", "premises_missing", "C")
    assert told(problem("C"), program(conclusion="Fluffy(tom)")) == ("unproved", "not_in_premises", "C")
    assert told(problem("C", meta={"num_premises": 6}), program(conclusion=GOALS["C"]))[:2] == (
        "unproved",
        "premises_missing",
    )
    assert told(problem("C", meta={"num_premises": 5}), program(conclusion=GOALS["C"]))[0] == "certified"


def test_a_reference_that_contradicts_itself_certifies_nothing():
    formal = Formal((*AXIOMS, "¬Cat(tom)"), GOALS["A"])
    assert told(problem(formal=formal), program()) == ("vacuous", "inconsistent_premises", "A")


def test_a_reference_that_cannot_be_read_is_the_critics_failure():
    assert told(problem(formal=Formal(("Cat(tom) (",), "(warm tom)")), program())[:2] == ("error", "no_reference")


def test_a_reference_in_horn_notation_is_compared_without_regard_to_case():
    formal = Formal(("(cat 'x) -> (warm 'x)", "(cat tom)", "(likes tom rex)", "(small 'x) -> (cat 'x) -> (cute 'x)"),
                    "(warm tom)")  # fmt: skip
    given = problem(formal=formal)
    rules = ("∀x (Cat(x) → Warm(x))", "Cat(Tom)", "Likes(Tom, Rex)", "∀x ((Small(x) ∧ Cat(x)) → Cute(x))")
    found = record(given, program(rules, "Warm(Tom)"))
    assert (found["verdict"], found["certificate"]["formalisation"]) == ("certified", "given")
    assert recheck([{"id": "a", "problem": given.record(), "judgement": found}])["accepted"] == 1
    assert told(given, program((*rules, "Small(Tom)"), "Warm(Tom)"))[1] == "axiom_not_in_context"


def test_the_text_of_a_translated_data_set_is_the_reference():
    text = "Every wumpus is a tumpus. Tumpuses are not bright. Max is a wumpus."
    rules = ("∀x (Wumpus(x) → Tumpus(x))", "∀x (Tumpus(x) → ¬Bright(x))", "Wumpus(max)")
    given = Problem("p", "prontoqa", text, "True or false: Max is bright.", answer="false")
    found = record(given, program(rules, "Bright(max)"))
    assert (found["verdict"], found["answer"]) == ("certified", "false")
    assert found["certificate"]["evidence"]["reference"] == "prontoqa"
    trace = {"id": "a", "problem": given.record(), "judgement": found}
    assert recheck([trace]) == {"checked": 1, "accepted": 1, "skipped": 0, "second_opinion": 0, "rejected": []}
    # Attack: ask the opposite of the question, which has the opposite answer.
    flipped = Problem("p", "prontoqa", text, "True or false: Max is bright.", answer=None)
    assert told(flipped, program(rules, "¬Bright(max)"))[:2] == ("unproved", "goal_mismatch")


def test_what_the_text_plainly_denies_is_not_certified_though_the_data_set_is_unknown():
    text = "Every wumpus is a tumpus. Tumpuses are not bright. Max is a wumpus."
    given = Problem("p", "mine", text, "True or false: Max is bright.")
    rules = ("∀x (Wumpus(x) → Bright(x))", "Wumpus(max)")
    assert told(given, program(rules, "Bright(max)"))[:2] == ("unproved", "text_says_otherwise")


def test_lincs_layout_is_read_as_nltk_reads_it():
    text = "TEXT:\tCats are warm.\nFOL:\tall x. (Cat(x) -> Warm(x))\nTEXT:\tTom.\nFOL:\tCat(tom)\nFOL:\tWarm(tom)\n"
    assert told(problem(), text) == ("certified", "proved", "A")
    narrow = "FOL:\texists x. (Cat(x)) -> Warm(tom)\nFOL:\tCat(rex)\nFOL:\tWarm(tom)"
    assert told(problem(), narrow) == ("certified", "proved", "A")
    assert told(problem("C"), program(("exists x. (Cat(x)) -> Warm(tom)", "Cat(rex)")))[2] == "C"


def test_repairs_are_in_the_certificate_with_their_line():
    found = record(problem(), program(("∀x Cat(x) → Warm(x)", "Cat(tom).")))
    assert found["certificate"]["repairs"] == ["line 4: quantifier_scope", "line 5: final_stop"]


def test_what_the_solver_cannot_tell_is_a_timeout_within_the_budget():
    order = ("∀x ∃y L(x,y)", "∀x ¬L(x,x)", "∀x ∀y ∀z ((L(x,y) ∧ L(y,z)) → L(x,z))")
    holes = [" ∨ ".join(f"H(p{i}, h{j})" for j in range(9)) for i in range(10)]
    crowded = [f"¬(H(p{i}, h{j}) ∧ H(p{k}, h{j}))" for j in range(9) for i in range(10) for k in range(i)]
    for premises in (order, (*holes, *crowded)):
        start = own_time()
        assert told(problem(), program(premises, "Cat(tom)")) == ("timeout", "solver_budget", None)
        assert own_time() - start < 8


FLOODS = {
    "brackets": "(" * 9_000,
    "pairs of brackets": "(" * 1_900 + "P(a)" + ")" * 1_900,
    "negations": "¬" * 3_900 + "P(a)",
    "arrows": "p → " * 1_900 + "p",
    "quantifiers": "∀x " * 1_900 + "P(x)",
    "brackets to mend": "\n".join(["∀x (P(x) ∧ Q(x) → R(x)" + " ∧ P(x)" * 8] * 150),
    "lines": "\n" * 15_000,
    "quotes": '"' * 15_000,
    "labels": "answer: " * 2_000,
    "premises": "\n".join(["P(a)"] * 3_000),
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_judged_in_seconds(name: str):
    start = own_time()
    verdict, _, _ = told(problem(), program((FLOODS[name],)))
    assert verdict in ("malformed", "refuted")
    assert own_time() - start < 4


def test_the_pool_judges_programs_in_order():
    texts = {"certified": program(), "malformed": program(conclusion="(("), "refuted": program(AXIOMS[1:])}
    attempts = [
        {"id": name, "problem": problem().record(), "format": "fol", "completion": text} for name, text in texts.items()
    ]
    with JudgePool() as pool:
        assert [(found["id"], found["verdict"]) for found in pool.judge(attempts)] == [(name, name) for name in texts]


def folio(shared: Path, *, checked: bool) -> dict[str, tuple[Problem, str]]:
    """Return the problem and its annotation as a program, by id."""
    lines = (shared / "data" / "folio_validation_partA.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, tuple[Problem, str]] = {}
    for row in map(json.loads, lines):
        formal = Formal(tuple(row["premises_fol"]), row["conclusion_fol"]) if checked else None
        letter = {"True": "A", "False": "B", "Uncertain": "C"}[row["label"]]
        context, question = " ".join(row["premises"]), row["conclusion"]
        given = Problem(row["id"], "folio", context, question, options=OPTIONS, answer=letter, formal=formal)
        premises = "\n".join(row["premises_fol"])
        found[row["id"]] = given, f"Premises:\n{premises}\nConclusion:\n{row['conclusion_fol']}"
    return found


@pytest.mark.parametrize(
    ("checked", "expected"),
    [
        (True, {"proved": 80, "wrong_answer": 5}),
        pytest.param(
            False,
            {
                "proved": 51,
                "wrong_answer": 5,
                "goal_assumed": 3,
                "not_in_premises": 4,
                "unknown_on_trust": 19,
                "context_words_missing": 2,
                "premises_are_the_claim": 1,
            },
            marks=pytest.mark.slow,
        ),
    ],
)
def test_annotations_of_folio_are_certified_as_their_own_reference_and_on_trust(shared: Path, checked, expected):
    records = [
        {"id": "a", "problem": given.record(), "judgement": record(given, text)}
        for given, text in folio(shared, checked=checked).values()
    ]
    assert Counter(found["judgement"]["reason"] for found in records) == expected
    report = recheck(records)
    assert (report["checked"], report["rejected"]) == (expected["proved"], [])


@pytest.mark.slow
def test_recorded_programs_of_logic_lm(shared: Path):
    problems = folio(shared, checked=False)
    verdicts: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, bool]] = Counter()
    records: list[dict[str, Any]] = []
    with gzip.open(shared / "data" / "logiclm_programs_partA.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["dataset"] != "FOLIO":
                continue
            given = problems[row["problem_id"]][0]
            found = record(given, row["program"])
            verdicts[row["model"], found["verdict"]] += 1
            if found["answer"] is not None:
                right[row["model"], found["answer"] == row["answer"]] += 1
            records.append({"id": "a", "problem": given.record(), "judgement": found})
    assert right == {
        ("gpt-3.5-turbo", True): 46,
        ("gpt-3.5-turbo", False): 33,
        ("text-davinci-003", True): 48,
        ("text-davinci-003", False): 29,
    }
    assert verdicts["gpt-3.5-turbo", "certified"] == 19
    assert verdicts["text-davinci-003", "certified"] == 18
    assert recheck(records)["accepted"] == 37
