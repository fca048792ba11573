"""Proofs under an assumption: by contradiction, of a conditional, and case by case."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from critics.logic.first_order.knowledge import Knowledge, RuleSupport
from critics.logic.first_order.shapes import conditions, is_choice, stronger
from critics.replay.first_order.syntax import Compound, Formula, Operator, conjuncts, key, negated


@dataclass(frozen=True, slots=True)
class Supposition:
    """An assumption in force, the place from which on all is known under it, and what was said since."""

    assumed: Formula
    start: int
    said: list[Formula] = field(default_factory=list[Formula])

    def implies(self, said: Formula) -> Formula:
        """Return what a claim says that is made under the assumption."""
        return Compound(Operator.IMPLIES, (self.assumed, said))

    def is_condition_of(self, formula: Formula) -> bool:
        """Say whether a claim sums up: if what is assumed holds, then .."""
        return [key(part) for part in conditions(formula)] == [key(part) for part in conjuncts(self.assumed)]


def is_contradicted(known: Knowledge, claims: Iterable[Formula]) -> bool:
    """Say whether facts and one rule deny one of these claims."""
    parts = [part for claim in claims for part in (claim, *conjuncts(claim))]
    return any(known.shows(negated(part), rule) for part in parts for rule in _rules(known))


def by_cases(known: Knowledge, claim: Formula) -> RuleSupport | None:
    """Return the alternative each of whose cases gives a claim with facts and one rule; None where there is none."""
    for place in known.rules:
        choice = known.formulas[place]
        cases = [Compound(Operator.IMPLIES, (case, claim)) for case in (stronger(choice) if is_choice(choice) else ())]
        if cases and all(any(known.gives(case, [*known.facts, *rule]) for rule in _rules(known)) for case in cases):
            return RuleSupport(place)
    return None


def _rules(known: Knowledge) -> list[tuple[int, ...]]:
    return [(), *((place,) for place in known.rules)]
