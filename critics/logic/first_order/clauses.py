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
    matrix = normaliser.matrix(fo.affirmative(formula), {})
    clauses = dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in _conjunction(matrix))
    is_tautology = {clause: any((not sign, atom) in clause for sign, atom in clause) for clause in clauses}
    return Clauses(tuple(clause for clause in clauses if not is_tautology[clause]), normaliser.witnesses)


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
