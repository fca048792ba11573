"""What a failed attempt is labelled, each by what the critic itself says of a small program."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from critics.formats.asp.critic import feedback_of, judge_asp
from critics.problem import Attempt, Problem
from critics.verdict import verdict_record
from rollout.published.first_order import load_folio
from rollout.records.steps import DialogReview, DialogTurn
from rollout.records.traces import Judgement, Trace, read_judgement
from tools.dialog_failures import FAILURE_CLASSES, failure_classes, failure_counts

RELATED = "∀x ∀y (InFamily(x, y) → Related(x, y))"
TEST = {"Facts": ["owl(t1)."], "infer-All": ["flies(t1)"], "Rules": ["R1"]}
OWLS = ["% R1: owls fly", "flies(X) :- owl(X)."]


def problem(*formulas: str, conclusion: str = "Flies(ann)", answer: str = "true", num: int | None = None) -> Problem:
    meta = {"num_premises": num or len(formulas), "premises_fol": list(formulas), "conclusion_fol": conclusion}
    return Problem("p", "folio", "Owls fly.\nAnn is an owl.", "Ann flies.", None, answer, meta=meta)


def reply(model: Sequence[str], *query: str, tests: Sequence[Any] = (TEST,)) -> str:
    return json.dumps({"Model": list(model), "Tests": list(tests), "Query": list(query or ("ATOM(flies(ann))",))})


def labels(given: Problem, text: str) -> tuple[str, ...]:
    return failure_classes(given, text, judged(given, text))


def judged(given: Problem, text: str) -> Judgement:
    return read_judgement(verdict_record("a", judge_asp(given, Attempt("a", given, "asp", text))))


PLAIN = problem("∀x (Owl(x) → Flies(x))", "Owl(ann)")


def test_a_certified_attempt_has_no_label():
    assert labels(PLAIN, reply([*OWLS, "% R2: Ann is an owl", "owl(ann)."])) == ()


def test_what_nothing_decided_is_no_failure():
    for verdict in ("timeout", "error"):
        assert failure_classes(PLAIN, reply(OWLS), Judgement(verdict, "work_limit", None, "")) == ()


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        # The paper's own rendering asserts nobody.
        (["{wise(X)} :- owl(X)."], ("existential",)),
        (["wise(X) :- owl(X)."], ("existential",)),
        ([], ("existential",)),
        (["wise(someone).", "owl(someone)."], ("other",)),
        (["1 {wise(X) : owl(X)}.", "owl(bob)."], ("other",)),
    ],
)
def test_a_witness_that_nothing_provides_is_an_error_about_existence(rules: list[str], expected: tuple[str, ...]):
    given = problem("∀x (Owl(x) → Flies(x))", "∃x (Owl(x) ∧ Wise(x))")
    assert labels(given, reply([*OWLS, "% R2: some owl is wise", *rules])) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("related(X) :- in_family(X).", ("several-variables",)),
        ("related(ann, bob) :- in_family(ann, bob).", ("several-variables",)),
        ("related(X, Y) :- in_family(X, Y).", ("other",)),
    ],
)
def test_a_rule_with_too_few_variables_is_an_error_about_several(rule: str, expected: tuple[str, ...]):
    given = problem("∀x (Owl(x) → Flies(x))", RELATED)
    tested = {"Facts": ["in_family(t2, t3)."], "infer-All": ["related(t2, t3)"], "Rules": ["R2"]}
    tests = [TEST, tested] if expected == ("other",) else [TEST]
    found = labels(given, reply([*OWLS, "% R2: families are related", rule], tests=tests))
    assert set(found) - {"tests"} == set(expected) - ({"other"} if "tests" in found else set())


def test_a_failing_test_blames_the_statements_that_it_names():
    given = problem("∀x (Owl(x) → Flies(x))", RELATED, answer="unknown")
    wrong = {"Facts": ["in_family(t2, t3)."], "infer-All": ["related(t3, t2)"], "Rules": ["R2"]}
    model = [*OWLS, "% R2: families are related", "related(X, Y) :- in_family(X, Y)."]
    assert labels(given, reply(model, tests=[TEST, wrong])) == ("several-variables", "tests")
    assert labels(given, reply(model, tests=[{**TEST, "infer-All": ["owl(ann)"]}])) == ("tests",)
    # Of a wrong answer the verdict says nothing else; what the critic said in the dialog does.
    refuted = problem("∀x (Owl(x) → Flies(x))", RELATED)
    text = reply(model, tests=[TEST, wrong])
    assert labels(refuted, text) == ("other",)
    told = DialogTurn((), True, 0, 0, 0, False, DialogReview("tests", "test_failed", "test 2", feedback_of(text)))
    counts = failure_counts([Trace("a", refuted, "asp", text, steps=(told,), judgement=judged(refuted, text))])
    assert (counts["several-variables"], counts["tests"], counts["other"]) == (1, 1, 0)


def test_a_name_that_is_kind_and_individual_is_an_error_about_types():
    model = [*OWLS, "% R2: vacuums suck", "sucks(vacuum).", "vacuum(space)."]
    assert labels(PLAIN, reply(model)) == ("types-as-instances",)
    assert labels(PLAIN, reply([*OWLS, "% R2: vacuums suck", "sucks(vacuums).", "vacuum(space)."])) == (
        "types-as-instances",
    )
    annotated = problem("Sucks(vacuum)", "Vacuum(space)")
    assert labels(annotated, reply([*OWLS, "% R2: space", "vacuum(space)."])) == ("types-as-instances",)
    assert labels(PLAIN, reply([*OWLS, "% R2: space", "vacuum(space)."])) == ("other",)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("1 {sings(X); hums(X)} :- owl(X).", ("exclusive-or",)),
        ("1 {sings(X); hums(X)} 2 :- owl(X).", ("exclusive-or",)),
        ("1 {sings(X); hums(X)} 1 :- owl(X).", ("other",)),
        ("sings(X) | hums(X) :- owl(X). :- sings(X), hums(X).", ("other",)),
    ],
)
def test_an_exclusive_or_as_a_plain_one_is_named(rule: str, expected: tuple[str, ...]):
    given = problem("∀x (Owl(x) → Flies(x))", "∀x (Owl(x) → Sings(x) ⊕ Hums(x))")
    assert labels(given, reply([*OWLS, "% R2: owls sing or hum", rule])) == expected


def test_a_query_of_another_shape_or_none_is_an_error_of_the_query():
    model = [*OWLS, "% R2: Ann is an owl", "owl(ann)."]
    general = problem("∀x (Owl(x) → Flies(x))", "Owl(ann)", conclusion="∃x (Owl(x) ∧ Flies(x))", answer="unknown")
    assert labels(general, reply(model)) == ("query",)
    assert labels(general, reply(model, "ATOM(owl(X))", "ATOM(flies(X))", "SOME(1, 2)")) == ("other",)
    assert labels(PLAIN, reply(model, "ATOM(sings(ann))")) == ("query",)
    assert labels(PLAIN, reply(model, "ATOM(flies(ann)")) == ("query",)


def test_what_cannot_be_read_is_unread():
    assert labels(PLAIN, "no JSON") == ("unread",)
    assert labels(PLAIN, reply(["flies(X) := owl(X)."])) == ("unread",)
    assert labels(PLAIN, reply(["% R1: owls fly", "flies(X) :- not owl(X).", "owl(ann)."])) == ("unread",)


def test_formulas_of_another_number_than_sentences_judge_the_program_as_a_whole():
    given = problem("∀x (Owl(x) → Flies(x))", RELATED, "∃x Owl(x)", num=2)
    assert labels(given, reply([*OWLS, "% R2: nothing", "calm(X) :- owl(X)."])) == ("existential", "several-variables")
    whole = [*OWLS, "% R2: both", "related(X, Y) :- in_family(X, Y).", "owl(someone).", "in_family(someone, bob)."]
    assert labels(given, reply(whole)) == ("other",)


def test_counts_are_over_attempts_and_dialogs_alike():
    right = reply([*OWLS, "% R2: Ann is an owl", "owl(ann)."])
    texts = [right, "no JSON", reply([*OWLS, "% R2: vacuums", "sucks(vacuum).", "vacuum(space)."])]
    traces = [Trace("a", PLAIN, "asp", text, judgement=judged(PLAIN, text)) for text in texts]
    traces.append(replace(traces[0], judgement=Judgement("timeout", "work_limit", None, "")))
    counts = failure_counts(traces)
    assert list(counts) == ["attempts", "failed", "undecided", *FAILURE_CLASSES]
    assert {name: num for name, num in counts.items() if num} == {
        "attempts": 4,
        "failed": 2,
        "undecided": 1,
        "unread": 1,
        "types-as-instances": 1,
    }


def test_the_papers_rendering_of_some_is_found_in_folio(shared: Path):
    """Each story with an existential premise, `{..} :- ..` in its place: the label is always there."""
    num = 0
    for given in load_folio(shared / "data" / "folio_validation_partA.jsonl"):
        formulas = given.meta["premises_fol"]
        if "existential" not in given.meta["logic_classes"] or len(formulas) != given.meta["num_premises"]:
            continue
        num += 1
        model = [f"% R{n}: statement\n{{a{n}(X)}} :- b{n}(X)." for n in range(1, len(formulas) + 1)]
        text = json.dumps({"Model": model, "Tests": [], "Query": ["ATOM(a1(c))"]})
        assert "existential" in failure_classes(given, text, Judgement("vacuous", "no_tests", None, ""))
    assert num == 17
