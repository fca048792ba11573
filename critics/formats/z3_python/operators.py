"""Operators and truth of a script's values: bounded on numbers and texts, Z3's own on its expressions.

What Python would decide about symbols before the solver sees them (`x in [x]`, `if x == y`, `0 < x < 5`) is refused.

Python's own functions are here as well, each bounded; nothing that looks up, compiles, opens or imports.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, islice
from typing import Any

from critics.formats.z3_python.values import Exhausted, Native, Result, ScriptError, Session, Stopped

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
        if not all(is_symbolic(side, session) or _are_numbers(side) for side in (left, right)):
            raise ScriptError("operator", f"{name} cannot join {_kind(left)} and {_kind(right)}")
        if name in _LOGIC:
            return getattr(session.z3, _LOGIC[name])(left, right)
        if name not in _ARITHMETIC or name == "FloorDiv":
            raise ScriptError("operator", f"{name} is not supported on symbols")
        return _ARITHMETIC[name](left, right)
    if _are_numbers(left, right):
        return _binary_numbers(name, left, right)
    if name == "Add" and type(left) is type(right) and isinstance(left, (str, list, tuple)):
        _check_length(_length(left) + _length(right), session)
        return _ARITHMETIC[name](left, right)
    if name == "Mult" and isinstance(left, (str, list)) and isinstance(right, int):
        _check_length(_length(left) * max(0, right), session)
        return _ARITHMETIC[name](left, right)
    raise ScriptError("operator", f"{name} cannot join {_kind(left)} and {_kind(right)}")


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


Call = Callable[[Any, list[Any]], Any]
"""Calls a function of the script's or of the table with arguments."""


class Functions:
    """The table for one session."""

    def __init__(self, session: Session, call: Call) -> None:
        self._session, self._call = session, call
        items = self._items

        def rows(*values: Any) -> list[Any]:
            return list(zip(*map(items, values), strict=False))

        def mapped(function: Any, *values: Any) -> list[Any]:
            return [call(function, list(row)) for row in rows(*values)]

        of_one: dict[str, Callable[[Any], Any]] = {
            "len": lambda value: len(items(value)),
            "reversed": lambda value: items(value)[::-1],
            "any": lambda value: any(truth(item, session) for item in items(value)),
            "all": lambda value: all(truth(item, session) for item in items(value)),
            "str": self.text,
            "repr": lambda value: self.text(value, quoted=True),
            "bool": lambda value: truth(value, session),
            "int": self._int,
            "abs": self._abs,
        }
        of_two: dict[str, Callable[[Any, Any], Any]] = {
            "filter": lambda function, value: [item for item in items(value) if truth(call(function, [item]), session)],
            "combinations": self._combinations,
            "enumerate": lambda value, start=0: [(start + place, item) for place, item in enumerate(items(value))],
        }
        of_any: dict[str, Callable[..., Any]] = {
            "print": self._print,
            "range": self._range,
            "list": items,
            "tuple": lambda *values: tuple(items(*values)),
            "dict": self._dict,
            "zip": rows,
            "map": mapped,
            "sorted": self._sorted,
            "sum": self._sum,
            "min": lambda *values: self._extreme("Lt", values),
            "max": lambda *values: self._extreme("Gt", values),
            "exit": self._exit,
            "quit": self._exit,
        }
        table: dict[str, Callable[..., Any]] = {**of_one, **of_two, **of_any}
        self.names = {name: Native(name, function) for name, function in table.items()}

    def text(self, value: Any, *, quoted: bool = False) -> str:
        """Return a value as `print` shows it."""
        if has_symbols(value, self._session):
            self._session.spend(50)
        if isinstance(value, int) and abs(value) >= 10**300:
            raise Exhausted("too_large", "the number is too large to be shown")
        shown = repr(value) if quoted and isinstance(value, str) else str(value)
        if len(shown) > MAX_LENGTH:
            raise Exhausted("too_large", "the text is too long")
        return shown

    def _items(self, value: Any = ()) -> list[Any]:
        return checked_items(value, self._session)

    def _combinations(self, value: Any, size: int) -> list[Any]:
        found = list(islice(combinations(self._items(value), size), MAX_LENGTH + 1))
        if len(found) > MAX_LENGTH:
            raise Exhausted("too_large", f"more than {MAX_LENGTH} choices")
        self._session.spend(len(found))
        return found

    def _print(self, *values: Any, sep: Any = " ", end: Any = "\n") -> None:
        text = str(sep).join(map(self.text, values)) + str(end)
        self._session.show(text)

    def _range(self, *bounds: Any) -> list[int]:
        if not all(isinstance(bound, int) for bound in bounds):
            raise ScriptError("type", "range takes whole numbers")
        numbers = range(*bounds)
        if len(numbers) > MAX_LENGTH:
            raise Exhausted("too_large", f"a range of more than {MAX_LENGTH} numbers")
        self._session.spend(len(numbers))
        return list(numbers)

    def _dict(self, pairs: Any = (), **named: Any) -> dict[Any, Any]:
        return {**dict(pairs if isinstance(pairs, dict) else self._items(pairs)), **named}  # pyright: ignore[reportUnknownArgumentType]

    def _sorted(self, value: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
        items = self._items(value)
        keys = items if key is None else [self._call(key, [item]) for item in items]
        if has_symbols(keys, self._session):
            raise ScriptError("symbolic_truth", "formulas have no order: give sorted a key of numbers or texts")
        self._session.spend(len(items) * 4)
        order = sorted(range(len(items)), key=lambda i: keys[i], reverse=bool(reverse))
        return [items[i] for i in order]

    def _sum(self, value: Any, start: Any = 0) -> Any:
        for item in self._items(value):
            start = binary("Add", start, item, self._session)
        return start

    def _extreme(self, sign: str, values: tuple[Any, ...]) -> Any:
        items: list[Any] = self._items(values[0]) if len(values) == 1 else list(values)
        if has_symbols(items, self._session) or not items:
            raise ScriptError("symbolic_truth", "min and max need numbers or texts; of symbols, use If")
        best = items[0]
        for item in items[1:]:
            best = item if compare(sign, item, best, self._session) else best
        return best

    def _int(self, value: Any) -> int:
        if isinstance(value, str) and len(value) > 300:
            raise Exhausted("too_large", "the number is too large")
        if not isinstance(value, (int, float, str)):
            raise ScriptError("type", "int takes a number or a text")
        return int(value)

    def _abs(self, value: Any) -> Any:
        if isinstance(value, (int, float)):
            return abs(value)
        raise ScriptError("type", "abs takes a number; of a symbol, use Abs")

    def _exit(self, *_status: Any) -> None:
        raise Stopped
