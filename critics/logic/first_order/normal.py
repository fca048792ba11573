"""Forms in which formulas compare: groups flattened, and a key that ignores names of variables and order.

Equal keys mean equivalent formulas; different keys mean nothing.
"""

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
    Term,
    Variable,
    rebuilt,
)

MAX_KEY = 200_000
"""Characters; nested biconditionals and the like stay far below, and nothing above is worth comparing."""
_NESTS = frozenset({Operator.AND, Operator.OR})
_COMMUTES = frozenset({Operator.AND, Operator.OR, Operator.XOR, Operator.IFF})


def flattened(formula: Formula) -> Formula:
    """Return the formula with nested groups of the same ∧ or ∨ merged into one."""
    formula = rebuilt(formula, flattened)
    if not isinstance(formula, Compound) or formula.operator not in _NESTS:
        return formula
    flat: list[Formula] = []
    for operand in formula.operands:
        nests = isinstance(operand, Compound) and operand.operator is formula.operator
        flat += operand.operands if isinstance(operand, Compound) and nests else [operand]
    return Compound(formula.operator, tuple(flat))


def key(formula: Formula) -> str:
    """Return one spelling for formulas that differ by names of variables, order, groups and double negation only."""
    found = _key(flattened(_unsigned(formula)), ())
    if len(found) > MAX_KEY:
        raise FormulaError("too_long", "the formula is too large to compare")
    return found


def _unsigned(formula: Formula) -> Formula:
    """Drop pairs of negations."""
    match formula:
        case Not(Not(body)):
            return _unsigned(body)
        case _:
            return rebuilt(formula, _unsigned)


def _key(formula: Formula, bound: tuple[str, ...]) -> str:
    match formula:
        case Atom(predicate, arguments):
            return f"p{predicate!r}({','.join(_term_key(argument, bound) for argument in arguments)})"
        case Equality(left, right):
            return "=({},{})".format(*sorted((_term_key(left, bound), _term_key(right, bound))))
        case Not(body):
            return f"¬{_key(body, bound)}"
        case Quantified(quantifier, variable, body):
            return f"{quantifier.value}{_key(body, (*bound, variable))}"
        case Compound(operator, operands):
            keys = [_key(operand, bound) for operand in operands]
            return f"{operator.value}[{';'.join(sorted(keys) if operator in _COMMUTES else keys)}]"


def _term_key(term: Term, bound: tuple[str, ...]) -> str:
    """Count a variable's binders from outside, so that a name says nothing; the innermost of a name is meant."""
    match term:
        case Variable(name):
            return f"#{len(bound) - 1 - bound[::-1].index(name)}"
        case Constant(name):
            return f"c{name!r}"
        case Application(function, arguments):
            return f"f{function!r}({','.join(_term_key(argument, bound) for argument in arguments)})"
