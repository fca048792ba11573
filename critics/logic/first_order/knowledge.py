"""Knowledge while a text is read: formulas, and whether a claim follows from facts and at most one rule.

A rule is a formula with a universal quantifier, a conditional or a disjunction; all others are facts. One solver holds
all formulas behind selectors, so that a question costs one check.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from critics.logic.first_order.shapes import is_choice, is_fact, stronger
from critics.logic.first_order.solvers import Answer
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.smtlib import script
from critics.workers.own_time import z3_check

RLIMIT = 2_000_000
SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class RuleSupport:
    """The ground of a claim: the one rule that it follows from, by its place among what is known, or none."""

    rule: int | None


class Knowledge:
    """Formulas that may be used, the premises first; all that will ever be asked about is named at the start."""

    def __init__(self, premises: Sequence[fo.Formula], others: Iterable[fo.Formula]) -> None:
        self.num_premises = len(premises)
        self.formulas: list[fo.Formula] = []
        self.facts: list[int] = []
        self.rules: list[int] = []
        self.keys: dict[str, int] = {}
        said = [*premises, *others]
        said += [case for formula in said if is_choice(formula) for case in stronger(formula)]
        parts = [part for formula in said for part in (formula, *fo.conjuncts(formula), fo.negated(formula))]
        listed = list(dict.fromkeys(parts))
        z3: Any = import_module("z3")
        self._z3, self._context = z3, z3.Context()
        terms = z3.parse_smt2_string(script(listed), ctx=self._context)
        self._terms: dict[fo.Formula, Any] = dict(zip(listed, terms, strict=True))
        self._solver: Any = z3.Solver(ctx=self._context)
        self._selectors: list[Any] = []
        for premise in premises:
            self.add(premise)

    def add(self, formula: fo.Formula) -> None:
        """Know one more formula."""
        place = len(self.formulas)
        self.formulas.append(formula)
        selector = self._z3.Bool(f"s{place}", self._context)
        self._solver.add(self._z3.Implies(selector, self._term(formula)))
        self._selectors.append(selector)
        (self.facts if is_fact(formula) else self.rules).append(place)
        self.keys.setdefault(fo.key(formula), place)

    def claimed(self) -> list[int]:
        """Return the places of what was added behind the premises."""
        return [place for place in (*self.facts, *self.rules) if place >= self.num_premises]

    def forget(self, start: int) -> None:
        """Use nothing any more that was added at this place or later."""
        self.facts = [place for place in self.facts if place < start]
        self.rules = [place for place in self.rules if place < start]
        self.keys = {said: place for said, place in self.keys.items() if place < start}

    def _term(self, formula: fo.Formula) -> Any:
        """Return a formula as Z3's; what is not known from the start is a denial or an implication of what is."""
        if formula in self._terms:
            return self._terms[formula]
        if isinstance(formula, fo.Compound):
            return self._z3.Implies(*map(self._term, formula.operands))
        assert isinstance(formula, fo.Not), formula
        return self._z3.Not(self._term(formula.body))

    def follows(self, claim: fo.Formula, places: Iterable[int]) -> Answer:
        """Return whether a claim can fail where the formulas at these places hold."""
        self._solver.push()
        try:
            self._solver.set("rlimit", RLIMIT)
            self._solver.add(self._z3.Not(self._term(claim)))
            result = z3_check(self._solver, [self._selectors[place] for place in places], SECONDS)
        finally:
            self._solver.pop()
        if result == self._z3.unsat:
            return Answer.UNSATISFIABLE
        return Answer.SATISFIABLE if result == self._z3.sat else Answer.UNDECIDED

    def gives(self, claim: fo.Formula, places: Iterable[int]) -> bool:
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
        rules = [place for place in self.rules if place in wanted]
        rules += [place for place in self.rules if place not in wanted and fo.predicates(self.formulas[place]) & words]
        for rule in rules:
            if self.shows(claim, [rule]) if assuming else self.gives(claim, [*self.facts, rule]):
                return RuleSupport(rule)
        return None
