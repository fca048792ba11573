"""The reference of a problem as first-order formulas, and the universal closure of open premises.

Premises are closed as Prover9 reads them, and never silently. A conclusion stays open: what it says of a name that no
premise uses, it says of all objects or denies of all, which is how Prover9 reads an open goal and its negation.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from critics.logic.first_order.parser import parse
from critics.problem import Formal
from critics.replay import formula as horn
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import first_order, folded


@dataclass(frozen=True, slots=True)
class FolTheory:
    """Axioms and goal of a problem in first-order logic."""

    axioms: tuple[fo.Formula, ...]
    goal: fo.Formula
    folded: bool
    """Names compare without regard to case: the Horn language's are lower-case, programs' are not."""


def read_theory(formal: Formal) -> FolTheory:
    """Read a reference in first-order or in Horn notation; raises `critics.replay.formula.FormulaError`."""
    try:
        axioms = tuple(parse(axiom).formula for axiom in formal.axioms)
        return FolTheory(axioms, parse(formal.goal).formula, folded=False)
    except fo.FormulaError as error:
        try:
            statements = [horn.parse_statement(axiom) for axiom in formal.axioms]
            goal = horn.parse_literal(formal.goal)
        except horn.FormulaError:
            raise error from None
    return FolTheory(tuple(folded(first_order(s)) for s in statements), folded(first_order(goal)), folded=True)


def closed(formula: fo.Formula) -> fo.Formula:
    """Return the formula with all that was meant as a variable bound in front, universally."""
    for name in reversed(fo.open_names([formula])):
        formula = fo.Quantified(fo.Quantifier.ALL, name, _bound(formula, name))
    return formula


def closed_all(formulas: Iterable[fo.Formula]) -> tuple[fo.Formula, ...]:
    """Return the closures, each formula's its own: Prover9 shares no variable between formulas."""
    return tuple(map(closed, formulas))


def _bound(formula: fo.Formula, name: str) -> fo.Formula:
    """Put the variable for the constant, except where the formula binds that name itself."""

    def leaf(term: fo.Variable | fo.Constant) -> fo.Term:
        return fo.Variable(name) if term == fo.Constant(name) else term

    if isinstance(formula, fo.Quantified) and formula.variable == name:
        return formula
    return fo.rebuilt(formula, lambda part: _bound(part, name), lambda term: fo.with_leaves(term, leaf))
