"""Structure: is a formula about all where its sentence is, and has it the sentence's connectives?"""

from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    subformulas,
)
from critics.text.faithfulness.alignment import Aligned
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed
from critics.text.faithfulness.naming import names_word
from critics.text.faithfulness.signs import plain

_ALL = frozenset("all every each any no none nobody everyone everybody everything anyone anything whoever".split())  # noqa: SIM905
_SOME = frozenset({"some", "someone", "something"})
_ANY = frozenset("some someone somebody something there a an any one least exist exists not never".split()) | _ALL  # noqa: SIM905
_EVERYTHING = frozenset({"everyone", "everybody", "everything"})
_VAGUE = frozenset("most many few several half almost usually normally generally probably perhaps maybe".split())  # noqa: SIM905
_CONDITIONAL = frozenset({"if", "when", "whenever", "unless", "only", "because"})
_OR = frozenset({"or", "nor", "neither", "either", "unless", "whether"})


def structure(pair: Aligned) -> Finding:
    """Attack: say `some` for `all`, `all` for `some` or `most`, `or` for `and`, or `and` for `if`."""
    formula, words = plain(pair.formula), pair.sentence.words
    told = " ".join(words)
    if (fault := _quantifier(formula, words) or _connectives(pair, formula, words)) is not None:
        return Failed(f"{told!r} {fault}")
    return NotApplicable(f"what {told!r} covers cannot be told") if "only" in words else Passed()


def _quantifier(formula: Formula, words: tuple[str, ...]) -> str | None:
    outer, body = _outermost(formula)
    if outer is Quantifier.ALL and not isinstance(body, Quantified):
        if _VAGUE & set(words):
            return "is not about all"
        if isinstance(body, Compound) and body.operator is Operator.AND and words[0] not in _EVERYTHING:
            return "does not say all that of everything"
    if outer is Quantifier.ALL and isinstance(body, Atom | Equality) and not _ALL & set(words):
        return "does not say that of everything"
    if outer is Quantifier.SOME and not _ANY & set(words):
        return "names what its formula does not"
    if outer is Quantifier.SOME and isinstance(body, Compound) and body.operator is Operator.IMPLIES:
        return "is no condition on something"
    said = _said(words)
    if said is None or said is outer:
        return None
    return f"is about {'all' if said is Quantifier.ALL else 'some'}, its formula is not"


def _outermost(formula: Formula) -> tuple[Quantifier | None, Formula]:
    """Return the outermost quantifier, with the signs before it drawn inside, and what stands below all of its kind."""
    denied = False
    while isinstance(formula, Not):
        denied, formula = not denied, formula.body
    if not isinstance(formula, Quantified):
        return None, formula
    outer = formula.quantifier
    while isinstance(formula, Quantified):
        formula = formula.body
    return (outer.other, Not(formula)) if denied else (outer, formula)


def _said(words: tuple[str, ...]) -> Quantifier | None:
    """Return what a sentence begins with, if that is a quantifier."""
    if words[:2] in (("not", "all"), ("not", "every"), ("not", "everyone")):
        return Quantifier.SOME
    if words[:1] == ("there",) and len(words) > 2:
        return Quantifier.ALL if words[2] == "no" else Quantifier.SOME
    first = "".join(words[:1])
    return Quantifier.ALL if first in _ALL else Quantifier.SOME if first in _SOME else None


def _connectives(pair: Aligned, formula: Formula, words: tuple[str, ...]) -> str | None:
    operators = {part.operator for part in subformulas(formula) if isinstance(part, Compound)}
    told = set(words)
    is_general = _outermost(formula)[0] is Quantifier.ALL
    disjoined = operators & {Operator.OR, Operator.XOR}
    if Operator.IFF in operators and not (told & {"iff", "exactly"} or " ".join(words).count("if and only if")):
        return "is no equivalence"
    if disjoined and not _OR & told and not (is_general and "and" in told and "if" not in told):
        return "has no `or`, its formula does"
    if Operator.IMPLIES in operators and not is_general and not (_CONDITIONAL | _OR) & told:
        return "is no condition, its formula is"
    if "if" in words[:1] and not operators & {Operator.IMPLIES, Operator.OR} and not isinstance(formula, Not):
        return "is a condition, its formula is none"
    is_rule = bool(_CONDITIONAL & told) or is_general
    hidden = any(names_word(name, frozenset({"or"})) for each in pair.atoms for name in each.atom.names())
    counts = not hidden and not pair.sentence.negations() and (not is_rule or Operator.AND in operators)
    if counts and (words.count("or") > _num_alternatives(formula) or ("either" in told and not disjoined)):
        return "has more `or` than its formula"
    if {"neither", "nor"} & told and any(map(_is_denied_alternative, subformulas(formula))):
        return "denies both, its formula one"
    return None


def _num_alternatives(formula: Formula) -> int:
    """Return how often a formula says `or`."""
    either = (Operator.OR, Operator.XOR)
    return sum(len(p.operands) - 1 for p in subformulas(formula) if isinstance(p, Compound) and p.operator in either)


def _is_denied_alternative(formula: Formula) -> bool:
    if not isinstance(formula, Compound) or formula.operator is not Operator.OR:
        return False
    return all(isinstance(each, Not) for each in formula.operands)
