"""Operators of programs as the critics compute them, and the errors of terms that have no value or take too long."""

from critics.replay.finite.terms import Value

OUTSIDE: tuple[int, ...] = (-1, -1, -1, -1, -1, -1, -1, -1, -1)
"""Key of a function's table for the value of a function of integers outside its domain."""


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
