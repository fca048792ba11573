"""Quantified formulas, written apart from the critic: their quantifiers pulled out, and the names that none binds.

Trees are those of `critics.replay.first_order.reader`. A name is a variable below a quantifier of that name, the
innermost one, and a constant elsewhere.
"""

from collections.abc import Callable, Mapping

from critics.replay.certificate import Rejected
from critics.replay.equivalences.matrices import free_in
from critics.replay.first_order.reader import ATOM, Tree

_OTHER = {"∀": "∃", "∃": "∀"}


def pulled(tree: Tree) -> tuple[list[tuple[str, int]], Tree]:
    """Return the quantifiers, left before right and outer before inner, each with its number, and what is left.

    Variables are their quantifier's number. Quantifiers that bind nothing are left out, since no domain is empty.
    Raises `Rejected` where a quantifier stands below ↔ or ⊕.
    """
    found: list[str] = []

    def pull(part: Tree, positive: bool, bound: Mapping[str, int]) -> Tree:
        kind = part[0]
        if kind == ATOM:
            return (ATOM, part[1], *(_put(term, bound) for term in part[2:]))
        if kind in _OTHER:
            found.append(kind if positive else _OTHER[kind])
            return pull(part[2], positive, {**bound, part[1]: len(found) - 1})
        if kind == "¬":
            return ("¬", pull(part[1], not positive, bound))
        if kind == "→":
            first = pull(part[1], not positive, bound)
            return ("→", first, pull(part[2], positive, bound))
        num = len(found)
        joined = (kind, *[pull(inner, positive, bound) for inner in part[1:]])
        if kind not in ("∧", "∨") and len(found) > num:
            raise Rejected("not_a_prefix")
        return joined

    matrix = pull(tree, True, {})
    used = free_in(matrix)
    return [(kind, number) for number, kind in enumerate(found) if number in used], matrix


def places_of(left: list[tuple[str, int]], right: list[tuple[str, int]], order: list[int]) -> dict[int, int]:
    """Return the place in the left prefix for the variables of the right one, by an order of the right's quantifiers.

    Raises `Rejected` unless the kinds are the same, and the order moves quantifiers among neighbours of one kind only.
    """
    kinds = [kind for kind, _ in left]
    if kinds != [kind for kind, _ in right] or sorted(order) != list(range(len(kinds))):
        raise Rejected("other_prefix")
    for place, target in enumerate(order):
        if len(set(kinds[min(place, target) : max(place, target) + 1])) != 1:
            raise Rejected("other_prefix")
    return {number: order[place] for place, (_, number) in enumerate(right)}


def free_names(tree: Tree, is_variable: Callable[[str], object]) -> list[str]:
    """Return, sorted, the names that nothing binds and that look like variables or are bound elsewhere."""
    free: set[str] = set()
    bound_somewhere: set[str] = set()

    def visit(part: Tree, bound: frozenset[str]) -> None:
        if part[0] == ATOM:
            for term in part[2:]:
                free.update(name for name in _names(term) if name not in bound)
        elif part[0] in _OTHER:
            bound_somewhere.add(part[1])
            visit(part[2], bound | {part[1]})
        else:
            for inner in part[1:]:
                visit(inner, bound)

    visit(tree, frozenset())
    return sorted(name for name in free if name in bound_somewhere or is_variable(name))


def _put(term: Tree, bound: Mapping[str, int]) -> Tree:
    if isinstance(term, str):
        return bound.get(term, term)
    return (term[0], *(_put(argument, bound) for argument in term[1:]))


def _names(term: Tree) -> list[str]:
    return [term] if isinstance(term, str) else [name for argument in term[1:] for name in _names(argument)]
