"""The canonical text of a formula, which `critics.fol.parser` reads back as the same tree.

Every quantifier has a stop, and every group of operands its parentheses except the outermost. A quantified formula
that is neither the whole formula nor right below a quantifier stands in parentheses, so that a wide and a narrow
scope of the stop read the same.
"""

from critics.fol.syntax import (
    Application,
    Atom,
    Compound,
    Constant,
    Equality,
    Formula,
    FormulaError,
    Not,
    Quantified,
    Term,
    Variable,
)
from critics.fol.tokens import is_plain


def canonical(formula: Formula) -> str:
    """Return the canonical text; raises `FormulaError` for a variable that nothing binds."""
    text = _formula(formula, frozenset())
    if isinstance(formula, Atom) and text.endswith('"'):
        # Quotes round a whole text are taken for a wrapper.
        return f"({text})"
    return text[1:-1] if isinstance(formula, Compound) else text


def _formula(formula: Formula, bound: frozenset[str]) -> str:
    match formula:
        case Atom(predicate, arguments):
            return _symbol(predicate, bound) + _list(arguments, bound)
        case Equality(left, right):
            return f"{_term(left, bound)} = {_term(right, bound)}"
        case Not(Equality(left, right)):
            return f"{_term(left, bound)} ≠ {_term(right, bound)}"
        case Not(Quantified() as body):
            return f"¬({_formula(body, bound)})"
        case Not(body):
            return f"¬{_formula(body, bound)}"
        case Compound(operator, operands):
            return "(" + f" {operator.value} ".join([_operand(operand, bound) for operand in operands]) + ")"
        case Quantified(quantifier, variable, body):
            return f"{quantifier.value}{variable}. {_formula(body, bound | {variable})}"


def _operand(formula: Formula, bound: frozenset[str]) -> str:
    text = _formula(formula, bound)
    return f"({text})" if isinstance(formula, Quantified) else text


def _list(arguments: tuple[Term, ...], bound: frozenset[str]) -> str:
    return "(" + ", ".join([_term(argument, bound) for argument in arguments]) + ")" if arguments else ""


def _term(term: Term, bound: frozenset[str]) -> str:
    match term:
        case Variable(name) if name in bound:
            return name
        case Variable(name):
            raise FormulaError("unbound", f"no quantifier binds the variable {name!r}")
        case Constant(name):
            return _symbol(name, bound)
        case Application(function, arguments):
            return _symbol(function, bound) + _list(arguments, bound)


def _symbol(name: str, bound: frozenset[str]) -> str:
    """Quote what would be read as a word of the language or as a bound variable."""
    return name if is_plain(name) and name not in bound else f'"{name}"'
