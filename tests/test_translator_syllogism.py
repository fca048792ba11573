import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from critics.problem import Formal
from critics.replay.formula import parse_statement
from critics.replay.kernel import saturated
from critics.text.reference import theory
from critics.text.translators.syllogism import CALCULUS, EXISTENCE, ask, peopled, translate
from critics.text.translators.translation import TranslationError

MOODS = {
    "A": ("All {} are {}.", lambda one, two: one <= two),
    "E": ("No {} are {}.", lambda one, two: not one & two),
    "I": ("Some {} are {}.", lambda one, two: bool(one & two)),
    "O": ("Some {} are not {}.", lambda one, two: not one <= two),
}
REGIONS = list(product((False, True), repeat=3))
"""The kinds of things that there may be, by membership in the subject, the middle and the predicate."""
KINDS = ("zins", "morvs", "plicks")
PREMISES = "All dogs are mammals. No mammals are birds."


def models() -> list[tuple[frozenset[int], ...]]:
    """Return the extensions of the three kinds in every way in which the eight regions can be inhabited."""
    inhabited = [[i for i in range(8) if mask >> i & 1] for mask in range(256)]
    return [tuple(frozenset(i for i in some if REGIONS[i][k]) for k in range(3)) for some in inhabited]


MODELS = models()


def holds(statement: tuple[str, int, int], model: tuple[frozenset[int], ...]) -> bool:
    mood, one, two = statement
    return MOODS[mood][1](model[one], model[two])


def entails(premises: list[tuple[str, int, int]], conclusion: tuple[str, int, int]) -> bool:
    return all(holds(conclusion, m) for m in MODELS if all(holds(p, m) for p in premises))


def written(statement: tuple[str, int, int]) -> str:
    mood, one, two = statement
    return MOODS[mood][0].format(KINDS[one], KINDS[two])


def forms() -> list[tuple[list[tuple[str, int, int]], tuple[str, int, int]]]:
    """Every mood of two premises, one with the subject and one with the predicate, in all figures."""
    ways = product(MOODS, ((1, 2), (2, 1)), MOODS, ((0, 1), (1, 0)), MOODS, ((0, 2), (2, 0)))
    return [([(a, *major), (b, *minor)], (c, *asked)) for a, major, b, minor, c, asked in ways]


def formal(premises: list[tuple[str, int, int]], conclusion: tuple[str, int, int]) -> Formal:
    return translate(" ".join(map(written, premises)), ask(written(conclusion)))


def records(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_an_argument_is_valid_if_and_only_if_its_conclusion_is_inferred():
    valid = 0
    for premises, conclusion in forms():
        expected = entails(premises, conclusion)
        valid += expected
        for ordered in (premises, premises[::-1]):
            assert (theory(formal(ordered, conclusion)).decided == "true") == expected, (ordered, conclusion)
    # The fifteen classical moods without existential import, each with its subject and predicate either way round.
    assert (len(forms()), valid) == (512, 30)


def test_whatever_is_inferred_holds_in_every_model_of_the_premises():
    for premises, conclusion in forms():
        axioms = [parse_statement(axiom) for axiom in formal(premises, conclusion).axioms]
        satisfying = [m for m in MODELS if all(holds(p, m) for p in premises)]
        assert satisfying
        for fact in saturated(axioms).known:
            one, two = (KINDS.index(str(kind)) for kind in fact.arguments)
            mood = {("all", True): "A", ("some", False): "E", ("some", True): "I", ("all", False): "O"}
            statement = (mood[fact.predicate, fact.positive], one, two)
            assert all(holds(statement, m) for m in satisfying), (premises, statement)


@pytest.mark.parametrize("rule", CALCULUS)
def test_no_rule_of_the_calculus_can_be_missed(rule: str):
    lost = 0
    for premises, conclusion in forms():
        if entails(premises, conclusion):
            whole = formal(premises, conclusion)
            less = Formal(tuple(axiom for axiom in whole.axioms if axiom != rule), whole.goal)
            lost += theory(less).decided != "true"
    assert lost


def conversions() -> list[tuple[list[tuple[str, int, int]], tuple[str, int, int]]]:
    """Every mood of the same premises, with a conclusion about the two kinds of one of them."""
    asked = [(1, 2), (2, 1), (0, 1), (1, 0)]
    ways = product(MOODS, ((1, 2), (2, 1)), MOODS, ((0, 1), (1, 0)), MOODS, asked)
    return [([(a, *major), (b, *minor)], (c, *kinds)) for a, major, b, minor, c, kinds in ways]


@pytest.mark.parametrize(
    "told",
    [False, pytest.param(True, marks=pytest.mark.slow)],
    ids=["classes may be empty", "every class has members"],
)
def test_conversions_and_kinds_that_have_members_are_decided_as_by_all_models(told: bool):
    models_, valid = [m for m in MODELS if all(m) or not told], 0
    for premises, conclusion in (*conversions(), *(forms() if told else ())):
        context, question = " ".join(map(written, premises)), ask(written(conclusion))
        satisfying = [m for m in models_ if all(holds(p, m) for p in premises)]
        expected = all(holds(conclusion, m) for m in satisfying)
        found = theory(translate(peopled(context, question) if told else context, question))
        assert found.clash is None
        assert (found.decided == "true") == expected, (premises, conclusion)
        assert found.decided != "false" or not any(holds(conclusion, m) for m in satisfying)
        valid += expected
    assert valid > 100


@pytest.mark.parametrize(
    "behind", ["There are cats.", "There are no dogs.", "Some dogs are birds.", "There may be dogs.", "There are dogs"]
)
def test_behind_the_premises_a_syllogism_says_which_of_its_kinds_have_members(behind: str):
    with pytest.raises(TranslationError):
        translate(f"{PREMISES} {behind}", "Does it follow that no dogs are birds?")
    read = translate(f"{PREMISES} There are dogs.", "Does it follow that no dogs are birds?")
    assert read.axioms[2:] == ("(some dogs dogs)", *CALCULUS, *EXISTENCE)


def test_premises_come_first_then_the_calculus():
    assert translate(PREMISES, "Does it follow that no dogs are birds?") == Formal(
        ("(all dogs mammals)", "(not (some mammals birds))", *CALCULUS), "(not (some dogs birds))"
    )


@pytest.mark.parametrize(
    ("sentence", "literal"),
    [
        ("Some dogs are birds.", "(some dogs birds)"),
        ("Some dogs are not birds.", "(not (all dogs birds))"),
        ("All dogs are birds.", "(all dogs birds)"),
        ("No birds are dogs.", "(not (some birds dogs))"),
    ],
)
def test_each_mood_is_one_literal(sentence: str, literal: str):
    assert translate(PREMISES, ask(sentence)).goal == literal


def test_a_kind_may_have_an_adjective_or_a_relative_clause():
    context = "All things that exist are mythical creatures. No people who are old are things that exist."
    read = translate(context, "Does it follow that some people who are old are not mythical creatures?")
    assert read.axioms[:2] == (
        "(all things-that-exist mythical-creatures)",
        "(not (some people-who-are-old things-that-exist))",
    )
    assert read.goal == "(not (all people-who-are-old mythical-creatures))"


@pytest.mark.parametrize(
    "context",
    [
        "",
        "All dogs are mammals.",
        "All dogs are mammals. All dogs are mammals. No mammals are birds.",
        "All dogs are mammals. No mammals are birds",
        "All dogs are mammals No mammals are birds.",
        "All dogs are not mammals. No mammals are birds.",
        "No dogs are not mammals. No mammals are birds.",
        "Not all dogs are mammals. No mammals are birds.",
        "Every dog is a mammal. No mammals are birds.",
        "Most dogs are mammals. No mammals are birds.",
        "Almost all dogs are mammals. No mammals are birds.",
        "Only dogs are mammals. No mammals are birds.",
        "All but dogs are mammals. No mammals are birds.",
        "All non-dogs are mammals. No mammals are birds.",
        "All dogs are mammals or fish. No mammals are birds.",
        "All dogs and cats are mammals. No mammals are birds.",
        "All dogs, mostly, are mammals. No mammals are birds.",
        "Some dogs are not not mammals. No mammals are birds.",
        "Some dogs are mammals unless asleep. No mammals are birds.",
        "All dogs are mammals. No mammals are birds. Is that so?",
        "All dogs are many mammals. No mammals are birds.",
        "All dogs that are not mammals are mammals. No mammals are birds.",
        "All dogs are mammals. No mammals are dogs.",
        "All dogs are mammals. No fish are birds.",
        "All dogs are dogs. No mammals are birds.",
        "All ԁogs are mammals. No mammals are birds.",
        f"All {'d' * 51} are mammals. No mammals are {'d' * 51}.",
    ],
)
def test_what_is_not_understood_is_refused(context: str):
    with pytest.raises(TranslationError):
        translate(context, "Does it follow that no dogs are birds?")


@pytest.mark.parametrize(
    "question",
    [
        "No dogs are birds.",
        "Does it follow that no dogs are birds",
        "Does it follow that no dogs are birds.?",
        "Does it follow that all dogs are not birds?",
        "Does it follow that no dogs are fish?",
        "Does it follow that no dog are birds?",
        "Does it follow that no dogs are birds? Answer valid?",
        "Does it not follow that no dogs are birds?",
    ],
)
def test_a_question_of_another_form_is_refused(question: str):
    with pytest.raises(TranslationError):
        translate(PREMISES, question)


@pytest.mark.parametrize(
    ("one", "two"),
    [("old people", "people"), ("red things", "things that are red"), ("whales", "whale")],
)
def test_kinds_that_are_related_by_their_words_are_refused(one: str, two: str):
    """Else `Some old people are dogs, no people are cats` would be judged as if old people might be no people."""
    with pytest.raises(TranslationError, match="related"):
        translate(f"Some {one} are dogs. No {two} are dogs.", f"Does it follow that some {one} are not {two}?")


def test_all_published_labels_agree(shared: Path):
    rows = records(shared / "data" / "syllogisms.jsonl.gz")
    agree = 0
    for row in rows:
        decided = theory(translate(" ".join(row["premises"]), ask(row["conclusion"]))).decided
        agree += (decided == "true") == row["valid"]
    assert (len(rows), agree) == (426, 426)
