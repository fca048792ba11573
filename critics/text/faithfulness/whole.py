"""Check of the whole text, for the answer `unknown`: to leave a sentence out is to leave its question open."""

from critics.logic.first_order.solvers import Open, decide
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Formula,
    Operator,
    Quantified,
    Quantifier,
    Variable,
    signature,
    subformulas,
)
from critics.text.faithfulness.alignment import Aligned
from critics.text.faithfulness.checks import OF_ONE, Reading
from critics.text.faithfulness.english import name_stems
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed
from critics.text.faithfulness.signs import plain


def whole_text(reading: Reading) -> Finding:
    """Attack: formalise half of the text, or one phrase in two ways, and find that nothing follows."""
    placed = reading.placed()
    beside = {pair.sentence for pair in placed}
    absent = next((each for each in reading.text.context if each not in beside and any(each.stems)), None)
    if absent is not None:
        return Failed(f"no premise stands for {' '.join(absent.words)!r}")
    pairs = (*placed, reading.goal)
    whole = reading.whole()
    for found in (of_one(pair) for of_one in OF_ONE.values() for pair in pairs):
        if not isinstance(found, Passed):
            return Failed(found.reason)
    for sentence in {pair.sentence for pair in pairs}:
        said = frozenset[int]().union(*(pair.said() for pair in pairs if pair.sentence == sentence))
        left = {sentence.stems[i] for i in sentence.content() - said} & whole.named_in(sentence)
        if left:
            return Failed(f"of {' '.join(sentence.words)!r} the formulas leave out {', '.join(sorted(left))}")
    if (twice := _twice(pairs)) is not None:
        return Failed(f"{twice[0]} and {twice[1]} have the same words")
    for pair in pairs:
        if "either" in pair.sentence.words and not has_exclusive(pair.formula):
            return Failed(f"whether {' '.join(pair.sentence.words)!r} excludes both is left open")
    return _open(placed, reading.goal.formula)


def _twice(pairs: tuple[Aligned, ...]) -> tuple[str, str] | None:
    """Return two names of the same words: they may be one."""
    known: dict[frozenset[str], str] = {}
    for name in dict.fromkeys(name for pair in pairs for each in pair.atoms for name in each.atom.names()):
        other = known.setdefault(frozenset(name_stems(name)), name)
        if other != name:
            return other, name
    return None


def _open(placed: tuple[Aligned, ...], goal: Formula) -> Finding:
    """Say whether the answer stays open where conditions that no fact is known of hold of everything.

    `If an animal barks ..` asks nobody whether Rex is an animal.
    """
    stated = {each.atom.predicate for pair in placed for each in pair.atoms if any(each.atom.arguments)}
    conditions = {each.atom.predicate for pair in placed for each in pair.atoms if each.atom.is_premise}
    assumed = [
        Quantified(Quantifier.ALL, "x", Atom(name, (Variable("x"),)))
        for name, arity in sorted(signature([pair.formula for pair in placed]).predicates.items())
        if arity == 1 and name in conditions - stated - set(_predicates(goal))
    ]
    for each in assumed:
        found = decide([*(pair.formula for pair in placed), each], goal)
        if not isinstance(found, Open):
            return Failed("whether something belongs to what all is about decides the answer")
    return Passed() if placed else NotApplicable("there are no premises")


def has_exclusive(formula: Formula) -> bool:
    """Say whether a formula has `⊕`, or says the same in other connectives."""
    return any(isinstance(part, Compound) and part.operator is Operator.XOR for part in subformulas(plain(formula)))


def _predicates(goal: Formula) -> tuple[str, ...]:
    return tuple(signature([goal]).predicates)
