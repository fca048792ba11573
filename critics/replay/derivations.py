"""Replay of Horn derivations: every step is applied again; nothing is searched, and no digest is trusted alone.

The standard library only, and no code of the kernel that made the evidence: it has a reader of statements and a
matching of its own, so that one bug cannot vouch for another. Of a certificate of either kind it asks that

* its digest is the SHA-256 of the rest as canonical JSON, and it has the form of its kind;
* every entry is an axiom, or a rule applied to earlier entries, re-matched here;
* no fact among the entries contradicts another, or an entry about everything;
* the claim is what the evidence means for the problem (true, false or unknown, or the option that says so);
* with `formalisation: checked`: every axiom is one of the reference's, and the goal is the reference's.

`horn-proof`: every entry but the last serves a later one, and the last is the goal or the goal's negation.
`horn-saturation` is for `saturations`.

That nothing contradictory follows from what is assumed needs a search (`consequences`). That the reference says what
the text says needs a translator, where the text's language is regular (`critics.recheck.second_reading`). Here the
reference in `problem.formal` is taken as it stands. Nothing can be checked of what the evidence does not depend on:
`limits`, a wrong option's text, a `trusted` formalisation's text.
"""

from typing import Any, NamedTuple

from critics.replay.answers import check_claim
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, is_list, sealed_certificate
from critics.replay.saturations import is_open, undecided
from critics.replay.semantics import is_classical
from critics.replay.statements import (
    Atom,
    Term,
    canonical,
    filled,
    has_variables,
    is_fact,
    is_instance,
    matches,
    read_atom,
    read_canonical,
    read_rule,
)

HORN_ENGINE = "certistar-horn/1"
KINDS = ("horn-proof", "horn-saturation", "rules-proof", "rules-saturation")
_AXIOM_KEYS = frozenset({"by", "statement"})
_RULE_KEYS = frozenset({"by", "premises", "rule", "statement"})


class Step(NamedTuple):
    """One entry of a derivation; `rule` is None for an axiom."""

    text: str
    atoms: list[Atom]
    rule: int | None
    premises: list[int]


def check(certificate: object) -> None:
    """Accept a certificate by returning, or raise `Rejected` with the reason."""
    sealed = sealed_certificate(certificate, KINDS)
    with UNTRUSTED:
        _check(sealed)


def _check(certificate: SealedCertificate) -> None:
    evidence, formal = certificate.evidence, certificate.problem.formal
    if not is_list(evidence["steps"]):
        raise Rejected("ill_formed")
    text: str = evidence["goal"]
    goal = read_atom(text)
    steps, facts = _replay(evidence["steps"])
    axioms = [step for step in steps if step.rule is None]
    if certificate.kind.endswith("-proof"):
        value = _proved(steps, facts, goal)
    elif formal is None:
        raise Rejected("reference_is_missing")
    else:
        value = undecided(formal.axioms, [step.atoms for step in axioms], [step.atoms for step in steps], goal)
        if is_classical(certificate.reference) and not is_open([step.atoms for step in axioms], goal):
            raise Rejected("decided_classically")
    check_claim(certificate, value)
    if formal is not None:
        if formal.goal != text and read_atom(formal.goal) != goal:
            raise Rejected("goal_mismatch")
        _check_reference(formal.axioms, axioms)
    elif any(is_instance(steps[-1].atoms[0], axiom.atoms) for axiom in axioms):
        # An axiom is the last step, or says it of everything, however else it is derived.
        raise Rejected("goal_assumed")


def _replay(shown: list[Any]) -> tuple[list[Step], dict[int, Atom]]:
    """Re-apply every step; return the steps, and those that are facts by index. No fact is contradicted."""
    steps: list[Step] = []
    facts: dict[int, Atom] = {}
    for index, record in enumerate(shown):
        step = _step(record, index)
        if is_fact(step.atoms):
            facts[index] = step.atoms[0]
        if step.rule is not None:
            if step.rule in facts or not facts.keys() >= {index, *step.premises}:
                raise Rejected("invalid_step")
            _apply(steps[step.rule].atoms, [facts[i] for i in step.premises], step.atoms[0])
        steps.append(step)
    _check_consistency([step.atoms for step in steps], set(facts.values()))
    return steps, facts


def _step(record: Any, index: int) -> Step:
    text, atoms = record["statement"], read_rule(record["statement"])
    if record["by"] == "axiom" and record.keys() == _AXIOM_KEYS:
        return Step(text, atoms, None, [])
    if record["by"] != "rule" or record.keys() != _RULE_KEYS or record["premises"].__class__ is not list:
        raise Rejected("ill_formed")
    rule, premises = record["rule"], record["premises"]
    for number in (rule, *premises):
        if type(number) is not int or not 0 <= number < index:
            raise Rejected("forward_reference")
    return Step(text, atoms, rule, premises)


def _check_consistency(rules: list[list[Atom]], facts: set[Atom]) -> None:
    asserted = {terms for sign, terms in facts if sign}
    if any(terms in asserted for sign, terms in facts if not sign):
        raise Rejected("inconsistent")
    for universal in (rule for rule in rules if len(rule) == 1 and rule[0] not in facts):
        if any(is_instance((not sign, terms), universal) for sign, terms in facts):
            raise Rejected("inconsistent")


def _apply(rule: list[Atom], premises: list[Atom], result: Atom) -> None:
    """Raise unless `rule`, its premises matched in order by the facts `premises`, gives the fact `result`."""
    if len(rule) - 1 != len(premises):
        raise Rejected("invalid_step")
    binding: dict[str, Term] = {}
    for pattern, given in zip(rule[:-1], premises, strict=True):
        if not matches(pattern, given, binding):
            raise Rejected("invalid_step")
    if len(rule) == 1 and not matches(rule[0], result, binding):
        # The variables of a universal fact stand for whatever the result has in their places.
        raise Rejected("invalid_step")
    conclusion = filled(rule[-1], binding)
    if conclusion != result:
        raise Rejected("unbound_head_var" if has_variables(conclusion[1]) else "invalid_step")


def _proved(steps: list[Step], facts: dict[int, Atom], goal: Atom) -> str:
    """Return whether the last step is the goal (true) or its negation (false); every earlier one must serve it."""
    last = facts.get(len(steps) - 1)
    if last is None:
        raise Rejected("ill_formed")
    cited = {i for step in steps if step.rule is not None for i in (step.rule, *step.premises)}
    if cited != set(range(len(steps) - 1)):
        raise Rejected("unused_step")
    if last == goal:
        return "true"
    if last == (not goal[0], goal[1]):
        return "false"
    raise Rejected("goal_not_reached")


def _check_reference(stated: list[str], axioms: list[Step]) -> None:
    reworded = [step.atoms for step in axioms if step.text not in stated]
    if reworded:
        reference = {read_canonical(text) for text in stated}
        if not all(canonical(rule) in reference for rule in reworded):
            raise Rejected("axiom_not_in_context")
