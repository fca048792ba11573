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
    matrix = normaliser.matrix(formula, {})
    kept = (clause for clause in dict.fromkeys(map(_tidied, _conjunction(matrix))) if not _is_tautology(clause))
    return Clauses(tuple(kept), normaliser.witnesses)


def affirmative(formula: fo.Formula) -> fo.Formula:
    """Return an equivalent formula of ∧, ∨ and quantifiers over atoms and negated atoms.

    Raises `FormulaError`: `too_large` above `MAX_PARTS`.
    """
    if _size(formula) > MAX_PARTS:
        # Attack: thirty ↔ inside each other, each of which doubles what is inside.
        raise fo.FormulaError("too_large", f"without ↔ and ⊕ the formula has more than {MAX_PARTS} parts")
    return _affirmative(formula)


def _size(formula: fo.Formula) -> int:
    """Return how many parts an affirmative form has, more or less."""
    match formula:
        case fo.Not(body) | fo.Quantified(body=body):
            return 1 + _size(body)
        case fo.Compound(operator, operands):
            return 1 + (2 if operator in (fo.Operator.XOR, fo.Operator.IFF) else 1) * sum(map(_size, operands))
        case fo.Atom() | fo.Equality():
            return 1


def _affirmative(formula: fo.Formula) -> fo.Formula:
    match formula:
        case fo.Atom() | fo.Equality() | fo.Not(fo.Atom() | fo.Equality()):
            return formula
        case fo.Not(body):
            return _negative(body)
        case fo.Quantified(quantifier, variable, body):
            return fo.Quantified(quantifier, variable, _affirmative(body))
        case fo.Compound(fo.Operator.AND | fo.Operator.OR as operator, operands):
            return fo.Compound(operator, tuple(map(_affirmative, operands)))
        case fo.Compound(fo.Operator.IMPLIES, (left, right)):
            return _either(_affirmative(fo.Not(left)), _affirmative(right))
        case fo.Compound(fo.Operator.IFF, (left, right)):
            return _both(
                _either(_affirmative(fo.Not(left)), _affirmative(right)), _either(_affirmative(left), _no(right))
            )
        case fo.Compound(_, (left, right)):
            return _both(_either(_affirmative(left), _affirmative(right)), _either(_no(left), _no(right)))
        case fo.Compound():
            raise AssertionError(f"{formula.operator} has two operands")


def _no(formula: fo.Formula) -> fo.Formula:
    return _affirmative(fo.negated(formula))


def _negative(formula: fo.Formula) -> fo.Formula:
    """Return the affirmative form of a compound formula's negation."""
    match formula:
        case fo.Not(body):
            return _affirmative(body)
        case fo.Quantified(quantifier, variable, body):
            return fo.Quantified(quantifier.other, variable, _no(body))
        case fo.Compound(fo.Operator.AND, operands):
            return fo.Compound(fo.Operator.OR, tuple(map(_no, operands)))
        case fo.Compound(fo.Operator.OR, operands):
            return fo.Compound(fo.Operator.AND, tuple(map(_no, operands)))
        case fo.Compound(fo.Operator.IMPLIES, (left, right)):
            return _both(_affirmative(left), _no(right))
        case fo.Compound(fo.Operator.IFF, operands):
            return _affirmative(fo.Compound(fo.Operator.XOR, operands))
        case fo.Compound(_, operands):
            return _affirmative(fo.Compound(fo.Operator.IFF, operands))
        case fo.Atom() | fo.Equality():
            return fo.Not(formula)


def _both(left: fo.Formula, right: fo.Formula) -> fo.Formula:
    return fo.Compound(fo.Operator.AND, (left, right))


def _either(left: fo.Formula, right: fo.Formula) -> fo.Formula:
    return fo.Compound(fo.Operator.OR, (left, right))


@dataclass(slots=True)
class _Normaliser:
    """Renames variables apart, and drops quantifiers."""

    names: Iterator[str]
    witnesses: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def matrix(self, formula: fo.Formula, renamed: Mapping[str, str]) -> fo.Formula:
        return self._matrix(affirmative(formula), renamed)

    def _matrix(self, formula: fo.Formula, renamed: Mapping[str, str]) -> fo.Formula:
        match formula:
            case fo.Quantified(quantifier, variable, body):
                name = next(self.names)
                if quantifier is fo.Quantifier.SOME:
                    self.witnesses[name] = self._dependencies(formula, renamed)
                return self._matrix(body, {**renamed, variable: name})
            case _:
                return fo.rebuilt(
                    formula, lambda part: self._matrix(part, renamed), lambda term: _renamed(term, renamed)
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
        case fo.Compound(fo.Operator.AND, operands):
            found = [clause for operand in operands for clause in _conjunction(operand)]
            if len(found) > MAX_CLAUSES:
                raise _too_large()
            return found
        case fo.Compound(fo.Operator.OR, operands):
            joined: list[Clause] = [()]
            for clauses in map(_conjunction, operands):
                if len(joined) * len(clauses) > MAX_CLAUSES:
                    raise _too_large()
                joined = [one + other for one in joined for other in clauses]
            return joined
        case _:
            raise AssertionError(f"{matrix} is not affirmative")


def _too_large() -> fo.FormulaError:
    return fo.FormulaError("too_large", f"the formula has more than {MAX_CLAUSES} clauses")


def _tidied(clause: Clause) -> Clause:
    return tuple(dict.fromkeys(clause))


def _is_tautology(clause: Clause) -> bool:
    return any((not sign, atom) in clause for sign, atom in clause)
