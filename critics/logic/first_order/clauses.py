"""Clauses of first-order formulas, existential variables standing for witnesses that are chosen.

Where a Skolem function would give an object, a witness is a relation that holds of exactly one object for each choice
of the universal variables on which it depends: that is what a solver without functions can express.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from critics.replay.first_order import syntax as fo

MAX_CLAUSES = 400
"""Clauses of one formula; FOLIO's longest has 26."""
MAX_PARTS = 10_000
"""Parts of one formula's affirmative form."""
Signed: TypeAlias = tuple[bool, fo.Atom | fo.Equality]
"""An atom, and whether it is affirmed."""
Clause: TypeAlias = tuple[Signed, ...]
"""Literals of which one holds, whatever the universal variables stand for."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """A formula as clauses over variables that no two of its quantifiers share."""

    clauses: tuple[Clause, ...]
    witnesses: Mapping[str, tuple[str, ...]]
    """For each existential variable, the universal ones on which its object depends."""


def clauses_of(formula: fo.Formula, names: Iterator[str] | None = None) -> Clauses:
    """Return clauses that hold for some choice of witnesses wherever the formula does, and nowhere else.

    `names` yields the variables' new names. Raises `FormulaError`: `too_large` above `MAX_CLAUSES`.
    """
    normaliser = _Normaliser(names or (f"X{number}" for number in count(1)))
    matrix = normaliser.matrix(affirmative(formula), {})
    clauses = dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in _conjunction(matrix))
    is_tautology = {clause: any((not sign, atom) in clause for sign, atom in clause) for clause in clauses}
    return Clauses(tuple(clause for clause in clauses if not is_tautology[clause]), normaliser.witnesses)


def affirmative(formula: fo.Formula) -> fo.Formula:
    """Return an equivalent formula of ∧, ∨ and quantifiers over atoms and negated atoms.

    Raises `FormulaError`: `too_large` above `MAX_PARTS`.
    """
    if _size(formula) > MAX_PARTS:
        # Attack: thirty ↔ inside each other, each of which doubles what is inside.
        raise fo.FormulaError("too_large", f"without ↔ and ⊕ the formula has more than {MAX_PARTS} parts")
    return _affirmative(formula, True)


def _size(formula: fo.Formula) -> int:
    """Return how many parts an affirmative form has, more or less."""
    match formula:
        case fo.Not(body) | fo.Quantified(body=body):
            return 1 + _size(body)
        case fo.Compound(operator, operands):
            return 1 + (2 if operator in (fo.Operator.XOR, fo.Operator.IFF) else 1) * sum(map(_size, operands))
        case fo.Atom() | fo.Equality():
            return 1


def _affirmative(formula: fo.Formula, holds: bool) -> fo.Formula:
    """Return the affirmative form of a formula, or of its negation."""
    match formula:
        case fo.Atom() | fo.Equality():
            return formula if holds else fo.Not(formula)
        case fo.Not(body):
            return _affirmative(body, not holds)
        case fo.Quantified(quantifier, variable, body):
            return fo.Quantified(quantifier if holds else quantifier.other, variable, _affirmative(body, holds))
        case fo.Compound(fo.Operator.AND | fo.Operator.OR as operator, operands):
            joined = fo.Operator.AND if (operator is fo.Operator.AND) == holds else fo.Operator.OR
            return fo.Compound(joined, tuple(_affirmative(operand, holds) for operand in operands))
        case fo.Compound(fo.Operator.IMPLIES, (left, right)):
            sides = (_affirmative(left, not holds), _affirmative(right, holds))
            return fo.Compound(fo.Operator.OR if holds else fo.Operator.AND, sides)
        case fo.Compound(operator, (left, right)):
            same = (operator is fo.Operator.IFF) == holds
            one = (_affirmative(left, not same), _affirmative(right, True))
            other = (_affirmative(left, same), _affirmative(right, False))
            return fo.Compound(fo.Operator.AND, (fo.Compound(fo.Operator.OR, one), fo.Compound(fo.Operator.OR, other)))
        case fo.Compound():
            raise AssertionError(f"{formula.operator} has two operands")


@dataclass(slots=True)
class _Normaliser:
    """Renames variables apart, and drops quantifiers."""

    names: Iterator[str]
    witnesses: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def matrix(self, formula: fo.Formula, renamed: Mapping[str, str]) -> fo.Formula:
        match formula:
            case fo.Quantified(quantifier, variable, body):
                name = next(self.names)
                if quantifier is fo.Quantifier.SOME:
                    self.witnesses[name] = self._dependencies(formula, renamed)
                return self.matrix(body, {**renamed, variable: name})
            case _:
                return fo.rebuilt(
                    formula, lambda part: self.matrix(part, renamed), lambda term: _renamed(term, renamed)
                )

    def _dependencies(self, formula: fo.Formula, renamed: Mapping[str, str]) -> tuple[str, ...]:
        """Return the universal variables that are free in an existential formula, or decide one that is."""
        found: dict[str, None] = {}
        for name in (renamed[variable] for variable in renamed if variable in fo.free_variables(formula)):
            found |= dict.fromkeys(self.witnesses.get(name, (name,)))
        return tuple(found)


def _renamed(term: fo.Term, renamed: Mapping[str, str]) -> fo.Term:
    return fo.with_leaves(term, lambda leaf: fo.Variable(renamed[leaf.name]) if isinstance(leaf, fo.Variable) else leaf)


def _conjunction(matrix: fo.Formula) -> list[Clause]:
    """Return the clauses of a quantifier-free affirmative formula, ∨ distributed over ∧."""
    match matrix:
        case fo.Atom() | fo.Equality():
            return [((True, matrix),)]
        case fo.Not(fo.Atom() | fo.Equality() as atom):
            return [((False, atom),)]
        case fo.Compound(operator, operands):
            found: list[Clause] = [] if operator is fo.Operator.AND else [()]
            for clauses in map(_conjunction, operands):
                is_and = operator is fo.Operator.AND
                if (len(found) + len(clauses) if is_and else len(found) * len(clauses)) > MAX_CLAUSES:
                    raise fo.FormulaError("too_large", f"the formula has more than {MAX_CLAUSES} clauses")
                found = [*found, *clauses] if is_and else [one + other for one in found for other in clauses]
            return found
        case _:
            raise AssertionError(f"{matrix} is not affirmative")
