"""The canonical text of a formula, which reads back as the same tree, its strict reader, and a problem's reference.

Every quantifier has a stop, and every group of operands its parentheses except the outermost. A quantified formula
that is neither the whole formula nor right below a quantifier stands in parentheses, so that a wide and a narrow
scope of the stop read the same. References come in whatever notation, or as Horn statements.

Open premises are closed as Prover9 reads them, and never silently. A conclusion stays open: what it says of a name that
no premise uses, it says of all objects or denies of all, which is how Prover9 reads an open goal and its negation.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from critics.replay import formula as horn
from critics.replay.certificate import Formal
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.parser import parse
from critics.replay.first_order.tokens import is_plain


def read(text: str) -> fo.Formula:
    """Read canonical text, in which nothing is to be mended; raises `ValueError`."""
    formula = parse(text).formula
    if canonical(formula) != text:
        raise ValueError("the text is not canonical")
    if {"", "="} & {name for _, name in fo.signature([formula]).symbols()}:
        # Attack: a predicate of the name of equality, which a model or a solver would take for it.
        raise ValueError("a name should stand here")
    return formula


def canonical(formula: fo.Formula) -> str:
    """Return the canonical text; raises `FormulaError` for a variable that nothing binds."""
    text = _formula(formula, frozenset())
    if isinstance(formula, fo.Atom) and text.endswith('"'):
        # Quotes round a whole text are taken for a wrapper.
        return f"({text})"
    return text[1:-1] if isinstance(formula, fo.Compound) else text


def _formula(formula: fo.Formula, bound: frozenset[str]) -> str:
    # Tests of the type and no `match`: generating formulas is printing them, half of a formula is literals.
    if isinstance(formula, fo.Atom):
        return _symbol(formula.predicate, bound) + _list(formula.arguments, bound)
    if isinstance(formula, fo.Not):
        return _negation(formula.body, bound)
    if isinstance(formula, fo.Compound):
        operands = [_operand(operand, bound) for operand in formula.operands]
        return "(" + f" {formula.operator.value} ".join(operands) + ")"
    if isinstance(formula, fo.Quantified):
        body = _formula(formula.body, bound | {formula.variable})
        return f"{formula.quantifier.value}{formula.variable}. {body}"
    return f"{_term(formula.left, bound)} = {_term(formula.right, bound)}"


def _negation(body: fo.Formula, bound: frozenset[str]) -> str:
    if isinstance(body, fo.Equality):
        return f"{_term(body.left, bound)} ≠ {_term(body.right, bound)}"
    return f"¬{_operand(body, bound)}"


def _operand(formula: fo.Formula, bound: frozenset[str]) -> str:
    text = _formula(formula, bound)
    return f"({text})" if isinstance(formula, fo.Quantified) else text


def _list(arguments: tuple[fo.Term, ...], bound: frozenset[str]) -> str:
    return "(" + ", ".join([_term(argument, bound) for argument in arguments]) + ")" if arguments else ""


def _term(term: fo.Term, bound: frozenset[str]) -> str:
    if isinstance(term, fo.Constant):
        return _symbol(term.name, bound)
    if isinstance(term, fo.Application):
        return _symbol(term.function, bound) + _list(term.arguments, bound)
    if term.name in bound:
        return term.name
    raise fo.FormulaError("unbound", f"no quantifier binds the variable {term.name!r}")


def _symbol(name: str, bound: frozenset[str]) -> str:
    """Quote what would be read as a word of the language or as a bound variable."""
    return name if is_plain(name) and name not in bound else f'"{name}"'


@dataclass(frozen=True, slots=True)
class FolTheory:
    """Axioms and goal of a problem in first-order logic."""

    axioms: tuple[fo.Formula, ...]
    goal: fo.Formula
    folded: bool
    """Names compare without regard to case: the Horn language's are lower-case, programs' are not."""


def read_theory(formal: Formal) -> FolTheory:
    """Read a reference in first-order or in Horn notation; raises `critics.replay.formula.FormulaError`."""
    try:
        axioms = tuple(parse(axiom).formula for axiom in formal.axioms)
        return FolTheory(axioms, parse(formal.goal).formula, folded=False)
    except fo.FormulaError as error:
        try:
            statements = [horn.parse_statement(axiom) for axiom in formal.axioms]
            goal = horn.parse_literal(formal.goal)
        except horn.FormulaError:
            raise error from None
    return FolTheory(tuple(folded(first_order(s)) for s in statements), folded(first_order(goal)), folded=True)


def closed(formula: fo.Formula) -> fo.Formula:
    """Return the formula with all that was meant as a variable bound in front, universally."""
    for name in reversed(fo.open_names([formula])):
        formula = fo.Quantified(fo.Quantifier.ALL, name, _bound(formula, name))
    return formula


def closed_all(formulas: Iterable[fo.Formula]) -> tuple[fo.Formula, ...]:
    """Return the closures, each formula's its own: Prover9 shares no variable between formulas."""
    return tuple(map(closed, formulas))


def _bound(formula: fo.Formula, name: str) -> fo.Formula:
    """Put the variable for the constant, except where the formula binds that name itself."""

    def leaf(term: fo.Variable | fo.Constant) -> fo.Term:
        return fo.Variable(name) if term == fo.Constant(name) else term

    if isinstance(formula, fo.Quantified) and formula.variable == name:
        return formula
    return fo.rebuilt(formula, lambda part: _bound(part, name), lambda term: fo.with_leaves(term, leaf))


def first_order(statement: horn.Statement) -> fo.Formula:
    """Return a statement of the Horn language in first-order logic, its variables bound in front."""
    if isinstance(statement, horn.Literal):
        return _literal(statement)
    formula = _literal(statement.conclusion)
    for premise in reversed(statement.premises):
        formula = fo.Compound(fo.Operator.IMPLIES, (_literal(premise), formula))
    names = {name for literal in (*statement.premises, statement.conclusion) for name in literal.variables()}
    for name in sorted(names, reverse=True):
        formula = fo.Quantified(fo.Quantifier.ALL, name.lstrip("'"), formula)
    return formula


def _literal(literal: horn.Literal) -> fo.Formula:
    atom = fo.Atom(literal.predicate, tuple(map(_horn_term, literal.arguments)))
    return atom if literal.positive else fo.Not(atom)


def _horn_term(term: horn.Term) -> fo.Term:
    if isinstance(term, horn.Application):
        return fo.Application(term.function, tuple(map(_horn_term, term.arguments)))
    return fo.Variable(term.lstrip("'")) if horn.is_variable(term) else fo.Constant(term)


def folded(formula: fo.Formula) -> fo.Formula:
    """Return the formula with the names of its symbols in lower case, and a → (b → c) as (a ∧ b) → c."""
    match formula:
        case fo.Atom(predicate, arguments):
            return fo.Atom(predicate.lower(), tuple(map(_folded_term, arguments)))
        case fo.Compound(fo.Operator.IMPLIES, (one, fo.Compound(fo.Operator.IMPLIES, (other, conclusion)))):
            both = fo.Compound(fo.Operator.AND, (one, other))
            return folded(fo.Compound(fo.Operator.IMPLIES, (both, conclusion)))
        case _:
            return fo.rebuilt(formula, folded, _folded_term)


def _folded_term(term: fo.Term) -> fo.Term:
    if isinstance(term, fo.Application):
        return fo.Application(term.function.lower(), tuple(map(_folded_term, term.arguments)))
    return fo.with_leaves(term, lambda leaf: fo.Constant(leaf.name.lower()) if isinstance(leaf, fo.Constant) else leaf)
