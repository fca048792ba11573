"""The typed core of a program: finite functions over integers, terms over them, and what a model makes of a term.

Every sort is a finite list of integers (the members of an `EnumSort` are numbered from 0), so that models are tables
and quantifiers are loops. `evaluate` needs the standard library only and knows nothing of grounding or of solvers:
models are checked with it.
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
MAX_STEPS = 400_000
"""Of one evaluation."""


class TooLarge(RuntimeError):  # noqa: N818
    """A term takes more steps than are allowed."""


class Undefined(ValueError):  # noqa: N818
    """A model gives no value, or a value of another kind than is needed."""


class Evaluation:
    """Evaluates terms in one model; raises `TooLarge`, and `Undefined` where the model is no model."""

    def __init__(self, functions: Mapping[str, Function], model: Model, *, steps: int = MAX_STEPS) -> None:
        self._functions, self._model, self._steps = functions, model, steps

    def holds(self, term: Term) -> bool:
        """Return a formula's truth value."""
        value = self._value(term, {})
        if not isinstance(value, bool):
            raise Undefined("a number is no truth value")
        return value

    def _value(self, term: Term, binding: Mapping[str, int]) -> Value:
        self._steps -= 1
        if self._steps < 0:
            raise TooLarge("evaluation")
        match term:
            case Constant(value):
                return value
            case Variable(name):
                return binding[name]
            case Application(function, arguments):
                return self._applied(function, tuple(int(self._value(a, binding)) for a in arguments))
            case Operator(name, operands):
                return self._operated(name, operands, binding)
            case Quantified(kind, variables, body):
                return self._quantified(kind, variables, body, binding)

    def _applied(self, name: str, arguments: tuple[int, ...]) -> Value:
        function = self._functions[name]
        inside = all(a in domain for a, domain in zip(arguments, function.domains, strict=True))
        if not inside and function.is_boolean:
            return False
        try:
            return self._model[name][arguments if inside else OUTSIDE]
        except KeyError as error:
            raise Undefined(f"no value for {name} at {arguments}") from error

    def _operated(self, name: str, operands: tuple[Term, ...], binding: Mapping[str, int]) -> Value:
        match name:
            case "and":
                return all(self._value(o, binding) for o in operands)
            case "or":
                return any(self._value(o, binding) for o in operands)
            case "implies":
                return not self._value(operands[0], binding) or bool(self._value(operands[1], binding))
            case "if":
                return self._value(operands[1 if self._value(operands[0], binding) else 2], binding)
            case _:
                return apply_operator(name, [self._value(o, binding) for o in operands])

    def _quantified(
        self, kind: str, variables: tuple[tuple[str, tuple[int, ...]], ...], body: Term, binding: Mapping[str, int]
    ) -> Value:
        names = [name for name, _ in variables]
        choices = product(*(values for _, values in variables))
        results = (self._value(body, {**binding, **dict(zip(names, c, strict=True))}) for c in choices)
        match kind:
            case "forall":
                return all(results)
            case "exists":
                return any(results)
            case "count":
                return sum(1 for result in results if result)
            case "sum":
                return sum(results)
            case _:
                return apply_operator("distinct", list(results))


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
