"""Formulas from grammars: what the generators promise, checked with the critic's own readers and deciders."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest

from critics.errors import InputError
from critics.formats.equivalence.critic import decide, read_pair
from critics.formats.equivalence.decision import is_constant as is_seen_constant
from critics.formats.equivalence.language import Language, read_expression, read_formula, read_regex
from critics.formats.equivalence.sampling import Equivalent, truth_table
from critics.problem import Problem
from critics.replay.first_order.syntax import Atom, Compound, Not, Quantified, Variable, subformulas
from rollout.formulas import languages
from rollout.formulas.derivation import (
    FIRST_ORDER,
    PROPOSITIONAL,
    REGEX,
    THREE_CNF,
    automaton_sizes,
    draw,
    has_derivation,
    height,
    read_grammar,
    symbols,
    uses,
)
from rollout.formulas.generator import generate
from rollout.formulas.languages import (
    EnglishFirstOrderFormulas,
    FirstOrderFormulas,
    Formulas,
    OwnGrammar,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
)
from rollout.formulas.sameness import is_constant, names_key, order_key
from rollout.problems.catalogue import LANGUAGES, QUESTIONS, Split, content_key, family

PACKAGED: Sequence[type[Formulas]] = (
    PropositionalFormulas,
    ThreeCnfFormulas,
    FirstOrderFormulas,
    RegularExpressions,
    OwnGrammar,
)
SPLITS: Sequence[Split] = ("pretrain", "train", "develop", "test")


def made(config: Formulas, num: int, seed: int = 0, start: int = 0) -> list[Problem]:
    return list(generate(config, num, seed=seed, start=start))


def formula_of(problem: Problem) -> str:
    assert problem.formal is not None
    return problem.formal.goal


def propositional(text: str) -> Any:
    return read_formula(text, Language.PROPOSITIONAL).formula


def first_order(text: str) -> Any:
    return read_formula(text, Language.FIRST_ORDER).formula


# -- grammars and derivations


@pytest.mark.parametrize(
    ("grammar", "by", "values"),
    [
        (PROPOSITIONAL, "operators", range(41)),
        (THREE_CNF, "operators", range(2, 60, 3)),
        (FIRST_ORDER, "operators", range(38)),
        (REGEX, "depth", range(2, 41)),
        (PROPOSITIONAL, "depth", range(1, 20)),
    ],
)
def test_a_derivation_has_the_number_that_was_asked_for(grammar, by, values):
    rng = random.Random(1)
    for value in values:
        found = draw(grammar, by, value, rng)
        assert found is not None
        assert height(found) <= 40
        assert (sum(rule.operators for rule in uses(found)) if by == "operators" else height(found)) == value


def test_categories_that_no_derivation_reaches_have_none():
    assert not has_derivation(THREE_CNF, "operators", 3)
    assert draw(THREE_CNF, "operators", 3, random.Random(0)) is None
    assert draw(REGEX, "depth", 1, random.Random(0)) is None


def test_every_derivation_of_a_category_is_drawn():
    rng = random.Random(3)
    drawn = {"".join(symbols(found)) for _ in range(400) if (found := draw(PROPOSITIONAL, "operators", 1, rng))}
    signed = ["v", "¬v"]
    joined = {f"({a}{sign}{b})" for a in signed for b in signed for sign in "∧∨"}
    assert drawn == {*joined, "(¬¬v)"}


def test_a_sign_before_a_name_is_no_operator_and_quantifiers_are_none():
    grammar = read_grammar({"S": "( S ∧ ¬ S ) | ¬ v | ( ∀ f . S ) | ( S → S )"})
    assert [rule.operators for rule in grammar.rules["S"]] == [2, 0, 0, 1]


def test_a_bar_with_a_backslash_is_the_sign():
    rules = read_grammar({"S": r"( S \| S ) | a"}).rules["S"]
    assert [rule.symbols for rule in rules] == [("(", "S", "|", "S", ")"), ("a",)]


@pytest.mark.parametrize("alternatives", [{}, {"S": "( S ∧ T ) | v"}, {"S": "q"}])
def test_a_grammar_that_cannot_be_used_is_refused(alternatives):
    with pytest.raises(InputError, match="grammar"):
        read_grammar(alternatives)


# -- the data sets


@pytest.mark.parametrize("kind", PACKAGED)
def test_an_item_depends_on_seed_and_index_alone(kind):
    first, longer = made(kind(), 30, seed=4), made(kind(), 60, seed=4)
    assert longer[:30] == first
    assert made(kind(), 10, seed=4, start=20) == longer[20:30]
    assert made(kind(), 30, seed=5) != first


@pytest.mark.parametrize("kind", PACKAGED)
def test_a_problem_is_read_back_as_it_was_made(kind):
    for problem in made(kind(split="test"), 60):
        language = Language(problem.meta["language"])
        read = read_expression(formula_of(problem), language, problem.meta.get("alphabet", "01"))
        if language is not Language.REGEX:
            parts = list(subformulas(read))  # type: ignore[arg-type]
            joins = sum(len(part.operands) - 1 for part in parts if isinstance(part, Compound))
            nots = sum(isinstance(part, Not) and not isinstance(part.body, Atom) for part in parts)
            assert joins + nots == problem.meta["operators"]
        assert problem.meta["category"] == problem.meta[problem.meta["by"]]
        assert problem.answer == "true"
        assert problem.id.startswith(problem.dataset)


@pytest.mark.parametrize("kind", PACKAGED)
def test_categories_are_balanced(kind):
    config = kind(categories=tuple(kind().categories)[-5:])
    counts = Counter(problem.meta["category"] for problem in made(config, 50))
    assert set(counts.values()) == {10}


def test_a_category_without_more_formulas_leaves_its_turn_to_the_others():
    config = PropositionalFormulas(categories=(0, 3), split="pretrain")
    counts = Counter(problem.meta["category"] for problem in made(config, 60))
    assert 0 < counts[0] < 24
    assert counts[3] == 60 - counts[0]


def test_what_there_is_not_is_an_error_that_says_so():
    with pytest.raises(InputError, match=r"no more than \d+ such formulas"):
        made(PropositionalFormulas(categories=(0,)), 100)


@pytest.mark.parametrize("kind", PACKAGED)
def test_splits_have_no_formula_in_common_whatever_the_seed(kind):
    found = {
        split: {content_key(p) for seed in (0, 1) for p in made(kind(split=split), 80, seed=seed)} for split in SPLITS
    }
    assert not [pair for pair in combinations(SPLITS, 2) if found[pair[0]] & found[pair[1]]]


def test_splits_have_no_formula_in_common_up_to_order():
    keys = {
        split: {order_key(propositional(formula_of(p))) for p in made(PropositionalFormulas(split=split), 120)}
        for split in SPLITS
    }
    assert not [pair for pair in combinations(SPLITS, 2) if keys[pair[0]] & keys[pair[1]]]


def test_no_propositional_formula_is_constant_by_its_truth_table():
    for problem in made(PropositionalFormulas(), 150):
        names = problem.meta["propositions"]
        assert truth_table(propositional(formula_of(problem)), names) not in (0, (1 << (1 << len(names))) - 1)


def test_no_first_order_formula_is_seen_to_be_constant():
    assert not [p.id for p in made(FirstOrderFormulas(), 100) if is_seen_constant(first_order(formula_of(p)))]


def test_constant_formulas_come_where_they_are_wanted():
    config = PropositionalFormulas(
        categories=(1, 2), constant=True, num_propositions=2, distinct="text", split="pretrain"
    )
    formulas = [propositional(formula_of(problem)) for problem in made(config, 40)]
    assert any(map(is_constant, formulas))


@pytest.mark.parametrize("kind", [PropositionalFormulas, ThreeCnfFormulas, RegularExpressions])
def test_without_duplicates_up_to_names_there_are_none_that_renaming_makes_equal(kind):
    config = kind(distinct="names", categories=tuple(kind().categories)[2:5])
    texts = [formula_of(problem) for problem in made(config, 40)]
    assert len(set(map(_numbered, texts))) == 40


def _numbered(text: str) -> str:
    """Number the names as they come: equal texts are duplicates; others may be."""
    names: dict[str, str] = {}
    signs = list(text) if text.strip("01*()") == "" else re.findall(r"\w+|\S", text)
    return " ".join(names.setdefault(s, str(len(names))) if s[0].isalnum() else s for s in signs)


def test_the_number_of_quantifiers_that_bind_is_a_stratum():
    problems = made(FirstOrderFormulas(categories=(5, 9), quantifiers=(0, 1, 2, 3)), 40)
    assert set(Counter(problem.meta["binding"] for problem in problems).values()) == {10}
    for problem in problems:
        found = [part for part in subformulas(first_order(formula_of(problem))) if isinstance(part, Quantified)]
        assert len(found) == problem.meta["quantifiers"] == problem.meta["binding"]


def test_without_strata_quantifiers_come_as_the_grammar_has_them():
    problems = made(FirstOrderFormulas(quantifiers=None), 120)
    assert {problem.meta["quantifiers"] for problem in problems} >= {0, 1, 2}
    assert any(problem.meta["binding"] < problem.meta["quantifiers"] for problem in problems)


def test_an_atom_with_one_argument_has_room_for_one_quantifier():
    config = FirstOrderFormulas(categories=(0,), quantifiers=(3,), arities=(1, 1))
    assert {problem.meta["binding"] for problem in made(config, 3)} == {1}


def test_three_cnf_is_clauses_of_three_literals():
    for problem in made(ThreeCnfFormulas(categories=(8,)), 10):
        formula = propositional(formula_of(problem))
        assert len(formula.operands) == 3
        assert all(len(clause.operands) == 3 for clause in formula.operands)


def test_automata_are_counted_without_their_sink():
    known = {"0": (2, 1, 0.5), "1*": (1, 1, None), "01": (3, 2, 0.3), "(0*1*)*": (1, 2, None), "0*1": (2, 2, 1.0)}
    for text, (states, edges, density) in known.items():
        found = automaton_sizes(read_regex(text), "01")
        assert found == {"states": states, "edges": edges, "density": density}


def test_letters_come_from_the_alphabet():
    (problem,) = made(RegularExpressions(categories=(30,), alphabet_size=3), 1)
    assert problem.meta["alphabet"] == "012"
    read_regex(formula_of(problem), "012")


def test_a_grammar_of_ones_own_has_quantifiers_inside():
    rules = {"S": "( ∃ f . S ) | ( S → S ) | ( S ↔ S ) | p"}
    given = {"logic": "first-order", "predicates": ("likes", "knows"), "objects": ("ann", "bob")}
    problems = made(OwnGrammar(rules=rules, categories=(2, 3), variable_share=0.9, **given), 60)  # type: ignore[arg-type]
    formulas = [first_order(formula_of(problem)) for problem in problems]
    assert any(isinstance(part, Quantified) for formula in formulas for part in subformulas(formula))
    bound = [problem for problem in problems if problem.meta["binding"]]
    assert bound
    assert all(problem.meta["signs"] == ["↔", "→"] or set(problem.meta["signs"]) == {"→", "↔"} for problem in problems)
    for formula in formulas:
        _assert_bound(formula, frozenset())


def _assert_bound(formula: Any, bound: frozenset[str]) -> None:
    match formula:
        case Atom(_, arguments):
            assert all(term.name in bound for term in arguments if isinstance(term, Variable))
        case Not(body):
            _assert_bound(body, bound)
        case Compound(_, operands):
            for operand in operands:
                _assert_bound(operand, bound)
        case Quantified(_, variable, body):
            _assert_bound(body, bound | {variable})


@pytest.mark.parametrize(
    ("kind", "keys", "word"),
    [
        (PropositionalFormulas, {"categories": ()}, "categories"),
        (ThreeCnfFormulas, {"categories": (3,)}, "categories"),
        (FirstOrderFormulas, {"quantifiers": (-1,)}, "quantifiers"),
        (FirstOrderFormulas, {"quantifiers": ()}, "quantifiers"),
        (FirstOrderFormulas, {"arities": (0, 1)}, "arities"),
        (FirstOrderFormulas, {"variable_share": 2.0}, "variable_share"),
        (RegularExpressions, {"alphabet_size": 11}, "alphabet_size"),
        (OwnGrammar, {"rules": {"S": "( S ∧ T )"}}, "grammar"),
        (OwnGrammar, {"logic": "first-order"}, "predicates"),
        (OwnGrammar, {"alphabet": "00"}, "alphabet"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(kind, keys, word):
    with pytest.raises(ValueError, match=word):
        kind(**keys)


@pytest.mark.parametrize(
    ("rule", "shape"),
    [
        ("( S ∧ ¬ S )", r"p ∧ ¬p"),
        ("¬ ( S ∧ S )", r"¬\(p ∧ p\)"),
        ("( ¬ S → S )", r"¬p → p"),
        ("( ¬ ¬ S )", r"¬¬p"),
    ],
)
def test_a_sign_belongs_to_what_it_stands_before(rule, shape):
    operators = sum(sign in "∧→¬" for sign in rule.split())
    names = tuple("p" * number for number in range(1, 9))
    (problem,) = made(OwnGrammar(rules={"S": f"{rule} | v"}, categories=(operators,), propositions=names), 1)
    assert re.fullmatch(shape.replace("p", "p+"), formula_of(problem))


def test_a_rule_that_writes_no_formula_is_an_error():
    with pytest.raises(InputError, match="is no formula"):
        made(OwnGrammar(rules={"S": "( S S ) | v"}, categories=(0,)), 30)


def test_the_catalogue_knows_the_languages_apart_from_the_questions():
    assert not LANGUAGES.keys() & QUESTIONS.keys()
    assert {name: family(name).configuration.name for name in LANGUAGES} == {name: name for name in LANGUAGES}


# -- English names


@pytest.fixture
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.formulas.languages.verbs", lambda: frozenset({"swim", "bake", "greet"}))
    monkeypatch.setattr("rollout.formulas.languages.first_names", lambda: ("Ann", "Bob", "Cleo", "Dan"))


@pytest.mark.usefixtures("english")
def test_english_formulas_draw_their_names_from_the_packages():
    problems = made(EnglishFirstOrderFormulas(num_predicates=2, num_objects=3), 40)
    assert {name for p in problems for name in p.meta["predicates"]} == {"swim", "bake", "greet"}
    assert max(len(p.meta["predicates"]) for p in problems) == 2
    assert max(len(p.meta["objects"]) for p in problems) == 3
    assert all(problem.meta["english"] for problem in problems)


def test_without_the_package_the_error_names_it(monkeypatch):
    languages.verbs.cache_clear()
    monkeypatch.setattr(languages, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"lemminflect.*certistar\[autoeval\]"):
        made(EnglishFirstOrderFormulas(), 1)


def test_packaged_names_can_stand_in_formulas():
    pytest.importorskip("faker")
    pytest.importorskip("lemminflect")
    verbs, names = languages.verbs(), languages.first_names()
    assert len(verbs) > 3_000
    assert len(names) > 400
    assert not {name.lower() for name in names} & verbs
    for problem in made(EnglishFirstOrderFormulas(), 20):
        first_order(formula_of(problem))


# -- keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p1 ∧ (p2 ∨ p3)", "(p3 ∨ p2) ∧ p1"),
        ("p1 ∧ (p2 ∧ p3)", "(p1 ∧ p2) ∧ p3"),
        ("p1 ↔ p2", "p2 ↔ p1"),
    ],
)
def test_order_does_not_count(one, other):
    from critics.replay.first_order.syntax import flattened

    assert order_key(flattened(propositional(one))) == order_key(flattened(propositional(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p1 ∧ p2", "p1 ∨ p2"),
        ("p1 → p2", "p2 → p1"),
        ("(p1 ∧ p2) ∨ (p3 ∧ p4)", "(p1 ∧ p3) ∨ (p2 ∧ p4)"),
        ("¬p1 ∧ p2", "p1 ∧ ¬p2"),
        ("¬(p1 ∧ p2)", "¬p1 ∧ p2"),
    ],
)
def test_what_means_something_else_has_another_key(one, other):
    assert order_key(propositional(one)) != order_key(propositional(other))


def test_bound_names_do_not_count_and_free_ones_do():
    assert order_key(first_order("∀x1. a(x1, b)")) == order_key(first_order("∀x2. a(x2, b)"))
    assert order_key(first_order("∀x1. a(x1, b)")) != order_key(first_order("∀x1. a(x1, c)"))
    assert order_key(first_order("∀x1. ∃x2. a(x1, x2)")) != order_key(first_order("∀x1. ∃x2. a(x2, x1)"))
    assert names_key(first_order("∀x1. a(x1, b)")) == names_key(first_order("∀x3. c(x3, d)"))


def test_renamed_formulas_share_a_key_and_others_do_not():
    assert names_key(propositional("p1 ∧ (p2 ∨ ¬p1)")) == names_key(propositional("(¬p7 ∨ p3) ∧ p7"))
    assert names_key(propositional("p1 ∧ (p2 ∨ ¬p1)")) != names_key(propositional("p1 ∧ (p2 ∨ ¬p2)"))
    assert names_key(propositional("p1 ∧ (p2 ∨ ¬p1)")) != names_key(propositional("p1 ∧ (p2 ∨ ¬p3)"))


def test_shuffled_and_renamed_formulas_always_share_a_key():
    rng = random.Random(5)
    for problem in made(PropositionalFormulas(categories=(4, 12, 20)), 30):
        formula = propositional(formula_of(problem))
        names = rng.sample([f"q{n}" for n in range(12)], 12)
        other = _renamed(formula, {f"p{n + 1}": name for n, name in enumerate(names)}, rng)
        assert names_key(formula) == names_key(other)


def _renamed(formula: Any, names: dict[str, str], rng: random.Random) -> Any:
    match formula:
        case Atom(predicate):
            return Atom(names[predicate])
        case Not(body):
            return Not(_renamed(body, names, rng))
        case Compound(operator, operands):
            shuffled = [_renamed(operand, names, rng) for operand in operands]
            rng.shuffle(shuffled)
            return Compound(operator, tuple(shuffled))


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("p1 ∨ ¬p1", True),
        ("p1 ∧ ¬p1", True),
        ("p1 ∧ ¬p2", False),
        ("a(b) ∧ ¬a(c)", False),
        ("a(b) ∨ ¬a(b)", True),
        ("∀x1. a(x1) ∨ ¬a(b)", False),
        ("∃x1. (a(x1) ∨ ¬a(b))", True),
        ("∀x1. ∃x2. (a(x1, x2) ∧ ¬a(x2, x1))", False),
    ],
)
def test_a_formula_is_kept_only_where_it_was_seen_to_hold_and_to_fail(text, constant):
    assert is_constant(first_order(text)) is constant


def test_equal_keys_mean_equivalent_formulas():
    problems = made(PropositionalFormulas(categories=(1, 2), distinct="text", split="pretrain"), 150)
    by_key: dict[int, list[str]] = {}
    for problem in problems:
        by_key.setdefault(order_key(propositional(formula_of(problem))), []).append(formula_of(problem))
    alike = [(texts[0], other) for texts in by_key.values() for other in texts[1:]]
    assert alike
    for one, other in alike:
        assert isinstance(decide(read_pair(Language.PROPOSITIONAL, one, other)), Equivalent)
