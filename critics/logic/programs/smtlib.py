"""Ground expressions as SMT-LIB 2, for Z3 and for the solver that gives a second opinion; every name in it is ours."""

from collections.abc import Sequence
from typing import Any

from critics.logic.programs.grounding import Ground
from critics.replay import smtlib
from critics.replay.finite.terms import Function


def script(unknowns: Sequence[Function], formulas: Sequence[Ground]) -> str:
    """Return a script that asks whether the formulas hold together."""
    return smtlib.script(declarations(unknowns), map(written, formulas))


def declarations(unknowns: Sequence[Function]) -> list[str]:
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
