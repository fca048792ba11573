"""Formulas from derivations: the slots filled with atoms, groups of one operator flattened as the paper prints them.

And regular expressions from what a derivation writes.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from critics.errors import InputError
from critics.replay.equivalences.regex import Letter, Regex, Sequence, Star
from critics.replay.first_order.syntax import Atom, Compound, Formula, Not, Operator, Quantified, Quantifier
from rollout.formulas.derivation import ATOMS, GrammarTree, Production

_BINARY = {operator.value: operator for operator in Operator}
_LITERALS = frozenset({("v",), ("p",), ("¬", "v"), ("¬", "p")})
_QUANTIFIERS = {quantifier.value: quantifier for quantifier in Quantifier}


def scopes(derivation: GrammarTree, names: Iterator[str], scope: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
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


def formula_of(derivation: GrammarTree, atoms: Iterator[Atom], variables: Iterator[str]) -> Formula:
    """Fill the slots from left to right; raises `InputError` for a rule that writes no formula by itself."""
    rule, parts = derivation
    kind = _kind(rule.symbols)
    if kind == "literal":
        return Not(next(atoms)) if rule.signs else next(atoms)
    if kind == "other":
        return _filled(derivation, atoms, variables)
    operands = [formula_of(part, atoms, variables) for part in parts]
    return Not(operands[0]) if kind == "negation" else _joined(rule, kind, operands)


@lru_cache(maxsize=10_000)
def _kind(symbols: tuple[str, ...]) -> Operator | Literal["literal", "negation", "other"]:
    """Return what a rule writes: a literal, or one connective over nonterminals, as most of the paper's do."""
    if symbols in _LITERALS:
        return "literal"
    written = [symbol for symbol in symbols if symbol not in "()"]
    signs = [_BINARY[symbol] for symbol in written if symbol in _BINARY]
    if any(symbol in ATOMS or symbol in _QUANTIFIERS for symbol in written):
        return "other"
    if written[0] == "¬" and len(written) == 2:
        return "negation"
    return signs[0] if len(set(signs)) == 1 and "¬" not in written else "other"


def _filled(derivation: GrammarTree, atoms: Iterator[Atom], variables: Iterator[str]) -> Formula:
    """Fill the slots of any rule; a `¬` belongs to what is next, and before a parenthesis to the whole."""
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


def regex_of(written: list[str]) -> Regex:
    """Return the tree of letters, stars and groups: what `read_regex` reads in the same text."""
    groups: list[list[Regex]] = [[]]
    for symbol in written:
        if symbol == "(":
            groups.append([])
        elif symbol == ")":
            group = groups.pop()
            groups[-1].append(group[0] if len(group) == 1 else Sequence(tuple(group)))
        elif symbol == "*":
            groups[-1][-1] = Star(groups[-1][-1])
        else:
            groups[-1].append(_letter(symbol))
    (whole,) = groups
    return whole[0] if len(whole) == 1 else Sequence(tuple(whole))


@lru_cache(maxsize=10)
def _letter(letter: str) -> Letter:
    return Letter(letter)
