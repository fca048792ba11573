"""Equivalence of first-order formulas: a portfolio of methods, cheapest first, each with a budget.

Equality of meaning is shown propositionally with quantified parts as atoms, by equal prefixes with equivalent
matrices, or by a solver that finds no model in which they differ. A difference is shown by a finite model that our
evaluator confirms, and by nothing else: neither a saturated search nor a solver's word is one. Domains are not empty,
constants may name the same object, and a name that no quantifier binds is a constant that both formulas share.
"""

from critics.formats.equivalence.graph import Graph
from critics.formats.equivalence.model_finding import METHOD as SOLVER
from critics.formats.equivalence.model_finding import decide_by_cvc5
from critics.formats.equivalence.outcome import Equivalent, Outcome, UndecidedPair
from critics.formats.equivalence.prenex import WORK, decide_by_prefix
from critics.formats.equivalence.propositional import METHOD as PROPOSITIONAL
from critics.formats.equivalence.propositional import Same, compare
from critics.formats.equivalence.sampling import sampled_difference, shown_difference
from critics.logic.first_order.solvers import Answer, Budget, solve
from critics.logic.first_order.syntax import Compound, Formula, Operator, signature

FIRST = Budget(rlimit=100_000, wall_ms=2_000)
"""Of cvc5's units, a quarter of a second: 27 of 29 published pairs that are left here take a tenth of it."""
SECOND = Budget(rlimit=4_000_000, wall_ms=3_000)
"""Of Z3's units."""
LAST = Budget(rlimit=800_000, wall_ms=2_500)


def decide_first_order(left: Formula, right: Formula) -> Outcome:
    """Decide an equivalence; raises `FormulaError` where the two use one name with two arities or in two roles."""
    signature([left, right])
    proved = _decide_by_graph(left, right) or decide_by_prefix(left, right)
    if proved is not None:
        return proved
    difference = sampled_difference(left, right)
    return _ask_solvers(left, right) if difference is None else difference


def _decide_by_graph(left: Formula, right: Formula) -> Equivalent | None:
    graph = Graph()
    match compare(graph, graph.add(left), graph.add(right), WORK):
        case Same(clauses):
            return Equivalent(PROPOSITIONAL, {"clauses": [list(clause) for clause in clauses]})
        case _:
            return None


def _ask_solvers(left: Formula, right: Formula) -> Outcome:
    found = decide_by_cvc5(left, right, FIRST)
    if isinstance(found, UndecidedPair):
        found = _decide_by_z3(left, right)
    return decide_by_cvc5(left, right, LAST) if isinstance(found, UndecidedPair) else found


def _decide_by_z3(left: Formula, right: Formula) -> Outcome:
    solved = solve([Compound(Operator.XOR, (left, right))], SECOND)
    if solved.answer is Answer.UNSATISFIABLE:
        return Equivalent(SOLVER, {"solver": "z3"})
    shown = None if solved.model is None else shown_difference(left, right, solved.model)
    return UndecidedPair() if shown is None else shown
