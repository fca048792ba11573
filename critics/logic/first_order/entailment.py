"""Entailment: premises entail a conclusion, refute it, or do neither, with the models that let one check it again.

There are two questions: whether the conclusion can hold together with the premises, and whether it can fail. Each is
answered by a finite model that our evaluator confirmed, or by a solver's word that there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from critics.logic.first_order.solvers import Answer, Budget, Solved, solve
from critics.replay.first_order.models import Model
from critics.replay.first_order.syntax import Formula, Not


@dataclass(frozen=True, slots=True)
class Entailed:
    """The conclusion holds in all models of the premises."""

    holds: Model
    """A model of premises and conclusion: the premises are consistent."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The conclusion holds in no model of the premises."""

    fails: Model
    """A model of the premises, in which the conclusion fails."""


@dataclass(frozen=True, slots=True)
class Open:
    """The premises leave the conclusion open."""

    holds: Model
    fails: Model


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """The premises contradict each other: they entail everything."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The budget ran out, or no finite model was found where one is needed."""

    question: str
    """The question that could not be decided."""


Entailment: TypeAlias = Entailed | Denied | Open | Inconsistent | Undecided
DEFAULT_BUDGET = Budget()


def can_fail(premises: Sequence[Formula], claim: Formula) -> Answer:
    """Return whether a claim can fail where premises hold: `UNSATISFIABLE` says that it is entailed."""
    return solve([*premises, Not(claim)], DEFAULT_BUDGET).answer


def decide(premises: Sequence[Formula], conclusion: Formula, budget: Budget = DEFAULT_BUDGET) -> Entailment:
    """Decide an entailment; raises `FormulaError` where a symbol has two arities or two roles."""
    holds = solve([*premises, conclusion], budget)
    if holds.answer is Answer.UNDECIDED:
        return Undecided("whether the conclusion can hold")
    fails = solve([*premises, Not(conclusion)], budget)
    match holds, fails:
        case Solved(model=Model() as one), Solved(model=Model() as other):
            return Open(one, other)
        case Solved(model=Model() as model), Solved(answer=Answer.UNSATISFIABLE):
            return Entailed(model)
        case Solved(answer=Answer.UNSATISFIABLE), Solved(model=Model() as model):
            return Denied(model)
        case Solved(answer=Answer.UNSATISFIABLE), Solved(answer=Answer.UNSATISFIABLE):
            return Inconsistent()
        case _:
            return Undecided("whether the conclusion can fail")
