"""Formulas with their quantifiers in front; the order in which they are pulled out is part of a certificate."""

from dataclasses import dataclass, field

from critics.replay.certificate import Rejected
from critics.replay.first_order import syntax as fo


@dataclass(frozen=True, slots=True)
class Prenex:
    """Quantifiers from outside to inside, and what is below them; variables are named by the quantifier's number.

    Quantifiers that bind nothing are left out: no domain is empty.
    """

    quantifiers: tuple[tuple[fo.Quantifier, str], ...]
    matrix: fo.Formula

    @property
    def places(self) -> dict[str, int]:
        """Return the place of each variable's quantifier."""
        return {name: place for place, (_, name) in enumerate(self.quantifiers)}

    @property
    def kinds(self) -> tuple[fo.Quantifier, ...]:
        """Return the quantifiers without their variables."""
        return tuple(quantifier for quantifier, _ in self.quantifiers)


def prenex(formula: fo.Formula) -> Prenex | None:
    """Pull the quantifiers out, left before right; None where one stands below ↔ or ⊕."""
    pulling = _Pulling()
    try:
        matrix = pulling.pulled(formula, True, {})
    except _BelowEquivalence:
        return None
    used = {term.name for term in fo.terms(matrix) if isinstance(term, fo.Variable)}
    return Prenex(tuple((kind, name) for kind, name in pulling.quantifiers if name in used), matrix)


def places_of(left: Prenex, right: Prenex, order: list[int]) -> dict[str, int]:
    """Return the place in the left prefix for the variables of the right one, by an order of the right's quantifiers.

    Raises `Rejected` unless the kinds are the same, and the order moves quantifiers among neighbours of one kind only.
    """
    kinds = left.kinds
    if kinds != right.kinds or sorted(order) != list(range(len(kinds))):
        raise Rejected("other_prefix")
    for place, target in enumerate(order):
        if len(set(kinds[min(place, target) : max(place, target) + 1])) != 1:
            raise Rejected("other_prefix")
    return {name: order[place] for place, (_, name) in enumerate(right.quantifiers)}


class _BelowEquivalence(Exception):  # noqa: N818
    """A quantifier stands where it counts both as itself and as its negation."""


@dataclass(slots=True)
class _Pulling:
    quantifiers: list[tuple[fo.Quantifier, str]] = field(default_factory=list[tuple[fo.Quantifier, str]])

    def pulled(self, formula: fo.Formula, positive: bool, names: dict[str, fo.Variable]) -> fo.Formula:
        match formula:
            case fo.Not(body):
                return fo.Not(self.pulled(body, not positive, names))
            case fo.Quantified(quantifier, variable, body):
                fresh = fo.Variable(str(len(self.quantifiers)))
                self.quantifiers.append((quantifier if positive else quantifier.other, fresh.name))
                return self.pulled(body, positive, {**names, variable: fresh})
            case fo.Compound(fo.Operator.IMPLIES as operator, (one, other)):
                return fo.Compound(
                    operator, (self.pulled(one, not positive, names), self.pulled(other, positive, names))
                )
            case fo.Compound(operator, operands):
                if operator in (fo.Operator.IFF, fo.Operator.XOR) and _has_quantifier(formula):
                    raise _BelowEquivalence
                return fo.Compound(operator, tuple(self.pulled(operand, positive, names) for operand in operands))
            case _:
                return fo.rebuilt(formula, lambda part: part, lambda term: _renamed(term, names))


def _has_quantifier(formula: fo.Formula) -> bool:
    return any(isinstance(part, fo.Quantified) for part in fo.subformulas(formula))


def _renamed(term: fo.Term, names: dict[str, fo.Variable]) -> fo.Term:
    return fo.with_leaves(term, lambda leaf: names[leaf.name] if isinstance(leaf, fo.Variable) else leaf)
