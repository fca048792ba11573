"""Formulas as SMT-LIB 2 over one sort; symbols are numbered, so no name is ever syntax."""

from collections.abc import Iterable
from typing import Any

from critics.replay import smtlib
from critics.replay.first_order.reader import Formula
from critics.replay.first_order.trees import Symbol, symbols_of

_WORDS = {"∧": "and", "∨": "or", "⊕": "xor", "→": "=>", "↔": "=", "∀": "forall", "∃": "exists"}


def script(formulas: Iterable[Formula]) -> str:
    """Return a script that asks whether formulas hold together."""
    listed = list(formulas)
    names = {symbol: f"{symbol[0][0]}{number}" for number, symbol in enumerate(sorted(symbols_of(listed)))}
    lines = ["(declare-sort U 0)"]
    for (kind, _, arity), ours in names.items():
        lines.append(f"(declare-fun {ours} ({' '.join(['U'] * arity)}) {'Bool' if kind == 'predicate' else 'U'})")
    return smtlib.script(lines, [_written(formula, names, {}, 0) for formula in listed], logic="UF")


def _written(formula: Formula, names: dict[Symbol, str], env: dict[str, str], depth: int) -> str:
    kind, *rest = formula
    if kind == "@":
        predicate = "=" if rest[0] == "=" else names["predicate", rest[0], len(rest[1])]
        return smtlib.applied(predicate, [_term(term, names, env) for term in rest[1]])
    if kind == "¬":
        return f"(not {_written(rest[0], names, env, depth)})"
    if kind in ("∀", "∃"):
        inner = _written(rest[1], names, {**env, rest[0]: f"x{depth}"}, depth + 1)
        return f"({_WORDS[kind]} ((x{depth} U)) {inner})"
    return f"({_WORDS[kind]} {' '.join(_written(part, names, env, depth) for part in rest[0])})"


def _term(term: Any, names: dict[Symbol, str], env: dict[str, str]) -> str:
    if term[0] == "var":
        return env[term[1]]
    return smtlib.applied(
        names["function", term[1], len(term[2])], [_term(argument, names, env) for argument in term[2]]
    )
