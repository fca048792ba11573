"""The reference of a problem as first-order formulas, and whether a program formalises it and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.formats.fol.program import Program
from critics.logic import formula as horn
from critics.logic.first_order.normal import flattened, key
from critics.logic.first_order.parser import parse
from critics.logic.first_order.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Formula,
    FormulaError,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
    rebuilt,
    signature,
)
from critics.problem import Formal

MAX_COMPARED = 64
"""Pairs of a premise and an axiom that a solver compares, where a premise is in words of the attempt's own."""


@dataclass(frozen=True, slots=True)
class FolTheory:
    """Axioms and goal of a problem in first-order logic."""

    axioms: tuple[Formula, ...]
    goal: Formula
    folded: bool
    """Names compare without regard to case: the Horn language's are lower-case, programs' are not."""


def read_theory(formal: Formal) -> FolTheory:
    """Read a reference in first-order or in Horn notation; raises `critics.logic.formula.FormulaError`."""
    try:
        axioms = tuple(parse(axiom).formula for axiom in formal.axioms)
        return FolTheory(axioms, parse(formal.goal).formula, folded=False)
    except FormulaError as error:
        try:
            statements = [horn.parse_statement(axiom) for axiom in formal.axioms]
            goal = horn.parse_literal(formal.goal)
        except horn.FormulaError:
            raise error from None
    return FolTheory(tuple(folded(first_order(s)) for s in statements), folded(_literal(goal)), folded=True)


def first_order(statement: horn.Statement) -> Formula:
    """Return a statement of the Horn language in first-order logic, its variables bound in front."""
    if isinstance(statement, horn.Literal):
        return _literal(statement)
    formula = _literal(statement.conclusion)
    for premise in reversed(statement.premises):
        formula = Compound(Operator.IMPLIES, (_literal(premise), formula))
    names = {name for literal in (*statement.premises, statement.conclusion) for name in literal.variables()}
    for name in sorted(names, reverse=True):
        formula = Quantified(Quantifier.ALL, name.lstrip("'"), formula)
    return formula


def _literal(literal: horn.Literal) -> Formula:
    atom = Atom(literal.predicate, tuple(map(_term, literal.arguments)))
    return atom if literal.positive else Not(atom)


def _term(term: horn.Term) -> Term:
    if isinstance(term, horn.Application):
        return Application(term.function, tuple(map(_term, term.arguments)))
    return Variable(term.lstrip("'")) if horn.is_variable(term) else Constant(term)


def folded(formula: Formula) -> Formula:
    """Return the formula with the names of its symbols in lower case, and a → (b → c) as (a ∧ b) → c."""
    match formula:
        case Atom(predicate, arguments):
            return Atom(predicate.lower(), tuple(map(_folded_term, arguments)))
        case Compound(Operator.IMPLIES, (one, Compound(Operator.IMPLIES, (other, conclusion)))):
            both = Compound(Operator.AND, (one, other))
            return folded(Compound(Operator.IMPLIES, (both, conclusion)))
        case _:
            return rebuilt(formula, folded, _folded_term)


def _folded_term(term: Term) -> Term:
    match term:
        case Variable():
            return term
        case Constant(name):
            return Constant(name.lower())
        case Application(function, arguments):
            return Application(function.lower(), tuple(map(_folded_term, arguments)))


def in_terms_of_theory(program: Program, theory: FolTheory) -> Program:
    """Return the program with its names as the reference has them."""
    if not theory.folded:
        return program
    premises = tuple(map(folded, program.premises))
    return Program(premises, folded(program.conclusion), (*program.repairs, "names_folded"))


def shares_vocabulary(formulas: Sequence[Formula], theory: FolTheory) -> bool:
    """Say whether formulas use the reference's symbols only, and as it uses them."""
    reference = [*theory.axioms, theory.goal]
    try:
        signature([*reference, *formulas])
    except FormulaError:
        return False
    return signature(formulas).symbols() <= signature(reference).symbols()


def unstated(formulas: Sequence[Formula], given: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return the formulas that are none of the given ones, up to names of variables, order and groups."""
    stated = set(map(key, given))
    return tuple(formula for formula in formulas if key(formula) not in stated)


def reworded(premises: Sequence[Formula], axioms: Sequence[Formula]) -> list[tuple[Formula, tuple[Formula, ...]]]:
    """Return what the premises say in words of their own, each with the axioms, one of which alone must entail it.

    One axiom, because from all of them the conclusion follows as well, and could be written as a premise. A
    conjunction is taken apart. Raises `FormulaError` where there are too many pairs to compare.
    """
    parts = [part for premise in unstated(premises, axioms) for part in conjuncts(premise)]
    used = {axiom: signature([axiom]).symbols() for axiom in axioms}
    found: list[tuple[Formula, tuple[Formula, ...]]] = []
    for part in unstated(parts, axioms):
        symbols = signature([part]).symbols()
        found.append((part, tuple(axiom for axiom in axioms if symbols <= used[axiom])))
    if sum(len(candidates) for _, candidates in found) > MAX_COMPARED:
        raise FormulaError("too_large", "too many premises are in other words than the problem's")
    return found


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts of a conjunction, or the formula alone."""
    match flattened(formula):
        case Compound(Operator.AND, operands):
            return operands
        case flat:
            return (flat,)
