"""Replay of saturations: everything that follows is there, and neither the goal nor its negation is among it.

The entries hold every axiom of the reference and are closed under its rules: every way to match the premises is
tried, and gives an entry. Negation is strong, so they are then a model in which the goal is neither true nor false,
and neither follows forwards. In the data sets whose semantics is classical, cases and contraposition count as well:
there the goal must hold in one classical model and fail in another (`is_open`). A formalisation on trust is never
saturated: what was left out of it could decide the goal.

The search for a contradiction (`is_contradictory`) infers all that follows: from a contradiction every goal would
follow as well.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from critics.replay.certificate import Rejected
from critics.replay.clauses import clause_of, fact, is_consistent
from critics.replay.formula import Literal, Rule, Statement, Term, canonical_statement, parse_statement, subterms
from critics.replay.kernel import ArityError, Kernel, Kind, WorkLimitExceeded, kind, literals_of, match

MAX_MATCHES = 200_000
"""Matches that the closure of a saturation may take, also in vain; fewer where terms are large."""


def undecided(stated: Sequence[str], axioms: Sequence[Statement], steps: Sequence[Statement], goal: Literal) -> str:
    """Return `unknown` where the axioms among the steps are all that is stated, and the steps lack the goal.

    Raises `Rejected` where they are not closed under their own rules.
    """
    if len(set(steps)) != len(steps):
        raise Rejected("repeated_step")
    if not set(map(canonical_statement, axioms)) >= {canonical_statement(parse_statement(text)) for text in stated}:
        raise Rejected("axiom_missing")
    facts = {step for step in steps if isinstance(step, Literal)}
    if goal in facts or goal.negated() in facts:
        raise Rejected("goal_reached")
    # Raise unless every way to match a rule's premises with facts gives a fact.
    rules = [step for step in steps if isinstance(step, Rule)]
    weight = _weight([*facts, *(literal for rule in rules for literal in literals_of(rule))])
    left = MAX_MATCHES
    by_kind: dict[Kind, list[Literal]] = {}
    for known in facts:
        by_kind.setdefault(kind(known), []).append(known)
    for rule in rules:
        bindings: list[dict[str, Term]] = [{}] if rule.premises else _assignments(rule.conclusion, rules, facts, goal)
        left = _spent(left, weight * len(bindings))
        for premise in rule.premises:
            candidates = by_kind.get(kind(premise), [])
            left = _spent(left, weight * len(bindings) * len(candidates))
            matched = (match(premise, known, old) for old in bindings for known in candidates)
            bindings = [binding for binding in matched if binding is not None]
        if any(rule.conclusion.substitute(binding) not in facts for binding in bindings):
            raise Rejected("not_closed")
    return "unknown"


def is_open(axioms: Sequence[Statement], goal: Literal) -> bool:
    """Say whether a goal holds in one classical model of the axioms and fails in another; raises `Rejected`."""
    return can_hold(axioms, goal) and can_hold(axioms, goal.negated())


def can_hold(axioms: Sequence[Statement], claim: Literal) -> bool:
    """Say whether a claim holds in a classical model of the axioms; raises `Rejected`."""
    return is_consistent((*map(clause_of, axioms), fact(claim)))


def _weight(literals: Sequence[Literal]) -> int:
    """Return what a match costs: a conclusion may hold the largest term in every place of the largest conclusion."""
    return 1 + max((1 + sum(1 for _ in subterms(literal)) for literal in literals), default=0) ** 2 // 64


def _spent(left: int, matches: int) -> int:
    if matches > left:
        raise Rejected("too_large")
    return left - matches


def _assignments(
    universal: Literal, rules: Sequence[Rule], facts: set[Literal], goal: Literal
) -> list[dict[str, Term]]:
    """Return every assignment of objects to a universal fact's variables; without functions they are finite."""
    literals = [goal, *facts, *(literal for rule in rules for literal in literals_of(rule))]
    terms = {term for literal in literals for term in literal.arguments}
    if not all(isinstance(term, str) for term in terms):
        raise Rejected("not_decidable")
    objects = sorted(str(term) for term in terms if not str(term).startswith("'"))
    variables = sorted(set(universal.variables()))
    _spent(MAX_MATCHES, len(objects) ** len(variables))
    return [dict(zip(variables, values, strict=True)) for values in product(objects, repeat=len(variables))]


MAX_WORK = 400_000
"""Matches tried, also in vain; large terms count more."""


def is_contradictory(statements: Iterable[Statement], goal: Literal) -> bool:
    """Say whether a fact and its negation follow; objects of the goal count as objects.

    Raises `Rejected`: `too_large` where that would take too long or has no end, `ill_formed` where a predicate or a
    function has two numbers of arguments.
    """
    return _saturated(statements, goal).contradiction() is not None


def answer(statements: Iterable[Statement], goal: Literal) -> str | None:
    """Return whether a goal follows (`true`), its negation (`false`) or neither; None from what is contradictory.

    Raises `Rejected` like `is_contradictory`.
    """
    kernel = _saturated(statements, goal)
    if kernel.contradiction() is not None:
        return None
    return "true" if goal in kernel.known else "false" if goal.negated() in kernel.known else "unknown"


def _saturated(statements: Iterable[Statement], goal: Literal) -> Kernel:
    """Return all that follows, or all up to the first contradiction."""
    kernel = Kernel(work_limit=MAX_WORK)
    try:
        for statement in statements:
            kernel.add_axiom(statement)
        kernel.mention(goal)
        while kernel.offers and kernel.contradiction() is None:
            for literal in list(kernel.offers):
                kernel.infer(literal)
                if literal.negated() in kernel.known:
                    break
    except ArityError as error:
        raise Rejected("ill_formed") from error
    except WorkLimitExceeded as error:
        raise Rejected("too_large") from error
    if kernel.truncated and kernel.contradiction() is None:
        raise Rejected("too_large")
    return kernel
