"""Replay of saturations: everything that follows is there, and neither the goal nor its negation is among it.

The entries hold every axiom of the reference and are closed under its rules: every way to match the premises is
tried, and gives an entry. Negation is strong, so they are then a model in which the goal is neither true nor false,
and neither follows forwards. In the data sets whose semantics is classical, cases and contraposition count as well:
there the goal must hold in one classical model and fail in another (`is_open`). A formalisation on trust is never
saturated: what was left out of it could decide the goal.
"""

from itertools import product

from critics.replay.certificate import Rejected
from critics.replay.clauses import Alternatives, has_model, opposite
from critics.replay.statements import (
    Atom,
    Term,
    canonical,
    filled,
    is_fact,
    matches,
    num_symbols,
    read_canonical,
    variables_of,
)

MAX_MATCHES = 200_000
"""Matches that the closure of a saturation may take, also in vain; fewer where terms are large."""


def undecided(stated: list[str], axioms: list[list[Atom]], rules: list[list[Atom]], goal: Atom) -> str:
    """Return `unknown` where the axioms among the steps (`rules`) are all that is stated, and the steps lack the goal.

    Raises `Rejected` where they are not closed under their own rules.
    """
    if len(set(map(tuple, rules))) != len(rules):
        raise Rejected("repeated_step")
    if not set(map(canonical, axioms)) >= {read_canonical(text) for text in stated}:
        raise Rejected("axiom_missing")
    facts = {rule[0] for rule in rules if is_fact(rule)}
    if goal in facts or (not goal[0], goal[1]) in facts:
        raise Rejected("goal_reached")
    _check_closed([rule for rule in rules if not is_fact(rule)], facts, goal)
    return "unknown"


def is_open(axioms: list[list[Atom]], goal: Atom) -> bool:
    """Say whether a goal holds in one classical model of the axioms and fails in another; raises `Rejected`."""
    return can_hold(axioms, goal) and can_hold(axioms, opposite(goal))


def can_hold(axioms: list[list[Atom]], claim: Atom) -> bool:
    """Say whether a claim holds in a classical model of the axioms; raises `Rejected`."""
    clauses = [Alternatives(tuple(axiom[:-1]), (axiom[-1],)) for axiom in axioms]
    return has_model([*clauses, Alternatives((), (claim,))])


def _check_closed(rules: list[list[Atom]], facts: set[Atom], goal: Atom) -> None:
    """Raise unless every way to match a rule's premises with facts gives a fact."""
    weight = _weight([*facts, *(atom for rule in rules for atom in rule)])
    left = MAX_MATCHES
    by_predicate: dict[tuple[bool, Term], list[Atom]] = {}
    for fact in facts:
        by_predicate.setdefault((fact[0], fact[1][0]), []).append(fact)
    for rule in rules:
        bindings: list[dict[str, Term]] = [{}] if len(rule) > 1 else _assignments(rule, rules, facts, goal)
        left = _spent(left, weight * len(bindings))
        for pattern in rule[:-1]:
            candidates = by_predicate.get((pattern[0], pattern[1][0]), [])
            left = _spent(left, weight * len(bindings) * len(candidates))
            bindings = [new for old in bindings for fact in candidates if matches(pattern, fact, new := dict(old))]
        if any(filled(rule[-1], binding) not in facts for binding in bindings):
            raise Rejected("not_closed")


def _weight(atoms: list[Atom]) -> int:
    """Return what a match costs: a conclusion may hold the largest term in every place of the largest conclusion."""
    return 1 + max(num_symbols(terms) for _, terms in atoms) ** 2 // 64 if atoms else 1


def _spent(left: int, matches: int) -> int:
    if matches > left:
        raise Rejected("too_large")
    return left - matches


def _assignments(universal: list[Atom], rules: list[list[Atom]], facts: set[Atom], goal: Atom) -> list[dict[str, Term]]:
    """Return every assignment of objects to a universal fact's variables; without functions they are finite."""
    atoms = [goal, *facts, *(atom for rule in rules for atom in rule)]
    if not all(isinstance(term, str) for _, terms in atoms for term in terms):
        raise Rejected("not_decidable")
    objects = sorted({str(term) for _, terms in atoms for term in terms[1:] if not str(term).startswith("'")})
    variables = sorted(set(variables_of(universal[0][1])))
    _spent(MAX_MATCHES, len(objects) ** len(variables))
    return [dict(zip(variables, values, strict=True)) for values in product(objects, repeat=len(variables))]
