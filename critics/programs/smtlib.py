"""Ground expressions as SMT-LIB 2, for Z3 and for the solver that gives a second opinion; every name in it is ours."""

from collections.abc import Sequence
from typing import Any

from critics.programs.core import Function
from critics.programs.grounding import Ground

_OPERATORS = {
    "and": "and", "or": "or", "not": "not", "xor": "xor", "if": "ite", "iff": "=", "eq": "=", "ne": "distinct",
    "distinct": "distinct", "add": "+", "sub": "-", "mul": "*", "div": "div", "mod": "mod", "abs": "abs", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def script(unknowns: Sequence[Function], formulas: Sequence[Ground]) -> str:
    """Return a script that asks whether the formulas hold together."""
    asserted = [f"(assert {written(formula)})" for formula in formulas]
    return "\n".join(["(set-logic ALL)", *declarations(unknowns), *asserted, "(check-sat)", ""])


def declarations(unknowns: Sequence[Function]) -> list[str]:
    """Return the lines that declare the unknowns, each within its values."""
    lines: list[str] = []
    for number, function in enumerate(unknowns):
        lines.append(f"(declare-const c{number} {'Bool' if function.is_boolean else 'Int'})")
        if function.values is not None:
            low, high = min(function.values), max(function.values)
            lines.append(f"(assert (and (<= {_number(low)} c{number}) (<= c{number} {_number(high)})))")
            gaps = set(range(low, high)) - set(function.values) if high - low < 10 * len(function.values) else None
            if gaps is None:
                allowed = " ".join(f"(= c{number} {_number(value)})" for value in function.values)
                lines.append(f"(assert (or false {allowed}))")
            else:
                lines += [f"(assert (not (= c{number} {_number(gap)})))" for gap in sorted(gaps)]
    return lines


def written(ground: Ground, *, cardinality: bool = False) -> str:
    """Return an expression's text; `cardinality` bounds counts in Z3's own way, which it propagates better."""
    if not isinstance(ground, tuple):
        return _constant(ground)
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
            return _extreme("<" if name == "min" else ">", texts)
        case "add" if len(texts) == 1:
            return texts[0]
        case "distinct" if len(texts) == 1:
            return "true"
        case _:
            return f"({_OPERATORS[str(name)]} {' '.join(texts)})"


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


def _extreme(sign: str, texts: Sequence[str]) -> str:
    result, *others = texts
    for other in others:
        result = f"(ite ({sign} {other} {result}) {other} {result})"
    return result


def _constant(value: int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value)


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
