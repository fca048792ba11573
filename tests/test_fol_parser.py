"""The first-order parser: its policies, what it mends and what it refuses, on published formulas and on nonsense."""

import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.formats.fol.program import read_program
from critics.replay.first_order.parser import MAX_DEPTH, Parsed, parse
from critics.replay.first_order.reader import canonical
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
    flattened,
    key,
    open_names,
    signature,
)
from critics.replay.first_order.tokens import ANNOTATED, GENERATED, Notation

READ = {
    "precedence": ("¬p ∧ q ∨ r ⊕ s → t ↔ u", "((((¬p ∧ q) ∨ r) ⊕ s) → t) ↔ u"),
    "exclusive or above the arrow": ("p → q ⊕ r", "p → (q ⊕ r)"),
    "arrows to the right": ("p → q → r", "p → (q → r)"),
    "groups as written": ("(p ∧ q) ∧ r ∧ s", "(p ∧ q) ∧ r ∧ s"),
    "a stop reaches far": ("∀x. P(x) → Q(x)", "∀x. (P(x) → Q(x))"),
    "no stop reaches a bracket": ("∀x (P(x)) → Q(a)", "(∀x. P(x)) → Q(a)"),
    "a bracket ends a scope": ("(∀x. P(x)) → Q(a)", "(∀x. P(x)) → Q(a)"),
    "NLTK": ("all x. (P(x) & -Q(x) -> exists y. R(x,y))", "∀x. ((P(x) ∧ ¬Q(x)) → (∃y. R(x, y)))"),
    "NLTK, several at once": ("all x y.(R(x,y) <-> R(y,x))", "∀x. ∀y. (R(x, y) ↔ R(y, x))"),
    "an equality denied": ("-x1 = f(b) | a != b", "x1 ≠ f(b) ∨ a ≠ b"),
    "LaTeX": (r"$\forall x\, \left( P(x) \Rightarrow \neg Q(x) \right)$", "∀x. (P(x) → ¬Q(x))"),
    "LaTeX, names in another face": (r"\forall x \, (\text{P}(x) \to \lnot\mathrm{Cat}(x))", "∀x. (P(x) → ¬Cat(x))"),
    "LaTeX, indices": (r"\exists x_{1}. P_{12}(x_{1})", "∃x1. P12(x1)"),
    "LaTeX, sizes and line ends": (r"\bigl( P(a) \land Q(a) \bigr) \\", "P(a) ∧ Q(a)"),
    "LaTeX, escaped marks": (r"Assigned\_to(a, b) \& Q(a)", "Assigned_to(a, b) ∧ Q(a)"),
    "LaTeX, a word in text": (r"P(a) \text{ and } \text{not } Q(a)", "P(a) ∧ ¬Q(a)"),
    "look-alikes": ("Ɐx（P（x）➔ ￢Q（x，a））", "∀x. (P(x) → ¬Q(x, a))"),
    "look-alikes of negation and disjunction": ("−P(a) ∣ ∼Q(a)", "¬P(a) ∨ ¬Q(a)"),
    "one fence in prose": ("Here it is:\n\n```\nP(a)\n```\n\nIt says that a is P.", "P(a)"),
    "one display in prose": ("The formula is\n$$P(a) \\land Q(a)$$\nas asked.", "P(a) ∧ Q(a)"),
    "words": ("for all x, P(x) implies not Q(x)", "∀x. (P(x) → ¬Q(x))"),
    "a name in brackets": ("∃(x, y) P(x) ∧ R(a)", "(∃x. ∃y. P(x)) ∧ R(a)"),
    "marks in names": ("Made(women’s_cup, gpt-3) ∧ In(mr.smith, c++)", "Made(women’s_cup, gpt-3) ∧ In(mr.smith, c++)"),
    "no marks in variables": ("∀x.∀y.R(x,y)", "∀x. ∀y. R(x, y)"),
    "a quoted name": ('Name(a, "Ada B. (1)")', 'Name(a, "Ada B. (1)")'),
    "a quoted name is not bound": ('∀x. R(x, "x")', '∀x. R(x, "x")'),
    "the inner binder wins": ("∀x. (P(x) → ∃x. Q(x))", "∀x. (P(x) → (∃x. Q(x)))"),
    "letters as predicates": ("∀x (V(x) → v(x))", "∀x. (V(x) → v(x))"),
    "a predicate that is called Exists": ("∀x (Exists(x) → P(x))", '∀x. ("Exists"(x) → P(x))'),
    "letters that look alike are not alike": ("P(а) ∧ P(a)", "P(а) ∧ P(a)"),
    "letters that are composed are one": ("P(e\u0301) ∧ P(é)", "P(é) ∧ P(é)"),
}  # fmt: skip
MENDED = {
    "∀x (P(x)) → Q(x)": ("∀x. (P(x) → Q(x))", ("quantifier_scope",)),
    "∀x ∃y (R(x, y)) → Q(x, y)": ("∀x. ∃y. (R(x, y) → Q(x, y))", ("quantifier_scope",)),
    "P(a) ^ Q(a)": ("P(a) ∧ Q(a)", ("caret",)),
    "P(a).": ("P(a)", ("final_stop",)),
    "¬P(a))": ("¬P(a)", ("bracket",)),
    "∀x (P(x) → (Q(x) ∨ R(x))": ("∀x. (P(x) → (Q(x) ∨ R(x)))", ("bracket", "quantifier_scope")),
}
REFUSED = {
    "nothing": ("", "empty"),
    "two formulas": ("P(a) Q(a)", "syntax"),
    "two fences": ("```\nP(a)\n```\nand\n```\nQ(a)\n```", "character"),
    "prose that takes a formula back": ("It is not the case that\n```\nP(a)\n```", "character"),
    "a sign before a fence": ("¬\n```\nP(a)\n```", "character"),
    "a blank of LaTeX that is a negation elsewhere": (r"\forall x~(P(x) \to Q(x))", "character"),
    "two words in one name of LaTeX": (r"\text{Dog and Cat}(a)", "character"),
    "a fraction": (r"\frac{P(a)}{Q(a)}", "character"),
    "a list of indices": ("p_{1,2} ∧ p3", "character"),
    "half an index": ("P_{1(a)", "character"),
    "a turnstile": (r"P(a) \vdash Q(a)", "character"),
    "a connective left out": ("∃x (P(x) Q(a, x) ∧ R(x))", "syntax"),
    "two words for one name": ("P(captain america)", "syntax"),
    "a bracket that could stand in two places": ("(P(a) ∧ (Q(a) ∨ R(a))", "syntax"),
    "brackets of two kinds": ("(P(a) ∧ Q(a)]", "syntax"),
    "no argument": ("P()", "syntax"),
    "an argument left out": ("P(a,)", "syntax"),
    "a list": ("P([a, b])", "syntax"),
    "a bounded quantifier": ("∀x ∈ D. P(x)", "character"),
    "a number as a variable": ("∀1. P(1)", "syntax"),
    "an order": ("x ≤ y", "character"),
    "a quantified predicate": ("∀P. P(a)", "syntax"),
    "a variable as a formula": ("∀x. (x → P(x))", "syntax"),
    "a formula as a term": ("P(¬Q(a))", "syntax"),
    "a quantifier as a function": ("Exists(y, P(y))", "syntax"),
    "a connective as a function": ("And(P(a), Q(a))", "syntax"),
    "a truth value for a formula": ("P(a) → False", "syntax"),
    "a truth value for an object": ("Sour(max, False)", "syntax"),
    "two arities": ("P(a) ∧ P(a, b)", "arity"),
    "a predicate as a function": ("P(Q(a)) ∧ Q(a)", "role"),
    "a prose answer": ("I cannot do that.", "syntax"),
    "a zero-width space in a name": ("P\u200bQ(a)", "syntax"),
    "text that turns around": ("P(\u202ea)", "character"),
    "half a surrogate pair": ("P(\ud800)", "character"),
    "half a surrogate pair in quotes": ('P("\ud800")', "character"),
    "SMT-LIB": ("P(a) (assert false)", "syntax"),
    "SMT-LIB in bars": ("P(|a|)", "syntax"),
}
REASONS = ("arity", "character", "empty", "role", "syntax", "too_deep", "too_long")
FLOODS = {
    "brackets": "(" * 100_000,
    "fewer brackets": "(" * 1_900 + "P(a)" + ")" * 1_900,
    "negations": "¬" * 3_000 + "P(a)",
    "arrows": "p → " * 1_500 + "p",
    "exclusive ors": "p ⊕ " * 1_500 + "p",
    "terms": "P(" + "f(" * 1_500 + "a" + ")" * 1_501,
    "quantifiers": "∀x " * 1_500 + "P(x)",
    "variables": "∀" + ",".join(["x"] * 1_500) + ". P(x)",
    "quotes": '"' * 19_000,
    "labels": "answer: " * 2_000,
    "fences": "`" * 19_000,
    "blanks": "P(a)" + " " * 15_000 + "!",
    "a bracket that is missing": "(" + "∀x (P(x)) ∧ " * 9 + "Q(x)",
}


@pytest.mark.parametrize("case", READ)
def test_a_formula_reads_as_its_notation_means_it(case: str):
    text, expected = READ[case]
    parsed = parse(text)
    assert (canonical(parsed.formula), parsed.repairs) == (expected, ())


@pytest.mark.parametrize("text", MENDED)
def test_what_has_one_meaning_is_mended_and_said_to_be(text: str):
    expected, repairs = MENDED[text]
    parsed = parse(text)
    assert (canonical(parsed.formula), parsed.repairs) == (expected, repairs)


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_or_two_meanings_is_refused(case: str):
    text, reason = REFUSED[case]
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize("text", ["P(a) ^ Q(a)", "¬P(a))", "(P(a) ∧ Q(a)"])
def test_where_compliance_is_measured_nothing_is_mended(text: str):
    with pytest.raises(FormulaError):
        parse(text, GENERATED)


def test_names_of_a_generated_vocabulary_do_not_depend_on_case():
    assert parse("Pred1(P2) ∧ p₁", GENERATED) == parse("pred1(p2) AND P1", GENERATED)
    assert parse("P(A)") != parse("P(a)")


def test_indices_of_latex_are_digits_of_a_generated_name():
    said = parse(r"$p_{1} \land \neg p_2$", GENERATED).formula
    assert said == parse("p1 ∧ ¬p2", GENERATED).formula
    # Without another sign of LaTeX a mark is part of its name.
    assert parse("p_1 ∧ p1", GENERATED).formula != parse("p1 ∧ p1", GENERATED).formula


def test_an_error_says_where_it_is():
    with pytest.raises(FormulaError, match="character 14") as caught:
        parse("  `P(a) ∧ Q(a] `")
    assert caught.value.position == 13


def formula_or_error(text: str, notation: Notation) -> Formula | FormulaError:
    """Return what is read, or the error; anything else that is raised fails the test."""
    try:
        return parse(text, notation).formula
    except FormulaError as error:
        return error


@pytest.mark.parametrize("case", FLOODS)
@pytest.mark.parametrize("notation", [ANNOTATED, GENERATED], ids=["annotated", "generated"])
def test_a_flood_ends_soon_and_in_a_formula_or_an_error(case: str, notation: Notation):
    start = time.process_time()
    found = formula_or_error(FLOODS[case], notation)
    assert time.process_time() - start < 2
    if isinstance(found, FormulaError):
        assert found.reason in REASONS


def test_the_depth_that_is_allowed_can_be_printed_compared_and_flattened():
    deep = parse("¬(" * (MAX_DEPTH // 2 - 2) + "P(a)" + ")" * (MAX_DEPTH // 2 - 2)).formula
    assert parse(canonical(deep)).formula == deep == flattened(deep)
    assert key(deep) == key(parse("P(a)").formula)


def test_free_variables_stay_free_and_are_reported():
    def names(text: str) -> tuple[str, ...]:
        return open_names([parse(text).formula])

    assert names("P(x)") == ("x",)
    assert names("∃x ∃x (P(x) ∧ Q(y))") == ("y",)
    assert names("(∀a. P(a)) ∧ P(a)") == ("a",)
    assert names("∀x. R(x, a) ∧ Grade(k) ∧ Born(x, y1995)") == ()


def test_keys_ignore_names_of_variables_order_groups_and_double_negation():
    def same(one: str, other: str) -> bool:
        return key(parse(one).formula) == key(parse(other).formula)

    assert same("∀x (P(x) ∧ (Q(x) ∧ R(x)))", "∀y. R(y) ∧ P(y) ∧ ¬¬Q(y)")
    assert same("a = b ↔ p", "p ↔ b = a")
    assert not same("p → q", "q → p")
    assert not same("∀x. ∃y. R(x, y)", "∀y. ∃x. R(x, y)")
    assert not same("∀x. P(x)", '∀x. P("x")')
    assert not same("∀x. ∀x. P(x)", "∀x. ∀y. P(x)")


def test_symbols_have_name_spaces_of_their_own():
    used = signature([parse("p ∧ P(p) ∧ Q(f(a)) ∧ R(f)").formula])
    assert (used.propositions, used.predicates) == ({"p"}, {"P": 1, "Q": 1, "R": 1})
    assert (used.functions, used.constants) == ({"f": 1}, {"p", "a", "f"})


NAMES = st.sampled_from(
    ["a", "b", "x", "cat", "gpt-3", "c++", "é", "and", "Exists", "true", "v", "Ada B.", "1st", "x.y"]
)
VARIABLES = st.sampled_from(["x", "y", "x1", "cat", "v"])


def terms(bound: tuple[str, ...]) -> st.SearchStrategy[Term]:
    leaves: st.SearchStrategy[Term] = NAMES.map(Constant)
    if bound:
        leaves |= st.sampled_from(bound).map(Variable)
    return st.recursive(
        leaves,
        lambda inner: st.builds(lambda f, a: Application(f + "f", (a,)), NAMES, inner),
        max_leaves=3,
    )


def formulas(bound: tuple[str, ...] = (), depth: int = 4) -> st.SearchStrategy[Formula]:
    leaves = st.one_of(
        NAMES.map(lambda name: Atom(name + "p")),
        st.builds(lambda name, one, other: Atom(name, (one, other)), NAMES, terms(bound), terms(bound)),
        st.builds(Equality, terms(bound), terms(bound)),
    )
    if depth == 0:
        return leaves
    below = st.deferred(lambda: formulas(bound, depth - 1))
    groups = st.builds(
        lambda operator, operands: Compound(operator, tuple(operands)),
        st.sampled_from([Operator.AND, Operator.OR]),
        st.lists(below, min_size=2, max_size=4),
    )
    pairs = st.builds(
        lambda operator, one, other: Compound(operator, (one, other)),
        st.sampled_from([Operator.XOR, Operator.IMPLIES, Operator.IFF]),
        below,
        below,
    )
    quantified = VARIABLES.flatmap(
        lambda name: st.builds(
            lambda quantifier, body: Quantified(quantifier, name, body),
            st.sampled_from(list(Quantifier)),
            formulas((*bound, name), depth - 1),
        )
    )
    return st.one_of(leaves, below.map(Not), groups, pairs, quantified)


@given(formulas())
@settings(max_examples=150, deadline=None)
def test_the_canonical_text_reads_as_the_same_tree(formula: Formula):
    text = canonical(formula)
    parsed = parse(text)
    assert (parsed.formula, parsed.repairs) == (formula, ())
    assert canonical(parsed.formula) == text
    assert key(flattened(formula)) == key(formula)


PIECES = st.sampled_from(
    [*"∀∃∄¬∧∨⊕→↔()[],.:=^-+'\"`$\\{}|&~!xyPQa1 \n", "all ", "exists ", "for all", "not ", " v ", "P(x)", "∀x ", "x.y",
     "\\land", "<->", "->", "Answer:", "```", "\u200b", "\ud800", "é", "True"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_formula_or_an_error(text: str):
    for notation in (ANNOTATED, GENERATED):
        found = formula_or_error(text, notation)
        if isinstance(found, FormulaError):
            assert found.reason in REASONS
        else:
            assert formula_or_error(canonical(found), notation) == found


@given(st.lists(PIECES | st.sampled_from(["Premises:\n", "Conclusion:\n", "FOL:", "\n"]), max_size=40).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_text_is_a_program_or_an_error(text: str):
    with suppress(FormulaError):
        program = read_program(text)
        assert program.premises
        assert [parse(canonical(formula)).formula for formula in program.formulas()] == [*program.formulas()]


def test_every_torture_case_goes_the_right_way(shared: Path):
    lines = (shared / "data" / "formula_torture.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["language"] != "regex"]
    assert len(cases) == 64
    for case in cases:
        expected = case["expected"].get("parse_equal_to")
        try:
            found = flattened(parse(case["text"], GENERATED).formula)
        except FormulaError:
            found = None
        assert found == (None if expected is None else flattened(parse(expected, GENERATED).formula)), case


def test_every_generated_formula_is_printed_as_it_was(shared: Path):
    with gzip.open(shared / "data" / "equivalence_pairs.jsonl.gz", "rt", encoding="utf-8") as file:
        pairs = [pair for pair in map(json.loads, file) if pair["language"] != "regex"]
    assert len(pairs) == 1_100
    for text in [pair[side] for pair in pairs[::5] for side in ("left", "right")]:
        formula = parse(text, GENERATED).formula
        assert canonical(formula) in (text, text[1:-1])


def parsed_or_error(text: str) -> Parsed | FormulaError:
    try:
        return parse(text)
    except FormulaError as error:
        return error


def folio(shared: Path, name: str) -> Iterator[str]:
    data = (shared / "data" / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    for record in map(json.loads, text.splitlines()):
        yield from record["premises_fol"]
        yield from [record["conclusion_fol"]] if "conclusion_fol" in record else []


@pytest.mark.parametrize(
    ("name", "num_formulas", "num_refused", "repairs"),
    [
        ("folio_train.jsonl.gz", 5_239, 25, {"quantifier_scope": 48, "bracket": 18, "caret": 3, "final_stop": 1}),
        ("folio_validation_partA.jsonl", 495, 0, {"bracket": 4}),
    ],
)
def test_folio_formulas_parse_with_repairs_counted(shared: Path, name: str, num_formulas, num_refused, repairs):
    texts = Counter(folio(shared, name))
    found: Counter[str] = Counter()
    for text, times in texts.items():
        read = parsed_or_error(text)
        if isinstance(read, FormulaError):
            assert read.position is not None, text
            found["refused"] += times
            continue
        assert parse(canonical(read.formula)) == Parsed(read.formula, ())
        found.update(list(read.repairs) * times)
    assert texts.total() == num_formulas
    assert found == Counter({"refused": num_refused, **repairs})
