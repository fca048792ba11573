"""Queries to cvc5, which searches for finite models: can two formulas differ, and in which model?

This module builds cvc5's terms; the second opinion writes SMT-LIB text. A model that cvc5 reports is read off and
evaluated by our own evaluator. Where cvc5 is not installed nothing is decided here.
"""

import importlib
from dataclasses import dataclass, replace
from typing import Any

from critics.formats.equivalence.outcome import Different, Equivalent, UndecidedPair
from critics.formats.equivalence.sampling import shown_difference
from critics.logic.first_order.model import MAX_SIZE, Model, assignments
from critics.logic.first_order.solvers import MAX_ROWS, Budget, SolverTerm
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
from critics.workers.own_time import within_own_time

METHOD = "solver"
_KINDS = {
    Operator.AND: "AND",
    Operator.OR: "OR",
    Operator.XOR: "XOR",
    Operator.IMPLIES: "IMPLIES",
    Operator.IFF: "EQUAL",
    Quantifier.ALL: "FORALL",
    Quantifier.SOME: "EXISTS",
}


def decide_by_cvc5(left: Formula, right: Formula, budget: Budget) -> Equivalent | Different | UndecidedPair:
    """Ask whether a formula can hold without the other; raises `FormulaError` where the two do not fit together."""
    try:
        cvc5: Any = importlib.import_module("cvc5")
    except ImportError:
        return UndecidedPair()
    return within_own_time(
        budget.wall_ms / 1000,
        lambda milliseconds: _asked(cvc5, left, right, replace(budget, wall_ms=milliseconds)),
        lambda found: isinstance(found, UndecidedPair),
    )


def _asked(cvc5: Any, left: Formula, right: Formula, budget: Budget) -> Equivalent | Different | UndecidedPair:
    terms = _Terms(cvc5, signature([left, right]), budget)
    try:
        terms.solver.assertFormula(terms.of("XOR", terms.formula(left, {}), terms.formula(right, {})))
        result = terms.solver.checkSat()
        if result.isUnsat():
            return Equivalent(METHOD, {"solver": "cvc5"})
        model = terms.model() if result.isSat() else None
    except RuntimeError:
        # What cvc5 cannot do, too deep a recursion for one, is left undecided.
        return UndecidedPair()
    try:
        found = None if model is None else shown_difference(left, right, model)
    except FormulaError:
        found = None
    return UndecidedPair() if found is None else found


@dataclass(frozen=True, slots=True)
class _Symbols:
    constants: dict[str, SolverTerm]
    functions: dict[tuple[str, int], Any]
    predicates: dict[tuple[str, int], Any]


class _Terms:
    """Formulas as terms of one solver, and its models as ours; symbols are numbered."""

    def __init__(self, cvc5: Any, used: Signature, budget: Budget) -> None:
        self._cvc5 = cvc5
        self._terms: Any = cvc5.TermManager()
        self.solver: Any = cvc5.Solver(self._terms)
        self.solver.setLogic("UF")
        for option, value in (("finite-model-find", "true"), ("produce-models", "true")):
            self.solver.setOption(option, value)
        self.solver.setOption("rlimit-per", str(budget.rlimit))
        self.solver.setOption("tlimit-per", str(budget.wall_ms))
        self._sort = self._terms.mkUninterpretedSort("U")
        truth = self._terms.getBooleanSort()
        predicates = [*used.predicates.items(), *((name, 0) for name in used.propositions)]
        self._symbols = _Symbols(
            {name: self._terms.mkConst(self._sort, f"c{n}") for n, name in enumerate(sorted(used.constants))},
            {key: self._symbol(f"f{n}", key[1], self._sort) for n, key in enumerate(sorted(used.functions.items()))},
            {key: self._symbol(f"p{n}", key[1], truth) for n, key in enumerate(sorted(predicates))},
        )

    def of(self, kind: str, *parts: Any) -> Any:
        return self._terms.mkTerm(getattr(self._cvc5.Kind, kind), *parts)

    def formula(self, formula: Formula, variables: dict[str, SolverTerm]) -> Any:
        match formula:
            case Atom(predicate, arguments):
                return self._applied(self._symbols.predicates[predicate, len(arguments)], arguments, variables)
            case Equality(left, right):
                return self.of("EQUAL", self._term(left, variables), self._term(right, variables))
            case Not(body):
                return self.of("NOT", self.formula(body, variables))
            case Compound(operator, operands):
                return self.of(_KINDS[operator], *(self.formula(operand, variables) for operand in operands))
            case Quantified(quantifier, variable, body):
                fresh = self._terms.mkVar(self._sort, f"x{len(variables)}")
                inner = self.formula(body, {**variables, variable: fresh})
                return self.of(_KINDS[quantifier], self.of("VARIABLE_LIST", fresh), inner)

    def model(self) -> Model | None:
        """Read the model that was found; None where it is larger than our evaluator takes."""
        objects = list(self.solver.getModelDomainElements(self._sort))
        used = self._symbols
        symbols = [*used.functions, *used.predicates]
        if not 1 <= len(objects) <= MAX_SIZE or any(len(objects) ** arity > MAX_ROWS for _, arity in symbols):
            return None
        numbers = {str(value): number for number, value in enumerate(objects)}
        return Model(
            len(objects),
            {name: numbers[self._value(constant)] for name, constant in used.constants.items()},
            {
                key: {row: numbers[self._value_at(f, row, objects)] for row in assignments(len(objects), key[1])}
                for key, f in used.functions.items()
            },
            {
                key: frozenset(
                    row for row in assignments(len(objects), key[1]) if self._value_at(p, row, objects) == "true"
                )
                for key, p in used.predicates.items()
            },
        )

    def _symbol(self, name: str, arity: int, result: Any) -> Any:
        sort = self._terms.mkFunctionSort([self._sort] * arity, result) if arity else result
        return self._terms.mkConst(sort, name)

    def _term(self, term: Term, variables: dict[str, SolverTerm]) -> Any:
        match term:
            case Variable(name):
                return variables[name]
            case Constant(name):
                return self._symbols.constants[name]
            case Application(function, arguments):
                return self._applied(self._symbols.functions[function, len(arguments)], arguments, variables)

    def _applied(self, symbol: Any, arguments: tuple[Term, ...], variables: dict[str, SolverTerm]) -> Any:
        if not arguments:
            return symbol
        return self.of("APPLY_UF", symbol, *(self._term(argument, variables) for argument in arguments))

    def _value_at(self, symbol: Any, row: tuple[int, ...], objects: list[Any]) -> str:
        applied = self.of("APPLY_UF", symbol, *(objects[number] for number in row)) if row else symbol
        return self._value(applied)

    def _value(self, term: Any) -> str:
        return str(self.solver.getValue(term))
