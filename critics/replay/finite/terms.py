"""Terms of finite programs, their form in certificates, and their values in a model.

In JSON a term is a number, a truth value, or a list: `["var", name]`, `["call", function, terms..]`, `[operator,
terms..]` or `[quantifier, [[name, [values..]]..], body]` with `forall`, `exists`, `count`, `sum` or `all-different`. A
model gives each function a table; outside its domains a predicate is false, and a function of numbers has one value of
its own. Every sort is a finite list of integers.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias
from typing import Literal as Choice

from critics.replay.certificate import Rejected, TooLarge, is_list
from critics.replay.terms import Application, Variable

MAX_STEPS = 400_000
"""Steps of the evaluation of one term."""
MAX_DEPTH = 60
OUTSIDE = "*"
"""In the place of a table's arguments: wherever they are outside of the function's domains."""
QUANTIFIERS: dict[str, Choice["forall", "exists", "count", "sum", "distinct"]] = {
    "forall": "forall", "exists": "exists", "count": "count", "sum": "sum", "all-different": "distinct",
}  # fmt: skip
"""Quantifiers by their name in JSON, where `distinct` is an operator."""
_NAME = re.compile(r"[^\W\d]\w*")
Value = int | bool


class Undefined(Rejected):
    """A term has no value; `why` says what it does."""

    def __init__(self, why: str) -> None:
        super().__init__("undefined")
        self.why = why


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a truth value."""

    value: Value


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


Ranges = tuple[tuple[str, tuple[int, ...]], ...]
"""Bound variables, each with its values."""
Term: TypeAlias = Constant | Variable | Application["Term"] | Operator | Quantified


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


@dataclass(frozen=True, slots=True)
class Core:
    """A program: its functions by name, its constraints, and its options in JSON."""

    functions: dict[str, Function]
    constraints: list[Term]
    options: list[Any]


def read_core(record: Any) -> Core:
    """Read a program; raises `Rejected`, and what a wrong type raises."""
    if record.keys() != {"functions", "constraints", "options"}:
        raise Rejected("ill_formed")
    functions: dict[str, Function] = {}
    for name, found in record["functions"].items():
        if found.keys() != {"domains", "values", "boolean"} or type(found["boolean"]) is not bool:
            raise Rejected("ill_formed")
        values = None if found["values"] is None else _numbers(found["values"])
        if found["boolean"] and values is not None:
            raise Rejected("ill_formed")
        functions[name] = Function(tuple(map(_numbers, found["domains"])), values, found["boolean"])
    return Core(functions, [read_term(term, functions) for term in record["constraints"]], record["options"])


def _numbers(values: Any) -> tuple[int, ...]:
    if not is_list(values) or not values or any(type(value) is not int for value in values):
        raise Rejected("ill_formed")
    return tuple(values)


def read_term(
    record: Any, functions: Mapping[str, Function], bound: frozenset[str] = frozenset(), depth: int = 0
) -> Term:
    """Read a term, closed but for `bound`, in which functions have all their arguments; raises `Rejected`."""
    if type(record) in (int, bool):
        return Constant(record)
    head, *parts = record
    if depth > MAX_DEPTH or not is_list(record):
        raise Rejected("ill_formed")
    if head == "var":
        if len(parts) != 1 or parts[0] not in bound:
            raise Rejected("ill_formed")
        return Variable(parts[0])
    if head in QUANTIFIERS:
        variables, body = parts
        ranges = tuple((name, _numbers(values)) for name, values in variables)
        names = {name for name, _ in ranges if _NAME.fullmatch(name)}
        if not names or len(names) != len(ranges):
            raise Rejected("ill_formed")
        return Quantified(QUANTIFIERS[head], ranges, read_term(body, functions, bound | names, depth + 1))
    name, operands = (parts[0], parts[1:]) if head == "call" else (head, parts)
    if len(operands) not in ((len(functions[name].domains),) if head == "call" else _OPERATORS[head][0]):
        raise Rejected("ill_formed")
    read = tuple([read_term(operand, functions, bound, depth + 1) for operand in operands])
    return Application(name, read) if head == "call" else Operator(name, read)


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Sequence[Value]], bool]:
    return lambda values: compare(values[0], values[1])


def _divided(divide: Callable[[int, int], int]) -> Callable[[Sequence[Value]], int]:
    def divided(values: Sequence[Value]) -> int:
        if values[1] == 0:
            raise Undefined("division by nothing")
        return divide(values[0], values[1])

    return divided


_ONE, _TWO, _THREE, _SOME, _ANY = range(1, 2), range(2, 3), range(3, 4), range(1, MAX_STEPS), range(MAX_STEPS)
_OPERATORS: dict[str, tuple[range, Callable[[Sequence[Value]], Value]]] = {
    "and": (_ANY, all),
    "or": (_ANY, any),
    "not": (_ONE, lambda values: not values[0]),
    "implies": (_TWO, lambda values: not values[0] or bool(values[1])),
    "xor": (_SOME, lambda values: sum(map(bool, values)) % 2 == 1),
    "if": (_THREE, lambda values: values[1 if values[0] else 2]),
    "iff": (_TWO, _compared(operator.eq)),
    **{name: (_TWO, _compared(getattr(operator, name))) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "distinct": (_SOME, lambda values: len(set(values)) == len(values)),
    "add": (_SOME, lambda values: sum(map(int, values))),
    "sub": (_TWO, lambda values: int(values[0]) - int(values[1])),
    "mul": (_TWO, lambda values: int(values[0]) * int(values[1])),
    "div": (_TWO, _divided(lambda one, other: one // other)),
    "mod": (_TWO, _divided(lambda one, other: one % other)),
    "abs": (_ONE, lambda values: abs(int(values[0]))),
    "min": (_SOME, lambda values: int(min(values))),
    "max": (_SOME, lambda values: int(max(values))),
}
"""Numbers of operands that each operator takes, and its value."""


def operated(head: str, values: Sequence[Value]) -> Value:
    """Return an operator's value; raises `Undefined` for a division by nothing."""
    if head not in _OPERATORS:
        raise Undefined(f"no operator {head!r}")
    return _OPERATORS[head][1](values)


def core_record(
    functions: Mapping[str, Function], constraints: Iterable[Term], options: Iterable[Any]
) -> dict[str, Any]:
    """Return a program in JSON; its options are in JSON already."""
    return {
        "functions": {
            name: {
                "domains": [list(domain) for domain in function.domains],
                "values": None if function.values is None else list(function.values),
                "boolean": function.is_boolean,
            }
            for name, function in functions.items()
        },
        "constraints": [term_record(term) for term in constraints],
        "options": list(options),
    }


def term_record(term: Term) -> Any:
    """Return a term in JSON."""
    match term:
        case Constant(value):
            return value
        case Variable(name):
            return ["var", name]
        case Application(function, arguments):
            return ["call", function, *map(term_record, arguments)]
        case Operator(name, operands):
            return [name, *map(term_record, operands)]
        case Quantified(kind, variables, body):
            bound = [[name, list(values)] for name, values in variables]
            return ["all-different" if kind == "distinct" else kind, bound, term_record(body)]


def called(term: Term) -> set[str]:
    """Return the functions that a term calls."""
    match term:
        case Application(name, parts):
            return {name}.union(*map(called, parts))
        case Operator(_, parts):
            return set[str]().union(*map(called, parts))
        case Quantified(_, _, body):
            return called(body)
        case _:
            return set()


class Evaluation:
    """Evaluates terms in one model, whose tables have `OUTSIDE` or a tuple of arguments for keys."""

    def __init__(self, functions: Mapping[str, Function], tables: Mapping[str, Mapping[Any, Value]]) -> None:
        self._functions, self._tables = functions, tables
        self._left = MAX_STEPS

    def holds(self, term: Term) -> bool:
        """Say whether a formula is true; raises `Rejected` where it is none, or takes too long."""
        self._left = MAX_STEPS
        value = self._value(term, {})
        if type(value) is not bool:
            raise Rejected("ill_formed")
        return value

    def _value(self, term: Term, env: Mapping[str, int]) -> Value:
        self._left -= 1
        if self._left < 0:
            raise TooLarge
        # Tests of the type and no `match`: most of a check is spent here.
        if isinstance(term, Operator):
            return self._operated(term.name, term.operands, env)
        if isinstance(term, Constant):
            return term.value
        if isinstance(term, Application):
            return self._called(term.function, tuple([int(self._value(part, env)) for part in term.arguments]))
        if isinstance(term, Variable):
            return env[term.name]
        values = (self._value(term.body, {**env, **inner}) for inner in choices(term.variables))
        match term.kind:
            case "forall":
                return all(values)
            case "exists":
                return any(values)
            case "count":
                return sum(1 for value in values if value)
            case "sum":
                return sum(values)
            case _:
                listed = list(values)
                return len(set(listed)) == len(listed)

    def _operated(self, name: str, parts: tuple[Term, ...], env: Mapping[str, int]) -> Value:
        match name:
            case "and":
                return all(self._value(part, env) for part in parts)
            case "or":
                return any(self._value(part, env) for part in parts)
            case "implies":
                return not self._value(parts[0], env) or bool(self._value(parts[1], env))
            case "if":
                return self._value(parts[1 if self._value(parts[0], env) else 2], env)
            case _:
                return operated(name, [self._value(part, env) for part in parts])

    def _called(self, name: str, arguments: tuple[int, ...]) -> Value:
        function, table = self._functions[name], self._tables[name]
        if all(argument in domain for argument, domain in zip(arguments, function.domains, strict=True)):
            return table[arguments]
        return False if function.is_boolean else table[OUTSIDE]


def choices(variables: Ranges) -> Iterator[dict[str, int]]:
    """Yield every way to give bound variables a value."""
    for values in product(*(values for _, values in variables)):
        yield dict(zip([name for name, _ in variables], values, strict=True))


def read_tables(rows: Any, functions: Mapping[str, Function]) -> dict[str, dict[Any, Value]]:
    """Read a model: for each function its values in the order of its arguments, and last the one outside.

    Raises `Rejected` where a value is not one that its function may have.
    """
    if rows.keys() != functions.keys():
        raise Rejected("ill_formed")
    tables: dict[str, dict[Any, Value]] = {}
    for name, function in functions.items():
        points = [list(point) for point in product(*function.domains)] + ([] if function.is_boolean else [[OUTSIDE]])
        if [row[:-1] for row in rows[name]] != points:
            raise Rejected("ill_formed")
        values: list[Value] = [row[-1] for row in rows[name]]
        if any(type(value) is not (bool if function.is_boolean else int) for value in values):
            raise Rejected("ill_formed")
        if function.values is not None and not {*values} <= {*function.values}:
            raise Rejected("not_a_model")
        keys = [OUTSIDE if point == [OUTSIDE] else tuple(point) for point in points]
        tables[name] = dict(zip(keys, values, strict=True))
    return tables
