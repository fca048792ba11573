"""The typed core of a program: finite functions over integers, and terms over them.

Every sort is a finite list of integers (the members of an `EnumSort` are numbered from 0), so that models are tables
and quantifiers are loops.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal as Choice

Value = int | bool


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a truth value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Variable:
    """A bound variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Application:
    """A function's value at its arguments."""

    function: str
    arguments: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: `not and or implies iff xor eq ne lt le gt ge add sub mul div mod abs if min max distinct`."""

    name: str
    operands: "tuple[Term, ...]"


@dataclass(frozen=True, slots=True)
class Quantified:
    """A body for every choice of values: all or some of it true, how often, its sum, or all different."""

    kind: Choice["forall", "exists", "count", "sum", "distinct"]
    variables: tuple[tuple[str, tuple[int, ...]], ...]
    body: "Term"


Term = Constant | Variable | Application | Operator | Quantified


@dataclass(frozen=True, slots=True)
class Function:
    """A function to be found: the values each argument may take, and those of its result.

    `values` is None for truth values and for all integers; `is_boolean` tells them apart.
    """

    domains: tuple[tuple[int, ...], ...]
    values: tuple[int, ...] | None
    is_boolean: bool

    def points(self) -> Iterator[tuple[int, ...]]:
        """Yield the arguments in order."""
        return product(*self.domains)


Table = Mapping[tuple[int, ...], Value]
Model = Mapping[str, Table]
"""Each function's table. The key `OUTSIDE` holds the value of a function of integers outside its domain."""
OUTSIDE: tuple[int, ...] = (-1, -1, -1, -1, -1, -1, -1, -1, -1)


class TooLarge(RuntimeError):  # noqa: N818
    """A term takes more steps than are allowed."""


class Undefined(ValueError):  # noqa: N818
    """A model gives no value, or a value of another kind than is needed."""


def apply_operator(name: str, values: list[Value]) -> Value:
    """Return a strict operator's value; division is that of Python, and by nothing `Undefined`."""
    first, second = values[0], values[1] if len(values) > 1 else 0
    match name:
        case "not":
            return not first
        case "implies":
            return not first or bool(second)
        case "if":
            return values[1 if first else 2]
        case "xor":
            return sum(map(bool, values)) % 2 == 1
        case "iff" | "eq":
            return first == second
        case "ne":
            return first != second
        case "lt":
            return first < second
        case "le":
            return first <= second
        case "gt":
            return first > second
        case "ge":
            return first >= second
        case "distinct":
            return len(set(values)) == len(values)
        case _:
            return _arithmetic(name, values)


def _arithmetic(name: str, values: list[Value]) -> int:
    first, second = int(values[0]), int(values[1]) if len(values) > 1 else 0
    match name:
        case "add":
            return sum(map(int, values))
        case "sub":
            return first - second
        case "mul":
            return first * second
        case "abs":
            return abs(first)
        case "min":
            return min(map(int, values))
        case "max":
            return max(map(int, values))
        case "div" | "mod":
            if second == 0:
                raise Undefined("division by nothing")
            return first // second if name == "div" else first % second
        case _:
            raise Undefined(f"no operator {name!r}")
