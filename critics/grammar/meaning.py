"""Meanings while a sentence is put together: formulas about a subject still to come, and how they are joined.

`HOLE` stands for the subject that a predicate still waits for, `ANY` for the one that a condition leaves open:
`if someone is kind` says kind(ANY), and what follows closes it.
"""

from collections.abc import Iterable
from itertools import combinations

from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Constant,
    Formula,
    FormulaError,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
    free_variables,
    key,
    predicates,
    rebuilt,
    subformulas,
)

HOLE = Variable("this")
ANY = Variable("any")
OBJECT_PRONOUNS = {word: Variable(f" {word}") for word in ("him", "her", "it", "them")}
"""By a pronoun in the place of an object what stands for it until the clause says whom it means."""
_LETTERS = "xyzuvw"


def atom(name: str, *arguments: Term) -> Formula:
    """Return what a name says of the subject, then of others."""
    return Atom(name, arguments or (HOLE,))


def filled(formula: Formula, old: Term, new: Term) -> Formula:
    """Put one term in the place of another."""
    return rebuilt(formula, lambda part: filled(part, old, new), lambda term: new if term == old else term)


def both(*formulas: Formula | None) -> Formula:
    """Join by `and` what there is; None says nothing."""
    said = [formula for formula in formulas if formula is not None]
    flat = [part for formula in said for part in _operands(formula)]
    return flat[0] if len(flat) == 1 else Compound(Operator.AND, tuple(flat))


def _operands(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Compound) and formula.operator is Operator.AND:
        return formula.operands
    return (formula,)


def joined(operator: Operator, *formulas: Formula) -> Formula:
    """Join formulas by an operator."""
    return both(*formulas) if operator is Operator.AND else Compound(operator, formulas)


def implies(left: Formula | None, right: Formula) -> Formula:
    """Return `if left then right`; without a left side the right one alone."""
    return right if left is None else Compound(Operator.IMPLIES, (left, right))


def every(variable: Variable, restriction: Formula | None, said: Formula) -> Formula:
    """Say something of all that the restriction holds of; both wait for their subject."""
    inner = None if restriction is None else filled(restriction, HOLE, variable)
    return Quantified(Quantifier.ALL, variable.name, implies(inner, filled(said, HOLE, variable)))


def some(variable: Variable, restriction: Formula | None, said: Formula | None = None) -> Formula:
    """Say that there is something."""
    parts = [None if part is None else filled(part, HOLE, variable) for part in (restriction, said)]
    return Quantified(Quantifier.SOME, variable.name, both(*parts))


def closed(formula: Formula, variable: Variable) -> Formula:
    """Say of everything what a condition left open."""
    if ANY.name not in free_variables(formula):
        return formula
    return Quantified(Quantifier.ALL, variable.name, filled(formula, ANY, variable))


def marked(formula: Formula, mark: str) -> Formula:
    """Put a tense or a modal before the predicates of the subject: what they say of another time is not known."""
    if not mark:
        return formula
    if isinstance(formula, Atom) and HOLE in formula.arguments:
        if formula.predicate.startswith(("did ", "was ", "had ")) and not mark.startswith(("they", "own ")):
            # A clause within has a tense of its own; what his dogs did is nothing that he did.
            return formula
        return Atom(f"{mark} {formula.predicate.removeprefix('do ')}", formula.arguments)
    return rebuilt(formula, lambda part: marked(part, mark))


def inclusive(formula: Formula) -> Formula:
    """Read `either .. or` as at least one of them."""
    formula = rebuilt(formula, inclusive)
    if isinstance(formula, Compound) and formula.operator is Operator.XOR:
        return Compound(Operator.OR, formula.operands)
    return formula


def rebuilt_exclusive(formula: Formula) -> Formula:
    """Read `either .. or` as exactly one of them."""
    formula = rebuilt(formula, rebuilt_exclusive)
    if not (isinstance(formula, Compound) and formula.operator is Operator.XOR and len(formula.operands) > 2):
        return formula
    pairs = combinations(formula.operands, 2)
    return both(Compound(Operator.OR, formula.operands), *(Not(both(one, other)) for one, other in pairs))


def quantifiers(formula: Formula) -> set[Quantifier]:
    """Return the quantifiers within."""
    return {part.quantifier for part in subformulas(formula) if isinstance(part, Quantified)}


def buried(formula: Formula) -> int:
    """Count the connectives that stand inside names of predicates."""
    names = [part.predicate for part in subformulas(formula) if isinstance(part, Atom)]
    return sum(f" {name} ".count(f" {word} ") for name in names for word in ("and", "or", "that", "where", "whose"))


def lettered(formula: Formula, depth: int = 0) -> Formula:
    """Name bound variables x, y, z by their depth."""
    if isinstance(formula, Quantified):
        name = _LETTERS[depth] if depth < len(_LETTERS) else f"x{depth}"
        body = filled(formula.body, Variable(formula.variable), Variable(name))
        return Quantified(formula.quantifier, name, lettered(body, depth + 1))
    return rebuilt(formula, lambda part: lettered(part, depth))


def distinct(formulas: Iterable[Formula]) -> list[Formula]:
    """Return formulas of different keys, in order."""
    found = list(formulas)
    return list({_safe_key(each): each for each in reversed(found)}.values())[::-1] if len(found) > 1 else found


def _safe_key(formula: Formula) -> str:
    try:
        return key(formula)
    except FormulaError:
        return repr(formula)


__all__ = [
    "ANY", "HOLE", "OBJECT_PRONOUNS", "Atom", "Compound", "Constant", "Formula", "Not", "Operator", "Quantified",
    "Quantifier", "Term", "Variable", "atom", "both", "buried", "closed", "distinct", "every", "filled",
    "free_variables", "implies", "inclusive", "joined", "lettered", "marked", "predicates", "quantifiers",
    "rebuilt_exclusive", "some",
]  # fmt: skip
