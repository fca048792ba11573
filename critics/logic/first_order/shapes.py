"""Shapes of formulas: facts, rules and their conditions, choices, and what says more than a formula."""

from dataclasses import replace

from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    conjuncts,
    negated,
    predicates,
)


def is_fact(formula: Formula) -> bool:
    """Say whether a formula is no rule: atoms, their denials, conjunctions, and that there is something."""
    match formula:
        case Quantified(Quantifier.SOME, _, body):
            return is_fact(body)
        case Compound(Operator.AND, operands):
            return all(map(is_fact, operands))
        case Not(body):
            return isinstance(body, Atom)
        case Atom():
            return True
        case _:
            return False


def conditions(formula: Formula) -> list[Formula]:
    """Return the conditions of a conditional without variables of its own."""
    if isinstance(formula, Compound) and formula.operator is Operator.IMPLIES:
        return list(conjuncts(formula.operands[0]))
    return []


def asks_for(rule: Formula, formula: Formula) -> bool:
    """Say whether a rule has a condition of the same predicates as a formula."""
    while isinstance(rule, Quantified):
        rule = rule.body
    return any(predicates(formula) <= predicates(part) for part in conditions(rule))


def stronger(formula: Formula) -> list[Formula]:
    """Return what says more than a formula, so that who knows it has no need of the formula; none of a plain fact."""
    match formula:
        case Compound(Operator.IMPLIES, (condition, said)):
            parts = conjuncts(condition)
            fewer = [[other for other in parts if other is not part] for part in parts if len(parts) > 1]
            return [said, negated(condition), *(_implied(some, said) for some in fewer)]
        case Compound(Operator.OR | Operator.XOR, operands):
            return list(operands)
        case Quantified(Quantifier.ALL, _, body):
            return [replace(formula, body=part) for part in stronger(body)]
        case _:
            return []


def converses(formula: Formula) -> list[Formula]:
    """Return the converse of a rule, and of a relation between two objects; none of anything else."""
    match formula:
        case Compound(Operator.IMPLIES, (condition, said)):
            return [Compound(Operator.IMPLIES, (said, condition))]
        case Quantified(Quantifier.ALL, _, body):
            return [replace(formula, body=part) for part in converses(body)]
        case Atom(_, (one, other)):
            return [replace(formula, arguments=(other, one))]
        case _:
            return []


def is_choice(formula: Formula) -> bool:
    """Say whether a formula is an `or`."""
    return isinstance(formula, Compound) and formula.operator in (Operator.OR, Operator.XOR)


def is_existential(formula: Formula) -> bool:
    """Say whether a formula says that there is something."""
    return isinstance(formula, Quantified) and formula.quantifier is Quantifier.SOME


def _implied(parts: list[Formula], said: Formula) -> Formula:
    condition = parts[0] if len(parts) == 1 else Compound(Operator.AND, tuple(parts))
    return Compound(Operator.IMPLIES, (condition, said))
