"""Re-checks Horn derivations: replays every step, never searches, trusts no digest alone.

The standard library only, and no code of the kernel that made the evidence: it has a reader of statements and a
matching of its own, so that one bug cannot vouch for another. Of a certificate of either kind it asks that

* its digest is the SHA-256 of the rest as canonical JSON, and it has the form of its kind;
* every entry is an axiom, or a rule applied to earlier entries, re-matched here;
* no fact among the entries contradicts another, or an entry about everything;
* the claim is what the evidence means for the problem (true, false or unknown, or the option that says so);
* with `formalisation: checked`: every axiom is one of the reference's, and the goal is the reference's.

`horn-proof`: every entry but the last serves a later one, and the last is the goal or the goal's negation.
`horn-saturation` is for `saturations`.

What needs a search or a translator is left to `critics.recheck.index`, which calls this module: that nothing
contradictory follows from what is assumed (`consequences`), and that the reference says what the text says, where the
text's language is regular (`shared`). Here the reference in `problem.formal` is taken as it stands. Nothing can be
checked of what the evidence does not depend on: `limits`, a wrong option's text, a `trusted` formalisation's text.
"""

from typing import Any

from critics.recheck.answers import check_claim
from critics.recheck.certificate import Rejected, check_form, is_list
from critics.recheck.saturations import undecided
from critics.recheck.statements import (
    Atom,
    Term,
    canonical,
    filled,
    has_variables,
    is_fact,
    is_instance,
    matches,
    read_atom,
    read_rule,
)

HORN_ENGINE = "certistar-horn/1"
KINDS = ("horn-proof", "horn-saturation", "rules-proof", "rules-saturation")
_AXIOM_KEYS = frozenset({"by", "statement"})
_RULE_KEYS = frozenset({"by", "premises", "rule", "statement"})


def check(certificate: object) -> None:
    """Accept a certificate by returning, or raise `Rejected` with the reason."""
    try:
        _check(certificate)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error


def _check(certificate: Any) -> None:
    check_form(certificate)
    if certificate["kind"] not in KINDS:
        raise Rejected("unknown_kind")
    evidence, problem = certificate["evidence"], certificate["problem"]
    if not is_list(evidence["steps"]):
        raise Rejected("ill_formed")
    steps: list[dict[str, Any]] = evidence["steps"]
    goal = read_atom(evidence["goal"])
    rules, facts = _replay(steps)
    if certificate["kind"].endswith("-proof"):
        value = _proved(steps, facts, goal)
    else:
        value = undecided(certificate["formalisation"], problem["formal"], steps, rules, goal)
    check_claim(certificate, value)
    if certificate["formalisation"] == "checked":
        _check_reference(problem["formal"], evidence, rules, goal)
    elif _is_assumed(steps, rules):
        raise Rejected("goal_assumed")


def _replay(steps: list[dict[str, Any]]) -> tuple[list[list[Atom]], dict[int, Atom]]:
    """Re-apply every step; return the statements, and those that are facts by index. No fact is contradicted."""
    rules: list[list[Atom]] = []
    facts: dict[int, Atom] = {}
    for index, step in enumerate(steps):
        rule = read_rule(step["statement"])
        if is_fact(rule):
            facts[index] = rule[0]
        if step["by"] == "rule":
            if step.keys() != _RULE_KEYS or step["premises"].__class__ is not list:
                raise Rejected("ill_formed")
            by: int = step["rule"]
            premises: list[int] = step["premises"]
            if not all(type(i) is int and 0 <= i < index for i in (by, *premises)):
                raise Rejected("forward_reference")
            if by in facts or not facts.keys() >= {index, *premises}:
                raise Rejected("invalid_step")
            _apply(rules[by], [facts[i] for i in premises], rule[0])
        elif step["by"] != "axiom" or step.keys() != _AXIOM_KEYS:
            raise Rejected("ill_formed")
        rules.append(rule)
    _check_consistency(rules, set(facts.values()))
    return rules, facts


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


def _proved(steps: list[dict[str, Any]], facts: dict[int, Atom], goal: Atom) -> str:
    """Return whether the last step is the goal (true) or its negation (false); every earlier one must serve it."""
    last = facts.get(len(steps) - 1)
    if last is None:
        raise Rejected("ill_formed")
    cited = {i for step in steps if step["by"] == "rule" for i in (step["rule"], *step["premises"])}
    if cited != set(range(len(steps) - 1)):
        raise Rejected("unused_step")
    if last == goal:
        return "true"
    if last == (not goal[0], goal[1]):
        return "false"
    raise Rejected("goal_not_reached")


def _is_assumed(steps: list[dict[str, Any]], rules: list[list[Atom]]) -> bool:
    """Say whether an axiom is the last step, or says it of everything, however else it is derived."""
    last = rules[-1][0]
    return any(step["by"] == "axiom" and is_instance(last, rule) for step, rule in zip(steps, rules, strict=True))


def _check_reference(formal: dict[str, Any], evidence: dict[str, Any], rules: list[list[Atom]], goal: Atom) -> None:
    if formal["goal"] != evidence["goal"] and read_atom(formal["goal"]) != goal:
        raise Rejected("goal_mismatch")
    axioms = [(s["statement"], rule) for s, rule in zip(evidence["steps"], rules, strict=True) if s["by"] == "axiom"]
    reworded = [rule for text, rule in axioms if text not in formal["axioms"]]
    if reworded:
        reference = {canonical(read_rule(text)) for text in formal["axioms"]}
        if not all(canonical(rule) in reference for rule in reworded):
            raise Rejected("axiom_not_in_context")
