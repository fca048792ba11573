"""Replay of Horn derivations: every step is applied again; nothing is searched, and no digest is trusted alone.

It reads statements and matches them as the kernel does that made the evidence (`formula`, `matching`), and nothing of
how that kernel chose its steps. Of a certificate of either kind it asks that

* its digest is the SHA-256 of the rest as canonical JSON, and it has the form of its kind;
* every entry is an axiom, or a rule applied to earlier entries, re-matched here;
* no fact among the entries contradicts another, or an entry about everything;
* the claim is what the evidence means for the problem (true, false or unknown, or the option that says so);
* with `formalisation: checked`: every axiom is one of the reference's, and the goal is the reference's.

`horn-proof`: every entry but the last serves a later one, and the last is the goal or the goal's negation.
`horn-saturation` is for `saturations`.

That nothing contradictory follows from what is assumed needs a search (`consequences`). That the reference says what
the text says needs a translator, where the text's language is regular (`critics.recheck.rejudging`). Here the
reference in `problem.formal` is taken as it stands. Nothing can be checked of what the evidence does not depend on:
`limits`, a wrong option's text, a `trusted` formalisation's text.
"""

from typing import Any, NamedTuple

from critics.replay.answers import check_claim
from critics.replay.certificate import Rejected, SealedCertificate, is_list, of_kinds
from critics.replay.formula import (
    FormulaError,
    Literal,
    Rule,
    Statement,
    Term,
    canonical_statement,
    parse_literal,
    parse_statement,
)
from critics.replay.kernel import fits, is_instance
from critics.replay.saturations import is_open, undecided
from critics.replay.semantics import is_classical

HORN_ENGINE = "certistar-horn/1"
KINDS = ("horn-proof", "horn-saturation", "rules-proof", "rules-saturation")
_AXIOM_KEYS = frozenset({"by", "statement"})
_RULE_KEYS = frozenset({"by", "premises", "rule", "statement"})


class Step(NamedTuple):
    """One entry of a derivation; `rule` is None for an axiom."""

    text: str
    statement: Statement
    rule: int | None
    premises: list[int]


@of_kinds(*KINDS)
def check(certificate: SealedCertificate) -> None:
    """Accept a certificate by returning, or raise `Rejected` with the reason."""
    evidence, formal = certificate.evidence, certificate.problem.formal
    if not is_list(evidence["steps"]):
        raise Rejected("ill_formed")
    text: str = evidence["goal"]
    goal = parse_literal(text)
    steps = _replayed(evidence["steps"])
    axioms = [step for step in steps if step.rule is None]
    assumed = [step.statement for step in axioms]
    if certificate.kind.endswith("-proof"):
        # The last step is the goal or its negation, and every earlier one serves a later one.
        if not steps or not isinstance(last := steps[-1].statement, Literal):
            raise Rejected("ill_formed")
        cited = {i for step in steps if step.rule is not None for i in (step.rule, *step.premises)}
        if cited != set(range(len(steps) - 1)):
            raise Rejected("unused_step")
        if last not in (goal, goal.negated()):
            raise Rejected("goal_not_reached")
        value = "true" if last == goal else "false"
    elif formal is None:
        raise Rejected("reference_is_missing")
    else:
        value = undecided(formal.axioms, assumed, [step.statement for step in steps], goal)
        if is_classical(certificate.reference) and not is_open(assumed, goal):
            raise Rejected("decided_classically")
    check_claim(certificate, value)
    if formal is not None:
        if formal.goal != text and parse_literal(formal.goal) != goal:
            raise Rejected("goal_mismatch")
        reworded = [step.statement for step in axioms if step.text not in formal.axioms]
        if reworded:
            reference = {canonical_statement(parse_statement(text)) for text in formal.axioms}
            if not all(canonical_statement(statement) in reference for statement in reworded):
                raise Rejected("axiom_not_in_context")
    elif any(is_instance(_fact(steps[-1]), statement) for statement in assumed):
        # An axiom is the last step, or says it of everything, however else it is derived.
        raise Rejected("goal_assumed")


def _replayed(shown: list[Any]) -> list[Step]:
    """Re-apply every step, and return all; no fact among them is contradicted."""
    steps: list[Step] = []
    for index, record in enumerate(shown):
        step = _step(record, index)
        if step.rule is not None:
            rule = steps[step.rule].statement
            if not isinstance(rule, Rule):
                raise Rejected("invalid_step")
            _apply(rule, [_fact(steps[i]) for i in step.premises], _fact(step))
        steps.append(step)
    statements = [step.statement for step in steps]
    facts = {statement for statement in statements if isinstance(statement, Literal)}
    universal = [statement for statement in statements if isinstance(statement, Rule) and not statement.premises]
    for fact in facts:
        denied = fact.negated()
        if denied in facts or any(is_instance(denied, statement) for statement in universal):
            raise Rejected("inconsistent")
    return steps


def _fact(step: Step) -> Literal:
    if not isinstance(step.statement, Literal):
        raise Rejected("invalid_step")
    return step.statement


def _step(record: Any, index: int) -> Step:
    text = record["statement"]
    try:
        statement = parse_statement(text)
    except FormulaError as error:
        raise Rejected("unbound_head_var" if error.reason == "unbound_head_var" else "ill_formed") from error
    if record["by"] == "axiom" and record.keys() == _AXIOM_KEYS:
        return Step(text, statement, None, [])
    if record["by"] != "rule" or record.keys() != _RULE_KEYS or record["premises"].__class__ is not list:
        raise Rejected("ill_formed")
    rule, premises = record["rule"], record["premises"]
    for number in (rule, *premises):
        if type(number) is not int or not 0 <= number < index:
            raise Rejected("forward_reference")
    return Step(text, statement, rule, premises)


def _apply(rule: Rule, premises: list[Literal], result: Literal) -> None:
    """Raise unless `rule`, its premises matched in order by the facts `premises`, gives the fact `result`."""
    if len(rule.premises) != len(premises):
        raise Rejected("invalid_step")
    binding: dict[str, Term] | None = {}
    for pattern, given in zip(rule.premises, premises, strict=True):
        binding = None if binding is None else fits(pattern, given, binding)
    if binding is not None and not premises:
        # The variables of a universal fact stand for whatever the result has in their places.
        binding = fits(rule.conclusion, result, binding)
    if binding is None or rule.conclusion.substitute(binding) != result:
        raise Rejected("invalid_step")
