"""Everything that forward chaining gives from a problem's text, and the part of it that bears on the question."""

from collections.abc import Set
from functools import lru_cache

from critics.problem import Formal
from critics.replay.clauses import Implication, fact
from critics.replay.formula import Literal, parse_literal, parse_statement
from critics.replay.kernel import Inference, Kernel, saturated
from critics.text.english.language import ProblemLanguage

_Signed = tuple[bool, str]


@lru_cache(maxsize=64)
def _saturated(formal: Formal) -> Kernel:
    return saturated(map(parse_statement, formal.axioms), parse_literal(formal.goal))


def saturation(language: ProblemLanguage) -> Kernel:
    """Return the saturated kernel of a problem in a forward semantics; raises `WorkLimitExceeded`."""
    return _saturated(language.formal)


def unsaid(language: ProblemLanguage, said: Set[str]) -> list[Implication]:
    """Return what bears on the question and is not among the canonical texts that are said."""
    return [c for c in bearing(language) if not language.is_granted(c) and c.canonical() not in said]


def bearing(language: ProblemLanguage) -> list[Implication]:
    """Return what bears on the question, stated or inferred."""
    relevant = _relevant(language)
    stated = [clause for clause in language.stated if _key(clause.conclusions[0]) in relevant]
    inferred = [entry.statement for entry in saturation(language).entries if isinstance(entry, Inference)]
    return [*stated, *(fact(literal) for literal in inferred if _key(literal) in relevant)]


def _relevant(language: ProblemLanguage) -> set[_Signed]:
    """Return the signed predicates from which rules can lead to the goal or its denial."""
    found = {(sign, clause.conclusions[0].predicate) for clause in language.goal for sign in (True, False)}
    rules: list[Implication] = [clause for clause in language.stated if clause.premises]
    grown = True
    while grown:
        grown = False
        for rule in rules:
            needed = {_key(premise) for premise in rule.premises}
            if _key(rule.conclusions[0]) in found and not needed <= found:
                found |= needed
                grown = True
    return found


def _key(literal: Literal) -> _Signed:
    return literal.positive, literal.predicate
