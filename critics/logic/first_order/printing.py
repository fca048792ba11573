"""The canonical text of a formula, which `critics.logic.first_order.parser` reads back as the same tree.

Every quantifier has a stop, and every group of operands its parentheses except the outermost. A quantified formula
that is neither the whole formula nor right below a quantifier stands in parentheses, so that a wide and a narrow
scope of the stop read the same.
"""

from critics.replay.first_order import syntax as fo


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
    from critics.logic.first_order.tokens import is_plain

    return name if is_plain(name) and name not in bound else f'"{name}"'
