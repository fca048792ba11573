"""Runs a `logic-program`: whether its constraints can hold, what each option claims of them, and what answers that.

Every option's queries are decided. Where one option holds, so is whether the formulas of all say anything at all:
without the constraints each must be possible and not certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from critics.formats.logic_program.reader import LogicProgram
from critics.logic.programs.z3_solver import Outcome, OutOfBudget, Satisfiable, Unsatisfiable, Z3Solver
from critics.replay.finite.grounding import Ground, Grounder, Tables


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check: a model, no model (`None`), or no decision (`decided` false)."""

    model: Tables | None
    decided: bool = True


@dataclass(frozen=True, slots=True)
class OptionResult:
    """An option's queries, whether a formula is `trivial` (if this is the one that holds, or another is), and all
    formulas as ground expressions."""

    queries: tuple[CheckResult, ...]
    holds: bool | None
    """None: not decided."""
    trivial: bool
    ground: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Execution:
    """Results of all checks of a program."""

    constraints: CheckResult
    options: tuple[OptionResult, ...]

    def holding(self) -> list[int]:
        """Return the positions of the options that hold."""
        return [position for position, option in enumerate(self.options) if option.holds]

    def decided(self) -> bool:
        """Say whether every check came to an end."""
        return self.constraints.decided and all(option.holds is not None for option in self.options)


def execute(program: LogicProgram) -> Execution:
    """Decide everything; raises `TooLarge` where grounding takes more than its budget, and `Undefined`."""
    grounder = Grounder(program.declared.functions)
    constraints = [grounder.ground(term) for term in program.constraints]
    queries = [grounder.ground(query.formula) for option in program.options for query in option.queries]
    formulas = [tuple(map(grounder.ground, option.formulas)) for option in program.options]
    solver = Z3Solver(grounder.unknowns(), constraints, [*queries, *(f for said in formulas for f in said)])
    possible = _result(solver.check(), grounder)
    results = iter([_result(solver.check(number), grounder) for number in range(len(queries))])
    options = [
        _judged([(next(results), query.wanted) for query in option.queries], said)
        for option, said in zip(program.options, formulas, strict=True)
    ]
    run = Execution(possible, tuple(options))
    if possible.model is None or len(run.holding()) != 1:
        return run
    numbers = iter(range(len(queries), len(queries) + sum(map(len, formulas))))
    own = [[next(numbers) for _ in said] for said in formulas]
    trivial = [any(_is_trivial(solver, number) for number in said) for said in own]
    return Execution(possible, tuple(replace(o, trivial=t) for o, t in zip(options, trivial, strict=True)))


def _judged(results: Sequence[tuple[CheckResult, bool]], formulas: tuple[Ground, ...]) -> OptionResult:
    holds = all((result.model is not None) == wanted for result, wanted in results)
    is_decided = all(result.decided for result, _ in results)
    return OptionResult(tuple(result for result, _ in results), holds if is_decided else None, False, formulas)


def _is_trivial(solver: Z3Solver, number: int) -> bool:
    """Say whether a formula is certain or impossible without any constraint."""
    sides = [solver.check(number, constrained=False, negated=negated) for negated in (False, True)]
    return not all(isinstance(side, Satisfiable) for side in sides)


def _result(outcome: Outcome, grounder: Grounder) -> CheckResult:
    match outcome:
        case Satisfiable(values):
            return CheckResult(grounder.model(values))
        case Unsatisfiable():
            return CheckResult(None)
        case OutOfBudget():
            return CheckResult(None, decided=False)
