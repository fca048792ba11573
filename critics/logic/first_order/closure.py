"""The universal closure of open premises, as Prover9 reads them; never taken silently.

A conclusion stays open: what it says of a name that no premise uses, it says of all objects or denies of all, which is
how Prover9 reads an open goal and its negation.
"""

from collections.abc import Iterable

from critics.logic.first_order.syntax import (
    Constant,
    Formula,
    Quantified,
    Quantifier,
    Term,
    Variable,
    open_names,
    rebuilt,
    with_leaves,
)


def closed(formula: Formula) -> Formula:
    """Return the formula with all that was meant as a variable bound in front, universally."""
    for name in reversed(open_names([formula])):
        formula = Quantified(Quantifier.ALL, name, _bound(formula, name))
    return formula


def closed_all(formulas: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return the closures, each formula's its own: Prover9 shares no variable between formulas."""
    return tuple(map(closed, formulas))


def _bound(formula: Formula, name: str) -> Formula:
    """Put the variable for the constant, except where the formula binds that name itself."""

    def leaf(term: Variable | Constant) -> Term:
        return Variable(name) if term == Constant(name) else term

    if isinstance(formula, Quantified) and formula.variable == name:
        return formula
    return rebuilt(formula, lambda part: _bound(part, name), lambda term: with_leaves(term, leaf))
