"""What a description may say of a formula, and what gives the formula away."""

import pytest

from critics.formats.equivalence.language import Language, read_formula
from critics.formats.equivalence.leak import MAX_CHARACTERS, find_leak
from critics.replay.first_order.syntax import Atom, Compound, Formula, FormulaError, Not
from rollout.formulas.generator import generate
from rollout.formulas.languages import (
    FirstOrderFormulas,
    Formulas,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
)
from tools.seeds.descriptions import describe

PL, CNF, FOL, RE = Language.PROPOSITIONAL, Language.THREE_CNF, Language.FIRST_ORDER, Language.REGEX
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
    (PL, "(p1 ∨ ¬p2)", "Without p1, no p2."),
    (PL, "((p1 ∨ p2) ∧ p3)", "p1 or p2, and p3"),
    (PL, "(p1 ∧ p2 ∧ p3)", "- p1\n- p2, p3 hold"),
    (PL, "(p1 ∧ p2 ∧ (p3 ∨ ¬p4))", "Three things are so: p1, p2, p3 or else not p4."),
    (PL, "(p1 ∧ p2 ∧ (p3 ∨ ¬p4))", "i) p1 holds; ii) p2 holds; iii) p3 or not-p4 holds."),
    (PL, "(p1 ∧ p2 ∧ (p3 ∨ ¬p4))", "`p1`, `p2` are asserted; moreover, `p4` entails `p3`."),
    (CNF, "((p1 ∨ ¬p2) ∧ (¬p4 ∨ p5 ∨ p6))", "Clause 1: p1 or not p2. Clause 2: not p4, p5, or p6. Both hold."),
    (FOL, "∃x1. (admire(x1, maria) ∧ ¬sleep(x1))", "Somebody who admires Maria doesn't sleep."),
    (RE, "(01*)*1", "A 0 followed by 1s, repeated; ends in 1"),
    (PL, FORMULA, "p1 is true, and (a) p2 is true or (b) p3 is false."),
    (PL, FORMULA, "$p_1$ holds; so does $p_{2}$, unless P3 doesn't."),
    (PL, FORMULA, "● p₁ is true\n● p2 is true or p13 is false"),
    (PL, "p1", "p1"),
    (PL, FORMULA, " "),
    (FOL, "∀x1. (likes(x1, ann) → tall(x1))", "For every y, if y likes Ann then y is tall."),
    (FOL, "(carry(ann, bob) ∧ ¬run(cid))", "Ann carried Bob, Cid never ran."),
    (RE, "01*", "The regex matches a '0' followed by any number (including none) of '1's."),
    (RE, "0*1", "The Kleene star of 0, then 1"),
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
    (PL, FORMULA, "p1 🤝 p2 🙃 p3", "sign"),
    (PL, FORMULA, "p1 with p2 or p̄3", "sign"),
    (PL, FORMULA, "p1 + p2 -p3", "sign"),
    (PL, FORMULA, "and p1 or p2 not p3", "formula"),
    (PL, FORMULA, "It says that and p1 or p2 not p3 in the end.", "formula"),
    (PL, FORMULA, "Conjunction (p1, disjunction (p2, negation (p3)))", "formula"),
    (PL, FORMULA, "p3 not p2 or p1 and", "formula"),
    (PL, FORMULA, "It is so: the p1 of p2 in p3.", "formula"),
    (PL, FORMULA, "ka p1 la p2 ma p3", "formula"),
    (PL, FORMULA, "p1 und p2 oder nicht p3", "formula"),
    (PL, "(p1 ∧ p2 ∧ (p3 ∨ p4))", "go p1 go p2 by p3 p4", "formula"),
    (PL, "(p1 ∧ p2)", "and p1 p2", "formula"),
    (FOL, QUANTIFIED, "for x1 zork likes x1 ann blip tall x1 kind ann", "formula"),
    (PL, FORMULA, "p1p2Ap3NC", "code"),
    (PL, "(p1 ∧ (p2 ∨ p3))", "the conjunction of p1 the disjunction of p2 p3", "code"),
    (PL, FORMULA, "AndP1OrP2NotP3", "code"),
    (PL, FORMULA, "and_p1_or_p2_not_p3", "code"),
    (PL, FORMULA, "The formula in another notation is K of p1 and A of p2 and N of p3", "code"),
    (PL, FORMULA, "So: p1; p2, .. p3'", "code"),
    (PL, FORMULA, "p1 is so. zork p2 blip p3 flug.", "code"),
    (PL, FORMULA, "c p1 b p2 d p3 of it", "code"),
    (FOL, QUANTIFIED, "likesx1ann C tallx1 K kindann", "code"),
    (RE, "(01)*0", "0s10gs", "code"),
    (RE, "0*1*", "0 1", "code"),
    (RE, "(01)*0", "star group zero one end zero", "expression"),
    (RE, "(01)*0", "open bracket 0 1 close bracket star 0", "expression"),
    (RE, "0*1*", "zero plop one plop", "expression"),
    (RE, "0*1*", "0★1★", "sign"),
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


def test_a_formula_that_would_take_minutes_to_look_for_is_not_looked_for() -> None:
    formula = "p1"
    for number in range(100):
        formula = f"({formula} {'∧∨'[number % 2]} p{number % 12})"
    leak = find_leak(formula, PL, "p1 is true")
    assert leak is not None
    assert leak.reason == "too_long"


@pytest.mark.parametrize("kind", [PropositionalFormulas, ThreeCnfFormulas, FirstOrderFormulas, RegularExpressions])
def test_plain_descriptions_of_generated_formulas_give_nothing_away(kind: type[Formulas]) -> None:
    for problem in generate(kind(), 30, seed=4):
        assert problem.formal is not None
        language, text = Language(problem.meta["language"]), problem.formal.goal
        assert find_leak(text, language, describe(text, language)) is None


@pytest.mark.parametrize("order", ["prefix", "postfix"])
def test_every_larger_formula_leaks_in_polish_notation_whatever_the_words(order: str) -> None:
    for problem in generate(PropositionalFormulas(categories=(3, 7)), 24, seed=4):
        assert problem.formal is not None
        said = " ".join(_polish(read_formula(problem.formal.goal, PL).formula, order))
        assert find_leak(problem.formal.goal, PL, f"{said}.") is not None


def _polish(formula: Formula, order: str) -> list[str]:
    match formula:
        case Not(body):
            sign, parts = "hardly", [body]
        case Compound(operator, operands):
            sign, parts = {"∧": "always", "∨": "maybe"}[operator.value], list(operands)
        case _:
            assert isinstance(formula, Atom)
            return [formula.predicate]
    inner = [word for part in parts for word in _polish(part, order)]
    return [sign, *inner] if order == "prefix" else [*inner, sign]


def test_a_formula_that_is_none_is_an_error() -> None:
    with pytest.raises(FormulaError):
        find_leak("p1 ∧", PL, "p1 holds")
