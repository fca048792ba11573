"""What the critic certifies of random propositional scripts is what trying all truth values says."""

import random
from collections.abc import Mapping
from itertools import product

import pytest

from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import verdict_record

NAMES = "pqrt"
ENDS = {
    "negated": "s.add(Not({0}))\nprint('True' if s.check() == unsat else 'False')",
    "template": "s.add({0})\nprint('True' if s.check() == sat else 'False')",
    "three": "def no(f):\n    s.push()\n    s.add(f)\n    found = s.check() == unsat\n    s.pop()\n    return found\n"
    "print('True' if no(Not({0})) else 'False' if no({0}) else 'Unknown')",
    "careful": "if s.check() == unsat:\n    exit()\nprint('True' if s.check(Not({0})) == unsat else 'Unknown')",
}


def formula(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.3:
        name = rng.choice(NAMES)
        return name if rng.random() < 0.6 else f"Not({name})"
    left, right = formula(rng, depth - 1), formula(rng, depth - 1)
    return f"{rng.choice(['And', 'Or', 'Implies', 'Implies', 'Xor'])}({left}, {right})"


MEANINGS = {
    "And": lambda a, b: a and b, "Or": lambda a, b: a or b, "Implies": lambda a, b: not a or b,
    "Xor": lambda a, b: a != b, "Not": lambda a: not a,
}  # fmt: skip


def holds(text: str, values: Mapping[str, bool]) -> bool:
    return bool(eval(text, {**MEANINGS, **values}))


def truth(premises: list[str], statement: str) -> set[bool]:
    """Return the truth values of the statement in all models of the premises."""
    worlds = (dict(zip(NAMES, row, strict=True)) for row in product([False, True], repeat=len(NAMES)))
    return {holds(statement, world) for world in worlds if all(holds(premise, world) for premise in premises)}


def record(seed: int) -> tuple[str, str | None, set[bool]]:
    rng = random.Random(seed)
    premises, statement = [formula(rng, 2) for _ in range(rng.randint(2, 4))], formula(rng, 1)
    lines = ["from z3 import *", "p, q, r, t = Bools('p q r t')", "s = Solver()"]
    lines += [f"s.add({premise})" for premise in premises]
    lines.append(ENDS[rng.choice(list(ENDS))].format(statement))
    script = "\n".join(lines)
    problem = Problem("p", "mine", ".", "?")
    verdict = verdict_record("a", judge(problem, Attempt("a", problem, "z3-python", script)))
    return verdict["verdict"], verdict["answer"], truth(premises, statement)


@pytest.mark.parametrize(("num", "least"), [(12, 2), pytest.param(60, 10, marks=pytest.mark.slow)])
def test_nothing_certified_is_wrong_and_much_is_certified(num, least):
    said = {frozenset({True}): "true", frozenset({False}): "false", frozenset({True, False}): "unknown"}
    certified = 0
    for seed in range(num):
        verdict, answer, values = record(seed)
        assert verdict != "error"
        if verdict == "certified":
            certified += 1
            assert answer == said.get(frozenset(values)), seed
    assert certified >= least
