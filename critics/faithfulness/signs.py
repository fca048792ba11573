"""A formula as signed atoms: which of them are denied, and on which side of an implication they stand.

`A → ¬B`, `¬(A ∧ B)` and `¬∃x (A ∧ B)` are one statement in English, `No A is B`, and give the same signs; `¬(A ∨ B)` is
`neither A nor B`, with two.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from critics.faithfulness.english import name_stems
from critics.fol.syntax import Application, Atom, Compound, Constant, Equality, Formula, Not, Operator, Quantified, Term


class UnclearSigns(ValueError):  # noqa: N818
    """A negation stands before what English has no one way to say."""


@dataclass(frozen=True, slots=True)
class SignedAtom:
    """An atom with its sign; `arguments` are names of constants and functions, None where a variable stands."""

    predicate: str
    arguments: tuple[str | None, ...]
    denied: bool
    is_premise: bool
    """It stands before an arrow."""

    def names(self) -> tuple[str, ...]:
        """Return predicate and named arguments, repeated as often as they stand there."""
        own = (self.predicate,) if self.predicate else ()
        return (*own, *(name for name in self.arguments if name is not None))

    def stems(self) -> frozenset[str]:
        """Return the stems of the predicate's words."""
        return frozenset(name_stems(self.predicate))


def signed_atoms(formula: Formula) -> tuple[SignedAtom, ...]:
    """Return the atoms from left to right; raises `UnclearSigns`."""
    return tuple(_signed(formula, denied=False, is_premise=False))


def _signed(formula: Formula, *, denied: bool, is_premise: bool) -> Iterator[SignedAtom]:
    match formula:
        case Atom(predicate, arguments):
            yield SignedAtom(predicate, tuple(map(_name, arguments)), denied, is_premise)
        case Equality(left, right):
            yield SignedAtom("", (_name(left), _name(right)), denied, is_premise)
        case Not(body):
            yield from _signed(body, denied=not denied, is_premise=is_premise)
        case Quantified(body=body):
            yield from _signed(body, denied=denied, is_premise=is_premise)
        case Compound(Operator.IMPLIES, (left, right)) if not denied:
            yield from _signed(left, denied=False, is_premise=True)
            yield from _signed(right, denied=False, is_premise=is_premise)
        case Compound(Operator.AND, operands) if denied:
            for operand in operands[:-1]:
                yield from _signed(operand, denied=False, is_premise=True)
            yield from _signed(operands[-1], denied=True, is_premise=is_premise)
        case Compound(Operator.AND | Operator.OR, operands):
            for operand in operands:
                yield from _signed(operand, denied=denied, is_premise=is_premise)
        case Compound(_, operands):
            if denied:
                raise UnclearSigns("a negation stands before an arrow")
            for operand in operands:
                yield from _signed(operand, denied=False, is_premise=is_premise)


def _name(term: Term) -> str | None:
    match term:
        case Constant(name):
            return name
        case Application(function, _):
            return function
        case _:
            return None
