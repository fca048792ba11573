"""Refutation by ground instances: never of what has a model, and nearly always of what small theories contradict."""

import random

import pytest

from critics.replay.first_order import syntax as fo
from critics.replay.first_order.entailments import refuted
from critics.replay.first_order.parser import parse
from critics.replay.first_order.smtlib import script
from critics.replay.solvers import Budget, ask_z3


def formulas(*texts: str) -> list[fo.Formula]:
    return [parse(text).formula for text in texts]


@pytest.mark.parametrize(
    "texts",
    [
        ("∀x (Cat(x) → Warm(x))", "Cat(tom)", "¬Warm(tom)"),
        ("∀x ∃y Loves(x, y)", "∀x ∀y (Loves(x, y) → Happy(x))", "¬Happy(ann)"),
        ("∃x (Cat(x) ∧ ¬Warm(x))", "∀x (Cat(x) → Warm(x))"),
        ("∀x (P(x) ⊕ Q(x))", "P(a)", "Q(a)"),
        ("¬(P(a) ↔ Q(a))", "P(a)", "Q(a)"),
        ("a = b", "P(a)", "¬P(b)"),
        ("∀x x = a", "P(b)", "¬P(c)"),
        ("f(a) = b", "a = c", "P(b)", "¬P(f(c))"),
        ("∀x P(f(x))", "¬P(f(f(a)))"),
        ("¬∃x (P(x) ∨ ¬P(x))",),
        ("∀x ∀x P(x)", "¬P(a)"),
    ],
)
def test_what_contradicts_itself_is_refuted(texts: tuple[str, ...]) -> None:
    assert refuted(formulas(*texts))


@pytest.mark.parametrize(
    "texts",
    [
        ("∀x (Cat(x) → Warm(x))", "Cat(tom)", "¬Warm(rex)"),
        ("∃x P(x)", "¬P(a)"),  # the one that there is need not be a
        ("∀x ∃y Loves(x, y)", "¬Loves(a, a)"),
        ("∃x P(x)", "∃x ¬P(x)"),
        ("∀x (P(x) → ∃x ¬P(x))", "P(a)"),  # an inner variable hides the outer one
        ("∃y ∀x Loves(x, y)", "¬Loves(a, b)"),
        ("P(a)", "¬P(b)"),  # two names may name two objects
        ("∀x P(f(x))", "¬P(a)"),
        (),
    ],
)
def test_what_has_a_model_is_not_refuted(texts: tuple[str, ...]) -> None:
    assert not refuted(formulas(*texts))


def test_more_than_is_affordable_is_left_to_others() -> None:
    wide = "∀x1 ∀x2 ∀x3 ∀x4 (" + " ∨ ".join(f"P(x{n}, a{n})" for n in range(1, 5)) + ")"
    assert not refuted(formulas(wide, *(f"¬P(b{n}, a1)" for n in range(30))))


def _term(rng: random.Random, bound: list[str]) -> fo.Term:
    if bound and rng.random() < 0.6:
        return fo.Variable(rng.choice(bound))
    constant = fo.Constant(rng.choice("ab"))
    return fo.Application("f", (constant,)) if rng.random() < 0.1 else constant


def _drawn(rng: random.Random, depth: int, bound: list[str]) -> fo.Formula:
    chance = rng.random()
    if depth == 0 or chance < 0.15:
        if rng.random() < 0.15:
            return fo.Equality(_term(rng, bound), _term(rng, bound))
        return fo.Atom(rng.choice("PQ"), (_term(rng, bound),))
    if chance < 0.3:
        return fo.Not(_drawn(rng, depth - 1, bound))
    if chance < 0.6:
        name = rng.choice("xyz")
        return fo.Quantified(rng.choice(list(fo.Quantifier)), name, _drawn(rng, depth - 1, [*bound, name]))
    return fo.Compound(rng.choice(list(fo.Operator)), (_drawn(rng, depth - 1, bound), _drawn(rng, depth - 1, bound)))


def test_nothing_is_refuted_that_z3_has_a_model_of() -> None:
    rng = random.Random("instances")
    answers: list[str] = []
    for _ in range(120):
        drawn = [_drawn(rng, rng.randint(1, 4), []) for _ in range(rng.randint(2, 6))]
        if refuted(drawn):
            answers.append(ask_z3(script(drawn), Budget(rlimit=300_000)))
    assert len(answers) > 20
    assert set(answers) <= {"unsat", "unknown"}
