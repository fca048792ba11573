"""Remedies for what a context leaves unsaid: the fact that a proof lacks, and the phrase that is nearest to a claim's.

Declared knowledge (`axioms`) is what a user adds then. Nothing here is believed: it is said in the verdict's feedback.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from critics.grammar.inflection import article
from critics.grammar.lexicon import third_person
from critics.grammar.reader import Reader, Reading
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import decide
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Constant,
    Formula,
    Operator,
    Quantified,
    Variable,
    conjuncts,
    key,
    predicates,
    subformulas,
    terms,
)

MAX_FACTS = 30
"""Facts that are tried for one claim: each asks a solver."""


def remedy(reader: Reader, premises: Sequence[Formula], claim: Formula) -> str:
    """Return what would prove a claim that does not follow, for the feedback; empty where nothing is found."""
    heard = {name for premise in premises for name in predicates(premise)}
    facts = [part for premise in premises for part in conjuncts(premise) if isinstance(part, Atom)]
    own = {fact.predicate for fact in facts if set(fact.arguments) & set(terms(claim))}
    for name in sorted(predicates(claim)):
        others = own if name in heard else own | heard
        if near := get_close_matches(name, sorted(others - {name}), n=1, cutoff=0.6):
            return f"; you say {name.replace(' _', '')!r}, the context says {near[0].replace(' _', '')!r}"
    for fact in list(_facts(premises, claim))[:MAX_FACTS]:
        if decide([*premises, fact], claim).result == "true":
            return f"; proved if: {spelled(reader, fact)}"
    return ""


def sorts(premises: Sequence[Formula], goal: Formula, context: str) -> list[Formula]:
    """Return what a context may take for granted of the things it names: `cat(tom)` where it tells of cats that bark.

    A noun counts that narrows what a rule is about, beside another condition, and is said of no thing by name.
    """
    told = {part.predicate for each in (*premises, goal) for part in conjuncts(each) if isinstance(part, Atom)}
    found: set[str] = set()
    for rule in premises:
        while isinstance(rule, Quantified):
            rule = rule.body
        if isinstance(rule, Compound) and rule.operator is Operator.IMPLIES:
            first, *others = conjuncts(rule.operands[0])
            found |= {first.predicate} if others and isinstance(first, Atom) and len(first.arguments) == 1 else set()
    # `If an animal barks`, `students who work`; of ProofWriter's `rough, kind things` none is a noun.
    noun = r"\ban? (?:[a-z]+ )?{0}\b|\b{0}(?:s|es)? (?:that|who|which)\b"
    found = {kind for kind in found if re.search(noun.format(re.escape(kind)), context)}
    names = {term for term in terms(goal) if isinstance(term, Constant)}
    return [Atom(kind, (name,)) for kind in sorted(found - told) for name in sorted(names, key=lambda each: each.name)]


def _facts(premises: Sequence[Formula], claim: Formula) -> Iterator[Formula]:
    """Yield what the rules ask of something, said of the things that a claim names."""
    names = sorted({term for term in terms(claim) if isinstance(term, Constant)}, key=lambda each: each.name)
    asked = [part for premise in premises for part in subformulas(premise) if isinstance(part, Atom)]
    seen = {key(claim)}
    for part in asked:
        inner = {term for term in part.arguments if isinstance(term, Variable)}
        for name in names if len(inner) == 1 else ():
            fact = replace(part, arguments=tuple(name if term in inner else term for term in part.arguments))
            if key(fact) not in seen:
                seen.add(key(fact))
                yield fact


def spelled(reader: Reader, fact: Formula) -> str:
    """Return a fact as a sentence that reads back as this fact; as a formula where none does."""
    if not isinstance(fact, Atom) or not all(isinstance(each, Constant) for each in fact.arguments):
        return canonical(fact)
    subject, *others = [_named(each) for each in fact.arguments]
    words = [
        others.pop(0) if word == "_" and others else word for word in fact.predicate.removeprefix("do ").split(" ")
    ]
    said = " ".join(words)
    for text in (f"is {article(said)} {said}", f"is {said}", " ".join([third_person(words[0]), *words[1:]])):
        sentence = f"{subject[:1].upper()}{subject[1:]} {text}"
        found = reader.read(sentence)
        if isinstance(found, Reading) and key(found.formula) == key(fact):
            return sentence
    return canonical(fact)


def _named(term: object) -> str:
    name = term.name if isinstance(term, Constant) else str(term)
    return name if name.startswith("the ") else name.title()
