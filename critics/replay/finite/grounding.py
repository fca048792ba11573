"""Quantifiers unrolled and functions as cells: a term as a formula over numbered unknowns, and its SMT-LIB 2 text.

A ground expression is a number, a truth value, or a tuple of an operator and its operands; `("cell", i)` is an unknown.
What is constant is worked out on the way. A function whose arguments are unknown themselves becomes a chain of cases
over its domain; outside it, a predicate is false and a function of numbers has one value of its own (`OUTSIDE`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from critics.replay import smtlib
from critics.replay.certificate import TooLarge
from critics.replay.finite import terms as finite

Point = tuple[int, ...] | str
"""Arguments of a function, or `OUTSIDE`."""
Tables = dict[str, dict[Point, finite.Value]]
Ground = int | bool | tuple["str | Ground", ...]
MAX_NODES = 150_000
"""Nodes of all ground expressions of one program."""


class Grounder:
    """Grounds the terms of one program; raises `TooLarge` beyond its budget."""

    def __init__(self, functions: Mapping[str, finite.Function], *, max_nodes: int = MAX_NODES) -> None:
        self._functions, self._left = functions, max_nodes
        self._cells: dict[tuple[str, Point], int] = {}

    def unknowns(self) -> list[finite.Function]:
        """Return the function that each unknown met so far is a value of, by number."""
        return [self._functions[name] for name, _ in self._cells]

    def ground(self, term: finite.Term) -> Ground:
        """Return a closed term's ground expression."""
        return self._ground(term, {})

    def model(self, values: Mapping[int, finite.Value]) -> Tables:
        """Return tables for all functions: unknowns that a solver left open, and others, get their first value."""
        tables: Tables = {}
        for name, function in self._functions.items():
            first: finite.Value = False if function.is_boolean else (function.values or (0,))[0]
            points = [*function.points()] + ([] if function.is_boolean else [finite.OUTSIDE])
            tables[name] = {point: values.get(self._cells.get((name, point), -1), first) for point in points}
        return tables

    def _ground(self, term: finite.Term, binding: Mapping[str, int]) -> Ground:
        self._spend()
        match term:
            case finite.Constant(value):
                return value
            case finite.Variable(name):
                return binding[name]
            case finite.Application(function, arguments):
                return self._cases(function, [self._ground(a, binding) for a in arguments], ())
            case finite.Operator(name, operands):
                return self._operated(name, operands, binding)
            case finite.Quantified(kind, variables, body):
                return self._unrolled(kind, (self._ground(body, {**binding, **c}) for c in finite.choices(variables)))

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
            case "forall" | "exists":
                return _joined("and" if kind == "forall" else "or", found)
            case "count":
                known = sum(1 for part in found if part is True)
                unknown = [part for part in found if not isinstance(part, bool)]
                if not unknown:
                    return known
                count: Ground = ("count", *unknown)
                return ("add", known, count) if known else count
            case _:
                return _applied_to("add" if kind == "sum" else "distinct", found)

    def _operated(self, name: str, operands: Sequence[finite.Term], binding: Mapping[str, int]) -> Ground:
        if name in ("and", "or"):
            parts = (self._ground(operand, binding) for operand in operands)
            return self._unrolled("forall" if name == "and" else "exists", parts)
        if name == "implies":
            premise = self._ground(operands[0], binding)
            return True if premise is False else _joined("or", [_not(premise), self._ground(operands[1], binding)])
        if name == "if":
            condition = self._ground(operands[0], binding)
            if isinstance(condition, bool):
                return self._ground(operands[1 if condition else 2], binding)
            return ("if", condition, self._ground(operands[1], binding), self._ground(operands[2], binding))
        return _applied_to(name, [self._ground(operand, binding) for operand in operands])

    def _cases(self, name: str, arguments: list[Ground], fixed: tuple[int, ...]) -> Ground:
        """Return the value for arguments of which the first are `fixed`."""
        self._spend()
        if len(fixed) == len(arguments):
            return self._cell(name, fixed)
        function = self._functions[name]
        argument, domain = arguments[len(fixed)], function.domains[len(fixed)]
        outside: Ground = False if function.is_boolean else self._cell(name, finite.OUTSIDE)
        if not isinstance(argument, tuple):
            return self._cases(name, arguments, (*fixed, int(argument))) if argument in domain else outside
        result = outside
        for value in reversed(domain):
            case = self._cases(name, arguments, (*fixed, value))
            result = ("if", _applied_to("eq", [argument, value]), case, result)
        return result

    def _cell(self, name: str, arguments: Point) -> Ground:
        return ("cell", self._cells.setdefault((name, arguments), len(self._cells)))


def _not(part: Ground) -> Ground:
    if isinstance(part, bool):
        return not part
    if isinstance(part, tuple) and part[0] == "not":
        return part[1]  # type: ignore[return-value]
    return ("not", part)


def _joined(name: str, parts: list[Ground]) -> Ground:
    """Return parts joined by `and` or `or`, each once, without those that say nothing there."""
    neutral = name == "and"
    left = list(dict.fromkeys(part for part in parts if part is not neutral))
    if any(part is (not neutral) for part in left):
        return not neutral
    return neutral if not left else left[0] if len(left) == 1 else (name, *left)


def _applied_to(name: str, parts: list[Ground]) -> Ground:
    if not any(isinstance(part, tuple) for part in parts):
        return finite.operated(name, [part for part in parts if not isinstance(part, tuple)]) if parts else 0
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
        raise finite.Undefined(f"{name} by an unknown")
    return (name, *parts)


def script(unknowns: Sequence[finite.Function], formulas: Sequence[Ground]) -> str:
    """Return a script that asks whether ground formulas hold together; every name in it is ours."""
    return smtlib.script(declarations(unknowns), map(written, formulas))


def declarations(unknowns: Sequence[finite.Function]) -> list[str]:
    """Return the lines that declare the unknowns, each within its values."""
    lines: list[str] = []
    for number, function in enumerate(unknowns):
        name = f"c{number}"
        lines.append(f"(declare-const {name} {'Bool' if function.is_boolean else 'Int'})")
        if function.values is None:
            continue
        low, high = min(function.values), max(function.values)
        lines.append(f"(assert {smtlib.between(name, low, high)})")
        if high - low < 10 * len(function.values):
            gaps = sorted(set(range(low, high)) - set(function.values))
            lines += [f"(assert (not (= {name} {smtlib.constant(gap)})))" for gap in gaps]
        else:
            lines.append(f"(assert {smtlib.equals_one_of(name, function.values)})")
    return lines


def written(ground: Ground, *, cardinality: bool = False) -> str:
    """Return an expression's text; `cardinality` bounds counts in Z3's own way, which it propagates better."""
    if not isinstance(ground, tuple):
        return smtlib.constant(ground)
    name, parts = ground[0], list[Any](ground[1:])
    if name == "cell":
        return f"c{parts[0]}"
    if cardinality and name in ("eq", "ne", "lt", "le", "gt", "ge") and (bound := _bounded_count(ground)) is not None:
        return bound
    texts = [written(part, cardinality=cardinality) for part in parts]
    match name:
        case "count":
            return f"(+ 0 {' '.join(f'(ite {text} 1 0)' for text in texts)})"
        case "min" | "max":
            return smtlib.extreme(str(name), texts)
        case "add" if len(texts) == 1:
            return texts[0]
        case "distinct" if len(texts) == 1:
            return "true"
        case _:
            return smtlib.applied(smtlib.OPERATORS[str(name)], texts)


def _bounded_count(ground: tuple[Any, ...]) -> str | None:
    """Return a count against a number as cardinality constraints; None for any other comparison."""
    match ground:
        case (str(name), ("count", *parts), int(bound)):
            counted: list[Any] = parts
        case _:
            return None
    texts = " ".join(written(part, cardinality=True) for part in counted)
    least, most = {
        "eq": (bound, bound), "ne": (bound, bound), "lt": (None, bound - 1), "le": (None, bound),
        "gt": (bound + 1, None), "ge": (bound, None),
    }[name]  # fmt: skip
    sides = [_side(texts, len(counted), "at-least", least), _side(texts, len(counted), "at-most", most)]
    both = f"(and {' '.join(sides)})"
    return f"(not {both})" if name == "ne" else both


def _side(texts: str, num: int, sign: str, bound: int | None) -> str:
    """Return one bound; what holds of every count, or of none, is said outright."""
    if bound is None or (bound <= 0 if sign == "at-least" else bound >= num):
        return "true"
    if bound > num or bound < 0:
        return "false"
    return f"((_ {sign} {bound}) {texts})"
