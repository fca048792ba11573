"""Bounds on grounding, which nothing can interrupt: safety of variables, and constants to the power of variables."""

from collections.abc import Iterable, Sequence

from critics.formats.asp.rules import AspLiteral, AspRule, Choice, Comparison, Condition, is_variable
from critics.formats.asp.tokens import fault

MAX_INSTANCES = 200_000
"""Of all rules together, if every variable took every constant."""


def check_safety(rule: AspRule, text: str) -> None:
    """Raise `AspError` where a variable is bound by no positive condition."""
    if loose := unsafe_variables(rule):
        hint = "; a constant starts with a small letter" if rule.is_fact() else "; no positive condition binds it"
        raise fault("unsafe", f"unsafe variable {', '.join(loose)}{hint}", text, rule.offset)


def unsafe_variables(rule: AspRule) -> list[str]:
    """Return the variables that no positive condition and no equation binds."""
    bound = _bound(rule.body, set())
    loose = _loose(rule.body, bound)
    if isinstance(rule.head, Choice):
        for element in rule.head.elements:
            local = _bound(element.condition, bound)
            loose += _loose((element.literal, *element.condition), local)
    else:
        loose += _loose(rule.head, bound)
    loose += ["_" for head in rule.heads() if "_" in head.arguments]
    return list(dict.fromkeys(loose))


def num_instances(rules: Iterable[AspRule], num_constants: int) -> int:
    """Return an upper bound on ground instances, each element of a choice counted by itself."""
    return sum(_num_instances(rule, max(num_constants, 1)) for rule in rules)


def _num_instances(rule: AspRule, num_constants: int) -> int:
    body = _variables(rule.body)
    if not isinstance(rule.head, Choice):
        return num_constants ** len(body)
    elements = ((element.literal, *element.condition) for element in rule.head.elements)
    return num_constants ** len(body) + sum(num_constants ** len(body | _variables(parts)) for parts in elements)


def _variables(conditions: Iterable[Condition]) -> set[str]:
    """Return the variables; every `_` is one of its own."""
    terms = [term for condition in conditions for term in condition.arguments if is_variable(term)]
    return {term if term != "_" else f"_{position}" for position, term in enumerate(terms)}


def _bound(conditions: tuple[Condition, ...], given: set[str]) -> set[str]:
    bound = given | {
        term
        for condition in conditions
        if isinstance(condition, AspLiteral) and not condition.default
        for term in condition.arguments
    }
    equalities = [c for c in conditions if isinstance(c, Comparison) and c.operator == "="]
    for _ in equalities:
        for equality in equalities:
            for one, other in ((equality.left, equality.right), (equality.right, equality.left)):
                if not is_variable(other) or other in bound:
                    bound = bound | {one}
    return bound


def _loose(conditions: Iterable[Condition], bound: set[str]) -> list[str]:
    """Return variables that nothing binds; `_` binds itself in a positive condition alone."""
    loose: list[str] = []
    for condition in conditions:
        positive = isinstance(condition, AspLiteral) and not condition.default and "_" in bound
        loose += [t for t in condition.arguments if is_variable(t) and (t not in bound or (t == "_" and not positive))]
    return loose


def check_recursion(rules: Sequence[AspRule], text: str) -> None:
    """Raise `AspError` where a choice's condition depends on what the choice itself may make true.

    Clingo 5.8.3 loses answer sets of such choices: `q(b). 2 {r(Z,b):q(Z); -p(Y):r(b,Y)} 2.` has one.
    """
    conditional = [
        rule for rule in rules if isinstance(rule.head, Choice) and any(e.condition for e in rule.head.elements)
    ]
    if not conditional:
        return
    uses: dict[tuple[str, int, bool], set[tuple[str, int, bool]]] = {}
    for rule in rules:
        needed = {c.signed for c in rule.conditions() if isinstance(c, AspLiteral)}
        for head in rule.heads():
            uses.setdefault(head.signed, set()).update(needed)
    for rule in conditional:
        if isinstance(rule.head, Choice):
            conditions = (c for element in rule.head.elements for c in element.condition)
            asked = {c.signed for c in conditions if isinstance(c, AspLiteral)}
            if _reached(asked, uses) & {head.signed for head in rule.heads()}:
                raise fault("recursive_choice", "a choice's condition depends on the choice itself", text, rule.offset)


def _reached(
    start: set[tuple[str, int, bool]], uses: dict[tuple[str, int, bool], set[tuple[str, int, bool]]]
) -> set[tuple[str, int, bool]]:
    found, waiting = set(start), list(start)
    while waiting:
        new = uses.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
