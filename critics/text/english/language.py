"""Languages: how the sentences of one problem are read, and what may follow from them.

A language reads the whole problem first, and then one sentence at a time with the problem's vocabulary. It refuses
what it does not know, and so do the translators that it stands on.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeAlias

from critics.problem import Formal, Problem
from critics.replay.clauses import Implication, clause_of, denied, ground_terms, read_clause
from critics.replay.cursor import ReasonedError
from critics.replay.formula import parse_statement
from critics.replay.semantics import Semantics, semantics_of
from critics.text.background import background
from critics.text.english.controlled import ControlledReader
from critics.text.english.wording import plain, variants, with_name
from critics.text.reference import TRANSLATORS, same_formal, translation
from critics.text.translators import prontoqa, regular
from critics.text.translators.syllogism import ask
from critics.text.translators.translation import TranslationError

Said: TypeAlias = tuple[Implication, ...]
"""Clauses that one sentence says, all of them."""
MAX_SENTENCE = 400
"""Characters; no sentence of the data sets is half as long."""
MAX_REMEMBERED = 5_000
"""Sentences whose reading is kept for the next attempt at the same problem."""
_BOUNDARY = re.compile(r"(?<=\.) ")
_NUMBERING = re.compile(r"^\d+- ")
CONTROLLED = "english"
"""The reference of a problem that the controlled English of `controlled` reads."""


class Unreadable(ReasonedError):  # noqa: N818
    """The problem is not in its language; `reason` says whether it is the context or the question."""


class SentenceReader(Protocol):
    """Reads one sentence of its own English, with capital and full stop; raises `TranslationError`."""

    def __call__(self, sentence: str) -> Said:
        """Return what the sentence says."""
        ...


@dataclass(slots=True)
class ProblemLanguage:
    """The English of one problem."""

    source: str
    """The data set whose reader reads it, or `english`."""
    formal: Formal
    stated: tuple[Implication, ...]
    """The clauses of `formal.axioms`, in order."""
    goal: Said
    semantics: Semantics
    sentences: Mapping[str, Implication]
    """The clause of each sentence of the context, where each is one axiom."""
    _reader: SentenceReader
    _of_kinds: bool
    _of_conditions: bool
    _granted: frozenset[str]
    """The canonical texts of what nobody has to state."""
    only_name: str | None
    """The one name in context and question, for which alone a pronoun can stand."""
    _memory: dict[str, Said | None] = field(default_factory=dict[str, Said | None])

    def read(self, text: str) -> Said | None:
        """Return what a sentence says, in the words of the problem or in others; None where it is not read."""
        words = with_name(plain(text), self.only_name)
        if len(self._memory) > MAX_REMEMBERED:
            self._memory.clear()
        if words not in self._memory:
            self._memory[words] = self._read(words)
        return self._memory[words]

    def is_granted(self, clause: Implication) -> bool:
        """Say whether a clause is a rule of the data set that no problem states."""
        return clause.canonical() in self._granted

    def _read(self, words: str) -> Said | None:
        if not words or len(words) > MAX_SENTENCE or any(mark in words for mark in '.!?;:"\n'):
            return None
        for sentence in variants(words, of_kinds=self._of_kinds, of_conditions=self._of_conditions):
            try:
                return self._reader(sentence)
            except TranslationError:
                continue
        return None


def reader_of(dataset: str) -> str:
    """Return the name of the reader of a data set's problems, the data set's own or `english`."""
    return dataset if dataset in TRANSLATORS else CONTROLLED


def language_of(problem: Problem) -> ProblemLanguage:
    """Return the language of a problem; raises `Unreadable`."""
    found = _language(problem.dataset, problem.context, problem.question, problem.formal)
    if isinstance(found, tuple):
        raise Unreadable(*found)
    return found


@lru_cache(maxsize=64)
def _language(dataset: str, context: str, question: str, given: Formal | None) -> ProblemLanguage | tuple[str, str]:
    """Return the language, or an `Unreadable`'s reason and message: all attempts at a problem have the same."""
    try:
        return _read_language(dataset, context, question, given)
    except Unreadable as error:
        return error.reason, str(error)


def _read_language(dataset: str, context: str, question: str, given: Formal | None) -> ProblemLanguage:
    if dataset not in TRANSLATORS or dataset == "prontoqa-ood":
        # The deduction rules' translator refuses all but Horn clauses.
        return _controlled(dataset, context, question)
    try:
        translated = translation(dataset, context, question)
    except TranslationError as error:
        known = " ".join(error.sentence.split()) in " ".join(context.split())
        raise Unreadable("context_not_read" if known else "question_not_read", str(error)) from error
    if given is not None and not same_formal(translated, given):
        raise Unreadable("no_reference", "problem.formal is not what the problem's text says")
    # The same meaning, in the words that the problem's record has.
    formal = given or translated
    stated = tuple(clause_of(parse_statement(axiom)) for axiom in formal.axioms)
    sentences = _by_sentence(dataset, context, translated)
    reader = _READERS.get(dataset, _translated)(dataset, context, question, translated, sentences)
    return ProblemLanguage(
        dataset,
        formal,
        stated,
        (read_clause(formal.goal),),
        semantics_of(dataset),
        sentences,
        reader,
        dataset == "prontoqa",
        dataset == "proofwriter",
        frozenset(clause_of(rule).canonical() for rule in background(dataset).statements()),
        only_name(context, question, stated),
    )


def only_name(context: str, question: str, stated: tuple[Implication, ...]) -> str | None:
    """Return the name of the one object that a problem speaks of, as it is written; None where there are more."""
    terms = ground_terms(stated)
    written = {word for word in re.findall(r"[A-Z][a-z]+", f"{context} {question}") if word.lower() in terms}
    return written.pop() if len(terms) == len(written) == 1 else None


def _controlled(dataset: str, context: str, question: str) -> ProblemLanguage:
    reader = ControlledReader(every_not_is_none=dataset == "prontoqa-ood")
    try:
        stated = reader.context(context)
    except TranslationError as error:
        raise Unreadable("context_not_read", f"{error}{_remedy(dataset, context, question)}") from error
    try:
        goal = reader.question(question)
    except TranslationError as error:
        raise Unreadable("question_not_read", str(error)) from error
    if denied(goal) is None and len(goal) == 1:
        raise Unreadable("question_not_read", "the question is not about named objects")
    formal = Formal(tuple(map(str, stated)), " and ".join(map(str, goal)))
    return ProblemLanguage(
        reader_of(dataset),
        formal,
        stated,
        goal,
        semantics_of(dataset),
        {},
        reader.sentence,
        True,
        True,
        frozenset(),
        only_name(context, question, stated),
    )


def _translated(
    dataset: str, context: str, question: str, formal: Formal, said: Mapping[str, Implication]
) -> SentenceReader:
    """Return a reader that has the translator read the context with one more sentence, and keeps what is new."""
    translate, before = TRANSLATORS[dataset], Counter(formal.axioms)
    text = " ".join(context.split())

    def read(sentence: str) -> Said:
        if sentence in said:
            return (said[sentence],)
        after = Counter(translate(f"{text} {sentence}", question).axioms)
        new = list((after - before).elements())
        if not new or before - after:
            raise TranslationError(sentence, "it changes what the context says")
        return tuple(clause_of(parse_statement(axiom)) for axiom in new)

    return read


def _by_sentence(dataset: str, text: str, formal: Formal) -> dict[str, Implication]:
    """Return what each sentence of the context says, where each is one axiom: these need not be read again."""
    sentences = [_NUMBERING.sub("", sentence) for sentence in _BOUNDARY.split(" ".join(text.split()))]
    own = formal.axioms[: len(formal.axioms) - len(background(dataset).axioms)]
    if len(sentences) != len(own):
        return {}
    return {sentence: read_clause(axiom) for sentence, axiom in zip(sentences, own, strict=True)}


def _prontoqa(
    dataset: str, context: str, question: str, formal: Formal, said: Mapping[str, Implication]
) -> SentenceReader:
    """Return a reader that need not read the context again."""
    read = prontoqa.sentence_reader(context, question)
    return lambda sentence: (said[sentence] if sentence in said else clause_of(read(sentence)),)


def _syllogism(
    dataset: str, context: str, question: str, formal: Formal, said: Mapping[str, Implication]
) -> SentenceReader:
    """Return a reader that puts a sentence in the place of the conclusion or of the premise about the same kinds."""
    translate = TRANSLATORS[dataset]
    premises = [f"{premise.removesuffix('.')}." for premise in " ".join(context.split()).split(". ")]

    def read(sentence: str) -> Said:
        first, second = premises[:2]
        tries: tuple[tuple[str, str, Callable[[Formal], str]], ...] = (
            (context, ask(sentence), lambda formal: formal.goal),
            (f"{sentence} {second}", question, lambda formal: formal.axioms[0]),
            (f"{first} {sentence}", question, lambda formal: formal.axioms[1]),
        )
        for told, asked, taken in tries:
            try:
                return (read_clause(taken(translate(told, asked))),)
            except TranslationError:
                continue
        raise TranslationError(sentence, "it is no statement about two of the three kinds")

    return read


def _proofwriter(
    dataset: str, context: str, question: str, formal: Formal, said: Mapping[str, Implication]
) -> SentenceReader:
    """Return a reader of one sentence by the grammar that has read the context."""
    read = regular.sentence_reader(regular.PROOFWRITER, context, question)
    return lambda sentence: (said[sentence],) if sentence in said else tuple(map(clause_of, read(sentence)))


_READERS: dict[str, Callable[[str, str, str, Formal, Mapping[str, Implication]], SentenceReader]] = {
    "prontoqa": _prontoqa,
    "proofwriter": _proofwriter,
    "syllogism": _syllogism,
}


def _remedy(dataset: str, context: str, question: str) -> str:
    """Return a hint for a problem of an unknown data set whose text is in the language of a known one.

    Users must name the data set: `Every impus is not brown.` denies it of each in PrOntoQA, elsewhere perhaps of some.
    """
    for name in () if dataset in TRANSLATORS else TRANSLATORS:
        try:
            translation(name, context, question)
        except TranslationError:
            continue
        return f'; if it is the English of {name}, say so: dataset="{name}" (--dataset {name})'
    return ""
