"""Many models evaluated at once, against each evaluated alone."""

import random
from collections.abc import Mapping
from itertools import product

import pytest

from critics.formats.equivalence.sampling import Ground, holding, num_steps
from critics.replay.first_order.models import Model, satisfies
from critics.replay.first_order.parser import parse
from critics.replay.first_order.syntax import Atom, Constant, Equality, Formula, Term, Variable

NUM = 24


def formula(text: str) -> Formula:
    return parse(text).formula


def drawn(rng: random.Random, size: int) -> tuple[Ground, list[Model]]:
    """Models of a, b and c, of one and two places, in which d is object 0 and e the last one."""
    constants = {"d": 0, "e": size - 1}
    rows = {(name, arity): list(product(range(size), repeat=arity)) for name, arity in (("a", 1), ("b", 2), ("c", 0))}
    tables = {symbol: {row: rng.getrandbits(NUM) for row in all_rows} for symbol, all_rows in rows.items()}

    def named(term: Term, objects: Mapping[str, int]) -> int:
        assert isinstance(term, Constant | Variable)
        return objects[term.name] if isinstance(term, Variable) else constants[term.name]

    def ground(atom: Atom | Equality, objects: Mapping[str, int]) -> int:
        if isinstance(atom, Equality):
            return (1 << NUM) - 1 if named(atom.left, objects) == named(atom.right, objects) else 0
        row = tuple(named(term, objects) for term in atom.arguments)
        return tables[atom.predicate, len(row)][row]

    alone = [
        Model(
            size,
            constants,
            {},
            {
                symbol: frozenset(row for row, models in table.items() if models >> number & 1)
                for symbol, table in tables.items()
            },
        )
        for number in range(NUM)
    ]
    return ground, alone


@pytest.mark.parametrize(
    "text",
    [
        "c ∧ ¬a(d)",
        "∀x1. ∃x2. (b(x1, x2) → a(x2))",
        "∃x2. ∀x1. (b(x1, x2) ↔ ¬b(x2, x1))",
        "(∀x1. a(x1)) ⊕ (∃x1. b(x1, e))",
        "∀x1. (a(x1) ∨ (∃x1. b(x1, x1)))",
        "∃x1. ∃x2. (x1 ≠ x2 ∧ a(x1) ∧ ¬a(x2))",
        "∀x1. ∀x2. ∃x3. (b(x1, x3) ∧ b(x3, x2) ∧ (c ∨ x3 = d))",
        "∀x1. c",
        "∀x1. ∃x2. (b(x1, x2) ∧ (∃x1. b(x2, x1)))",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_many_models_at_once_say_what_each_says_alone(text: str, size: int) -> None:
    ground, alone = drawn(random.Random(f"{text} {size}"), size)
    found = [satisfies(model, [formula(text)]) for model in alone]
    assert shown(holding(formula(text), size, NUM, ground)) == found


def shown(found: int) -> list[bool]:
    assert found < 1 << NUM
    return [bool(found >> number & 1) for number in range(NUM)]


def test_quantifiers_that_bind_nothing_cost_nothing() -> None:
    ground, alone = drawn(random.Random(0), 3)
    many = "".join(f"∀y{number}. ∃z{number}. " for number in range(25))
    found = holding(formula(f"{many}∀x1. b(x1, d)"), 3, NUM, ground)
    assert shown(found) == [satisfies(model, [formula("∀x1. b(x1, d)")]) for model in alone]


def test_the_steps_are_those_of_trying_each_object() -> None:
    assert num_steps(formula("∀x1. ∃x2. (b(x1, x2) → ¬a(x2))"), 3) == 1 + 3 * (1 + 3 * 4)
