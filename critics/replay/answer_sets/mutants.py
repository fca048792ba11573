"""Damaged versions of a program: a test is worth what it would notice, and must fail on one of a rule that it names.

The damages: a rule deleted, a condition of its body dropped, a choice's bound dropped, one of several alternatives
dropped. Facts are not damaged: a test that only finds a fact again tests nothing. A variable that a dropped condition
leaves unbound ranges over the constants of program and test (`DOMAIN`), so that rules with one condition count too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from critics.replay.answer_sets.language import AspLiteral, AspRule, Choice, Comparison, Condition, is_variable

DOMAIN = "__dom"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damage to one rule."""

    rule: int
    damage: str
    """`delete`, `drop N`, `lower`, `upper` or `alternative N`, N from 0."""
    changed: AspRule | None
    """The damaged rule, in the old one's place; None where it is deleted."""

    @property
    def name(self) -> str:
        """Name of the mutant in a certificate."""
        return f"{self.rule} {self.damage}"

    def applied(self, rules: Sequence[AspRule]) -> list[AspRule]:
        """Return the damaged program."""
        changed = [] if self.changed is None else [self.changed]
        return [*rules[: self.rule], *changed, *rules[self.rule + 1 :]]


def mutants(rules: Iterable[AspRule]) -> list[Mutant]:
    """Return every damage to every rule that is not a fact."""
    return [mutant for i, rule in enumerate(rules) if not rule.is_fact() for mutant in _mutants(i, rule)]


def _mutants(position: int, rule: AspRule) -> Iterator[Mutant]:
    yield Mutant(position, "delete", None)
    for i in range(len(rule.body)):
        rest = replace(rule, body=rule.body[:i] + rule.body[i + 1 :])
        domain = tuple(AspLiteral(DOMAIN, (variable,)) for variable in unsafe_variables(rest))
        yield Mutant(position, f"drop {i}", replace(rest, body=rest.body + domain))
    if not isinstance(rule.head, Choice):
        if len(rule.head) > 1:
            for i in range(len(rule.head)):
                yield Mutant(position, f"alternative {i}", replace(rule, head=rule.head[:i] + rule.head[i + 1 :]))
        return
    choice = rule.head
    if choice.lower is not None:
        yield Mutant(position, "lower", replace(rule, head=replace(choice, lower=None)))
    if choice.upper is not None:
        yield Mutant(position, "upper", replace(rule, head=replace(choice, upper=None)))
    for i in range(len(choice.elements) if len(choice.elements) > 1 else 0):
        fewer = choice.elements[:i] + choice.elements[i + 1 :]
        yield Mutant(position, f"alternative {i}", replace(rule, head=replace(choice, elements=fewer)))


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
