"""Answers by instances agree with the solver's wherever they are given, and are given for what texts say."""

from random import Random

import pytest

from critics.logic.first_order import solvers
from critics.logic.first_order.grounding import Grounding
from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.solvers import Answer, can_fail
from critics.replay.first_order.models import Model, satisfies
from critics.replay.first_order.parser import parse
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
)

A, B = Constant("a"), Constant("b")


def drawn(random: Random, depth: int, scope: tuple[str, ...] = ()) -> Formula:
    """A formula over two constants, propositions and predicates of one and two places, of every shape."""
    objects: list[Term] = [A, B, *map(Variable, scope), *map(Variable, scope)]
    shape = random.random()
    if depth == 0 or shape < 0.15:
        if random.random() < 0.05:
            return Equality(random.choice(objects), random.choice(objects))
        name, arity = random.choice([("p", 1), ("q", 1), ("r", 2), ("s", 0)])
        return Atom(name, tuple(random.choice(objects) for _ in range(arity)))
    if shape < 0.35:
        return Not(drawn(random, depth - 1, scope))
    if shape < 0.6 and len(scope) < 2:
        variable = f"x{len(scope)}"
        return Quantified(random.choice(list(Quantifier)), variable, drawn(random, depth - 1, (*scope, variable)))
    operator = random.choice(list(Operator))
    return Compound(operator, (drawn(random, depth - 1, scope), drawn(random, depth - 1, scope)))


@pytest.mark.parametrize("seed", range(400))
def test_what_instances_answer_the_solver_answers_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "_of_instances", lambda _: None)
    random = Random(seed)
    formulas = [drawn(random, random.choice([1, 2, 3])) for _ in range(4)]
    *premises, claim = formulas
    grounding = Grounding(formulas)
    found = grounding.can_fail(grounding.number(claim), tuple(map(grounding.number, premises)))
    solved = can_fail(premises, claim)
    assert found is None or solved is (Answer.SATISFIABLE if found else Answer.UNSATISFIABLE), (premises, claim)
    model = grounding.counterexample(claim, premises)
    assert isinstance(model, Model) is (found is True)
    assert not isinstance(model, Model) or satisfies(model, [*premises, Not(claim)])


SAID = {
    "∀x (Cat(x) → Mammal(x))": False,
    "Mammal(tom)": False,
    "∃x Mammal(x)": False,
    "¬Dog(tom)": False,
    "Dog(rex) ∨ Cat(rex)": True,
    "Mammal(rex)": True,
    "∀x (Mammal(x) → Cat(x))": True,
    "∀x Cat(x)": True,
}


def test_all_that_a_plain_context_settles_is_settled_without_a_solver() -> None:
    context = [parse(text).formula for text in ("∀x (Cat(x) → Mammal(x))", "∀x (Cat(x) → ¬Dog(x))", "Cat(tom)")]
    claims = {parse(text).formula: expected for text, expected in SAID.items()}
    grounding = Grounding([*context, *claims])
    for claim, expected in claims.items():
        assert grounding.can_fail(grounding.number(claim), (0, 1, 2)) is expected, claim
    # What is known later is asked about too, unless it speaks of somebody new.
    assert grounding.can_fail(grounding.number(parse("Cat(tom) → Dog(rex)").formula), (0, 1, 2)) is True
    assert grounding.number(parse("Cat(max)").formula) is None


def test_equality_and_some_below_all_are_left_to_the_solver() -> None:
    texts = ["∀x ∃y Likes(x, y)", "tom = rex", "Cat(tom)", "∃y Likes(tom, y)", "Cat(rex)"]
    likes, same, cat, some, other = (parse(text).formula for text in texts)
    known = Knowledge([likes, same, cat], [some, other])
    grounding = Grounding([likes, same, cat, some, other])
    assert grounding.can_fail(3, (0,)) is None
    assert grounding.can_fail(4, (1, 2)) is None
    assert known.gives(some, [0])
    assert known.gives(other, [1, 2])
    assert not known.gives(other, [2])


def test_premises_that_contradict_each_other_give_everything() -> None:
    texts = ["Cat(tom)", "¬Cat(tom)", "Dog(rex)"]
    grounding = Grounding(parse(text).formula for text in texts)
    assert grounding.can_fail(2, (0, 1)) is False
    assert grounding.can_fail(2, (0,)) is True
