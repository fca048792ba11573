"""Formalisation that an attempt writes: premises and goal in first-order logic.

The model's comments (`::: Bob is big`) are left out: they are its word for what its formulas say, and not the text's.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from critics.replay.first_order.reader import first_order
from critics.replay.first_order.syntax import Formula
from critics.replay.formula import Statement
from critics.text.faithfulness.signs import SignedAtom, UnclearSigns, signed_atoms


@dataclass(frozen=True, slots=True)
class Formalisation:
    """Premises in the attempt's order, each once, and the goal."""

    premises: tuple[Formula, ...]
    goal: Formula


def of_statements(statements: Iterable[Statement], goal: Statement) -> Formalisation:
    """Return statements of the formal language as formulas."""
    return Formalisation(tuple(dict.fromkeys(map(first_order, statements))), first_order(goal))


def atoms_of(formula: Formula) -> tuple[SignedAtom, ...] | None:
    """Return a formula's signed atoms; None where its signs have no one reading."""
    try:
        return signed_atoms(formula)
    except UnclearSigns:
        return None
