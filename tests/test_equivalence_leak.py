"""What a description may say of a formula, and what gives the formula away."""

import pytest

from critics.equivalence.language import Language
from critics.equivalence.leak import MAX_CHARACTERS, find_leak
from critics.fol.syntax import FormulaError

PL, FOL, RE = Language.PROPOSITIONAL, Language.FIRST_ORDER, Language.REGEX
FORMULA = "(p1 ∧ (p2 ∨ ¬p3))"
QUANTIFIED = "∀x1. (likes(x1, ann) → (tall(x1) ∧ kind(ann)))"
HONEST = [
    (PL, FORMULA, "p1 holds; moreover p2 holds or p3 fails (or both)."),
    (PL, FORMULA, "A conjunction: first p1, then a disjunction of p2 and the negation of p3."),
    (PL, "(p1 ∧ p2)", "p1 and p2"),
    (PL, FORMULA, "It is not (as one may think) p1 or, on the right, p2."),
    (PL, "(p1 ∧ p2)", "Both of them (p1 and p2) are so: well-known, e.g. from 3/4 of the reports!"),
    (FOL, QUANTIFIED, "Everyone who likes Ann, that is likes(x1, ann), is tall, and Ann is kind."),
    (FOL, QUANTIFIED, "For all x1, likes(x1, ann) implies that tall(x1) and kind(ann) are true."),
    (RE, "(01)*0", "Any number of repetitions of 01, and then a single 0."),
    (RE, "0*1", "- **zero or more** 0s\n- then one **1**"),
]
LEAKING = [
    (PL, FORMULA, "It is (p1 ∧ (p2 ∨ ¬p3)).", "sign"),
    (PL, FORMULA, "p1 & p2", "sign"),
    (PL, FORMULA, r"p1 \land p2", "sign"),
    (PL, FORMULA, "p1 /\\ p2", "sign"),
    (PL, FORMULA, "p1 v p2", "sign"),
    (PL, FORMULA, "p1 holds with !p2", "sign"),
    (PL, "(p1 → p2)", "p1 => p2", "sign"),
    (PL, FORMULA, "AND(p1, OR(p2, NOT(p3)))", "sign"),
    (PL, FORMULA, "p1 and open bracket p2 or not p3 close bracket", "sign"),
    (PL, FORMULA, "p1 and lparen p2 or not p3 rparen", "sign"),
    (FOL, QUANTIFIED, "∀ means everyone", "sign"),
    (PL, FORMULA, "It says (p1 and (p2 or not p3)).", "formula"),
    (PL, FORMULA, "It says that p1 and (p2 or not p3) hold.", "formula"),
    (PL, FORMULA, "P1 AND (P2 OR NOT P3)", "formula"),
    (PL, "(p1 ∧ p2 ∨ ¬p3)", "p1 and p2 or not p3", "formula"),
    (FOL, QUANTIFIED, "forall x1 (likes(x1, ann) implies (tall(x1) and kind(ann)))", "formula"),
    (RE, "(01)*0", "It is (01)*0.", "expression"),
    (RE, "(01)*0", "The star of 01: (01) *", "expression"),
    (RE, "0*1", "0^{*} and 1", "expression"),
    (RE, "(01)*(10)*", "((01) again", "expression"),
    (PL, FORMULA, "x " * MAX_CHARACTERS + FORMULA, "too_long"),
    (PL, FORMULA, "(a)" * 300 + "(p1 and (p2 or not p3))", "too_long"),
    (RE, "0*", "z" * MAX_CHARACTERS + "0*", "too_long"),
]


@pytest.mark.parametrize(("language", "formula", "description"), HONEST)
def test_a_description_may_use_names_and_english(language: Language, formula: str, description: str) -> None:
    assert find_leak(formula, language, description) is None


@pytest.mark.parametrize(("language", "formula", "description", "reason"), LEAKING)
def test_a_copy_is_found(language: Language, formula: str, description: str, reason: str) -> None:
    leak = find_leak(formula, language, description)
    assert leak is not None
    assert leak.reason == reason


def test_a_formula_that_is_none_is_an_error() -> None:
    with pytest.raises(FormulaError):
        find_leak("p1 ∧", PL, "p1 holds")
