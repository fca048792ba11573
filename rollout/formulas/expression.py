"""Formulas from derivations: the slots filled with atoms, groups of one operator flattened as the paper prints them."""

from collections.abc import Iterator

from critics.errors import InputError
from critics.fol.syntax import Atom, Compound, Formula, Not, Operator, Quantified, Quantifier
from rollout.formulas.derivation import Derivation
from rollout.formulas.grammar import ATOMS, Rule

_BINARY = {operator.value: operator for operator in Operator}
_LITERALS = frozenset({("v",), ("p",), ("¬", "v"), ("¬", "p")})
"""Rules that most of a formula is made of."""
_QUANTIFIERS = {quantifier.value: quantifier for quantifier in Quantifier}


def scopes(derivation: Derivation, names: Iterator[str], scope: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield for each atom the variables that stand above it; each quantifier takes the next name."""
    if not derivation.parts and "f" not in derivation.rule.symbols:
        for symbol in derivation.rule.symbols:
            if symbol in ATOMS:
                yield scope
        return
    parts = iter(derivation.parts)
    for symbol in derivation.rule.symbols:
        if symbol == "f":
            scope = (*scope, next(names))
        elif symbol in ATOMS:
            yield scope
        elif symbol in derivation.rule.children:
            yield from scopes(next(parts), names, scope)


def formula_of(derivation: Derivation, atoms: Iterator[Atom], variables: Iterator[str]) -> Formula:
    """Fill the slots from left to right; raises `InputError` for a rule that writes no formula by itself."""
    rule = derivation.rule
    if rule.symbols in _LITERALS:
        return Not(next(atoms)) if rule.signs else next(atoms)
    parts = iter(derivation.parts)
    operands: list[Formula] = []
    operator: Operator | None = None
    negated = False
    quantified: list[tuple[Quantifier, str]] = []
    for symbol in rule.symbols:
        if symbol in rule.children:
            operands.append(formula_of(next(parts), atoms, variables))
        elif symbol in ATOMS:
            atom = next(atoms)
            operands.append(Not(atom) if negated else atom)
            negated = False
        elif symbol in _BINARY:
            operator = _BINARY[symbol]
        elif symbol == "¬":
            negated = True
        elif symbol in _QUANTIFIERS:
            quantified.append((_QUANTIFIERS[symbol], next(variables)))
    found = _joined(rule, operator, operands)
    for quantifier, variable in reversed(quantified):
        found = Quantified(quantifier, variable, found)
    return Not(found) if negated else found


def _joined(rule: Rule, operator: Operator | None, operands: list[Formula]) -> Formula:
    if operator is None and len(operands) == 1:
        return operands[0]
    if operator is None or len(operands) < 2:
        raise InputError(f"grammar: {' '.join(rule.symbols)!r} is no formula once its nonterminals are")
    if operator is not Operator.AND and operator is not Operator.OR:
        return Compound(operator, tuple(operands))
    flat: list[Formula] = []
    for operand in operands:
        if isinstance(operand, Compound) and operand.operator is operator:
            flat += operand.operands
        else:
            flat.append(operand)
    return Compound(operator, tuple(flat))
