"""Ground expressions as SMT-LIB 2, for another solver than the one that decided them; every name in it is ours."""

from collections.abc import Sequence

from critics.programs.core import Function
from critics.programs.grounding import Ground

_OPERATORS = {
    "and": "and", "or": "or", "not": "not", "xor": "xor", "if": "ite", "iff": "=", "eq": "=", "ne": "distinct",
    "distinct": "distinct", "add": "+", "sub": "-", "mul": "*", "div": "div", "mod": "mod", "abs": "abs", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def script(unknowns: Sequence[Function], formulas: Sequence[Ground]) -> str:
    """Return a script that asks whether the formulas hold together."""
    lines = ["(set-logic ALL)"]
    for number, function in enumerate(unknowns):
        lines.append(f"(declare-const c{number} {'Bool' if function.is_boolean else 'Int'})")
        if function.values is not None:
            allowed = " ".join(f"(= c{number} {_number(value)})" for value in function.values)
            lines.append(f"(assert (or false {allowed}))")
    lines += [f"(assert {written(formula)})" for formula in formulas]
    return "\n".join([*lines, "(check-sat)", ""])


def written(ground: Ground) -> str:
    """Return an expression's text."""
    match ground:
        case bool():
            return "true" if ground else "false"
        case int():
            return _number(ground)
        case ("cell", number):
            return f"c{number}"
        case ("count", *parts):
            return f"(+ 0 {' '.join(f'(ite {written(p)} 1 0)' for p in parts)})"  # type: ignore[arg-type]
        case (("min" | "max") as name, first, *rest):
            result = written(first)  # type: ignore[arg-type]
            for other in (written(part) for part in rest):  # type: ignore[arg-type]
                result = f"(ite ({'<' if name == 'min' else '>'} {other} {result}) {other} {result})"
            return result
        case (str(name), part) if name in ("add", "distinct"):
            return "true" if name == "distinct" else written(part)  # type: ignore[arg-type]
        case (str(name), *parts):
            return f"({_OPERATORS[name]} {' '.join(written(p) for p in parts)})"  # type: ignore[arg-type]
        case _:
            raise AssertionError(ground)


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
