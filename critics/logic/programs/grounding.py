"""Quantifiers unrolled and functions as cells: a term of the core as a formula over numbered unknowns.

A ground expression is a number, a truth value, or a tuple of an operator and its operands; `("cell", i)` is an unknown.
What is constant is worked out on the way. A function whose arguments are unknown themselves becomes a chain of cases
over its domain; outside it, a predicate is false and a function of numbers has one value of its own (`OUTSIDE`).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from critics.logic.programs.core import OUTSIDE, TooLarge, Undefined, apply_operator
from critics.replay.finite.terms import Application, Constant, Function, Operator, Quantified, Term, Value, Variable

Ground = int | bool | tuple["str | Ground", ...]
MAX_NODES = 150_000
"""Of all ground expressions of one program."""


class Grounder:
    """Grounds the terms of one program; raises `TooLarge` beyond its budget."""

    def __init__(self, functions: Mapping[str, Function], *, max_nodes: int = MAX_NODES) -> None:
        self._functions, self._left = functions, max_nodes
        self._cells: dict[tuple[str, tuple[int, ...]], int] = {}

    def unknowns(self) -> list[Function]:
        """Return the function that each unknown met so far is a value of, by number."""
        return [self._functions[name] for name, _ in self._cells]

    def ground(self, term: Term) -> Ground:
        """Return a closed term's ground expression."""
        return self._ground(term, {})

    def model(self, values: Mapping[int, Value]) -> dict[str, dict[tuple[int, ...], Value]]:
        """Return tables for all functions: unknowns that a solver left open, and others, get their first value."""
        tables: dict[str, dict[tuple[int, ...], Value]] = {}
        for name, function in self._functions.items():
            first: Value = False if function.is_boolean else (function.values or (0,))[0]
            points = [*function.points()] + ([] if function.is_boolean else [OUTSIDE])
            tables[name] = {point: values.get(self._cells.get((name, point), -1), first) for point in points}
        return tables

    def _ground(self, term: Term, binding: Mapping[str, int]) -> Ground:
        self._spend()
        match term:
            case Constant(value):
                return value
            case Variable(name):
                return binding[name]
            case Application(function, arguments):
                return self._applied(function, [self._ground(a, binding) for a in arguments])
            case Operator(name, operands):
                return self._operated(name, operands, binding)
            case Quantified(kind, variables, body):
                names = [name for name, _ in variables]
                choices = product(*(values for _, values in variables))
                parts = (self._ground(body, {**binding, **dict(zip(names, c, strict=True))}) for c in choices)
                return self._unrolled(kind, parts)

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooLarge("grounding")

    def _unrolled(self, kind: str, parts: Iterable[Ground]) -> Ground:
        found: list[Ground] = []
        for part in parts:
            if (kind == "forall" and part is False) or (kind == "exists" and part is True):
                return kind == "exists"
            found.append(part)
        match kind:
            case "forall":
                return _conjunction(found)
            case "exists":
                return _disjunction(found)
            case "count":
                return _count(found)
            case "sum":
                return _applied_to("add", found)
            case _:
                return _applied_to("distinct", found)

    def _operated(self, name: str, operands: Sequence[Term], binding: Mapping[str, int]) -> Ground:
        if name in ("and", "or"):
            parts = (self._ground(operand, binding) for operand in operands)
            return self._unrolled("forall" if name == "and" else "exists", parts)
        if name == "implies":
            premise = self._ground(operands[0], binding)
            return True if premise is False else _disjunction([_not(premise), self._ground(operands[1], binding)])
        if name == "if":
            condition = self._ground(operands[0], binding)
            if isinstance(condition, bool):
                return self._ground(operands[1 if condition else 2], binding)
            return ("if", condition, self._ground(operands[1], binding), self._ground(operands[2], binding))
        return _applied_to(name, [self._ground(operand, binding) for operand in operands])

    def _applied(self, name: str, arguments: list[Ground]) -> Ground:
        function = self._functions[name]
        return self._cases(name, function, arguments, ())

    def _cases(self, name: str, function: Function, arguments: list[Ground], fixed: tuple[int, ...]) -> Ground:
        """Return the value for arguments of which the first are `fixed`."""
        self._spend()
        if len(fixed) == len(arguments):
            return self._cell(name, fixed)
        argument, domain = arguments[len(fixed)], function.domains[len(fixed)]
        outside: Ground = False if function.is_boolean else self._cell(name, OUTSIDE)
        if not isinstance(argument, tuple):
            return self._cases(name, function, arguments, (*fixed, int(argument))) if argument in domain else outside
        result = outside
        for value in reversed(domain):
            case = self._cases(name, function, arguments, (*fixed, value))
            result = ("if", _applied_to("eq", [argument, value]), case, result)
        return result

    def _cell(self, name: str, arguments: tuple[int, ...]) -> Ground:
        return ("cell", self._cells.setdefault((name, arguments), len(self._cells)))


def _not(part: Ground) -> Ground:
    if isinstance(part, bool):
        return not part
    if isinstance(part, tuple) and part[0] == "not":
        return part[1]  # type: ignore[return-value]
    return ("not", part)


def _conjunction(parts: list[Ground]) -> Ground:
    left = list(dict.fromkeys(part for part in parts if part is not True))
    if any(part is False for part in left):
        return False
    return True if not left else left[0] if len(left) == 1 else ("and", *left)


def _disjunction(parts: list[Ground]) -> Ground:
    left = list(dict.fromkeys(part for part in parts if part is not False))
    if any(part is True for part in left):
        return True
    return False if not left else left[0] if len(left) == 1 else ("or", *left)


def _count(parts: list[Ground]) -> Ground:
    known = sum(1 for part in parts if part is True)
    unknown = [part for part in parts if not isinstance(part, bool)]
    if not unknown:
        return known
    count: Ground = ("count", *unknown)
    return ("add", known, count) if known else count


def _applied_to(name: str, parts: list[Ground]) -> Ground:
    if not any(isinstance(part, tuple) for part in parts):
        return apply_operator(name, [part for part in parts if not isinstance(part, tuple)]) if parts else 0
    if name == "not":
        return _not(parts[0])
    if name in ("eq", "iff", "le", "ge") and parts[0] == parts[1]:
        return True
    if name in ("ne", "lt", "gt") and parts[0] == parts[1]:
        return False
    if name == "iff" and any(isinstance(part, bool) for part in parts):
        known, other = parts if isinstance(parts[0], bool) else reversed(parts)
        return other if known else _not(other)
    if name in ("div", "mod") and not (isinstance(parts[1], int) and parts[1] > 0):
        # Of what is not known to be positive, solvers have other ideas than Python.
        raise Undefined(f"{name} by an unknown")
    return (name, *parts)
