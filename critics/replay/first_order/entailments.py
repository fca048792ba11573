"""Replay of `fol-entailment` certificates: every model is evaluated, and a solver confirms what is said to have none.

What is compared with a reference is compared here as well: every premise is one of its axioms or follows from one of
them alone, and the conclusion is its goal. A reference in Horn statements is read here; one in first-order logic comes
in whatever notation, and who asks hands over a reader (`Canonical`) that gives its canonical text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import (
    UNTRUSTED,
    Rejected,
    SealedCertificate,
    SealedFormal,
    are_texts,
    sealed_certificate,
)
from critics.replay.first_order.models import Model
from critics.replay.first_order.reader import Formula, read
from critics.replay.first_order.smtlib import script
from critics.replay.first_order.trees import conjuncts, horn_formula, horn_literal, key, negated, open_names, symbols_of
from critics.replay.solvers import Budget, Trust, decide, weakest

KIND = "fol-entailment"
BUDGET = Budget(cvc5_ms=3_000, finite_models=True)
MAX_CHARACTERS = 80_000
MAX_COMPARED = 64
"""Pairs of a premise and an axiom that a solver compares."""
MODELS = {"true": ("holds", "contingent"), "false": ("fails", "contingent"), "unknown": ("holds", "fails")}
"""The models that a result needs: of the premises and the conclusion, of the premises without it, and one that shows
the conclusion to be neither a tautology nor a contradiction."""
Canonical = Callable[[list[str]], list[str]]
"""Gives formulas in any notation in canonical text."""


@dataclass(frozen=True, slots=True)
class _Theory:
    axioms: list[Formula]
    goal: Formula


def check_entailment(certificate: object, canonical: Canonical) -> Trust:
    """Accept by returning what it rests on, or raise `Rejected` with the reason."""
    sealed = sealed_certificate(certificate, (KIND,))
    with UNTRUSTED:
        return _check(sealed, canonical)


def _check(certificate: SealedCertificate, canonical: Canonical) -> Trust:
    evidence, formal = certificate.evidence, certificate.problem.formal
    result, texts = evidence["result"], [*evidence["premises"], evidence["conclusion"]]
    if result not in MODELS or not are_texts(texts) or len(texts) < 2:
        raise Rejected("ill_formed")
    if sum(map(len, texts)) > MAX_CHARACTERS:
        raise Rejected("ill_formed")
    check_claim(certificate, result)
    *premises, goal = map(read, texts)
    symbols_of([*premises, goal])
    if any(map(open_names, [*premises, goal])):
        raise Rejected("free_variable")
    theory = None if formal is None else _theory(formal, canonical)
    _check_models(evidence["models"], result, [*([] if theory is None else theory.axioms), *premises], goal)
    if theory is None:
        _check_trusted(premises, goal, result)
    asked = _given_apart(premises, goal, result) if theory is None else _questions(premises, goal, theory)
    if result != "unknown":
        asked.append([[*premises, ("¬", goal) if result == "true" else goal]])
    # All are asked, also after one that cvc5 could not tell: any of them may be rejected.
    return weakest(*[confirm(group) for group in asked])


def _theory(formal: SealedFormal, canonical: Canonical) -> _Theory:
    try:
        return _Theory(list(map(horn_formula, formal.axioms)), horn_literal(formal.goal))
    except (ValueError, IndexError):
        *axioms, goal = map(read, canonical([*formal.axioms, formal.goal]))
        return _Theory(axioms, goal)


def _check_models(models: Any, result: str, stated: list[Formula], goal: Formula) -> None:
    """Evaluate the models that a result needs; there are no others."""
    claimed = {
        "holds": [*stated, goal],
        "fails": [*stated, ("¬", goal)],
        "contingent": [("¬", goal) if result == "true" else goal],
    }
    if models.keys() != claimed.keys() or any((models[name] is None) == (name in MODELS[result]) for name in models):
        raise Rejected("models")
    for name in MODELS[result]:
        if not Model(models[name]).satisfies(claimed[name]):
            raise Rejected("no_model")


def _check_trusted(premises: list[Formula], goal: Formula, result: str) -> None:
    if result == "unknown":
        if not symbols_of([goal]) <= symbols_of(premises):
            raise Rejected("not_in_premises")
    elif key(goal if result == "true" else negated(goal)) in set(map(key, premises)):
        raise Rejected("goal_assumed")


def _given_apart(premises: list[Formula], goal: Formula, result: str) -> list[list[list[Formula]]]:
    """Return what must have no model where a premise has the answer as a part: the others must give it too."""
    # Attack: hide the answer in a conjunction, where nothing else gives it.
    answer = goal if result == "true" else negated(goal)
    parts = [part for premise in premises for part in conjuncts(premise)]
    others = [part for part in parts if key(part) != key(answer)]
    if result == "unknown" or len(others) == len(parts):
        return []
    return [[[*others, ("¬", answer)]]]


def _questions(premises: list[Formula], goal: Formula, theory: _Theory) -> list[list[list[Formula]]]:
    """Return groups of sets of formulas; one of each must have no model, for the program to say what is stated."""
    reference = [*theory.axioms, theory.goal]
    try:
        known = symbols_of([*reference, *premises, goal])
    except Rejected as error:
        raise Rejected("other_vocabulary") from error
    if not known <= symbols_of(reference):
        raise Rejected("other_vocabulary")
    stated = set(map(key, theory.axioms))
    parts = [part for premise in premises if key(premise) not in stated for part in conjuncts(premise)]
    groups = [
        [[axiom, ("¬", part)] for axiom in theory.axioms if symbols_of([part]) <= symbols_of([axiom])]
        for part in parts
        if key(part) not in stated
    ]
    if sum(map(len, groups)) > MAX_COMPARED:
        raise Rejected("too_large")
    if key(goal) != key(theory.goal):
        groups.append([[("¬", ("↔", (goal, theory.goal)))]])
    return groups


def confirm(group: Sequence[list[Formula]]) -> Trust:
    """Raise `Rejected` unless one of these sets of formulas has no model; return on whose word."""
    opinions = [decide(script(formulas), BUDGET) for formulas in group]
    confirmed = [trust for found, trust in opinions if found is False]
    if confirmed:
        return min(confirmed, key=list(Trust).index)
    raise Rejected("not_confirmed" if any(found is None for found, _ in opinions) else "has_a_model")
