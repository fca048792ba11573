"""First-order problems as answer set programs: what they answer, against Z3."""

import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from critics.formats.asp.examination import prepare, run
from critics.formats.fol.answer_sets import MAX_CLAUSES, AnswerSetProgram, as_program, clauses_of
from critics.formats.fol.program import read_program
from critics.logic.first_order.parser import parse
from critics.logic.first_order.solvers import decide
from critics.logic.first_order.theory import closed_all
from critics.replay.answer_sets.language import AspError
from critics.replay.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    FormulaError,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
)


def answered(program: AnswerSetProgram) -> str | None:
    """Return what the critic of the `asp` format reads off; None of a contradiction."""
    finding = run(prepare(program.completion())).finding
    return None if finding is None else finding.value


def program(*texts: str) -> AnswerSetProgram:
    *premises, conclusion = (parse(text).formula for text in texts)
    return as_program(premises, conclusion)


def by_z3(premises: tuple[Formula, ...], conclusion: Formula) -> str | None:
    found = decide(premises, conclusion).result
    return None if found == "inconsistent" else found


SEVEN_KINDS = [f"∃x ({' ∧ '.join(('' if m == n else '¬') + f'P{m}(x)' for m in range(7))})" for n in range(7)]


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (("∀x (Cat(x) → Warm(x))", "Cat(tom)", "Warm(tom)"), "true"),
        (("∀x (Cat(x) → ¬Dog(x))", "Dog(rex)", "Cat(rex)"), "false"),
        (("∀x (Cat(x) → Warm(x))", "Warm(tom)", "Cat(tom)"), "unknown"),
        (("Cat(tom)", "¬Cat(tom)", "Cat(tom)"), None),
        # Nobody is named: what exists is chosen, and what is meant of all is meant of it.
        (("∃x (Cat(x) ∧ Wild(x))", "∀x (Cat(x) → Warm(x))", "∃x (Warm(x) ∧ Wild(x))"), "true"),
        (("∃x Cat(x)", "∃x Wild(x)", "∃x (Cat(x) ∧ Wild(x))"), "unknown"),
        (("∃x Cat(x)", "Cat(tom)"), "unknown"),
        (("∀x (Cat(x) → Warm(x))", "∃x (Cat(x) ∧ Warm(x))"), "unknown"),
        (("Cat(tom)", "∀x Cat(x)"), "unknown"),
        # Seven witnesses need seven elements.
        ((*SEVEN_KINDS, "P0(a)"), "unknown"),
        (("∀x ∃y Knows(x, y)", "∃y Knows(tom, y)"), "true"),
        (("a = b", "P(a)", "P(b)"), "true"),
        (("P(a)", "¬P(b)", "a = b"), "false"),
        (("P(a)", "P(b)", "a = b"), "unknown"),
        (("∀x ∀y (x = y)", "P(a)", "P(b)"), "true"),
        (("f(a) = b", "P(f(a))", "P(b)"), "true"),
        (("a = b", "P(f(a))", "P(f(b))"), "true"),
        (("Rain", "Rain → Wet", "Wet"), "true"),
        (("P(a) ⊕ Q(a)", "P(a)", "¬Q(a) ∧ (P(a) ↔ ¬Q(a))"), "true"),
        (("P(a)", "P(a) ∨ ¬P(a)"), "true"),
    ],
)  # fmt: skip
def test_a_program_answers_what_the_premises_entail(texts: tuple[str, ...], answer: str | None):
    *premises, conclusion = (parse(text).formula for text in texts)
    made = as_program(premises, conclusion)
    assert answered(made) == answer
    assert by_z3(tuple(premises), conclusion) == answer


def test_a_program_is_readable_and_numbers_its_premises():
    made = program("∀x (FromMars(x) → Alien(x))", "FromMars(marvin)", "Alien(marvin) ∨ FromMars(marvin)")
    assert "alien(X1) :- from_mars(X1)." in made.model
    assert "from_mars(marvin)." in made.model
    assert made.query == ("ATOM(alien(marvin))", "ATOM(from_mars(marvin))", "OR(1, 2)")
    assert made.exact
    prepared = prepare(made.completion())
    assert set(prepared.submission.program.numbered()) == {1, 2}


def test_names_that_the_language_does_not_have_stay_apart():
    made = program(
        'Café(o’neil) ∧ ¬cafe(ann) ∧ ¬"Not"(ann) ∧ ¬Element(ann)',
        "Same(ann, y42.3) ∧ Conclusion",
        "∃x (Witness1(x) ∨ Cafe(x))",
    )
    assert answered(made) == "unknown"
    named = {"cafe", "cafe_2", "cafe_3", "not_2", "element_2", "same_2", "conclusion_2", "witness1_2", "y42_3"}
    assert named <= set(re.findall(r"\w+", "\n".join(made.model)))


def test_an_inexact_translation_says_so_and_may_claim_too_much():
    # Whoever is below somebody is below somebody else again, and so on: only infinitely many objects can do that.
    order = ("∀x ¬R(x, x)", "∀x ∀y ∀z (R(x, y) ∧ R(y, z) → R(x, z))", "∀x ∃y R(x, y)", "P(a)")
    made = program(*order)
    assert not made.exact
    assert answered(made) is None
    # Four objects are enough for this one, and there are three.
    chain = [f"∀x (P{n}(x) → ∃y (P{n + 1}(y) ∧ {' ∧ '.join(f'¬P{m}(y)' for m in range(n + 1))}))" for n in range(3)]
    small = program("P0(a)", *chain, "∀x ¬P3(x)")
    assert (small.exact, answered(small)) == (True, "false")
    nested = program("∀x ∃y S(x, y)", "∀x ∀y ∀z (S(x, y) ∧ S(z, y) → x = z)", "∀x ¬S(x, zero)", "P(a)")
    assert (nested.exact, answered(nested)) == (False, None)


def test_what_is_too_large_is_refused_by_name():
    wide = " ∨ ".join(f"(P{n}(a) ∧ Q{n}(a))" for n in range(12))
    assert MAX_CLAUSES < 2**12
    with pytest.raises(FormulaError, match="more than") as caught:
        clauses_of(parse(wide).formula)
    assert caught.value.reason == "too_large"
    doubling = " ↔ ".join(f"P{n}(a)" for n in range(60))
    with pytest.raises(FormulaError, match="without ↔"):
        program(doubling, "P0(a)")
    with pytest.raises(FormulaError) as clash:
        program("P(a)", "P(a, b)", "P(a)")
    assert clash.value.reason == "arity"
    many = program(*(f"P{n}(c{n})" for n in range(120)), "P0(c0)")
    with pytest.raises(AspError, match="200 rules"):
        answered(many)


def formula(rng: random.Random, depth: int, variables: list[str], *, equality: bool, functions: bool) -> Formula:
    def term() -> Term:
        chance = rng.random()
        if functions and chance < 0.15:
            return Application("f", (Variable(rng.choice(variables)) if variables else Constant("a"),))
        return Variable(rng.choice(variables)) if variables and chance < 0.8 else Constant(rng.choice("ab"))

    def below(more: list[str]) -> Formula:
        return formula(rng, depth - 1, more, equality=equality, functions=functions)

    chance = rng.random()
    if depth == 0 or chance < 0.15:
        if equality and rng.random() < 0.3:
            return Equality(term(), term())
        name, arity = rng.choice([("P", 1), ("Q", 1), ("R", 2), ("s", 0)])
        return Atom(name, tuple(term() for _ in range(arity)))
    if chance < 0.3:
        return Not(below(variables))
    if chance < 0.55:
        name = rng.choice("xy")
        return Quantified(rng.choice(list(Quantifier)), name, below([*variables, name]))
    return Compound(rng.choice(list(Operator)), (below(variables), below(variables)))


@pytest.mark.parametrize(("equality", "functions"), [(False, False), (True, False), (True, True)])
def test_random_formulas_are_answered_as_z3_answers_them(equality: bool, functions: bool):
    exact = 0
    for seed in range(40):
        rng = random.Random(seed)
        *premises, conclusion = (formula(rng, 3, [], equality=equality, functions=functions) for _ in range(4))
        made = as_program(premises, conclusion)
        assert answered(made) == by_z3(tuple(premises), conclusion), seed
        exact += made.exact
    assert exact == {(False, False): 39, (True, False): 38, (True, True): 5}[equality, functions]


def test_all_85_validation_problems_are_answered_as_z3_answers_them(shared: Path):
    lines = (shared / "data" / "folio_validation_partA.jsonl").read_text(encoding="utf-8").splitlines()
    found: Counter[tuple[bool, bool]] = Counter()
    for record in map(json.loads, lines):
        premises = tuple(parse(text).formula for text in record["premises_fol"])
        conclusion = parse(record["conclusion_fol"]).formula
        made = as_program(premises, conclusion)
        found[answered(made) == by_z3(premises, conclusion), made.exact] += 1
    # All of them within the limits of the `asp` format, and none with a witness that depends on another object.
    assert found == {(True, True): 85}


@pytest.mark.slow
def test_recorded_formalisations_are_answered_as_z3_answers_them(shared: Path):
    found: Counter[tuple[bool, bool]] = Counter()
    with gzip.open(shared / "data" / "logiclm_programs_partA.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [record for record in map(json.loads, file) if record["dataset"] == "FOLIO"]
    for record in records:
        try:
            read = read_program(record["program"])
        except FormulaError:
            continue
        premises = closed_all(read.premises)
        made = as_program(premises, read.conclusion)
        found[answered(made) == by_z3(premises, read.conclusion), made.exact] += 1
    assert found == {(True, True): 147, (True, False): 9}


@pytest.mark.slow
def test_stories_of_the_training_set_are_answered_as_z3_answers_them(shared: Path):
    """Their conclusions have no annotation, so the last premise of each is asked of the others."""
    with gzip.open(shared / "data" / "folio_train.jsonl.gz", "rt", encoding="utf-8") as file:
        stories = {record["story_id"]: record["premises_fol"] for record in map(json.loads, file)}
    found: Counter[tuple[bool, bool] | str] = Counter()
    for texts in stories.values():
        try:
            *premises, conclusion = (parse(text).formula for text in texts)
            made = as_program(premises, conclusion)
        except FormulaError:
            found["malformed"] += 1
            continue
        found[answered(made) == by_z3(tuple(premises), conclusion), made.exact] += 1
    assert found == {(True, True): 323, (True, False): 11, "malformed": 6}
