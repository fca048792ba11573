"""Finite programs as SMT-LIB 2, for a second solver: functions stay functions, quantifiers are unrolled.

Another encoding than the critic's, which has an unknown for each of a function's values. Every name is ours.
"""

from collections.abc import Mapping, Sequence
from itertools import product

from critics.replay import smtlib
from critics.replay.certificate import Rejected
from critics.replay.finite.terms import (
    Application,
    Constant,
    Function,
    Operator,
    Quantified,
    Term,
    Value,
    Variable,
    choices,
    operated,
)

MAX_NODES = 200_000
"""Of all expressions of one script."""
Written = str | Value
"""An expression's text, or its value where it is constant."""


def script(functions: Mapping[str, Function], formulas: Sequence[Term]) -> str:
    """Return a script that asks whether formulas hold together; raises `Rejected` where that is too large."""
    writer = _Writer(functions)
    return smtlib.script(writer.declarations(), [_text(writer.written(formula, {})) for formula in formulas])


class _Writer:
    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._names = {name: f"f{number}" for number, name in enumerate(functions)}
        self._left = MAX_NODES

    def declarations(self) -> list[str]:
        """Return the lines that declare every function, with its values where they are listed."""
        lines: list[str] = []
        for name, function in self._functions.items():
            ours, sort = self._names[name], "Bool" if function.is_boolean else "Int"
            lines.append(f"(declare-fun {ours} ({' '.join(['Int'] * len(function.domains))}) {sort})")
            lines.append(f"(declare-const {ours}_outside {sort})")
            if function.values is not None:
                points = [_applied(ours, list(point)) for point in product(*function.domains)]
                lines += [f"(assert {_within(cell, function.values)})" for cell in (*points, f"{ours}_outside")]
        return lines

    def written(self, term: Term, env: Mapping[str, int]) -> Written:
        self._left -= 1
        if self._left < 0:
            raise Rejected("too_large")
        match term:
            case Constant(value):
                return value
            case Variable(name):
                return env[name]
            case Application(name, parts):
                return self._called(name, [self.written(part, env) for part in parts])
            case Operator(name, parts):
                return _operated(name, [self.written(part, env) for part in parts])
            case Quantified(kind, variables, body):
                return self._unrolled(kind, [self.written(body, {**env, **inner}) for inner in choices(variables)])

    def _unrolled(self, head: str, parts: list[Written]) -> Written:
        match head:
            case "forall":
                return _operated("and", parts)
            case "exists":
                return _operated("or", parts)
            case "count":
                return _operated("add", [_operated("if", [part, 1, 0]) for part in parts])
            case "sum":
                return _operated("add", parts)
            case _:
                return _operated("distinct", parts)

    def _called(self, name: str, arguments: list[Written]) -> Written:
        function, ours = self._functions[name], self._names[name]
        inside = True
        for argument, domain in zip(arguments, function.domains, strict=True):
            if isinstance(argument, str):
                inside = _operated("and", [inside, _within(argument, domain)])
            elif argument not in domain:
                inside = False
        outside: Written = False if function.is_boolean else f"{ours}_outside"
        return _operated("if", [inside, _applied(ours, arguments), outside])


def _operated(head: str, parts: list[Written]) -> Written:
    known = [part for part in parts if not isinstance(part, str)]
    if len(known) == len(parts):
        return operated(head, known)
    if head in ("and", "or"):
        kept = [part for part in dict.fromkeys(parts) if part is not (head == "and")]
        if any(part is (head == "or") for part in kept):
            return head == "or"
        return kept[0] if len(kept) == 1 else _applied(head, kept)
    if head == "implies":
        return _operated("or", [_operated("not", parts[:1]), parts[1]])
    if head == "if" and not isinstance(parts[0], str):
        return parts[1 if parts[0] else 2]
    if head in ("min", "max"):
        return smtlib.extreme(head, list(map(_text, parts)))
    if head in ("div", "mod") and (isinstance(parts[1], str) or parts[1] <= 0):
        # Of what is not known to be positive, solvers have other ideas than Python.
        raise Rejected("undefined")
    if len(parts) == 1 and head in ("add", "distinct", "xor"):
        return True if head == "distinct" else parts[0]
    return _applied(smtlib.OPERATORS[head], parts)


def _within(text: str, values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    if len(set(values)) == high - low + 1:
        return smtlib.between(text, low, high)
    return smtlib.equals_one_of(text, values)


def _applied(head: str, parts: Sequence[Written]) -> str:
    return smtlib.applied(head, list(map(_text, parts)))


def _text(written: Written) -> str:
    return written if isinstance(written, str) else smtlib.constant(written)
