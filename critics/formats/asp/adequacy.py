"""Adequacy: a test is worth what it would notice. Each must fail on some damaged version of a rule that it names.

The damages: a rule deleted, a condition of its body dropped, a choice's bound dropped, one of several alternatives
dropped. Facts are not damaged: a test that only finds a fact again tests nothing. A variable that a dropped
condition leaves unbound ranges over the constants of program and test, so that rules with one condition count too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from critics.formats.asp.control import GuardedControl
from critics.formats.asp.grounding import unsafe_variables
from critics.formats.asp.rules import AspLiteral, AspRule, Choice, constants_of
from critics.formats.asp.submission import ProgramTest
from critics.formats.asp.suite import run_test


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damage to one rule."""

    rule: int
    damage: str
    """`delete`, `drop N`, `lower`, `upper` or `alternative N`, N from 0."""
    changed: AspRule | None
    """What stands in the rule's place."""

    @property
    def name(self) -> str:
        """How a certificate names it."""
        return f"{self.rule} {self.damage}"


def mutants(rules: Iterable[AspRule]) -> list[Mutant]:
    """Return every damage to every rule that is not a fact."""
    return [mutant for i, rule in enumerate(rules) if not rule.is_fact() for mutant in _mutants(i, rule)]


def _mutants(position: int, rule: AspRule) -> Iterator[Mutant]:
    yield Mutant(position, "delete", None)
    for i in range(len(rule.body)):
        rest = replace(rule, body=rule.body[:i] + rule.body[i + 1 :])
        domain = tuple(AspLiteral("__dom", (variable,)) for variable in unsafe_variables(rest))
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


def selector(rule: int) -> str:
    """Return the guard of one rule."""
    return f"__r{rule}"


def selected_fragments(rules: tuple[AspRule, ...], damages: list[Mutant]) -> dict[str, list[str]]:
    """Return a program's rules and their mutants, each under a guard of its own."""
    found = {selector(i): [rule.render(selector(i))] for i, rule in enumerate(rules)}
    for i, mutant in enumerate(damages):
        found[f"__m{i}"] = [] if mutant.changed is None else [mutant.changed.render(f"__m{i}")]
    return found


def domain_facts(rules: tuple[AspRule, ...]) -> str:
    """Return the program's constants as facts, for mutants whose variables nothing binds."""
    return " ".join(f"__dom({c})." for c in constants_of(rules))


def kills(
    solver: GuardedControl, tests: tuple[ProgramTest, ...], named: list[set[int]], damages: list[Mutant], num_rules: int
) -> list[tuple[Mutant, ...]]:
    """Return for each test the mutants of its `named` rules on which it fails; raises `BudgetExhausted`."""
    everything = frozenset(map(selector, range(num_rules)))
    contexts = [everything - {selector(m.rule)} | {f"__m{i}"} for i, m in enumerate(damages)]
    return [
        tuple(
            mutant
            for mutant, on in zip(damages, contexts, strict=True)
            if mutant.rule in named[position] and run_test(solver, position, test, on) is not None
        )
        for position, test in enumerate(tests)
    ]
