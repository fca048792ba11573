"""Equivalence of propositional formulas: by truth tables, and with more propositions by a solver's proof."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from critics.formats.equivalence.graph import Graph
from critics.formats.equivalence.outcome import Different, Equivalent, Outcome, UndecidedPair
from critics.formats.equivalence.table import MAX_ATOMS, truth_table
from critics.logic.first_order.model import Model, satisfies
from critics.logic.first_order.syntax import Atom, Formula, subformulas
from critics.logic.sat import MAX_WORK, Contradictory, GivenUp, Satisfied, solve_clauses

METHOD = "propositional"
MAX_CHECKED = 20
"""Propositions up to which the checker makes a table of its own, and needs no proof."""


@dataclass(frozen=True, slots=True)
class Same:
    """Two literals of a graph are equal, by these learned clauses; none where the graph or a table shows it."""

    clauses: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """Two literals of a graph differ where the atoms have these values."""

    values: Mapping[Hashable, bool]


Comparison: TypeAlias = Same | Apart | UndecidedPair


def decide_propositional(left: Formula, right: Formula) -> Outcome:
    """Decide an equivalence over all assignments; the formulas are propositional."""
    names = sorted(propositions(left) | propositions(right))
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
            return Same(learned if len(graph.support([one, other])) > MAX_CHECKED else ())
        case Satisfied(literals):
            return Apart({key: node in literals for key, node in graph.atoms.items()})
        case GivenUp():
            return UndecidedPair()


def propositions(formula: Formula) -> set[str]:
    """Return the names of a propositional formula."""
    return {part.predicate for part in subformulas(formula) if isinstance(part, Atom)}


def _different(left: Formula, right: Formula, values: dict[str, bool]) -> Outcome:
    """Evaluate both where they are said to differ, by the evaluator of models."""
    true = {(name, 0): frozenset({()} if value else set[tuple[int, ...]]()) for name, value in values.items()}
    model = Model(1, {}, {}, true)
    left_holds = satisfies(model, [left])
    if left_holds == satisfies(model, [right]):
        raise AssertionError("the formulas agree where they were said to differ")
    return Different(dict(sorted(values.items())), left_holds)
