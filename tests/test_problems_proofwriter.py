from collections import Counter
from typing import Any

import pytest

from critics.problem import Formal, Problem
from critics.replay.formula import Literal, Rule, Statement, parse_literal, parse_statement
from critics.text.translators.regular import translate_proofwriter as translate
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket, content_key
from rollout.problems.proofwriter import ADJECTIVES, ANIMALS, NAMES, VERBS, ProofWriter, Style, generate, item

EVERYTHING = ProofWriter(depths=range(0, 7))
LETTERS = {"A": "true", "B": "false", "C": "unknown"}


def shallowest(theory: Formal) -> dict[str, int]:
    """Return everything that follows and its depth: by trying all objects on all rules, without the kernel."""
    statements = [parse_statement(text) for text in theory.axioms]
    depths = {str(s): 0 for s in statements if isinstance(s, Literal)}
    rules = [s for s in statements if isinstance(s, Rule)]
    objects = {str(a) for s in statements for part in literals(s) for a in part.arguments} - {"'x"}
    for depth in range(1, 100):
        new = {
            str(rule.conclusion.substitute({"'x": name}))
            for rule in rules
            for name in objects
            if all(str(premise.substitute({"'x": name})) in depths for premise in rule.premises)
        } - depths.keys()
        if not new:
            return depths
        depths |= dict.fromkeys(new, depth)
    raise AssertionError("no end")


def literals(statement: Statement) -> list[Literal]:
    return [statement] if isinstance(statement, Literal) else [*statement.premises, statement.conclusion]


def formal(problem: Problem) -> Formal:
    assert problem.formal is not None
    return problem.formal


def signed(problem: Problem) -> tuple[str, str]:
    """Return the goal and its negation as text."""
    goal = parse_literal(formal(problem).goal)
    return str(goal), str(goal.negated())


def test_an_item_depends_on_seed_and_index_alone():
    listed = list(generate(EVERYTHING, 30, seed=4))
    assert [item(EVERYTHING, i, seed=4) for i in range(29, -1, -1)][::-1] == listed
    assert list(generate(EVERYTHING, 5, seed=4, start=10)) == listed[10:15]
    assert item(EVERYTHING, 3, seed=5) != listed[3]


def test_answer_and_depth_are_what_an_independent_search_finds():
    for problem in generate(EVERYTHING, 210, seed=1):
        depths = shallowest(formal(problem))
        goal, negation = signed(problem)
        found = "true" if goal in depths else "false" if negation in depths else "unknown"
        assert found == LETTERS[problem.answer or ""]
        if found == "unknown":
            assert problem.meta["depth"] <= max(depths.values())
            assert problem.meta["hops"] is None
        else:
            assert problem.meta["depth"] == depths[goal if found == "true" else negation] <= problem.meta["hops"]


def test_no_theory_contradicts_itself():
    for problem in generate(ProofWriter(negation=(True,), extra_rules=(6, 8)), 60, seed=2):
        known = shallowest(formal(problem))
        assert not [fact for fact in known if f"(not {fact})" in known]


def test_every_sentence_is_read_back_as_its_axiom():
    for problem in generate(EVERYTHING, 60, seed=3):
        assert translate(problem.context, problem.question) == problem.formal
        sentences = problem.context.removesuffix(".").split(". ")
        assert len(sentences) == len(formal(problem).axioms)


def test_answers_are_balanced_at_every_depth():
    problems = list(generate(ProofWriter(depths=(0, 2, 5)), 180, seed=5))
    counts = Counter((p.meta["depth"], p.answer) for p in problems)
    assert counts == {(depth, answer): 20 for depth in (0, 2, 5) for answer in "ABC"}
    assert all(p.options == ("A) True", "B) False", "C) Unknown") for p in problems)


@pytest.mark.parametrize(("share", "num"), [(0.0, 0), (0.25, 15), (1.0, 60)])
def test_the_share_of_unknown_is_what_is_asked_for(share: float, num: int):
    answers = Counter(p.answer for p in generate(ProofWriter(unknown_share=share), 300, seed=6))
    assert answers["C"] == 5 * num
    assert 0 <= answers["A"] - answers["B"] <= 5


@pytest.mark.parametrize("style", ["attributes", "relations"])
def test_styles_have_the_objects_and_statements_they_name(style: Style):
    for problem in generate(ProofWriter(styles=(style,)), 40, seed=7):
        arities = {len(part.arguments) for a in formal(problem).axioms for part in literals(parse_statement(a))}
        assert arities == {1} if style == "attributes" else 2 in arities
        assert any(name in problem.context for name in NAMES) == (style == "attributes")
        assert any(f"the {animal}" in problem.context.lower() for animal in ANIMALS) == (style == "relations")


def test_without_negation_nothing_is_denied():
    problems = list(generate(ProofWriter(negation=(False,)), 40, seed=8))
    assert not [p for p in problems if "not" in p.context]
    assert [p for p in generate(ProofWriter(negation=(True,)), 40, seed=8) if "not" in p.context]


def test_the_sign_of_the_statement_does_not_give_the_answer_away_in_theories_with_negation():
    config = ProofWriter(depths=(1, 2, 3, 5), negation=(True,))
    signs = Counter((p.answer, formal(p).goal.startswith("(not")) for p in generate(config, 480, seed=9))
    for sign in (True, False):
        most = max(signs[answer, sign] for answer in "ABC")
        assert most < 0.5 * sum(signs[answer, sign] for answer in "ABC")


def test_that_a_rule_concludes_the_predicate_does_not_give_the_answer_away():
    problems = list(generate(ProofWriter(depths=(1, 2, 3, 5)), 480, seed=10))
    concluded = Counter(p.answer for p in problems if is_concluded(p))
    assert concluded["C"] > 0.7 * concluded["A"]


def is_concluded(problem: Problem) -> bool:
    goal = parse_literal(formal(problem).goal)
    rules = [s for s in map(parse_statement, formal(problem).axioms) if isinstance(s, Rule)]
    return goal.predicate in {rule.conclusion.predicate for rule in rules}


def test_splits_are_disjoint_by_content_whatever_the_seed():
    keys = {}
    for split in SPLIT_BUCKETS:
        config = ProofWriter(depths=(0, 1), facts=(1, 2), extra_rules=(0, 0), split=split)
        problems = [p for seed in (0, 1) for p in generate(config, 60, seed=seed)]
        assert all(content_bucket(p) in SPLIT_BUCKETS[split] for p in problems)
        keys[split] = {content_key(p) for p in problems}
    splits = list(keys)
    assert not any(keys[a] & keys[b] for a in splits for b in splits if a < b)


def test_the_densest_and_the_sparsest_theories_can_be_drawn():
    for facts, extra in [((1, 1), (0, 0)), ((12, 12), (12, 12)), ((1, 1), (12, 12))]:
        config = ProofWriter(depths=(0, 6), facts=facts, extra_rules=extra, split="test")
        assert len(list(generate(config, 12, seed=11))) == 12


def test_every_word_has_one_role():
    words = [w.lower() for w in NAMES] + [w for a in ANIMALS for w in a.split()] + [*ADJECTIVES, *VERBS]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    "bad",
    [
        {"depths": (-1,)},
        {"depths": (7,)},
        {"depths": ()},
        {"unknown_share": 1.1},
        {"styles": ()},
        {"negation": ()},
        {"facts": (0, 1)},
        {"facts": (3, 2)},
        {"extra_rules": (1, 13)},
    ],
)
def test_a_configuration_that_cannot_be_drawn_is_refused(bad: Any):
    with pytest.raises(ValueError, match=next(iter(bad))):
        ProofWriter(**bad)
