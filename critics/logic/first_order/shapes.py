"""Shapes of formulas: facts, rules and their conditions, choices, and what says more than a formula."""

from dataclasses import replace

from critics.replay.first_order import syntax as fo


def is_fact(formula: fo.Formula) -> bool:
    """Say whether a formula is no rule: atoms, their denials, conjunctions, and that there is something."""
    match formula:
        case fo.Quantified(fo.Quantifier.SOME, _, body):
            return is_fact(body)
        case fo.Compound(fo.Operator.AND, operands):
            return all(map(is_fact, operands))
        case fo.Not(body):
            return isinstance(body, fo.Atom)
        case fo.Atom():
            return True
        case _:
            return False


def conditions(formula: fo.Formula) -> list[fo.Formula]:
    """Return the conditions of a conditional without variables of its own."""
    if isinstance(formula, fo.Compound) and formula.operator is fo.Operator.IMPLIES:
        return list(fo.conjuncts(formula.operands[0]))
    return []


def of_some(rule: fo.Formula) -> fo.Formula:
    """Return a rule about all as what it says if there are some: if some cats barked, there would be some that bark."""
    if isinstance(rule, fo.Quantified) and rule.quantifier is fo.Quantifier.ALL and conditions(rule.body):
        condition = conditions(rule.body)
        both = fo.Compound(fo.Operator.AND, (*condition, *stronger(rule.body)[:1]))
        one = condition[0] if len(condition) == 1 else fo.Compound(fo.Operator.AND, tuple(condition))
        some = (fo.Quantified(fo.Quantifier.SOME, rule.variable, each) for each in (one, both))
        return fo.Compound(fo.Operator.IMPLIES, tuple(some))
    return rule


def asks_for(rule: fo.Formula, formula: fo.Formula) -> bool:
    """Say whether a rule has a condition of the same predicates as a formula."""
    while isinstance(rule, fo.Quantified):
        rule = rule.body
    return any(fo.predicates(formula) <= fo.predicates(part) for part in conditions(rule))


def stronger(formula: fo.Formula) -> list[fo.Formula]:
    """Return what says more than a formula, so that who knows it has no need of the formula; none of a plain fact."""
    match formula:
        case fo.Compound(fo.Operator.IMPLIES, (condition, said)):
            parts = fo.conjuncts(condition)
            fewer = [[other for other in parts if other is not part] for part in parts if len(parts) > 1]
            return [said, fo.negated(condition), *(_implied(some, said) for some in fewer)]
        case fo.Compound(fo.Operator.OR | fo.Operator.XOR, operands):
            return list(operands)
        case fo.Quantified(fo.Quantifier.ALL, _, body):
            return [replace(formula, body=part) for part in stronger(body)]
        case _:
            return []


def converses(formula: fo.Formula) -> list[fo.Formula]:
    """Return the converse of a rule, and of a relation between two objects; none of anything else."""
    match formula:
        case fo.Compound(fo.Operator.IMPLIES, (condition, said)):
            return [fo.Compound(fo.Operator.IMPLIES, (said, condition))]
        case fo.Quantified(fo.Quantifier.ALL, _, body):
            return [replace(formula, body=part) for part in converses(body)]
        case fo.Atom(_, (one, other)):
            return [replace(formula, arguments=(other, one))]
        case _:
            return []


def is_choice(formula: fo.Formula) -> bool:
    """Say whether a formula is an `or`."""
    return isinstance(formula, fo.Compound) and formula.operator in (fo.Operator.OR, fo.Operator.XOR)


def is_existential(formula: fo.Formula) -> bool:
    """Say whether a formula says that there is something."""
    return isinstance(formula, fo.Quantified) and formula.quantifier is fo.Quantifier.SOME


def _implied(parts: list[fo.Formula], said: fo.Formula) -> fo.Formula:
    condition = parts[0] if len(parts) == 1 else fo.Compound(fo.Operator.AND, tuple(parts))
    return fo.Compound(fo.Operator.IMPLIES, (condition, said))
