"""Z3, which decides sets of formulas and finds models of them.

It is asked in the SMT-LIB text of `critics.replay.first_order.smtlib`. A model that Z3 reports counts only when our own
evaluator confirms it; where Z3 gives up, nothing is decided.
"""

import importlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from critics.logic.first_order.grounding import Grounding
from critics.replay.first_order.models import MAX_SIZE, Model, assignments, satisfies
from critics.replay.first_order.smtlib import SORT, Names, numbered, script
from critics.replay.first_order.syntax import Formula, FormulaError, Not, negated, signature
from critics.verdict import TimedOut, Vacuous
from critics.verdict.conclusion import Refusal
from critics.workers.own_time import z3_check

CLOSED_SIZES = (1, 2, 3, 5)
"""Sizes of domains tried one by one where Z3 finds no model by itself, each with a quarter of the budget."""
MAX_ROWS = 4_096
"""Values read off a model for one symbol."""


class Answer(Enum):
    """Answer of a solver: a model exists, none does, or nobody knows."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class SolverBudget:
    """Limits of one question to a solver."""

    rlimit: int = 4_000_000
    """Z3's own count of work, half a second or so; the same on every machine, so that verdicts are reproducible."""
    wall_ms: int = 1_500
    """Milliseconds of its own time, in case the count stands still; above what the work takes."""


@dataclass(frozen=True, slots=True)
class Solved:
    """A solver's answer, and the model where there is one: checked, and never with any other answer."""

    answer: Answer
    model: Model | None = None


def solve(formulas: Iterable[Formula], budget: SolverBudget) -> Solved:
    """Look at instances, or ask Z3, in a context of its own; raises `FormulaError` for formulas that do not fit."""
    listed = list(formulas)
    names = numbered(signature(listed))
    if (settled := _of_instances(listed)) is not None:
        return settled
    found = _solve_z3(listed, names, None, budget)
    if found.answer is not Answer.UNDECIDED:
        return found
    quarter = SolverBudget(budget.rlimit // 4, budget.wall_ms // 4)
    small = (_solve_z3(listed, names, size, quarter) for size in CLOSED_SIZES)
    # That there is no small model says nothing about larger ones.
    return next((closed for closed in small if closed.model is not None), Solved(Answer.UNDECIDED))


def _of_instances(formulas: Sequence[Formula]) -> Solved | None:
    *premises, last = formulas
    denied = negated(last)
    model = Grounding([*formulas, denied]).counterexample(denied, premises)
    if model is False:
        return Solved(Answer.UNSATISFIABLE)
    with suppress(FormulaError):
        if model is not None and model.size <= MAX_SIZE and satisfies(model, formulas):
            return Solved(Answer.SATISFIABLE, model)
    return None


def version() -> str:
    """Return the name and version of the solver that `solve` asks."""
    return f"z3 {importlib.import_module('z3').get_version_string()}"


def _solve_z3(formulas: list[Formula], names: Names, size: int | None, budget: SolverBudget) -> Solved:
    z3: Any = importlib.import_module("z3")
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", budget.rlimit)
    try:
        solver.from_string(script(formulas, size))
        result = z3_check(solver, (), budget.wall_ms / 1000)
    except z3.Z3Exception:
        return Solved(Answer.UNDECIDED)
    if result == z3.unsat:
        return Solved(Answer.UNSATISFIABLE)
    model = _model(z3, context, solver.model(), names) if result == z3.sat else None
    with suppress(FormulaError):
        if model is not None and satisfies(model, formulas):
            return Solved(Answer.SATISFIABLE, model)
    return Solved(Answer.UNDECIDED)


def _model(z3: Any, context: Any, found: Any, names: Names) -> Model | None:
    """Read a finite model off Z3's; None where there is none of at most `MAX_SIZE` objects."""
    sort, truth = z3.DeclareSort(SORT, context), z3.BoolSort(context)
    symbols = {
        ours: z3.Function(ours, *[sort] * arity, truth if kind[0] == "p" else sort)
        for (kind, _), (ours, arity) in names.items()
    }

    def value(term: Any) -> Any:
        return found.eval(term, model_completion=True)

    constants = [value(symbols[ours]()) for (kind, _), (ours, _) in names.items() if kind == "constant"]
    universe: list[Any] = (found.get_universe(sort) if sort in found.sorts() else None) or []
    objects = list({str(each): each for each in [*universe, *constants]}.values()) or [value(z3.Const("e", sort))]
    return model_of(objects, names, lambda ours, row: value(symbols[ours](*row)).sexpr(), "true")


def model_of(
    objects: Sequence[Any], names: Names, value: Callable[[str, Sequence[Any]], str], truth: str
) -> Model | None:
    """Return a model whose `objects` are a solver's; None where there are too many, or a value is none of them.

    `value` gives the text of what a symbol, by our name, has for a row of objects; `truth` is the text of true.
    """
    size, numbers = len(objects), {str(each): number for number, each in enumerate(objects)}
    if not 1 <= size <= MAX_SIZE or any(size**arity > MAX_ROWS for _, arity in names.values()):
        return None
    rows = {arity: list(assignments(size, arity)) for _, arity in names.values()}
    model = Model(size, {}, {}, {})
    try:
        for (kind, name), (ours, arity) in names.items():
            values = {row: value(ours, [objects[number] for number in row]) for row in rows[arity]}
            if kind[0] == "p":
                model.predicates[name, arity] = frozenset(row for row, text in values.items() if text == truth)
            elif kind == "constant":
                model.constants[name] = numbers[values[()]]
            else:
                model.functions[name, arity] = {row: numbers[text] for row, text in values.items()}
    except KeyError:
        return None
    return model


DEFAULT_BUDGET = SolverBudget()
Result = Literal["true", "false", "unknown", "inconsistent", "undecided"]


@dataclass(frozen=True, slots=True)
class Entailment:
    """Answer to whether a conclusion holds in all models of premises, in none, or in some."""

    result: Result
    """`inconsistent` premises entail everything; `undecided` where the budget ran out, or no finite model was found."""
    holds: Model | None = None
    """A model of premises and conclusion."""
    fails: Model | None = None
    """A model of the premises in which the conclusion fails."""
    question: str = ""
    """The question that could not be decided."""


def decide(premises: Sequence[Formula], conclusion: Formula, budget: SolverBudget = DEFAULT_BUDGET) -> Entailment:
    """Decide an entailment; raises `FormulaError` where a symbol has two arities or two roles."""
    holds = solve([*premises, conclusion], budget)
    if holds.answer is Answer.UNDECIDED:
        return Entailment("undecided", question="whether the conclusion can hold")
    fails = solve([*premises, Not(conclusion)], budget)
    if fails.answer is Answer.UNDECIDED:
        return Entailment("undecided", question="whether the conclusion can fail")
    results: dict[tuple[bool, bool], Result] = {
        (True, True): "unknown",
        (True, False): "true",
        (False, True): "false",
        (False, False): "inconsistent",
    }
    found = results[holds.model is not None, fails.model is not None]
    return Entailment(found, holds.model, fails.model)


def decided(premises: Sequence[Formula], conclusion: Formula) -> Entailment:
    """Decide an entailment; raises `Refusal` where it is undecided, or the premises contradict each other."""
    return refuse_undecided(decide(premises, conclusion))


def refuse_undecided(found: Entailment) -> Entailment:
    """Return a result that means something; raises `Refusal` for any other."""
    if found.result == "undecided":
        raise Refusal(TimedOut, "solver_budget", f"the solver could not tell {found.question}")
    if found.result == "inconsistent":
        raise Refusal(Vacuous, "inconsistent_premises", "the premises contradict each other: anything follows")
    return found


def contingent(conclusion: Formula, result: Result) -> Model:
    """Return a model, of no premise, in which a conclusion that was decided is otherwise: it says something.

    Raises `Refusal`.
    """
    # Attack: conclude `p ∨ ¬p`, which any premises entail.
    found = solve([Not(conclusion) if result == "true" else conclusion], DEFAULT_BUDGET)
    if found.model is not None:
        return found.model
    if found.answer is Answer.UNSATISFIABLE:
        raise Refusal(Vacuous, "trivial_conclusion", "the conclusion holds or fails whatever the premises say")
    raise Refusal(TimedOut, "solver_budget", "the solver could not tell whether the conclusion says anything")


def can_fail(premises: Sequence[Formula], claim: Formula) -> Answer:
    """Return whether a claim can fail where premises hold: `UNSATISFIABLE` says that it is entailed.

    So it is not where a symbol has two arities or two roles.
    """
    try:
        return solve([*premises, Not(claim)], DEFAULT_BUDGET).answer
    except FormulaError:
        return Answer.SATISFIABLE


def are_equivalent(one: Formula, other: Formula) -> bool:
    """Say whether two formulas are known to say the same."""
    return can_fail([one], other) is can_fail([other], one) is Answer.UNSATISFIABLE
