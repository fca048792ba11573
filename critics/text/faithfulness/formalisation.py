"""Formalisation that an attempt writes: premises and goal in first-order logic.

The model's comments (`::: Bob is big`) are left out: they are its word for what its formulas say, and not the text's.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from critics.replay.first_order.reader import first_order
from critics.replay.first_order.syntax import Formula
from critics.replay.formula import Statement


@dataclass(frozen=True, slots=True)
class Formalisation:
    """Premises in the attempt's order, each once, and the goal."""

    premises: tuple[Formula, ...]
    goal: Formula


def of_statements(statements: Iterable[Statement], goal: Statement) -> Formalisation:
    """Return statements of the formal language as formulas."""
    return Formalisation(tuple(dict.fromkeys(map(first_order, statements))), first_order(goal))
