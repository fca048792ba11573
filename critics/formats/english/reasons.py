"""Reasons that are given for a claim: whether it rests on them, needs them, or says less than what is known."""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations

from critics.grammar.meaning import inclusive
from critics.logic.first_order.knowledge import Knowledge, RuleSupport
from critics.logic.first_order.shapes import conditions, is_choice, is_existential, is_fact, stronger
from critics.replay.first_order import syntax as fo
from critics.text.english.moves import NoSource


def is_unfounded(known: Knowledge, formula: fo.Formula, reasons: Sequence[fo.Formula]) -> bool:
    """Say whether a claim, or a part of it, follows in one step, and none of these reasons is part of the step."""
    told = {fo.key(part) for reason in reasons for part in (reason, *fo.conjuncts(reason))}
    parts = fo.conjuncts(formula)
    if fo.key(formula) in told:
        return False
    if len(parts) > 1:
        return any(is_unfounded(known, part, reasons) for part in parts)
    facts = [place for place in known.facts if fo.key(known.formulas[place]) != fo.key(formula)]
    choices = [reason for reason in reasons if is_choice(reason)]
    others = [place for place in facts if not _is_told(known.formulas[place], told)]
    others = [place for place in others if not any(known.gives(choice, [place]) for choice in choices)]
    own = [place for said in told if (place := known.keys.get(said)) is not None]
    is_step = False
    for rule in [(), *((place,) for place in known.rules)]:
        if known.gives(formula, [*facts, *rule]):
            is_step = True
            is_told = any(fo.key(known.formulas[place]) in told for place in rule)
            is_told |= any(place in known.granted and known.gives(formula, [*own, place]) for place in rule)
            if is_told or not known.gives(formula, [*others, *rule]):
                return False
    return is_step


def _is_told(fact: fo.Formula, told: Set[str]) -> bool:
    """Say whether a fact was told, but for the kind with which a name begins: that figure 1 is a figure and round."""
    parts = fo.conjuncts(fact)
    kinds = {
        fo.key(fo.Atom(name.removeprefix("the ").split(" ")[0], (fo.Constant(name),))) for name in fo.constants(fact)
    }
    return not told.isdisjoint(map(fo.key, parts)) and told | kinds >= {*map(fo.key, parts)}


def is_idle(known: Knowledge, formula: fo.Formula) -> bool:
    """Say whether a claim that is new says less than what it follows from: its conclusion, or without a part."""
    more = stronger(formula)
    if fo.key(formula) in known.keys or fo.key(inclusive(formula)) in known.keys:
        return False
    plain = [place for place in known.facts if not is_existential(known.formulas[place])]
    if known.gives(formula, ()) or (is_existential(formula) and known.gives(formula, plain)):
        return True
    if not more or (is_choice(formula) and is_condition(known, formula)):
        return False
    parts = conditions(formula)
    facts = [place for place in known.facts if not any(known.gives(part, [place]) for part in parts)]
    is_known = False
    # If Rex were a dog, he would be loyal: a rule says so, though Rex is not loyal and thus no dog.
    denials = {fo.key(fo.negated(each)) for each in more}
    others = [place for place in facts if fo.key(known.formulas[place]) not in denials]
    for places in [facts, *([*of, rule] for rule in known.rules for of in ((), others, facts))]:
        if known.gives(formula, places):
            is_known = True
            if not any(known.gives(each, places) for each in more):
                return False
    return is_known


def is_condition(known: Knowledge, choice: fo.Formula) -> bool:
    """Say whether a rule asks for one of the same."""
    rules = [known.formulas[place] for place in known.rules]
    inner = [part for rule in rules if not is_choice(rule) for part in fo.subformulas(rule)]
    return any(is_choice(part) and fo.predicates(part) == fo.predicates(choice) for part in inner)


def is_needed(known: Knowledge, part: fo.Formula, place: int, rule: int) -> bool:
    """Say whether a fact is needed beside a rule."""
    said = known.formulas[place]
    others = [other for other in known.facts if not known.gives(said, [other])]
    return place in known.facts and not known.gives(part, [*others, rule])


def has_idle_part(known: Knowledge, part: fo.Formula, reasons: Sequence[fo.Formula]) -> bool:
    """Say whether a claim follows by one rule, one of those told if any is, but by none that needs each fact told."""
    places = [known.keys.get(fo.key(reason)) for reason in reasons]
    facts, told = ([at for at in places if at in among] for among in (known.facts, known.rules))
    if not facts or len(places) < 2 or len(facts) + len(told) < len(places) or not is_fact(part):
        return False
    rules = [rule for rule in told or known.rules if known.gives(part, [*known.facts, rule])]
    return bool(rules) and not any(all(is_needed(known, part, at or 0, rule) for at in facts) for rule in rules)


def is_stated(known: Knowledge, part: fo.Formula) -> bool:
    """Say whether one premise says a claim by itself."""
    wanted = [
        place for place in range(known.num_premises) if fo.predicates(known.formulas[place]) & fo.predicates(part)
    ]
    return any(known.gives(part, [place]) for place in wanted)


def miscited(
    known: Knowledge, parts: Sequence[fo.Formula], groups: Sequence[Sequence[int]], beside: Sequence[int]
) -> str | None:
    """Return what is wrong with a citation: each part needs one of the premises, and of each number something is used.

    Two rules may be cited that give the part together; `beside` are the reasons that are given with the numbers.
    Attack: a claim that holds, with the number of another premise.
    """
    used: set[int] = set()
    cited = [at for group in groups for at in group]
    for part in parts:
        says = {place for place in cited if known.gives(part, [place])}
        rules = [place for place in (*cited, *beside, *known.granted) if place in known.rules and not says]
        for rule in rules:
            if known.gives(part, [*known.facts, rule]) and not known.gives(part, known.facts):
                says |= {rule, *(place for place in cited if is_needed(known, part, place, rule))}
        if not says and len(rules) == 2 and known.gives(part, [*known.facts, *rules]):
            says = {*rules, *(place for place in cited if place in known.facts)}
        if not says.intersection(cited):
            return "the premise that is cited does not say so"
        used |= says
    if not all(used.intersection(group) for group in groups):
        return "a premise that is cited has nothing to do with it"
    return None


def joined(
    known: Knowledge, part: fo.Formula, recent: Sequence[fo.Formula], wanted: Sequence[int], only: Set[int] | None
) -> RuleSupport | None:
    """Return the last of two rules, or three, that were just said and give another: cats are mammals, which are warm.

    Of a fact both stand in the reasons of its own sentence, or were read out since the last step (`only`) as its facts
    were: Tom is a cat. Cats are mammals. Mammals are warm. So Tom is warm.
    """
    parts = [each for claim in recent for each in fo.conjuncts(claim)]
    told = [place for each in parts if (place := known.keys.get(fo.key(each))) in known.rules]
    told += [place for place in wanted if place in known.rules]
    told = [place for place in told if only is None or not is_fact(part) or place in only]
    facts = [at for at in known.facts if is_fact(part) and (only is None or known.formulas[at] in parts)]
    for used in (*combinations(told := [*dict.fromkeys(told)], 2), *combinations([] if is_fact(part) else told, 3)):
        places = [*facts, *used]
        if known.gives(part, places) and not any(known.gives(each, places) for each in stronger(part)):
            return RuleSupport(used[-1])
    return None


def can_apply(known: Knowledge, rule: fo.Formula, names: Iterable[str]) -> bool:
    """Say whether the premises give all conditions of a rule for one of some things; also where it has none."""
    variables: list[str] = []
    while isinstance(rule, fo.Quantified):
        variables.append(rule.variable)
        rule = rule.body
    asked = conditions(rule)
    premises = known.given()
    for name in names if variables else ("",):
        values: dict[str, fo.Term] = {variable: fo.Constant(name) for variable in variables}
        told = [_instance(part, values) for part in asked]
        if all(known.gives(part, premises) for part in told):
            return True
    return False


def says(premise: fo.Formula, wanted: fo.Formula, move: NoSource) -> bool:
    """Say whether a rule concludes, or a fact says, what is wanted, of others than the one it may be said of."""
    inner = [part for part in (wanted, *fo.subformulas(wanted)) if isinstance(part, fo.Atom)]
    is_denied = isinstance(wanted, fo.Not) or any(isinstance(part, fo.Not) for part in fo.subformulas(wanted))
    while isinstance(premise, fo.Quantified):
        premise = premise.body
    is_rule = isinstance(premise, fo.Compound) and premise.operator is fo.Operator.IMPLIES
    if is_rule != (move.sources == "rule"):
        return False
    for part in fo.conjuncts(premise.operands[1] if isinstance(premise, fo.Compound) and is_rule else premise):
        for atom in (each for each in (part, *fo.subformulas(part)) if isinstance(each, fo.Atom)):
            is_one = any(_is_alike(atom, each) for each in inner) and (part is not atom) == is_denied
            if is_one and atom.arguments[0] != fo.Constant((move.who or "").lower()):
                return True
    return False


def _is_alike(atom: fo.Atom, other: fo.Atom) -> bool:
    pairs = zip(atom.arguments, other.arguments, strict=False)
    are_alike = all(one == two or isinstance(one, fo.Variable) or isinstance(two, fo.Variable) for one, two in pairs)
    return atom.predicate == other.predicate and are_alike


def _instance(formula: fo.Formula, values: Mapping[str, fo.Term]) -> fo.Formula:
    return fo.rebuilt(formula, lambda part: _instance(part, values), lambda term: fo.replaced(term, values))


def left_out(known: Knowledge, part: fo.Formula, rule: int | None) -> list[int]:
    """Return the premises that a claim needs beside the claims before it; none where one premise says it."""
    first, words, told = known.granted.start, fo.predicates(part), known.claimed()
    stated = [[place] for place in range(first) if words <= fo.predicates(known.formulas[place])]
    if (rule is not None and fo.key(part) == fo.key(known.formulas[rule])) or known.gives(part, told):
        return []
    if any(known.gives(part, places) for places in stated):
        return []
    needed = [place for place in (*known.facts, *(() if rule is None else (rule,))) if place < first]
    for place in tuple(needed):
        rest = [other for other in needed if other != place]
        needed = rest if known.gives(part, [*told, *rest]) else needed
    return needed
