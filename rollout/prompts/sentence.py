"""Inferences read aloud: `Rex is a cat.`, `The bear chases the cow.`, in the words that the context uses."""

import re
from contextlib import suppress

from critics.grammar.inflection import article, plural
from critics.replay.formula import Application, Literal, Term
from critics.text.theories import scheduling
from critics.text.theories.scheduling_english import sentence

_CATEGORICAL = {
    ("all", True): "All {} are {}.",
    ("all", False): "Some {} are not {}.",
    ("some", True): "Some {} are {}.",
    ("some", False): "No {} are {}.",
}
"""Sentences for the two relations between kinds, asserted and denied."""


def read_aloud(literal: Literal, context: str) -> str:
    """Return a literal as a sentence; names that the context calls `the ..` keep that, what it counts is a noun."""
    if (said := _of_scheduling(literal, context)) is not None:
        return said
    predicate = literal.predicate if literal.predicate in context else _words(literal.predicate)
    terms = [_words(term) for term in literal.arguments]
    if any(isinstance(term, Application) for term in literal.arguments):
        return f"It is {'' if literal.positive else 'not '}{predicate}: {' '.join(terms)}."
    if len(terms) > 1 and (form := _CATEGORICAL.get((literal.predicate, literal.positive))) is not None:
        return form.format(*terms)
    subject, *others = (_named(words, context) for words in terms)
    if others:
        said = " ".join([subject, predicate, *others])
        return f"{_capital(said)}." if literal.positive else f"It is not so that {said}."
    noun = f"{article(predicate)} {predicate}" if _is_counted(predicate, context) else predicate
    return f"{_capital(subject)} is {'' if literal.positive else 'not '}{noun}."


def _of_scheduling(literal: Literal, context: str) -> str | None:
    """Return what DeontiQA's English says; None where the literal is none of its relations or modalities."""
    signature = scheduling.SIGNATURE
    is_modality = any(isinstance(term, Application) for term in literal.arguments)
    if literal.predicate not in signature.predicates or not (is_modality or len(literal.arguments) > 1):
        return None
    groups = {name.lower(): "group" for name in re.findall(r"the (\w+) group\b", context)}
    try:
        return sentence(literal, {**signature.sorts_in(literal, groups), **groups})
    except ValueError:
        return None


def _words(term: Term) -> str:
    if isinstance(term, Application):
        return " ".join([_words(term.function), *map(_words, term.arguments)])
    return term.replace("-", " ").replace("_", " ")


def _named(words: str, context: str) -> str:
    return f"the {words}" if f"the {words}" in context.lower() else _capital(words)


def _is_counted(words: str, context: str) -> bool:
    """Say whether the context counts what has this name: `a cat`, `every cat is`, `cats`."""
    one, several = re.escape(words), "(?!)"
    with suppress(ValueError):  # an adjective may have no plural
        several = re.escape(plural(words))
    counted = rf"\b(?:an? {one}(?=[.,?]| and\b| or\b|$)|(?:every|each) {one} is|{several})\b"
    return re.search(counted, context, re.IGNORECASE) is not None


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
