"""SMT-LIB 2 text: scripts, applications and numbers, for every writer of critics and checker."""

from collections.abc import Iterable, Sequence

OPERATORS = {
    "and": "and", "or": "or", "not": "not", "xor": "xor", "implies": "=>", "iff": "=", "if": "ite", "eq": "=",
    "ne": "distinct", "distinct": "distinct", "add": "+", "sub": "-", "mul": "*", "div": "div", "mod": "mod",
    "abs": "abs", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
"""The sign of each operator of finite programs."""


def script(declarations: Iterable[str], formulas: Iterable[str], logic: str = "ALL") -> str:
    """Return a script that asks whether formulas hold together."""
    asserted = [f"(assert {formula})" for formula in formulas]
    return "\n".join([f"(set-logic {logic})", *declarations, *asserted, "(check-sat)", ""])


def applied(head: str, parts: Sequence[str]) -> str:
    """Return a function or an operator applied to its arguments; a name alone where there are none."""
    return f"({head} {' '.join(parts)})" if parts else head


def constant(value: int | bool) -> str:
    """Return a number or a truth value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if value >= 0 else f"(- {-value})"


def equals_one_of(text: str, values: Iterable[int]) -> str:
    """Return the formula that an expression has one of some values."""
    return f"(or false {' '.join(f'(= {text} {constant(value)})' for value in values)})"


def between(text: str, low: int, high: int) -> str:
    """Return the formula that an expression is within two bounds."""
    return f"(and (<= {constant(low)} {text}) (<= {text} {constant(high)}))"


def extreme(head: str, texts: Sequence[str]) -> str:
    """Return the least (`min`) or the greatest of some expressions as a chain of cases."""
    result, *others = texts
    for other in others:
        result = f"(ite ({'<' if head == 'min' else '>'} {other} {result}) {other} {result})"
    return result
