"""Which logic class a formula's statement has: one for each of the nine, and what is counted of them."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from critics.problem import Problem
from critics.replay.first_order.parser import parse
from rollout.published.logic_forms import (
    LOGIC_CLASSES,
    LogicClass,
    class_coverage,
    form_of,
    problem_classes,
    statement_classes,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Cat(tom)", "conditional"),
        ("Cat(tom) ∧ Old(tom)", "conditional"),
        ("∀x (Cat(x) ∧ Old(x) → Warm(x) ∧ Slow(x))", "conditional"),
        ("∀x (Cat(x) ∨ Dog(x) → Warm(x))", "conditional"),
        ("∀x (Cat(x) ↔ Purrs(x))", "conditional"),
        ("(Cat(tom) ∧ Old(tom)) ⊕ (¬Cat(tom) ∧ ¬Old(tom))", "nested"),
        ("∀x (Cat(x) → (Warm(x) → Slow(x)))", "nested"),
        ("∀x (Cat(x) ∧ (Old(x) ∨ Ill(x)) → Slow(x))", "nested"),
        ("Cat(tom) ∨ Dog(tom) ∨ Owl(tom)", "disjunction"),
        ("∀x (Pet(x) → Cat(x) ⊕ Dog(x))", "disjunction"),
        ("¬Cat(tom)", "negation"),
        ("∀x (Fish(x) → ¬Plant(x))", "negation"),
        ("∀x ¬(Fish(x) ∧ Plant(x))", "negation"),
        ("¬∃x (Fish(x) ∧ Plant(x))", "negation"),
        ("∀x (Shy(x) → ¬(Sings(x) ∨ Dances(x)))", "negation"),
        ("¬(Ferrari(suv) ∧ MadeIn(suv, maranello))", "exclusion"),
        ("Alive(jumbo) → ¬(Elephant(jumbo) ∧ Mammal(jumbo))", "exclusion"),
        ("∃x (Person(x) ∧ Citizen(x))", "existential"),
        ("¬∀x (Person(x) → Citizen(x))", "existential"),
        ("∀x (Student(x) → ∃y Takes(x, y))", "existential"),
        # Whoever takes anything: no object is said to exist.
        ("∀x (∃y Takes(x, y) → Student(x))", "several-variables"),
        ("emmet = blake", "equality"),
        ("CommonlyKnownAs(emmet, blake)", "equality"),
        ("∀x (King(x) → x = louis)", "equality"),
        ("∀x ∀y (Plays(ann, x) ∧ Plays(ben, y) → x ≠ y)", "several-variables"),
        ("∀x ∀y ∀z (In(x, y) ∧ In(y, z) → In(x, z))", "several-variables"),
    ],
)
def test_a_statement_has_the_class_that_decides_how_it_is_formalised(text: str, name: LogicClass):
    assert form_of(parse(text).formula) == name


def test_background_is_what_is_marked_or_written_down_only_in_formulas():
    assert statement_classes(["Ann sings.", "[BG] Singers hum."], ["Sings(ann)", "∀x (Sings(x) → Hums(x))"]) == [
        "conditional",
        "background",
    ]
    # One sentence, two formulas: which formula is whose cannot be told.
    assert statement_classes(["[BG] Ann sings."], ["Sings(ann)", "¬Hums(ann)"]) == ["conditional", "negation"]
    assert problem_classes(["Ann sings."], ["Sings(ann)", "¬Hums(ann)"]) == ["conditional", "negation", "background"]
    assert problem_classes(["[BG] A.", "B."], ["A(a)"]) == ["conditional", "background"]
    assert problem_classes(["Ann sings."], ["Sings(ann"]) == ["conditional"]
    assert problem_classes(["Ann sings."], ["Sings Hums"]) == []
    assert problem_classes(["Ann sings."], [" ↔ ".join(["Sings(ann)"] * 60)]) == []


def test_coverage_counts_problems_once_for_each_class():
    def problem(*classes: str) -> Problem:
        return Problem("p", "folio", "c", "q", meta={"logic_classes": list(classes)} if classes else {})

    found = class_coverage([problem("negation", "nested"), problem("negation", "negation"), problem(), problem("odd")])
    assert {name: num for name, num in found.items() if num} == {"nested": 1, "negation": 2, "unclassified": 2}
    assert list(found) == [*LOGIC_CLASSES, "unclassified"]


def test_rules_with_several_variables_are_as_rare_in_folio_as_the_paper_says(shared: Path):
    with gzip.open(shared / "data" / "folio_train.jsonl.gz", "rt", encoding="utf-8") as file:
        records = list(map(json.loads, file))
    stories = {record["story_id"]: record for record in records}.values()
    counts = Counter(name for r in stories for name in statement_classes(r["premises"], r["premises_fol"]))
    assert counts == {
        "conditional": 1048,
        "nested": 28,
        "disjunction": 153,
        "negation": 232,
        "exclusion": 9,
        "existential": 128,
        "equality": 1,
        "several-variables": 65,
        None: 8,
    }
    assert counts["several-variables"] / counts.total() < 0.05
