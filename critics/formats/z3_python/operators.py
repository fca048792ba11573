"""Operators and truth of a script's values: bounded on numbers and texts, Z3's own on its expressions.

What Python would decide about symbols before the solver sees them (`x in [x]`, `if x == y`, `0 < x < 5`) is refused.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from critics.formats.z3_python.values import Exhausted, Result, ScriptError, Session

MAX_BITS = 4_096
"""Bits of a whole number."""
MAX_LENGTH = 20_000
"""Length of a text or a list."""
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda one, other: one + other,
    "Sub": lambda one, other: one - other,
    "Mult": lambda one, other: one * other,
    "Div": lambda one, other: one / other,
    "Mod": lambda one, other: one % other,
    "FloorDiv": lambda one, other: one // other,
}
_BITS: Mapping[str, Callable[[int, int], int]] = {
    "BitAnd": lambda one, other: one & other,
    "BitOr": lambda one, other: one | other,
    "BitXor": lambda one, other: one ^ other,
}
_LOGIC: Mapping[str, str] = {"BitAnd": "And", "BitOr": "Or", "BitXor": "Xor"}
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
    "GtE": operator.ge,
}  # fmt: skip
_PLAIN = (bool, int, float, str)


def is_symbolic(value: Any, session: Session) -> bool:
    """Say whether a value is an expression of Z3's."""
    return isinstance(value, session.z3.ExprRef)


def has_symbols(value: Any, session: Session) -> bool:
    """Say whether a value is, or a list of any depth holds, an expression, a sort or a function of Z3's."""
    session.spend()
    if isinstance(value, (list, tuple)):
        return any(has_symbols(item, session) for item in _listed(value))
    if isinstance(value, dict):
        return any(has_symbols(item, session) for item in _listed(dict[Any, Any](value).values()))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, session.z3.AstRef)


def _listed(values: Any) -> list[Any]:
    return list(values)


def truth(value: Any, session: Session) -> bool:
    """Return a value's truth; raises `ScriptError` for a formula, which is neither true nor false to Python."""
    if is_symbolic(value, session):
        if session.z3.is_true(value) or session.z3.is_false(value):
            return bool(session.z3.is_true(value))
        raise ScriptError("symbolic_truth", "a formula has no truth value in Python: use And, Or, Not, If or a solver")
    if isinstance(value, (list, tuple, dict)):
        return _length(value) > 0
    return bool(value) if value is None or isinstance(value, _PLAIN) else True


def binary(name: str, left: Any, right: Any, session: Session) -> Any:
    """Apply a binary operator by the name of its syntax node."""
    if is_symbolic(left, session) or is_symbolic(right, session):
        return _binary_symbolic(name, left, right, session)
    if _are_numbers(left, right):
        return _binary_numbers(name, left, right)
    if name == "Add" and type(left) is type(right) and isinstance(left, (str, list, tuple)):
        _check_length(_length(left) + _length(right), session)
        return _ARITHMETIC[name](left, right)
    if name == "Mult" and isinstance(left, (str, list)) and isinstance(right, int):
        _check_length(_length(left) * max(0, right), session)
        return _ARITHMETIC[name](left, right)
    raise ScriptError("operator", f"{name} cannot join {_kind(left)} and {_kind(right)}")


def _binary_symbolic(name: str, left: Any, right: Any, session: Session) -> Any:
    if not all(is_symbolic(side, session) or _are_numbers(side) for side in (left, right)):
        raise ScriptError("operator", f"{name} cannot join {_kind(left)} and {_kind(right)}")
    if name in _LOGIC:
        return getattr(session.z3, _LOGIC[name])(left, right)
    if name not in _ARITHMETIC or name == "FloorDiv":
        raise ScriptError("operator", f"{name} is not supported on symbols")
    return _ARITHMETIC[name](left, right)


def _binary_numbers(name: str, left: Any, right: Any) -> Any:
    if name == "Pow":
        # Attack: 9**9**9.
        if not isinstance(right, int) or not 0 <= right <= 64 or _bits(left) * right > MAX_BITS:
            raise Exhausted("too_large", "the power is too large")
        return left**right
    if name in _BITS and isinstance(left, int) and isinstance(right, int):
        return _BITS[name](left, right)
    if name not in _ARITHMETIC:
        raise ScriptError("operator", f"{name} is not supported")
    if _bits(left) + _bits(right) > MAX_BITS:
        raise Exhausted("too_large", "the number is too large")
    try:
        return _ARITHMETIC[name](left, right)
    except (ZeroDivisionError, OverflowError) as error:
        raise ScriptError("arithmetic", str(error)) from None


def unary(name: str, value: Any, session: Session) -> Any:
    """Apply `-`, `+`, `not` or `~` by the name of its syntax node."""
    if name == "Not":
        return not truth(value, session)
    if name == "Invert" and is_symbolic(value, session):
        return session.z3.Not(value)
    if name in ("USub", "UAdd") and (is_symbolic(value, session) or _are_numbers(value)):
        return -value if name == "USub" else value
    raise ScriptError("operator", f"{name} does not take {_kind(value)}")


def compare(name: str, left: Any, right: Any, session: Session) -> Any:
    """Compare by the name of a syntax node; on expressions the result is a formula."""
    if name in ("Is", "IsNot"):
        if not any(side is None or isinstance(side, (Result, bool)) for side in (left, right)):
            raise ScriptError("operator", "'is' compares with None, sat, unsat and unknown alone")
        return (left is right or (isinstance(left, Result) and left == right)) == (name == "Is")
    if name in ("In", "NotIn"):
        return _contains(left, right, session) == (name == "In")
    if left is None or right is None:
        return (left is right) == (name == "Eq")
    if is_symbolic(left, session) or is_symbolic(right, session):
        if not all(is_symbolic(side, session) or _are_numbers(side) for side in (left, right)):
            raise ScriptError("operator", f"cannot compare {_kind(left)} with {_kind(right)}")
        return _COMPARISONS[name](left, right)
    if has_symbols(left, session) or has_symbols(right, session):
        raise ScriptError("symbolic_truth", "lists of formulas cannot be compared")
    try:
        return _COMPARISONS[name](left, right)
    except TypeError as error:
        raise ScriptError("operator", str(error)) from None


def _contains(item: Any, container: Any, session: Session) -> bool:
    if not isinstance(container, (str, list, tuple, dict)):
        raise ScriptError("operator", f"'in' does not take {_kind(container)}")
    keys = [] if isinstance(container, str) else _listed(container)
    if has_symbols(item, session) or has_symbols(keys, session):
        # Attack: `small in [small]` is decided by Python, whatever the premises are.
        raise ScriptError("symbolic_truth", "'in' is decided by Python, not by the solver: use Or and ==")
    session.spend(_length(container) // 16)
    try:
        return item in container
    except TypeError as error:
        raise ScriptError("operator", str(error)) from None


def checked_items(value: Any, session: Session) -> list[Any]:
    """Return what a loop goes through; raises `ScriptError` for what has no items."""
    if isinstance(value, (str, list, tuple, dict)):
        items = _listed(value)
        session.spend(len(items))
        return items
    raise ScriptError("operator", f"{_kind(value)} cannot be gone through")


def _check_length(length: int, session: Session) -> None:
    # Attack: 'a' * 10**10.
    if length > MAX_LENGTH:
        raise Exhausted("too_large", f"a text or list of {length} parts")
    session.spend(length // 8)


def _length(value: Any) -> int:
    return len(value)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (bool, int, float)) for value in values)


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _kind(value: Any) -> str:
    return type(value).__name__


def flattened(values: Iterable[Any], session: Session) -> list[Any]:
    """Return the members of lists in lists, in order."""
    flat: list[Any] = []
    for value in values:
        session.spend()
        flat += flattened(_listed(value), session) if isinstance(value, (list, tuple)) else [value]
    return flat
