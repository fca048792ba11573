"""Quantified formulas with their quantifiers pulled out, by code apart from the critic's."""

from collections.abc import Mapping

from critics.replay.certificate import Rejected
from critics.replay.equivalences.matrices import free_in
from critics.replay.first_order.reader import ATOM, Formula, Term

_OTHER = {"∀": "∃", "∃": "∀"}


def pulled(tree: Formula) -> tuple[list[tuple[str, int]], Formula]:
    """Return the quantifiers, left before right and outer before inner, each with its number, and what is left.

    Variables are their quantifier's number. Quantifiers that bind nothing are left out, since no domain is empty.
    Raises `Rejected` where a quantifier stands below ↔ or ⊕.
    """
    found: list[str] = []

    def pull(part: Formula, positive: bool, bound: Mapping[str, int]) -> Formula:
        kind = part[0]
        if kind == ATOM:
            return (ATOM, part[1], tuple(_put(term, bound) for term in part[2]))
        if kind in _OTHER:
            found.append(kind if positive else _OTHER[kind])
            return pull(part[2], positive, {**bound, part[1]: len(found) - 1})
        if kind == "¬":
            return ("¬", pull(part[1], not positive, bound))
        if kind == "→":
            premise, conclusion = part[1]
            first = pull(premise, not positive, bound)
            return ("→", (first, pull(conclusion, positive, bound)))
        num = len(found)
        joined = (kind, tuple([pull(inner, positive, bound) for inner in part[1]]))
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


def _put(term: Term, bound: Mapping[str, int]) -> Term:
    if term[0] == "var":
        return ("var", bound[term[1]])
    return ("of", term[1], tuple(_put(argument, bound) for argument in term[2]))
