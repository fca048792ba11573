"""A formula beside its one sentence: names, polarity, completeness, order, quantifiers, connectives and hedges.

What fails does not say what the sentence says. Where counting words does not decide, the finding is `not applicable`,
and whoever asks must not take that for an answer. Only a sentence that passes all of them is `aligned`.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Equality,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    conjunction,
    conjuncts,
    subformulas,
)
from critics.text.faithfulness.alignment import aligned, missing
from critics.text.faithfulness.compression import miscounted
from critics.text.faithfulness.english import Sentence
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed, all_of, any_of
from critics.text.faithfulness.formalisation import atoms_of
from critics.text.faithfulness.order import order
from critics.text.faithfulness.polarity import polarity
from critics.text.inflection import is_plural

_ALL = frozenset("every all each everyone everybody everything always".split())  # noqa: SIM905
_NO = frozenset("no none nobody nothing any anyone anybody anything noone never whoever whatever".split())  # noqa: SIM905
_SOME = frozenset("some someone somebody something exists exist".split())  # noqa: SIM905
_IF = frozenset("if whenever when then unless implies provided".split())  # noqa: SIM905
_OR = frozenset("or either unless nor neither".split())  # noqa: SIM905
_HEDGES = frozenset(
    """
    most many much few several fewer more less least half may might could can should would must shall possibly probably
    perhaps maybe likely usually often sometimes seldom rarely almost nearly only except
    """.split()  # noqa: SIM905
    + "two three four five six seven eight nine ten".split()  # noqa: SIM905
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_EXACTLY = re.compile(r"\bif and only if\b|\biff\b|\bequivalent\b|\bexactly (?:if|when)\b")


def beside_clauses(formula: Formula, clauses: Sequence[Sentence]) -> Finding:
    """Return whether a conjunction says what several clauses say, each some of its parts, in their order."""
    if len(clauses) == 1:
        return beside(formula, clauses[0])
    parts = conjuncts(formula)
    found: list[Finding] = []
    for cuts in combinations(range(1, len(parts)), len(clauses) - 1):
        ends = (*cuts, len(parts))
        groups = [parts[start:end] for start, end in zip((0, *cuts), ends, strict=True)]
        found.append(all_of(beside(conjunction(group), clause) for group, clause in zip(groups, clauses, strict=True)))
    return any_of(found) if found else Failed("the formula has fewer parts than its sentence")


def beside(formula: Formula, sentence: Sentence) -> Finding:
    """Return whether a formula says what its sentence says, as far as words show it."""
    atoms = atoms_of(formula)
    if atoms is None:
        return NotApplicable("the signs of the formula have no one reading")
    vocabulary = frozenset(sentence.stems)
    if absent := missing(atoms, sentence, vocabulary):
        return Failed(f"the sentence does not speak of {', '.join(absent)}")
    pair = aligned(formula, atoms, sentence, vocabulary)
    if left := pair.unsaid | miscounted([pair], strictly=True):
        return Failed(f"the formula does not say {pair.words(left)}")
    return all_of([polarity(pair), order(pair), _hedged(formula, sentence), *_shapes(formula, sentence)])


def _hedged(formula: Formula, sentence: Sentence) -> Finding:
    """Attack: `Tom might be kind` as a fact, `most cats` as all of them."""
    named = {
        word.lower() for part in subformulas(formula) if isinstance(part, Atom) for word in _HUMP.split(part.predicate)
    }
    left = [word for word in sentence.words if word in _HEDGES and word not in named]
    return Failed(f"the formula does not say {', '.join(left)}") if left else Passed()


def _shapes(formula: Formula, sentence: Sentence) -> Iterator[Finding]:
    words = set(sentence.words)
    told = " ".join(sentence.words)
    yield _quantified(formula, words, told)
    yield _ranges(formula, told)
    yield _joined(formula, words, told)
    yield _conditional(formula, sentence, told)


def _quantified(formula: Formula, words: set[str], told: str) -> Finding:
    """Attack: a rule for what is said of some, or the other way round."""
    found = set(_quantifiers(formula, positive=True))
    if words & _SOME and not words & (_ALL | _NO | _IF) and Quantifier.ALL in found:
        return Failed(f"{told!r} speaks of some, its formula of all")
    if words & _ALL and not words & _SOME and Quantifier.SOME in found and Quantifier.ALL not in found:
        return Failed(f"{told!r} speaks of all, its formula of some")
    if words & _SOME and not found:
        return NotApplicable(f"{told!r} speaks of some, its formula of things with names")
    if words & _ALL and Quantifier.ALL not in found:
        return NotApplicable(f"{told!r} speaks of all, its formula of things with names")
    if Quantifier.SOME in found and not words & _SOME:
        return NotApplicable(f"{told!r} does not say some")
    generic = words & (_ALL | _NO | _IF | {"a", "an", "who", "that"}) or any(map(is_plural, words))
    if Quantifier.ALL in found and not generic:
        return NotApplicable(f"{told!r} does not say all")
    return Passed()


def _quantifiers(formula: Formula, *, positive: bool) -> Iterator[Quantifier]:
    """Yield the quantifiers as they work: one below a negation or before an arrow is the other one."""
    match formula:
        case Quantified(quantifier, _, body):
            yield quantifier if positive else quantifier.other
            yield from _quantifiers(body, positive=positive)
        case Not(body):
            yield from _quantifiers(body, positive=not positive)
        case Compound(Operator.IMPLIES, (left, right)):
            yield from _quantifiers(left, positive=not positive)
            yield from _quantifiers(right, positive=positive)
        case Compound(_, operands):
            for operand in operands:
                yield from _quantifiers(operand, positive=positive)
        case _:
            return


def _ranges(formula: Formula, told: str) -> Finding:
    """Attack: `all are cats, and mammals` for `all cats are mammals`, which every one of them then is."""
    for part in subformulas(formula):
        body = _body(part)
        if not isinstance(part, Quantified) or body is None:
            continue
        if part.quantifier is Quantifier.ALL and isinstance(body, Compound) and body.operator is Operator.AND:
            return Failed(f"the formula of {told!r} says that everything is all of it")
        if part.quantifier is Quantifier.SOME and isinstance(body, Compound) and body.operator is Operator.IMPLIES:
            return Failed(f"the formula of {told!r} says next to nothing")
        if part.quantifier is Quantifier.ALL and isinstance(body, Atom | Equality) and "everything" not in told:
            return NotApplicable(f"{told!r} does not speak of everything")
    return Passed()


def _body(formula: Formula) -> Formula | None:
    """Return what stands below a row of quantifiers; None where there are none."""
    if not isinstance(formula, Quantified):
        return None
    while isinstance(formula, Quantified):
        formula = formula.body
    return formula


def _joined(formula: Formula, words: set[str], told: str) -> Finding:
    """Attack: `and` for `or`, `or` for `and`."""
    used = {part.operator for part in subformulas(formula) if isinstance(part, Compound)}
    if Operator.IFF in used and _EXACTLY.search(told) is None:
        return Failed(f"{told!r} does not say if and only if")
    if Operator.XOR in used:
        if not words & _OR:
            return Failed(f"{told!r} gives no alternatives")
        return Passed() if "either" in words or "but not both" in told else NotApplicable(f"{told!r} may mean both")
    if Operator.OR in used and not words & _OR:
        return Failed(f"{told!r} does not say or")
    if "or" not in words or Operator.OR in used:
        return Passed()
    if Operator.IMPLIES in used or "not" in words or words & _NO:
        return NotApplicable(f"what {told!r} means by or cannot be told")
    return Failed(f"{told!r} says or, its formula does not")


def _conditional(formula: Formula, sentence: Sentence, told: str) -> Finding:
    """Attack: state what is said under a condition without it, or move a part of the condition out of it."""
    words = set(sentence.words)
    body = _body(formula) or formula
    implies = [p for p in subformulas(formula) if isinstance(p, Compound) and p.operator is Operator.IMPLIES]
    if "if" in words and not implies and Operator.IFF not in {p.operator for p in _compounds(formula)}:
        return Failed(f"{told!r} says if, its formula does not")
    ranges = any(isinstance(p, Quantified) for p in subformulas(formula))
    if implies and not ranges and not words & _IF:
        return Failed(f"{told!r} has no condition, its formula has one")
    opens = bool(sentence.words) and sentence.words[0] in (_ALL | _IF | {"no", "any", "anyone", "everyone"})
    if opens and implies and not (isinstance(body, Compound) and body.operator is Operator.IMPLIES):
        return NotApplicable(f"a part of {told!r} stands outside of its condition")
    return Passed()


def _compounds(formula: Formula) -> Iterator[Compound]:
    return (part for part in subformulas(formula) if isinstance(part, Compound))
