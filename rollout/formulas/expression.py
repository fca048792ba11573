"""Formulas from derivations: the slots filled with atoms, groups of one operator flattened as the paper prints them."""

from collections.abc import Iterator

from critics.errors import InputError
from critics.replay.first_order.syntax import Atom, Compound, Formula, Not, Operator, Quantified, Quantifier
from rollout.formulas.derivation import ATOMS, GrammarTree, Production

_BINARY = {operator.value: operator for operator in Operator}
_QUANTIFIERS = {quantifier.value: quantifier for quantifier in Quantifier}


def scopes(derivation: GrammarTree, names: Iterator[str], scope: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield for each atom the variables that stand above it; each quantifier takes the next name."""
    parts = iter(derivation.parts)
    for symbol in derivation.rule.symbols:
        if symbol == "f":
            scope = (*scope, next(names))
        elif symbol in ATOMS:
            yield scope
        elif symbol in derivation.rule.children:
            yield from scopes(next(parts), names, scope)


def formula_of(derivation: GrammarTree, atoms: Iterator[Atom], variables: Iterator[str]) -> Formula:
    """Fill the slots from left to right; a `¬` belongs to what is next, and before a parenthesis to the whole.

    Raises `InputError` for a rule that writes no formula by itself.
    """
    rule = derivation.rule
    parts = iter(derivation.parts)
    operands: list[Formula] = []
    operator: Operator | None = None
    signs = whole_signs = 0
    quantified: list[tuple[Quantifier, str]] = []
    for symbol in rule.symbols:
        if symbol in rule.children or symbol in ATOMS:
            operand = next(atoms) if symbol in ATOMS else formula_of(next(parts), atoms, variables)
            operands.append(_negated(operand, signs))
            signs = 0
        elif symbol == "(":
            whole_signs, signs = whole_signs + signs, 0
        elif symbol in _BINARY:
            operator = _BINARY[symbol]
        elif symbol == "¬":
            signs += 1
        elif symbol in _QUANTIFIERS:
            quantified.append((_QUANTIFIERS[symbol], next(variables)))
    found = _joined(rule, operator, operands)
    for quantifier, variable in reversed(quantified):
        found = Quantified(quantifier, variable, found)
    return _negated(found, whole_signs)


def _negated(formula: Formula, times: int) -> Formula:
    for _ in range(times):
        formula = Not(formula)
    return formula


def _joined(rule: Production, operator: Operator | None, operands: list[Formula]) -> Formula:
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
