"""Propositional methods: truth tables, a solver's proof, and formulas whose quantifiers are the same in front.

Two formulas are equivalent if their prefixes are the same, up to the order of neighbours of one kind, and their
matrices are equivalent as propositional formulas over atoms. That needs no prover, and covers what rewriting leaves
under unchanged quantifiers.

First-order formulas go through a portfolio of methods, cheapest first, each with a budget. A difference is shown by a
finite model that our evaluator confirms, and by nothing else: neither a saturated search nor a solver's word is one.
Domains are not empty, constants may name the same object, and a name that no quantifier binds is a constant that both
formulas share.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, permutations, product
from typing import Any, TypeAlias

from critics.formats.equivalence.sampling import (
    MAX_ATOMS,
    Different,
    Equivalent,
    Outcome,
    UndecidedPair,
    sampled_difference,
    shown_difference,
    truth_table,
)
from critics.logic.first_order.solvers import Answer, SolverBudget, model_of, solve
from critics.replay.equivalences.graph import MAX_TABLE, TRUE, Graph, places_of, prenex
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.models import Model, satisfies
from critics.replay.first_order.smtlib import SORT, numbered, script
from critics.replay.sat import MAX_WORK, Contradictory, GivenUp, Satisfied, solve_clauses
from critics.replay.solvers import installed, run_cvc5
from critics.workers.own_time import within_own_time

PREFIX = "prefix"
WORK = 40_000
"""Work of the propositional solver for one order; a hundred times what generated formulas take."""
MAX_ORDERS = 24
"""Orders of neighbouring quantifiers that are tried."""
METHOD = "propositional"


@dataclass(frozen=True, slots=True)
class Same:
    """Two literals of a graph are equal, by these learned clauses; none where the graph or a table shows it."""

    clauses: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Two literals of a graph differ where the atoms have these values."""

    values: Mapping[Hashable, bool]


Comparison: TypeAlias = Same | Apart | UndecidedPair


def decide_propositional(left: fo.Formula, right: fo.Formula) -> Outcome:
    """Decide an equivalence over all assignments; the formulas are propositional."""
    names = sorted(fo.predicates(left) | fo.predicates(right))
    if len(names) <= MAX_ATOMS:
        differing = truth_table(left, names) ^ truth_table(right, names)
        if differing == 0:
            return Equivalent(METHOD, {"clauses": []})
        number = (differing & -differing).bit_length() - 1
        return _different(left, right, {name: bool(number >> place & 1) for place, name in enumerate(names)})
    graph = Graph()
    one, other = graph.add(left), graph.add(right)
    match compare(graph, one, other):
        case Same(clauses):
            return Equivalent(METHOD, {"clauses": [list(clause) for clause in clauses]})
        case Apart(values):
            return _different(left, right, {name: values.get((name,), False) for name in names})
        case UndecidedPair() as undecided:
            return undecided


def compare(graph: Graph, one: int, other: int, work: int = MAX_WORK) -> Comparison:
    """Say whether two literals of a graph are equal whatever the atoms are."""
    if one == other:
        return Same(())
    solution = solve_clauses(graph.difference(one, other), work)
    match solution:
        case Contradictory(learned):
            # The checker makes a table of few propositions sooner than it follows a proof.
            return Same(learned if len(graph.support([one, other])) > MAX_TABLE else ())
        case Satisfied(literals):
            return Apart({key: node in literals for key, node in graph.atoms.items()})
        case GivenUp():
            return UndecidedPair()


def _different(left: fo.Formula, right: fo.Formula, values: dict[str, bool]) -> Outcome:
    """Evaluate both where they are said to differ, by the evaluator of models."""
    true = {(name, 0): frozenset({()} if value else set[tuple[int, ...]]()) for name, value in values.items()}
    model = Model(1, {}, {}, true)
    left_holds = satisfies(model, [left])
    if left_holds == satisfies(model, [right]):
        raise AssertionError("the formulas agree where they were said to differ")
    return Different(dict(sorted(values.items())), left_holds)


def decide_by_prefix(left: fo.Formula, right: fo.Formula) -> Equivalent | None:
    """Prove an equivalence by prefixes and matrices; None where that does not work, which says nothing."""
    one, other = prenex(left), prenex(right)
    if one is None or other is None or one.kinds != other.kinds:
        return None
    for order in islice(_orders(one.kinds), MAX_ORDERS):
        graph = Graph()
        first = graph.add(one.matrix, one.places)
        second = graph.add(other.matrix, places_of(one, other, list(order)))
        match compare(graph, first, second, WORK):
            case Same(clauses):
                return Equivalent(PREFIX, {"order": list(order), "clauses": [list(clause) for clause in clauses]})
            case _:
                pass
    return None


def is_constant(formula: fo.Formula) -> bool:
    """Say whether a formula is seen to hold always or never, by its matrix alone; false says nothing."""
    found = prenex(formula)
    if found is None:
        return False
    graph = Graph()
    literal = graph.add(found.matrix, found.places)
    return any(isinstance(compare(graph, literal, value, WORK), Same) for value in (TRUE, -TRUE))


def _orders(kinds: tuple[fo.Quantifier, ...]) -> Iterator[tuple[int, ...]]:
    """Yield for each order the place in the left prefix of every quantifier of the right one; as it stands first."""
    blocks = [[number for number, _ in block] for _, block in groupby(enumerate(kinds), key=lambda pair: pair[1])]
    for chosen in product(*(permutations(block) for block in blocks)):
        yield tuple(number for block in chosen for number in block)


FIRST = SolverBudget(rlimit=100_000, wall_ms=2_000)
"""Budget in cvc5's units, a quarter of a second: 27 of 29 published pairs that are left here take a tenth of it."""
SECOND = SolverBudget(rlimit=4_000_000, wall_ms=3_000)
"""Budget in Z3's units."""
LAST = SolverBudget(rlimit=800_000, wall_ms=2_500)
SOLVER = "solver"
_OPTIONS = {"finite-model-find": "true", "produce-models": "true"}


def decide_first_order(left: fo.Formula, right: fo.Formula) -> Outcome:
    """Decide an equivalence; raises `FormulaError` where the two use one name with two arities or in two roles."""
    fo.signature([left, right])
    proved = _decide_by_graph(left, right) or decide_by_prefix(left, right)
    if proved is not None:
        return proved
    difference = sampled_difference(left, right)
    return _ask_solvers(left, right) if difference is None else difference


def _decide_by_graph(left: fo.Formula, right: fo.Formula) -> Equivalent | None:
    graph = Graph()
    match compare(graph, graph.add(left), graph.add(right), WORK):
        case Same(clauses):
            return Equivalent(METHOD, {"clauses": [list(clause) for clause in clauses]})
        case _:
            return None


def _ask_solvers(left: fo.Formula, right: fo.Formula) -> Outcome:
    found = decide_by_cvc5(left, right, FIRST)
    if isinstance(found, UndecidedPair):
        found = _decide_by_z3(left, right)
    return decide_by_cvc5(left, right, LAST) if isinstance(found, UndecidedPair) else found


def _decide_by_z3(left: fo.Formula, right: fo.Formula) -> Outcome:
    solved = solve([fo.Compound(fo.Operator.XOR, (left, right))], SECOND)
    if solved.answer is Answer.UNSATISFIABLE:
        return Equivalent(SOLVER, {"solver": "z3"})
    shown = None if solved.model is None else shown_difference(left, right, solved.model)
    return UndecidedPair() if shown is None else shown


def decide_by_cvc5(left: fo.Formula, right: fo.Formula, budget: SolverBudget) -> Outcome:
    """Ask whether a formula can hold without the other; raises `FormulaError` where the two do not fit together."""
    cvc5 = installed("cvc5")
    if cvc5 is None:
        return UndecidedPair()
    return within_own_time(
        budget.wall_ms / 1000,
        lambda milliseconds: _asked(cvc5, left, right, replace(budget, wall_ms=milliseconds)),
        lambda found: isinstance(found, UndecidedPair),
    )


def _asked(cvc5: Any, left: fo.Formula, right: fo.Formula, budget: SolverBudget) -> Outcome:
    differing = fo.Compound(fo.Operator.XOR, (left, right))
    limits = {"rlimit-per": str(budget.rlimit), "tlimit-per": str(budget.wall_ms)}
    try:
        said, solver, declared = run_cvc5(cvc5, script([differing]), {**_OPTIONS, **limits})
        if said == "unsat":
            return Equivalent(SOLVER, {"solver": "cvc5"})
        model = _model(cvc5, solver, declared, differing) if said == "sat" else None
        found = None if model is None else shown_difference(left, right, model)
    except (RuntimeError, fo.FormulaError):
        # What cvc5 cannot do, too deep a recursion for one, is left undecided.
        return UndecidedPair()
    return UndecidedPair() if found is None else found


def _model(cvc5: Any, solver: Any, declared: Any, formula: fo.Formula) -> Model | None:
    """Read the model that cvc5 found; None where it is larger than our evaluator takes."""
    (sort,) = [each for each in declared.getDeclaredSorts() if str(each) == SORT]
    terms = {str(term): term for term in declared.getDeclaredTerms()}

    def value(ours: str, row: Sequence[Any]) -> str:
        term = solver.getTermManager().mkTerm(cvc5.Kind.APPLY_UF, terms[ours], *row) if row else terms[ours]
        return str(solver.getValue(term))

    return model_of(list(solver.getModelDomainElements(sort)), numbered(fo.signature([formula])), value, "true")
