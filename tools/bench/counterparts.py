"""Second formulas for measuring: a given one rewritten in one to four places, or changed in one.

A rewriting keeps the meaning: order, repetition, De Morgan's, double negation, and `∀` as a denied `∃`. A change is
what a careless translation makes of a formula: a negation lost or gained, `∧` for `∨`, a part dropped, the other
quantifier. It may happen to change nothing.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from critics.replay.equivalences.regex import Letter, Regex, Sequence, Star, Union
from critics.replay.first_order.syntax import Atom, Compound, Formula, Not, Operator, Quantified, Quantifier

MAX_REWRITINGS = 4
_OTHER = {Operator.AND: Operator.OR, Operator.OR: Operator.AND}
_DUAL = {Quantifier.ALL: Quantifier.SOME, Quantifier.SOME: Quantifier.ALL}


def formula_counterpart(rng: random.Random, formula: Formula) -> Formula:
    """Return a formula that is rewritten or changed, each half of the time."""
    if rng.random() < 0.5:
        return _changed(rng, formula)
    for _ in range(rng.randint(1, MAX_REWRITINGS)):
        formula = _rewritten(rng, formula)
    return formula


def regex_counterpart(rng: random.Random, expression: Regex) -> Regex:
    """Return an expression with a star more around a star, or with another letter in one place."""
    return (_starred if rng.random() < 0.5 else _relettered)(rng, expression)


def _rewritten(rng: random.Random, formula: Formula) -> Formula:
    """Put an equivalent formula in one place on a random way down."""
    if isinstance(formula, Atom) or rng.random() < 0.2:
        return _equivalent(rng, formula)
    return _below(rng, formula, _rewritten)


def _equivalent(rng: random.Random, formula: Formula) -> Formula:
    match formula:
        case Compound(Operator.AND | Operator.OR as operator, operands) if rng.random() < 0.6:
            if rng.random() < 0.5:
                return Compound(operator, operands[::-1])
            return Not(Compound(_OTHER[operator], tuple(map(Not, operands))))
        case Quantified(quantifier, variable, body) if rng.random() < 0.6:
            return Not(Quantified(_DUAL[quantifier], variable, Not(body)))
        case _ if rng.random() < 0.5:
            return Not(Not(formula))
        case _:
            return Compound(rng.choice((Operator.AND, Operator.OR)), (formula, formula))


def _changed(rng: random.Random, formula: Formula) -> Formula:
    """Put another formula in one place on a random way down."""
    match formula:
        case Not(body) if rng.random() < 0.3:
            return body
        case Compound(Operator.AND | Operator.OR as operator, operands) if rng.random() < 0.3:
            return rng.choice((Compound(_OTHER[operator], operands), operands[0]))
        case Quantified(quantifier, _, _) if rng.random() < 0.3:
            return replace(formula, quantifier=_DUAL[quantifier])
        case Atom():
            return Not(formula)
        case _:
            return _below(rng, formula, _changed)


def _below(rng: random.Random, formula: Formula, change: Callable[[random.Random, Formula], Formula]) -> Formula:
    match formula:
        case Not(body):
            return Not(change(rng, body))
        case Quantified(quantifier, variable, body):
            return Quantified(quantifier, variable, change(rng, body))
        case Compound(operator, operands):
            place = rng.randrange(len(operands))
            return Compound(operator, (*operands[:place], change(rng, operands[place]), *operands[place + 1 :]))
        case _:
            return formula


def _starred(rng: random.Random, expression: Regex) -> Regex:
    match expression:
        case Star():
            return Star(expression)
        case Sequence(parts) | Union(parts):
            place = rng.randrange(len(parts))
            return replace(expression, parts=(*parts[:place], _starred(rng, parts[place]), *parts[place + 1 :]))
        case _:
            return expression


def _relettered(rng: random.Random, expression: Regex) -> Regex:
    match expression:
        case Letter(letter):
            return Letter("1" if letter == "0" else "0")
        case Star(body):
            return Star(_relettered(rng, body))
        case Sequence(parts) | Union(parts):
            place = rng.randrange(len(parts))
            return replace(expression, parts=(*parts[:place], _relettered(rng, parts[place]), *parts[place + 1 :]))
        case _:
            return expression
