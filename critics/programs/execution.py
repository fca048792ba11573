"""Runs a `logic-program`: whether its constraints can hold, what each option claims of them, and what answers that.

Every option's queries are decided, and beside them whether its formulas say anything at all: without the
constraints each must be possible and not certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.programs.core import Value
from critics.programs.grounding import Ground, Grounder
from critics.programs.logic_program import LogicProgram
from critics.programs.z3_solver import Outcome, Satisfiable, Undecided, Unsatisfiable, Z3Solver

Tables = dict[str, dict[tuple[int, ...], Value]]


@dataclass(frozen=True, slots=True)
class Result:
    """How a check came out: with a model, without one (`None`), or not at all (`decided` false)."""

    model: Tables | None
    decided: bool = True


@dataclass(frozen=True, slots=True)
class OptionResult:
    """An option's queries, whether each formula is `trivial`, and its formulas as ground expressions."""

    queries: tuple[Result, ...]
    holds: bool | None
    """None: not decided."""
    trivial: bool
    ground: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Execution:
    """What a program does."""

    constraints: Result
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
    queries = [[grounder.ground(query.formula) for query in option.queries] for option in program.options]
    formulas = [[grounder.ground(formula) for formula in option.formulas] for option in program.options]
    unknowns = grounder.unknowns()
    solver, alone = Z3Solver(unknowns, constraints), Z3Solver(unknowns, [])
    options = tuple(
        _decide(wanted, asked, said, (solver, alone), grounder)
        for wanted, asked, said in zip(
            [[query.wanted for query in option.queries] for option in program.options], queries, formulas, strict=True
        )
    )
    return Execution(_result(solver.check([]), grounder), options)


def _decide(
    wanted: Sequence[bool],
    queries: Sequence[Ground],
    formulas: Sequence[Ground],
    solvers: tuple[Z3Solver, Z3Solver],
    grounder: Grounder,
) -> OptionResult:
    solver, alone = solvers
    results = tuple(_result(solver.check([query]), grounder) for query in queries)
    holds: bool | None = all((r.model is not None) == w for r, w in zip(results, wanted, strict=True))
    if not all(result.decided for result in results):
        holds = None
    trivial = any(_is_trivial(formula, alone) for formula in formulas)
    return OptionResult(results, holds, trivial, tuple(formulas))


def _is_trivial(formula: Ground, alone: Z3Solver) -> bool:
    """Say whether a formula is certain or impossible without any constraint."""
    if isinstance(formula, bool):
        return True
    return any(isinstance(alone.check([side]), Unsatisfiable) for side in (formula, ("not", formula)))


def _result(outcome: Outcome, grounder: Grounder) -> Result:
    match outcome:
        case Satisfiable(values):
            return Result(grounder.model(values))
        case Unsatisfiable():
            return Result(None)
        case Undecided():
            return Result(None, decided=False)
