"""Meaning of `a dog` as an object: who owns what is a dog owns a dog.

The grammar keeps `own dog` as one phrase. Where a sentence has such an object, and a name in its place is read too,
both sentences say what the phrase has to do with the verb and the noun: Tom owns Rex, and Rex is a dog.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from critics.grammar.meaning import both, filled, implies
from critics.grammar.reader import Reading
from critics.grammar.words import INTENSIONAL, OBJECTS, POSSESSIVES, PRONOUNS, REFLEXIVES
from critics.replay.first_order import syntax as fo

_NAME = "Zyx"
_IT = fo.Constant(_NAME.lower())
_OBJECT = re.compile(r"(?<=[a-z]) (?P<article>an?) (?=[a-z])")
_ENDS = re.compile(r"(?=[,.?!]| (?:and|or|but|then|if|when|is|are|was|does|has)\b)|$")
_WHOSE = POSSESSIVES | REFLEXIVES | PRONOUNS | OBJECTS
_SUBJECT, _THING = fo.Variable("x"), fo.Variable("y")
MAX_READ = 12
"""Pairs of an object and its end that are tried for one sentence."""


def of_objects(read: Callable[[str], object], texts: Iterable[str], heard: set[str]) -> list[fo.Formula]:
    """Return, of phrases with `a` and an object, that who does it to what is such a thing does it to such a thing.

    Left out are those of which no instance could be told in the predicates that are `heard`.
    """
    told = {text: formula for text in texts if (formula := _formula(read(text))) is not None}
    found: dict[str, fo.Formula] = {}
    for text, whole in told.items():
        for said, what, formula in _of_text(read, text, whole, heard) if _OBJECT.search(text) else ():
            same = [other.lower() for other, each in told.items() if said in fo.predicates(each)]
            # Attack: likes Rex, a dog, and so likes dogs.
            if all(f" {what.lower()}" in other for other in same):
                found.setdefault(fo.key(formula), formula)
    return list(found.values())


def of_no_object(formulas: Sequence[fo.Formula]) -> Callable[[fo.Formula], fo.Formula]:
    """Return a function that reads `makes no jam` as `does not make jam`, where the formulas speak of making jam.

    Where they also speak of making one thing by name, the formula about each thing stays beside it.
    """
    heard = {name for formula in formulas for name in fo.predicates(formula)}

    def told(formula: fo.Formula, verbs: set[str]) -> fo.Formula:
        match formula:
            case fo.Not(fo.Quantified(fo.Quantifier.SOME, it, fo.Compound(fo.Operator.AND, (kind, done)))):
                match kind, done:
                    case fo.Atom(noun, (fo.Variable(one),)), fo.Atom(verb, (who, fo.Variable(other))):
                        phrase = verb.replace(" _", f" {noun}")
                        if it == one == other and who != fo.Variable(it) and phrase in heard:
                            return both(formula if verb in verbs else None, fo.Not(fo.Atom(phrase, (who,))))
                    case _:
                        pass
            case _:
                pass
        return fo.rebuilt(formula, lambda part: told(part, verbs))

    verbs = {name for formula in formulas for name in fo.predicates(told(formula, set()))}
    return lambda formula: told(formula, verbs)


def _of_text(
    read: Callable[[str], object], text: str, whole: fo.Formula, heard: set[str]
) -> Iterator[tuple[str, str, fo.Formula]]:
    """Yield phrases of a text with an object, the object, and what they say of it."""
    spans = [(at, end.start()) for at in _OBJECT.finditer(text) for end in _ENDS.finditer(text, at.end() + 1)]
    for at, end in spans[:MAX_READ]:
        named = _formula(read(f"{text[: at.start()]} {_NAME}{text[end:]}"))
        pair = None if named is None else _differs(whole, named)
        if pair is None or not pair[1].predicate.endswith(" _") or pair[1].arguments[1:] != (_IT,):
            continue
        said, verb = pair
        does, what = verb.predicate.split(" "), text[at.start("article") : end]
        # Attack: wants to marry a spy, who wants to marry Ann, who is a spy; owns a dog that likes his cat.
        is_meant = not INTENSIONAL.isdisjoint(does) or "to" in does[:-2] or not _WHOSE.isdisjoint(what.split(" "))
        if is_meant or verb.predicate not in heard:
            continue
        kind = _formula(read(f"{_NAME} is {what}"))
        if kind is not None and fo.predicates(kind) <= heard and not fo.free_variables(kind):
            yield said.predicate, what, _general(said, verb, kind)


def _general(said: fo.Atom, verb: fo.Atom, kind: fo.Formula) -> fo.Formula:
    """Say it of every subject and every such thing."""
    does = replace(verb, arguments=(_SUBJECT, _THING))
    rule = implies(both(does, filled(kind, _IT, _THING)), replace(said, arguments=(_SUBJECT, *said.arguments[1:])))
    for variable in (_THING, _SUBJECT):
        rule = fo.Quantified(fo.Quantifier.ALL, variable.name, rule)
    return rule


def _differs(one: fo.Formula, other: fo.Formula) -> tuple[fo.Atom, fo.Atom] | None:
    """Return the only atoms in which two formulas of one shape differ, of one subject."""
    pairs = list(zip(fo.subformulas(one), fo.subformulas(other), strict=False))
    atoms = [(a, b) for a, b in pairs if isinstance(a, fo.Atom) and isinstance(b, fo.Atom) and a != b]
    if len(atoms) != 1 or fo.key(_swapped(one, *atoms[0])) != fo.key(other):
        return None
    return atoms[0] if atoms[0][0].arguments[:1] == atoms[0][1].arguments[:1] else None


def _swapped(formula: fo.Formula, old: fo.Atom, new: fo.Atom) -> fo.Formula:
    return new if formula == old else fo.rebuilt(formula, lambda part: _swapped(part, old, new))


def _formula(found: object) -> fo.Formula | None:
    return found.formula if isinstance(found, Reading) else None
