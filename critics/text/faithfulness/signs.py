"""A formula as signed atoms: which of them are denied.

`A → ¬B`, `¬(A ∧ B)` and `¬∃x (A ∧ B)` are one statement in English, `No A is B`, and give the same signs; `¬(A ∨ B)` is
`neither A nor B`, with two. `(A ∧ ¬B) ∨ (¬A ∧ B)` is `either A or B`, with none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from critics.replay.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Term,
    Variable,
    negated,
    rebuilt,
)
from critics.text.faithfulness.english import NEGATIONS, name_stems, name_words


class _UnclearSigns(ValueError):  # noqa: N818
    """A negation stands before what English has no one way to say."""


@dataclass(frozen=True, slots=True)
class SignedAtom:
    """An atom with its sign: its predicate, empty for an equality, and its constants and functions."""

    predicate: str
    arguments: tuple[str, ...]
    denied: bool

    def names(self) -> tuple[str, ...]:
        """Return predicate and named arguments, repeated as often as they stand there."""
        return (*((self.predicate,) if self.predicate else ()), *self.arguments)

    def stems(self) -> frozenset[str]:
        """Return the stems of the predicate's words."""
        return frozenset(name_stems(self.predicate))


def atoms_of(formula: Formula) -> tuple[SignedAtom, ...] | None:
    """Return a formula's atoms from left to right; None where their signs have no one reading."""
    try:
        return tuple(_signed(_plain(formula), denied=False))
    except _UnclearSigns:
        return None


def _plain(formula: Formula) -> Formula:
    """Return a formula with `⊕` where it is written with the other connectives."""
    match formula:
        case Compound(Operator.OR, (Compound(Operator.AND, (one, other)), Compound(Operator.AND, others))) if set(
            others
        ) == {negated(one), negated(other)} and isinstance(one, Not) != isinstance(other, Not):
            parts = (negated(each) if isinstance(each, Not) else each for each in (one, other))
            return Compound(Operator.XOR, tuple(map(_plain, parts)))
        case _:
            return rebuilt(formula, _plain)


def _signed(formula: Formula, *, denied: bool) -> Iterator[SignedAtom]:
    match formula:
        case Atom(predicate, arguments):
            yield _atom(predicate, arguments, denied)
        case Equality(left, right):
            yield _atom("", (left, right), denied)
        case Not(body):
            yield from _signed(body, denied=not denied)
        case Quantified(body=body):
            yield from _signed(body, denied=denied)
        case Compound(Operator.AND, operands) if denied:
            for operand in operands[:-1]:
                yield from _signed(operand, denied=False)
            yield from _signed(operands[-1], denied=True)
        case Compound(operator, operands):
            if denied and operator is not Operator.OR:
                raise _UnclearSigns("a negation stands before an arrow")
            for operand in operands:
                yield from _signed(operand, denied=denied)


def _atom(predicate: str, arguments: tuple[Term, ...], denied: bool) -> SignedAtom:
    if NEGATIONS & set(name_words(predicate)):
        # Attack: hide a sign in a name, `NotBig`, where nothing counts it.
        raise _UnclearSigns("a name negates")
    inner = [term for term in arguments if not isinstance(term, Variable)]
    names = [term.function if isinstance(term, Application) else term.name for term in inner]
    return SignedAtom(predicate, tuple(names), denied)
