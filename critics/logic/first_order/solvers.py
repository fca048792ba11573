"""Z3, which decides sets of formulas and finds models of them.

This module builds Z3's terms; the re-check writes SMT-LIB text for its solvers, so that one mistake in writing formulas
cannot vouch for itself. Symbols are numbered. A model that Z3 reports counts only when our own evaluator confirms it;
where Z3 gives up, nothing is decided.
"""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from critics.logic.first_order.model import MAX_SIZE, Model, assignments, satisfies
from critics.logic.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    FormulaError,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Signature,
    Term,
    Variable,
    signature,
)
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
class Budget:
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


def solve(formulas: Iterable[Formula], budget: Budget) -> Solved:
    """Ask Z3, in a context of its own; raises `FormulaError` for formulas that do not fit together."""
    listed = list(formulas)
    used = signature(listed)
    found = _solve_z3(listed, used, None, budget)
    if found.answer is not Answer.UNDECIDED:
        return found
    quarter = Budget(budget.rlimit // 4, budget.wall_ms // 4)
    small = (_solve_z3(listed, used, size, quarter) for size in CLOSED_SIZES)
    # That there is no small model says nothing about larger ones.
    return next((closed for closed in small if closed.model is not None), Solved(Answer.UNDECIDED))


def version() -> str:
    """Return the name and version of the solver that `solve` asks."""
    return f"z3 {_z3().get_version_string()}"


def _z3() -> Any:
    """Import Z3 where it is first needed; it has no types."""
    return importlib.import_module("z3")


def _solve_z3(formulas: list[Formula], used: Signature, size: int | None, budget: Budget) -> Solved:
    z3, terms = _z3(), _Terms(used)
    solver = z3.Solver(ctx=terms.context)
    solver.set("rlimit", budget.rlimit)
    try:
        solver.add([terms.formula(formula, {}) for formula in formulas])
        if size is not None:
            solver.add(terms.closed(size))
        result = z3_check(solver, (), budget.wall_ms / 1000)
    except z3.Z3Exception:
        return Solved(Answer.UNDECIDED)
    if result == z3.unsat:
        return Solved(Answer.UNSATISFIABLE)
    model = terms.model(solver.model()) if result == z3.sat else None
    try:
        if model is not None and satisfies(model, formulas):
            return Solved(Answer.SATISFIABLE, model)
    except FormulaError:
        pass
    return Solved(Answer.UNDECIDED)


class SolverTerm:
    """Term of Z3 or cvc5, whose packages have no types."""


class _Terms:
    """Formulas as terms of one Z3 context, and Z3's models as ours."""

    def __init__(self, used: Signature) -> None:
        z3 = self._z3 = _z3()
        self.context = z3.Context()
        self.sort: Any = z3.DeclareSort("U", self.context)
        truth = z3.BoolSort(self.context)
        self._num_variables = 0
        self.constants: dict[str, SolverTerm] = {
            name: z3.Const(f"c{number}", self.sort) for number, name in enumerate(sorted(used.constants))
        }
        self.functions: dict[tuple[str, int], Any] = {
            (name, arity): z3.Function(f"f{number}", *[self.sort] * arity, self.sort)
            for number, (name, arity) in enumerate(sorted(used.functions.items()))
        }
        arities = [*sorted(used.predicates.items()), *((name, 0) for name in sorted(used.propositions))]
        self.predicates: dict[tuple[str, int], Any] = {
            (name, arity): z3.Function(f"p{number}", *[self.sort] * arity, truth)
            for number, (name, arity) in enumerate(arities)
        }

    def formula(self, formula: Formula, variables: dict[str, SolverTerm]) -> Any:
        match formula:
            case Atom(predicate, arguments):
                return self.predicates[predicate, len(arguments)](*(self._term(a, variables) for a in arguments))
            case Equality(left, right):
                return self._term(left, variables) == self._term(right, variables)
            case Not(body):
                return self._z3.Not(self.formula(body, variables))
            case Compound(operator, operands):
                return self._joined(operator, [self.formula(operand, variables) for operand in operands])
            case Quantified(quantifier, variable, body):
                fresh = self._variable()
                inner = self.formula(body, {**variables, variable: fresh})
                return (
                    self._z3.ForAll([fresh], inner) if quantifier is Quantifier.ALL else self._z3.Exists([fresh], inner)
                )

    def closed(self, size: int) -> Any:
        """Say that there are no more than `size` objects."""
        names = [self._z3.Const(f"e{number}", self.sort) for number in range(size)]
        anything = self._variable()
        return self._z3.ForAll([anything], self._z3.Or([anything == name for name in names]))

    def _variable(self) -> Any:
        """Return a name of its own for every quantifier, so that none captures another's."""
        self._num_variables += 1
        return self._z3.Const(f"x{self._num_variables}", self.sort)

    def _joined(self, operator: Operator, operands: list[Any]) -> Any:
        match operator:
            case Operator.AND:
                return self._z3.And(operands)
            case Operator.OR:
                return self._z3.Or(operands)
            case Operator.IMPLIES:
                return self._z3.Implies(operands[0], operands[1])
            case Operator.IFF:
                return operands[0] == operands[1]
            case Operator.XOR:
                return self._z3.Xor(operands[0], operands[1])

    def _term(self, term: Term, variables: dict[str, SolverTerm]) -> Any:
        match term:
            case Variable(name):
                return variables[name]
            case Constant(name):
                return self.constants[name]
            case Application(function, arguments):
                return self.functions[function, len(arguments)](*(self._term(a, variables) for a in arguments))

    def model(self, found: Any) -> Model | None:
        """Read a finite model off Z3's; None where there is none of at most `MAX_SIZE` objects."""
        objects = self._objects(found)
        if len(objects) > MAX_SIZE:
            return None
        numbers = {str(value): number for number, value in enumerate(objects)}
        try:
            return Model(
                len(objects),
                {name: numbers[_value(found, constant)] for name, constant in self.constants.items()},
                {
                    symbol: {row: numbers[value] for row, value in self._table(found, function, symbol[1], objects)}
                    for symbol, function in self.functions.items()
                },
                {
                    symbol: frozenset(
                        row for row, value in self._table(found, predicate, symbol[1], objects) if value == "True"
                    )
                    for symbol, predicate in self.predicates.items()
                },
            )
        except (KeyError, FormulaError):
            return None

    def _objects(self, found: Any) -> list[Any]:
        """Return the values of Z3's universe and of the constants; at least one."""
        values: list[Any] = [found.eval(constant, model_completion=True) for constant in self.constants.values()]
        listed: list[Any] = (found.get_universe(self.sort) if self.sort in found.sorts() else None) or []
        distinct: dict[str, SolverTerm] = {str(value): value for value in [*listed, *values]}
        if not distinct:
            anything = found.eval(self._z3.Const("e", self.sort), model_completion=True)
            distinct[str(anything)] = anything
        return list(distinct.values())

    def _table(self, found: Any, symbol: Any, arity: int, objects: list[Any]) -> Iterable[tuple[tuple[int, ...], str]]:
        if len(objects) ** arity > MAX_ROWS:
            raise FormulaError("too_large", "the model is too large to be read")
        for row in assignments(len(objects), arity):
            yield row, _value(found, symbol(*(objects[number] for number in row)))


def _value(found: Any, term: Any) -> str:
    return str(found.eval(term, model_completion=True))
