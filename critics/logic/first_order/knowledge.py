"""Knowledge while a text is read: formulas, and whether a claim follows from facts and at most one rule.

A rule is a formula with a universal quantifier, a conditional or a disjunction; all others are facts. A solver is asked
where instances settle nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from critics.logic.first_order.grounding import Grounding
from critics.logic.first_order.shapes import is_choice, is_existential, is_fact, stronger
from critics.logic.first_order.solvers import Answer, can_fail
from critics.replay.first_order import syntax as fo


@dataclass(frozen=True, slots=True)
class RuleSupport:
    """The ground of a claim: the one rule that it follows from, by its place among what is known, or none."""

    rule: int | None


class Knowledge:
    """Formulas that may be used, the premises first; `others` are those that will be asked about, or known later.

    The last premises, `num_granted` of them, tell what words mean: they may be used, and need not be said.
    """

    def __init__(self, premises: Sequence[fo.Formula], others: Iterable[fo.Formula], num_granted: int = 0) -> None:
        self.num_premises = len(premises)
        self.granted = range(len(premises) - num_granted, len(premises))
        self.formulas: list[fo.Formula] = []
        self.facts: list[int] = []
        self.rules: list[int] = []
        self.keys: dict[str, int] = {}
        self.named: set[str] = set()  # Things that stand for others: nothing else follows from what is said of them.
        said = [*premises, *others]
        said += [case for formula in said if is_choice(formula) for case in stronger(formula)]
        parts = [part for formula in said for part in (formula, *fo.conjuncts(formula), fo.negated(formula))]
        # Symbols of two arities are refused at once.
        fo.signature(parts)
        self._grounding = Grounding(parts)
        self._numbers: list[int | None] = []
        """The numbers of what is known."""
        for premise in premises:
            self.add(premise)

    def add(self, formula: fo.Formula) -> None:
        """Know one more formula."""
        place = len(self.formulas)
        self.formulas.append(formula)
        self._numbers.append(self._grounding.number(formula))
        (self.facts if is_fact(formula) else self.rules).append(place)
        self.keys.setdefault(fo.key(formula), place)

    def given(self) -> list[int]:
        """Return the places of the premises, and of what is said of things that stand for others."""
        own = (at for at in self.facts if not self.named.isdisjoint(fo.constants(self.formulas[at])))
        return [*range(self.num_premises), *(at for at in own if at >= self.num_premises)]

    def claimed(self) -> list[int]:
        """Return the places of what was added behind the premises that are said."""
        return [place for place in (*self.facts, *self.rules) if place >= self.granted.start]

    def forget(self, start: int) -> None:
        """Use nothing any more that was added at this place or later."""
        self.facts = [place for place in self.facts if place < start]
        self.rules = [place for place in self.rules if place < start]
        self.keys = {said: place for said, place in self.keys.items() if place < start}

    def follows(self, claim: fo.Formula, places: Sequence[int]) -> Answer:
        """Return whether a claim can fail where the formulas at these places hold."""
        if self.named:
            is_plain = self.named.isdisjoint(fo.constants(claim))
            own = [(place, self.formulas[place]) for place in places]
            places = [
                at for at, each in own if not (self.named & fo.constants(each) if is_plain else is_existential(each))
            ]
        numbers = tuple(self._numbers[place] for place in places)
        settled = self._grounding.can_fail(self._grounding.number(claim), numbers)
        if settled is None:
            return can_fail([self.formulas[place] for place in places], claim)
        return Answer.SATISFIABLE if settled else Answer.UNSATISFIABLE

    def gives(self, claim: fo.Formula, places: Sequence[int]) -> bool:
        """Say whether a claim follows from the formulas at these places."""
        return self.follows(claim, places) is Answer.UNSATISFIABLE

    def shows(self, claim: fo.Formula, rule: Sequence[int]) -> bool:
        """Say whether the facts, the denial of the claim apart, and a rule give a claim without contradicting it.

        Attack: assume what cannot be, and say what you like.
        """
        denial = fo.negated(claim)
        apart = {fo.key(part) for part in (claim, denial, *fo.conjuncts(denial))}
        places = [*(place for place in self.facts if fo.key(self.formulas[place]) not in apart), *rule]
        return self.gives(claim, places) and not self.gives(denial, places)

    def support(self, claim: fo.Formula, wanted: Sequence[int] = (), *, assuming: bool = False) -> RuleSupport | None:
        """Return the one rule that a claim needs; None where no one is enough. `wanted` are tried first.

        Under an assumption (`assuming`) what is known may contradict itself, and gives only what it does not deny.
        """
        known = self.keys.get(fo.key(claim))
        if known is not None:
            return RuleSupport(known)
        if is_fact(claim) and (self.shows(claim, ()) if assuming else self.gives(claim, self.facts)):
            return RuleSupport(None)
        words = fo.predicates(claim)
        near = [place for place in self.rules if place in wanted or fo.predicates(self.formulas[place]) & words]
        for rule in sorted(near, key=lambda place: place not in wanted):
            if self.shows(claim, [rule]) if assuming else self.gives(claim, [*self.facts, rule]):
                return RuleSupport(rule)
        return None
