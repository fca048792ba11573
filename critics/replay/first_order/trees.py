"""Formulas compared: their symbols, their conjuncts, and one spelling for what differs in order and names alone.

Formulas are those of `critics.replay.first_order.reader`; statements of the Horn language are read into them here.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from critics.replay.certificate import Rejected
from critics.replay.first_order.reader import ATOM, Formula
from critics.replay.statements import Atom, Term, has_variables, read_atom, read_rule, variables_of

Symbol = tuple[str, str, int]
"""A kind (`predicate` or `function`), a name, and the number of arguments."""
_LIKE_A_VARIABLE = re.compile(r"[u-z]\d{0,2}")
_NESTS = ("∧", "∨")
_COMMUTES = ("∧", "∨", "⊕", "↔")
_QUANTIFIERS = ("∀", "∃")


def horn_formula(text: str) -> Formula:
    """Return a Horn statement as a formula, names in lower case; raises `ValueError` and `IndexError` for none."""
    *premises, conclusion = rule = read_rule(text)
    formula = _literal(conclusion)
    if premises:
        said = tuple(map(_literal, premises))
        formula = ("→", (said[0] if len(said) == 1 else ("∧", said), formula))
    for name in sorted({name for _, terms in rule for name in variables_of(terms)}, reverse=True):
        formula = ("∀", name[1:], formula)
    return formula


def horn_literal(text: str) -> Formula:
    """Return a goal as a formula."""
    return _literal(read_atom(text))


def _literal(atom: Atom) -> Formula:
    sign, (predicate, *arguments) = atom
    formula = (ATOM, str(predicate).lower(), tuple(map(_horn_term, arguments)))
    return formula if sign else ("¬", formula)


def _horn_term(term: Term) -> Any:
    if not isinstance(term, str):
        return ("of", str(term[0]).lower(), tuple(map(_horn_term, term[1:])))
    return ("var", term[1:]) if has_variables((term,)) else ("of", term.lower(), ())


def parts_of(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of."""
    yield formula
    if formula[0] == "¬" or formula[0] in _QUANTIFIERS:
        yield from parts_of(formula[-1])
    elif formula[0] != ATOM:
        for part in formula[1]:
            yield from parts_of(part)


def symbols_of(formulas: Iterable[Formula]) -> set[Symbol]:
    """Return the symbols of formulas, `=` left out.

    Raises `Rejected` where a predicate or a function has two numbers of arguments, or a name is both.
    """
    found: set[Symbol] = set()
    for part in (part for formula in formulas for part in parts_of(formula)):
        if part[0] == ATOM:
            if part[1] != "=":
                found.add(("predicate", part[1], len(part[2])))
            for term in part[2]:
                found.update(_term_symbols(term))
    arities: dict[tuple[str, str], int] = {}
    for kind, name, arity in sorted(found):
        # A proposition and a predicate of one name are two symbols, and so are a constant and a function.
        if arity and (arities.setdefault((kind, name), arity) != arity):
            raise Rejected("ill_formed")
    if any(("function", name) in arities for kind, name in arities if kind == "predicate"):
        raise Rejected("ill_formed")
    return found


def _term_symbols(term: Any) -> Iterator[Symbol]:
    if term[0] == "of":
        yield ("function", term[1], len(term[2]))
        for argument in term[2]:
            yield from _term_symbols(argument)


def open_names(formula: Formula) -> set[str]:
    """Return the constants that look like variables, or are bound elsewhere in the formula."""
    bound = {part[1] for part in parts_of(formula) if part[0] in _QUANTIFIERS}
    constants = {name for kind, name, arity in symbols_of([formula]) if kind == "function" and arity == 0}
    return {name for name in constants if name in bound or _LIKE_A_VARIABLE.fullmatch(name)}


def negated(formula: Formula) -> Formula:
    """Return the negation, without a second sign before a first."""
    return formula[1] if formula[0] == "¬" else ("¬", formula)


def conjuncts(formula: Formula) -> list[Formula]:
    """Return what a formula says at once."""
    return [part for inner in formula[1] for part in conjuncts(inner)] if formula[0] == "∧" else [formula]


def key(formula: Formula, bound: tuple[str, ...] = ()) -> str:
    """Return one spelling for formulas that differ by names of variables, order, groups and double negation only."""
    kind = formula[0]
    if kind == ATOM:
        terms = [_term_key(term, bound) for term in formula[2]]
        return f"{formula[1]!r}({','.join(sorted(terms) if formula[1] == '=' else terms)})"
    if kind == "¬":
        inner = formula[1]
        return key(inner[1], bound) if inner[0] == "¬" else f"¬{key(inner, bound)}"
    if kind in _QUANTIFIERS:
        return f"{kind}{key(formula[2], (*bound, formula[1]))}"
    keys = [key(part, bound) for part in _flat(kind, formula[1])]
    return f"{kind}[{';'.join(sorted(keys) if kind in _COMMUTES else keys)}]"


def _flat(kind: str, parts: Iterable[Formula]) -> list[Formula]:
    found: list[Formula] = []
    for part in parts:
        while part[0] == "¬" and part[1][0] == "¬":
            part = part[1][1]
        found += _flat(kind, part[1]) if part[0] == kind and kind in _NESTS else [part]
    return found


def _term_key(term: Any, bound: tuple[str, ...]) -> str:
    if term[0] == "var":
        return f"#{len(bound) - 1 - bound[::-1].index(term[1])}"
    return f"{term[1]!r}({','.join(_term_key(argument, bound) for argument in term[2])})"
