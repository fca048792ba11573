"""Formulas with their quantifiers in front, and whether two such agree in their quantifiers and their matrices.

Two formulas are equivalent if their prefixes are the same, up to the order of neighbours of one kind, and their
matrices are equivalent as propositional formulas over atoms. That needs no prover, and covers what rewriting leaves
under unchanged quantifiers. The order in which quantifiers are pulled out is part of a certificate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice, permutations, product

from critics.formats.equivalence.graph import TRUE, Graph
from critics.formats.equivalence.outcome import Equivalent
from critics.formats.equivalence.propositional import Same, compare
from critics.logic.first_order.syntax import (
    Compound,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
    rebuilt,
    subformulas,
    terms,
    with_leaves,
)

METHOD = "prefix"
WORK = 40_000
"""Of the propositional solver, for one order; a hundred times what generated formulas take."""
MAX_ORDERS = 24
"""Orders of neighbouring quantifiers that are tried."""


@dataclass(frozen=True, slots=True)
class Prenex:
    """Quantifiers from outside to inside, and what is below them; variables are named by the quantifier's number.

    Quantifiers that bind nothing are left out: no domain is empty.
    """

    quantifiers: tuple[tuple[Quantifier, str], ...]
    matrix: Formula

    @property
    def kinds(self) -> tuple[Quantifier, ...]:
        """Return the quantifiers without their variables."""
        return tuple(quantifier for quantifier, _ in self.quantifiers)


def prenex(formula: Formula) -> Prenex | None:
    """Pull the quantifiers out, left before right; None where one stands below ↔ or ⊕."""
    pulling = _Pulling()
    try:
        matrix = pulling.pulled(formula, True, {})
    except _BelowEquivalence:
        return None
    used = {term.name for term in terms(matrix) if isinstance(term, Variable)}
    return Prenex(tuple((kind, name) for kind, name in pulling.quantifiers if name in used), matrix)


def decide_by_prefix(left: Formula, right: Formula) -> Equivalent | None:
    """Prove an equivalence by prefixes and matrices; None where that does not work, which says nothing."""
    one, other = prenex(left), prenex(right)
    if one is None or other is None or one.kinds != other.kinds:
        return None
    for order in islice(_orders(one.kinds), MAX_ORDERS):
        graph = Graph()
        first = graph.add(one.matrix, {name: number for number, (_, name) in enumerate(one.quantifiers)})
        places = {name: order[number] for number, (_, name) in enumerate(other.quantifiers)}
        second = graph.add(other.matrix, places)
        match compare(graph, first, second, WORK):
            case Same(clauses):
                return Equivalent(METHOD, {"order": list(order), "clauses": [list(clause) for clause in clauses]})
            case _:
                pass
    return None


def is_constant(formula: Formula) -> bool:
    """Say whether a formula is seen to hold always or never, by its matrix alone; false says nothing."""
    found = prenex(formula)
    if found is None:
        return False
    graph = Graph()
    literal = graph.add(found.matrix, {name: number for number, (_, name) in enumerate(found.quantifiers)})
    return any(isinstance(compare(graph, literal, value, WORK), Same) for value in (TRUE, -TRUE))


def _orders(kinds: tuple[Quantifier, ...]) -> Iterator[tuple[int, ...]]:
    """Yield for each order the place in the left prefix of every quantifier of the right one; as it stands first."""
    blocks = [[number for number, _ in block] for _, block in groupby(enumerate(kinds), key=lambda pair: pair[1])]
    for chosen in product(*(permutations(block) for block in blocks)):
        yield tuple(number for block in chosen for number in block)


class _BelowEquivalence(Exception):  # noqa: N818
    """A quantifier stands where it counts both as itself and as its negation."""


@dataclass(slots=True)
class _Pulling:
    quantifiers: list[tuple[Quantifier, str]] = field(default_factory=list[tuple[Quantifier, str]])

    def pulled(self, formula: Formula, positive: bool, names: dict[str, Variable]) -> Formula:
        match formula:
            case Not(body):
                return Not(self.pulled(body, not positive, names))
            case Quantified(quantifier, variable, body):
                fresh = Variable(str(len(self.quantifiers)))
                self.quantifiers.append((quantifier if positive else quantifier.other, fresh.name))
                return self.pulled(body, positive, {**names, variable: fresh})
            case Compound(Operator.IMPLIES as operator, (one, other)):
                return Compound(operator, (self.pulled(one, not positive, names), self.pulled(other, positive, names)))
            case Compound(operator, operands):
                if operator in (Operator.IFF, Operator.XOR) and _has_quantifier(formula):
                    raise _BelowEquivalence
                return Compound(operator, tuple(self.pulled(operand, positive, names) for operand in operands))
            case _:
                return rebuilt(formula, lambda part: part, lambda term: _renamed(term, names))


def _has_quantifier(formula: Formula) -> bool:
    return any(isinstance(part, Quantified) for part in subformulas(formula))


def _renamed(term: Term, names: dict[str, Variable]) -> Term:
    return with_leaves(term, lambda leaf: names[leaf.name] if isinstance(leaf, Variable) else leaf)
