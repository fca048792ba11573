"""The universal closure of open premises, as Prover9 reads them; never taken silently.

A conclusion stays open: what it says of a name that no premise uses, it says of all objects or denies of all, which is
how Prover9 reads an open goal and its negation.
"""

from collections.abc import Iterable

from critics.fol.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    Not,
    Quantified,
    Quantifier,
    Term,
    Variable,
    open_names,
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
    match formula:
        case Atom(predicate, arguments):
            return Atom(predicate, tuple(_bound_term(argument, name) for argument in arguments))
        case Equality(left, right):
            return Equality(_bound_term(left, name), _bound_term(right, name))
        case Not(body):
            return Not(_bound(body, name))
        case Quantified(variable=variable) if variable == name:
            return formula
        case Quantified(quantifier, variable, body):
            return Quantified(quantifier, variable, _bound(body, name))
        case Compound(operator, operands):
            return Compound(operator, tuple(_bound(operand, name) for operand in operands))


def _bound_term(term: Term, name: str) -> Term:
    match term:
        case Constant(constant) if constant == name:
            return Variable(name)
        case Application(function, arguments):
            return Application(function, tuple(_bound_term(argument, name) for argument in arguments))
        case _:
            return term
