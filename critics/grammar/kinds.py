"""Kinds that a context takes apart: where it says that releases are urgent, an urgent release is a release that is.

Not so a hot dog, which a dictionary has as one noun, nor a good cook, whose adjective tells how he cooks.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from critics.grammar.lexicon import Vocabulary, gerund, is_adj, is_base, is_participle
from critics.grammar.meaning import Atom, Compound, Constant, Formula, Not, Operator, Quantified, Term, both
from critics.grammar.reader import Reading
from critics.grammar.words import is_person
from critics.replay.first_order.syntax import conjuncts, rebuilt, subformulas

Kinds: TypeAlias = Mapping[str, tuple[str, str]]
"""By `urgent release` the noun and the adjective."""


def kinds_of(formulas: Sequence[Formula], vocabulary: Vocabulary) -> Kinds:
    """Return the phrases that are a noun and an adjective which the formulas say of it."""
    told = {pair for formula in formulas for pair in _told(formula)}
    told |= set(_told_of_names(formulas, vocabulary))
    atoms = [part for formula in formulas for part in subformulas(formula) if isinstance(part, Atom)]
    found: dict[str, tuple[str, str]] = {}
    for name in {atom.predicate for atom in atoms if len(atom.arguments) == 1 and " " in atom.predicate}:
        first, noun = name.split(" ", 1)
        if (noun, first) in told and first not in vocabulary.counted and _is_and(first, noun):
            found[name] = noun, first
    return found


def _told(formula: Formula) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a rule: of which kind it is, and what it says of it or denies."""
    while isinstance(formula, Quantified):
        formula = formula.body
    if isinstance(formula, Compound) and formula.operator is Operator.IMPLIES:
        of, said = formula.operands
        yield from (
            (kind.predicate, part.predicate)
            for kind in conjuncts(of)
            for each in conjuncts(said)
            for part in [each.body if isinstance(each, Not) else each]
            if isinstance(kind, Atom) and isinstance(part, Atom) and kind.arguments == part.arguments
        )


def _told_of_names(formulas: Sequence[Formula], vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield the pairs of facts about one thing, of which one kind alone is told: not of a big mouse and animal."""
    told: dict[Term, set[str]] = {}
    for part in (part for formula in formulas for part in conjuncts(formula)):
        if isinstance(part, Atom) and len(part.arguments) == 1 and isinstance(part.arguments[0], Constant):
            told.setdefault(part.arguments[0], set()).add(part.predicate)
    for said in told.values():
        kinds = {name for name in said if name.split(" ")[-1] in vocabulary.counted}
        yield from ((kind, other) for kind in kinds for other in said - kinds if len(kinds) == 1)


def _is_and(adjective: str, noun: str) -> bool:
    """Say whether an adjective before a noun says of the thing what it says behind `is`."""
    last = noun.split(" ")[-1]
    if is_base(adjective) or gerund(adjective) or last in _compounds().get(adjective, ()):
        # Opens doors; a sleeping car; a hot dog.
        return False
    return is_participle(adjective) or (is_adj(adjective) and not is_person(last))


@lru_cache(maxsize=1)
def _compounds() -> dict[str, frozenset[str]]:
    """Return by an adjective the nouns that mean something of their own behind it."""
    text = Path(__file__).with_name("compounds.txt").read_text(encoding="utf-8")
    return {first: frozenset(nouns) for first, *nouns in (line.split(" ") for line in text.splitlines())}


def taken_apart(read: Reading, kinds: Kinds) -> Reading:
    """Return a reading with its kinds as a noun and an adjective."""
    if not kinds:
        return read
    used: set[str] = set()

    def apart(formula: Formula) -> Formula:
        if isinstance(formula, Atom) and formula.predicate in kinds and len(formula.arguments) == 1:
            used.add(formula.predicate)
            return both(*(Atom(name, formula.arguments) for name in kinds[formula.predicate]))
        return rebuilt(formula, apart)

    said = replace(read, formula=apart(read.formula), exclusive=apart(read.exclusive))
    notes = [f"{name}: a {kinds[name][0]} that is {kinds[name][1]}" for name in used]
    return replace(said, conventions=tuple(sorted({*read.conventions, *notes}))) if used else read
