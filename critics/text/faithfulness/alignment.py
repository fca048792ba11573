"""Alignment: whether the grammar of English reads a problem's sentences as an attempt's formulas say them.

A formula is laid beside a sentence by the words of its symbols: `WorksRemotely` is the phrase `work remotely`. The
grammar reads the sentence, and a solver compares. What the grammar refuses, and a symbol that is no phrase of the
text, is never aligned. Shared with nobody: the attempt's own comments are not read here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias
from unicodedata import combining, normalize

from critics.grammar.chart import SAYS_LESS
from critics.grammar.lexicon import Vocabulary, gerund, is_plural, past, third
from critics.grammar.reader import Reading
from critics.grammar.text import problem_reader
from critics.logic.first_order.solvers import Answer, can_fail, decide
from critics.problem import TRUTH_VALUES, Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import canonical
from critics.text.faithfulness.english import squashed
from critics.text.part import Formalisation, TextPart
from critics.text.trust.words import names_of, speaks_of

MAX_FORMULAS = 100
"""Premises or sentences; of more, nothing is aligned: each may ask a solver."""
MAX_WORDS = 6
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_LIGHT = frozenset({"is", "are", "be", "was", "were", "do", "does", "did", "a", "an", "the", "_"})
_LEFT_OUT = _LIGHT | {"can", "will", "have", "of", "to", "by"}
"""Words that names leave out where nothing else is meant."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The formula says what its sentences say."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The formula does not say what its sentences say; `reason` tells the difference."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A sentence is not read, or a symbol is no phrase of the text: this never counts as passed."""


Finding: TypeAlias = Passed | Failed | NotApplicable


@dataclass(frozen=True, slots=True)
class Names:
    """By the symbols of some formulas the phrases of the text; no two symbols have one phrase."""

    predicates: Mapping[str, str]
    constants: Mapping[str, str]

    def of(self, formula: fo.Formula) -> fo.Formula:
        """Return a formula in the text's phrases; raises `KeyError` at a symbol that is none of them."""

        def part(inner: fo.Formula) -> fo.Formula:
            if isinstance(inner, fo.Atom):
                return fo.Atom(self.predicates[inner.predicate], tuple(map(term, inner.arguments)))
            return fo.rebuilt(inner, part, term)

        def term(inner: fo.Term) -> fo.Term:
            if isinstance(inner, fo.Application):
                raise KeyError(inner.function)
            return fo.Constant(self.constants[inner.name]) if isinstance(inner, fo.Constant) else inner

        return part(formula)


class ReadProblem:
    """The sentences of a problem, and of a text about it, as the grammar reads them."""

    def __init__(self, problem: Problem, others: Sequence[str] = ()) -> None:
        read = problem_reader(problem.context, problem.question, others=tuple(others))
        self._reader = read.reader
        self.is_too_long = len(read.said) > MAX_FORMULAS
        self.context = [] if self.is_too_long else read.context()
        self.question = read.question()
        self._read = {text: self._reader.read(text) for text in others}
        self._read |= {**dict(zip(read.said, self.context, strict=False)), read.asked: self.question}

    def beside(self, formula: fo.Formula, texts: Sequence[str], names: "Names", *, is_given: bool = False) -> Finding:
        """Return whether a formula says what some sentences say; of a given one (`is_given`) it may say less.

        Of `either .. or` a given formula says no more than that one of the two holds.
        """
        told = " ".join(texts)
        if absent := [name for part in names_of(formula) for name in sorted(part) if not speaks_of(told, name)]:
            # Attack: a premise of one's own, beside a sentence that is not read.
            return Failed(f"the sentence does not speak of {', '.join(absent)}")
        found = [self._read.get(text) or self._reader.read(text) for text in texts]
        readings = [each for each in found if isinstance(each, Reading) and SAYS_LESS not in each.conventions]
        if len(readings) < len(found):
            return NotApplicable()
        try:
            own = names.of(formula)
        except KeyError:
            return NotApplicable()
        said = [each.formula for each in readings]
        if are_shown(said, own) and (is_given or are_shown([own], *said)):
            return Passed()
        strict = [each.exclusive for each in readings]
        if not is_given and strict != said and are_shown(strict, own) and are_shown([own], *strict):
            return Passed()
        return Failed(f"{told!r} is read as {', '.join(map(canonical, said))}")

    def names(self, formulas: Iterable[fo.Formula]) -> Names:
        """Return the phrases that the symbols of formulas are, where each has one and no two have the same."""
        readings = [each for each in self._read.values() if isinstance(each, Reading)]
        try:
            own, said = fo.signature(formulas), [fo.signature([each.formula]) for each in readings]
        except fo.FormulaError:
            return Names({}, {})
        phrases = {(name, arity) for each in said for name, arity in each.predicates.items()}
        phrases |= {(name, 0) for each in said for name in each.propositions}
        symbols = [*own.predicates.items(), *((name, 0) for name in own.propositions)]
        predicates = _matched(symbols, phrases)
        constants = _matched(((n, -1) for n in own.constants), {(n, -1) for each in said for n in each.constants})
        return Names(predicates, constants)


def is_aligned(part: TextPart, attempt: Attempt, answer: str) -> bool:
    """Say whether the text of its problem bears out what an attempt formalises on trust, and answers with."""
    problem = attempt.problem
    formalised = part.theory(attempt)
    value = next((value for value in TRUTH_VALUES if in_terms_of(value, problem.options) == answer), None)
    return formalised is not None and value is not None and bears_out(problem, formalised, value)


def bears_out(problem: Problem, formalised: Formalisation, value: str) -> bool:
    """Say whether the text bears out what an attempt formalises on trust, and what it answers.

    The goal says what the question says, each premise follows from one sentence, and what the grammar reads of the
    whole text gives the same answer, under both values of `either`. `unknown` needs every sentence, and no phrase in
    the question that the context has not: an opaque phrase hides what would decide it.
    """
    read = ReadProblem(problem)
    question = read.question
    formulas = (*formalised.premises, formalised.goal)
    if not isinstance(question, Reading) or read.is_too_long or len(formulas) > MAX_FORMULAS:
        return False
    names = read.names(formulas)
    try:
        *premises, goal = map(names.of, formulas)
    except KeyError:
        return False
    said = [each for each in read.context if isinstance(each, Reading)]
    if not any(are_shown([goal], each) and are_shown([each], goal) for each in {question.formula, question.exclusive}):
        return False
    if not all(any(are_shown([v], each) for r in said for v in (r.formula, r.exclusive)) for each in premises):
        return False
    if value == "unknown":
        inside = fo.signature([each.formula for each in said])
        asked = fo.signature([question.formula])
        whole = len(said) == len(read.context) and not any(SAYS_LESS in each.conventions for each in said)
        if not whole or not (asked.predicates.keys() | asked.constants) <= (
            inside.predicates.keys() | inside.constants
        ):
            return False
        if not all(any(are_shown(premises, v) for v in (r.formula, r.exclusive)) for r in said):
            # Attack: formalise half of the text, and find that nothing follows.
            return False
    return all(
        decide([getattr(each, which) for each in said], getattr(question, which)).result == value
        for which in ("formula", "exclusive")
    )


def are_shown(given: Sequence[fo.Formula], *claims: fo.Formula) -> bool:
    """Say whether a solver shows that each claim follows; not where it gives up."""
    for formula in claims:
        if formula in given or canonical(formula) in map(canonical, given):
            continue
        if can_fail(given, formula) is not Answer.UNSATISFIABLE:
            return False
    return True


def _matched(symbols: Iterable[tuple[str, int]], phrases: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Match names of one arity by their words: by all of them, or else without the light ones, if that leaves one.

    A wrong match proves nothing: it renames the attempt's formulas, which are then held to what was read.
    """
    listed = sorted(phrases)
    found: dict[str, str] = {}
    for name, arity in symbols:
        same = [phrase for phrase, its_arity in listed if its_arity == arity]
        # KiKi is no `ki ki`, and Náutico may be spelled without its accent.
        letters = [phrase for phrase in same if _letters(phrase) == _letters(name)]
        if arity < 0 and len(letters) == 1:
            found[name] = letters[0]
            continue
        variants = _variants(name)
        for light in (frozenset[str](), _LIGHT, _LEFT_OUT):
            wanted = {_without(words, light) for words in variants} - {()}
            hits = [phrase for phrase in same if _without(tuple(phrase.split(" ")), light | {"_"}) in wanted]
            if len(hits) == 1:
                found[name] = hits[0]
            if hits:
                break
    taken = list(found.values())
    # Attack: two names for one phrase, of which only one is denied.
    return {name: phrase for name, phrase in found.items() if taken.count(phrase) == 1}


def _letters(name: str) -> str:
    return squashed("".join(each for each in normalize("NFKD", name) if not combining(each)))


def _without(words: tuple[str, ...], light: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in light)


def _variants(name: str) -> list[tuple[str, ...]]:
    """Return a symbol's words in each way in which the grammar may have them: without number, person or -ing."""
    forms = [_forms(word.lower()) for word in _HUMP.split(name) if word]
    made = [tuple(word for part in parts for word in part) for parts in product(*forms[:MAX_WORDS])]
    return made if len(forms) <= MAX_WORDS else []


def _forms(word: str) -> list[tuple[str, ...]]:
    verb = past(word)
    found = {word, third(word) or word, gerund(word) or word}
    if is_plural(word):
        found.add(Vocabulary.of(()).singular(word))
    return [*((form,) for form in sorted(found)), *([("did", verb)] if verb is not None else [])]
