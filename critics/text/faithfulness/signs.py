"""A formula as signed atoms: which of them are denied, and on which side of an implication they stand.

`A → ¬B`, `¬(A ∧ B)` and `¬∃x (A ∧ B)` are one statement in English, `No A is B`, and give the same signs; `¬(A ∨ B)` is
`neither A nor B`, with two. `(A ∧ ¬B) ∨ (¬A ∧ B)` is `either A or B`, with none.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from critics.replay.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Term,
    Variable,
    negated,
)
from critics.text.faithfulness.english import NEGATIONS, name_stems, name_words


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
    variables: tuple[str, ...] = ()
    """For each argument its variable; empty where a name stands."""
    shares_sign: bool = False
    """It stands in a denied conjunction, any part of which English may deny."""

    def names(self) -> tuple[str, ...]:
        """Return predicate and named arguments, repeated as often as they stand there."""
        own = (self.predicate,) if self.predicate else ()
        return (*own, *(name for name in self.arguments if name is not None))

    def stems(self) -> frozenset[str]:
        """Return the stems of the predicate's words."""
        return frozenset(name_stems(self.predicate))


def signed_atoms(formula: Formula) -> tuple[SignedAtom, ...]:
    """Return the atoms from left to right; raises `UnclearSigns`."""
    return tuple(_signed(plain(formula), denied=False, is_premise=False, shares_sign=False))


def plain(formula: Formula) -> Formula:
    """Return a formula with `⊕` where it is written with the other connectives."""
    match formula:
        case Not(body):
            return Not(plain(body))
        case Quantified(quantifier, variable, body):
            return Quantified(quantifier, variable, plain(body))
        case Compound(Operator.OR | Operator.AND as operator, (Compound() as left, Compound() as right)):
            return _exclusive(operator, left, right) or Compound(operator, (plain(left), plain(right)))
        case Compound(operator, operands):
            return Compound(operator, tuple(map(plain, operands)))
        case Atom() | Equality():
            return formula


def _exclusive(operator: Operator, left: Compound, right: Compound) -> Formula | None:
    """Return `A ⊕ B` for `(A ∧ ¬B) ∨ (¬A ∧ B)`."""
    if operator is not Operator.OR or not left.operator is right.operator is Operator.AND:
        return None
    if len(left.operands) != 2 or set(right.operands) != set(map(negated, left.operands)):
        return None
    signs = [isinstance(each, Not) for each in left.operands]
    one, other = (negated(o) if isinstance(o, Not) else o for o in left.operands)
    return Compound(Operator.XOR, (plain(one), plain(other))) if sum(signs) == 1 else None


def _signed(formula: Formula, *, denied: bool, is_premise: bool, shares_sign: bool) -> Iterator[SignedAtom]:
    match formula:
        case Atom(predicate, arguments):
            yield _atom(predicate, arguments, denied, is_premise, shares_sign)
        case Equality(left, right):
            yield _atom("", (left, right), denied, is_premise, shares_sign)
        case Not(body):
            yield from _signed(body, denied=not denied, is_premise=is_premise, shares_sign=shares_sign)
        case Quantified(body=body):
            yield from _signed(body, denied=denied, is_premise=is_premise, shares_sign=shares_sign)
        case Compound(Operator.IMPLIES, (left, right)) if not denied:
            yield from _signed(left, denied=False, is_premise=True, shares_sign=shares_sign)
            yield from _signed(right, denied=False, is_premise=is_premise, shares_sign=shares_sign)
        case Compound(Operator.AND, operands) if denied:
            for operand in operands[:-1]:
                yield from _signed(operand, denied=False, is_premise=True, shares_sign=True)
            yield from _signed(operands[-1], denied=True, is_premise=is_premise, shares_sign=True)
        case Compound(Operator.AND | Operator.OR, operands):
            for operand in operands:
                yield from _signed(operand, denied=denied, is_premise=is_premise, shares_sign=shares_sign)
        case Compound(_, operands):
            if denied:
                raise UnclearSigns("a negation stands before an arrow")
            for operand in operands:
                yield from _signed(operand, denied=False, is_premise=is_premise, shares_sign=shares_sign)


def _atom(predicate: str, arguments: tuple[Term, ...], denied: bool, is_premise: bool, shares_sign: bool) -> SignedAtom:
    if NEGATIONS & set(name_words(predicate)):
        # Attack: hide a sign in a name, `NotBig`, where nothing counts it.
        raise UnclearSigns("a name negates")
    variables = tuple(term.name if isinstance(term, Variable) else "" for term in arguments)
    return SignedAtom(predicate, tuple(map(_name, arguments)), denied, is_premise, variables, shares_sign)


def _name(term: Term) -> str | None:
    match term:
        case Constant(name):
            return name
        case Application(function, _):
            return function
        case _:
            return None
