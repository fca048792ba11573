"""Reasons that are given for a claim: whether it rests on them, needs them, or says less than what is known."""

from collections.abc import Sequence

from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.shapes import conditions, is_choice, is_existential, stronger
from critics.replay.first_order.syntax import Formula, conjuncts, key, predicates, subformulas


def is_unfounded(known: Knowledge, formula: Formula, reasons: Sequence[Formula]) -> bool:
    """Say whether a claim, or a part of it, follows in one step, and none of these reasons is part of the step."""
    told = {key(part) for reason in reasons for part in (reason, *conjuncts(reason))}
    parts = conjuncts(formula)
    if key(formula) in told:
        return False
    if len(parts) > 1:
        return any(is_unfounded(known, part, reasons) for part in parts)
    facts = [place for place in known.facts if key(known.formulas[place]) != key(formula)]
    others = [place for place in facts if key(known.formulas[place]) not in told]
    is_step = False
    for rule in [(), *((place,) for place in known.rules)]:
        if known.gives(formula, [*facts, *rule]):
            is_step = True
            is_told = any(key(known.formulas[place]) in told for place in rule)
            if is_told or not known.gives(formula, [*others, *rule]):
                return False
    return is_step


def is_idle(known: Knowledge, formula: Formula) -> bool:
    """Say whether a claim that is new says less than what it follows from: its conclusion, or without a part."""
    more = stronger(formula)
    if key(formula) in known.keys:
        return False
    plain = [place for place in known.facts if not is_existential(known.formulas[place])]
    if known.gives(formula, ()) or (is_existential(formula) and known.gives(formula, plain)):
        return True
    if not more or (is_choice(formula) and is_condition(known, formula)):
        return False
    parts = conditions(formula)
    facts = [place for place in known.facts if not any(known.gives(part, [place]) for part in parts)]
    is_known = False
    for rule in [(), *((place,) for place in known.rules)]:
        places = [*facts, *rule]
        if known.gives(formula, places):
            is_known = True
            if not any(known.gives(each, places) for each in more):
                return False
    return is_known


def is_condition(known: Knowledge, choice: Formula) -> bool:
    """Say whether a rule asks for one of the same."""
    rules = [known.formulas[place] for place in known.rules]
    inner = [part for rule in rules if not is_choice(rule) for part in subformulas(rule)]
    return any(is_choice(part) and predicates(part) == predicates(choice) for part in inner)


def is_needed(known: Knowledge, part: Formula, place: int, rule: int) -> bool:
    """Say whether a fact is needed beside a rule."""
    said = known.formulas[place]
    others = [other for other in known.facts if not known.gives(said, [other])]
    return place in known.facts and not known.gives(part, [*others, rule])
