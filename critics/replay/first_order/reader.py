"""A second reader of formulas, for canonical text only: every group of two operators has its parentheses.

A formula is nested tuples: `("@", name, terms..)`, `("¬", formula)`, `("∀" or "∃", variable, formula)`, and
`(sign, formulas..)` for ∧, ∨, ⊕, → and ↔. A term is a name, or a tuple of a function and its arguments. The predicate
of an equality is `=`. A name in quotes keeps them: no quantifier binds it.
"""

import re
from typing import Any

MAX_CHARACTERS = 80_000
MAX_DEPTH = 130
_NAME = re.compile(r'"[^"]*"|\w+(?:[-.\'’$]\w+)*\+*')
_TOKEN = re.compile(rf"[ ]+|({_NAME.pattern}|[()¬∧∨⊕→↔∀∃.,=≠])")
_JOINING = ("∧", "∨", "⊕", "→", "↔")
Tree = Any
"""A formula or a term."""
ATOM = "@"
"""Head of an atom: no name, so that no function is taken for one."""


def read(text: str) -> Tree:
    """Read canonical text; raises `ValueError`."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError("too long")
    tokens = [token for token in _TOKEN.findall(text) if token]
    if "".join(tokens).replace(" ", "") != text.replace(" ", ""):
        raise ValueError("a character that is no part of the language")
    tree, end = _group([*tokens, ""], 0, 0)
    if end != len(tokens):
        raise ValueError("something stands after the end")
    return tree


def _group(tokens: list[str], at: int, depth: int) -> tuple[Tree, int]:
    """Read operands with one sign between them; with none it is the operand."""
    first, at = _operand(tokens, at, depth)
    sign = tokens[at]
    if sign not in _JOINING:
        return first, at
    operands = [first]
    while tokens[at] == sign:
        operand, at = _operand(tokens, at + 1, depth)
        operands.append(operand)
    if sign not in ("∧", "∨") and len(operands) > 2:
        raise ValueError(f"{sign} joins two")
    return (sign, *operands), at


def _operand(tokens: list[str], at: int, depth: int) -> tuple[Tree, int]:
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    token = tokens[at]
    if token == "¬":
        body, at = _operand(tokens, at + 1, depth + 1)
        return ("¬", body), at
    if token in ("∀", "∃"):
        variable = _name(tokens, at + 1)
        if tokens[at + 2] != ".":
            raise ValueError("a stop after the variable")
        body, at = _operand(tokens, at + 3, depth + 1)
        return (token, variable, body), at
    if token == "(":
        inner, at = _group(tokens, at + 1, depth + 1)
        if tokens[at] != ")":
            raise ValueError("a parenthesis is not closed")
        return inner, at + 1
    name, terms, at = _applied(tokens, at, depth)
    if tokens[at] not in ("=", "≠"):
        return (ATOM, name, *terms), at
    other, others, end = _applied(tokens, at + 1, depth)
    equality = (ATOM, "=", (name, *terms) if terms else name, (other, *others) if others else other)
    return (equality if tokens[at] == "=" else ("¬", equality)), end


def _applied(tokens: list[str], at: int, depth: int) -> tuple[str, list[Tree], int]:
    """Read a name and the terms in its parentheses, if there are any."""
    name = _name(tokens, at)
    terms: list[Tree] = []
    at += 1
    if tokens[at] == "(":
        while tokens[at] in ("(", ","):
            if depth > MAX_DEPTH:
                raise ValueError("too deep")
            function, arguments, at = _applied(tokens, at + 1, depth + 1)
            terms.append((function, *arguments) if arguments else function)
        if tokens[at] != ")":
            raise ValueError("arguments are not closed")
        at += 1
    return name, terms, at


def _name(tokens: list[str], at: int) -> str:
    token = tokens[at]
    if _NAME.fullmatch(token) is None:
        raise ValueError("a name should stand here")
    return token


def symbols(tree: Tree) -> dict[tuple[str, str], int]:
    """Return the number of arguments of each predicate and function; raises `ValueError` where there are two."""
    found: dict[tuple[str, str], int] = {}
    waiting: list[tuple[bool, Tree]] = [(False, tree)]
    while waiting:
        is_term, part = waiting.pop()
        if isinstance(part, str):
            continue
        if not is_term and part[0] != ATOM:
            waiting += [(False, inner) for inner in part[1:] if not isinstance(inner, str)]
            continue
        name, arguments = (part[0], part[1:]) if is_term else (part[1], part[2:])
        key = ("function" if is_term else "predicate" if arguments else "proposition", name)
        if found.setdefault(key, len(arguments)) != len(arguments):
            raise ValueError(f"{name} has two arities")
        waiting += [(True, argument) for argument in arguments]
    return found
