"""Languages: how the sentences of one problem are read, and what may follow from them.

A language reads the whole problem first, and then one sentence at a time with the problem's vocabulary. It refuses
what it does not know, and so do the translators that it stands on.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol, TypeAlias

from critics.grammar import reader as grammar
from critics.grammar.chart import Conventions
from critics.grammar.text import TWINS
from critics.problem import Formal, Problem
from critics.replay.certificate import CONTROLLED
from critics.replay.clauses import Implication, clause_of, denied, fact, is_consistent, read_clause
from critics.replay.cursor import ReasonedError
from critics.replay.formula import Statement, parse_statement
from critics.replay.kernel import Inference, Kernel, Kind, kind
from critics.replay.semantics import Semantics, semantics_of
from critics.text.background import background
from critics.text.english.moods import indicative
from critics.text.english.statements import CONVENTIONS, Statements
from critics.text.reference import TRANSLATORS, possible, same_formal, saturation, translation
from critics.text.translators import prontoqa, regular
from critics.text.translators.clausal import Namer, clauses_of
from critics.text.translators.translation import TranslationError, Unread
from critics.verdict.conclusion import Refusal

Said: TypeAlias = tuple[Implication, ...]
"""All clauses of one sentence."""
MAX_SENTENCE = 400
"""Characters; no sentence of the data sets is half as long."""
MAX_REMEMBERED = 5_000
"""Sentences whose reading is kept for the next attempt at the same problem."""
_BOUNDARY = re.compile(r"(?<=\.) ")
_NUMBERING = re.compile(r"^\d+- ")
_ADVERBS = r"(?:also|therefore|thus|hence|then|indeed|consequently)"
_SOFTENED = (
    (re.compile(r"\b(is|are|does|do)n't\b", re.IGNORECASE), r"\1 not"),
    (re.compile(rf"\b(is|are|does|do|it|they)(?: +{_ADVERBS})+(?= )", re.IGNORECASE), r"\1"),
    (re.compile(r"\b(?:must|has to|have to)(?: +also)? +(not +)?be\b", re.IGNORECASE), r"is \1"),
    # `Any` denies it of each, where `every` needs the data set's convention.
    (re.compile(r"^any (?=[a-z-]+ is not )", re.IGNORECASE), "Every "),
    (re.compile(r" +"), " "),
)


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
    _readers: tuple[SentenceReader, ...]
    """The data set's own, then the grammar."""
    _granted: frozenset[str]
    """Canonical texts of the data set's rules that no problem states."""
    _memory: dict[str, Said | None] = field(default_factory=dict[str, Said | None])

    def read(self, text: str) -> Said | None:
        """Return what a sentence says, in the words of the problem or in others; None where it is not read."""
        words = _plain(text)
        if len(self._memory) > MAX_REMEMBERED:
            self._memory.clear()
        if words not in self._memory:
            self._memory[words] = self._read(words)
        return self._memory[words]

    def is_granted(self, clause: Implication) -> bool:
        """Say whether a clause is a rule of the data set that no problem states."""
        return clause.canonical() in self._granted

    def contradicts_itself(self) -> bool:
        """Say whether everything follows from the context; raises `WorkLimitExceeded` and `OutOfWork`."""
        if self.semantics.forward:
            return self.saturation().contradiction() is not None
        return not is_consistent(self.stated)

    def saturation(self) -> Kernel:
        """Return the saturated kernel of a problem in a forward semantics; raises `WorkLimitExceeded`."""
        return saturation(self.formal)

    def unsaid(self, said: Set[str]) -> list[Implication]:
        """Return what bears on the question and is not among the canonical texts that are said."""
        return [c for c in self.bearing() if not self.is_granted(c) and c.canonical() not in said]

    def bearing(self) -> list[Implication]:
        """Return what bears on the question, stated or inferred."""
        relevant = self._relevant()
        stated = [clause for clause in self.stated if kind(clause.conclusions[0]) in relevant]
        inferred = [entry.statement for entry in self.saturation().entries if isinstance(entry, Inference)]
        return [*stated, *(fact(literal) for literal in inferred if kind(literal) in relevant)]

    def _relevant(self) -> set[Kind]:
        """Return the signed predicates from which rules can lead to the goal or its denial."""
        asked = [clause.conclusions[0] for clause in self.goal]
        found = {kind(each) for literal in asked for each in (literal, literal.negated())}
        leads = [(kind(rule.conclusions[0]), set(map(kind, rule.premises))) for rule in self.stated]
        while more := {each for concluded, needed in leads if concluded in found for each in needed - found}:
            found |= more
        return found

    def _read(self, words: str) -> Said | None:
        if not words or len(words) > MAX_SENTENCE or any(mark in words for mark in '.!?;:"\n'):
            return None
        sentence = f"{words[:1].upper()}{words[1:]}."
        if sentence in self.sentences:
            return (self.sentences[sentence],)
        for read in self._readers:
            try:
                return read(sentence)
            except TranslationError:
                continue
        return None


def _plain(text: str) -> str:
    """Return a sentence's words without quotes around it, and adverbs that say nothing; what must be so is so."""
    text = " ".join(text.split()).strip(" \"'").rstrip(".,:;").strip(" \"'")
    for pattern, replacement in _SOFTENED:
        text = pattern.sub(replacement, text)
    return text.strip()


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
        return _by_grammar(dataset, context, question)
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
    own = _own_reader(dataset, context, question, translated)
    readers = (own, _grammar(dataset, context, question)) if dataset in CONVENTIONS else (own,)
    return ProblemLanguage(
        dataset,
        formal,
        stated,
        (read_clause(formal.goal),),
        semantics_of(dataset),
        sentences,
        readers,
        frozenset(clause_of(rule).canonical() for rule in background(dataset).statements()),
    )


def _by_grammar(dataset: str, context: str, question: str) -> ProblemLanguage:
    """Return the language of a problem that no translator reads; raises `Unreadable`."""
    said = Statements(context, question, CONVENTIONS.get(dataset))
    namer = Namer.of(dataset, f"{context} {question}")
    stated: list[Implication] = []
    for sentence, found in zip(said.problem.said, said.problem.context(), strict=True):
        try:
            stated += _clauses(found, namer)
        except Unread as error:
            why = f"{sentence!r}: {error}{_remedy(dataset, context, question)}"
            raise Unreadable("context_not_read", why) from error
    try:
        goal = _clauses(said.problem.question(), namer)
    except Unread as error:
        raise Unreadable("question_not_read", f"{question!r}: {error}") from error
    if any(clause.variables() for clause in goal) or (denied(goal) is None and len(goal) == 1):
        raise Unreadable("question_not_read", "the question is not about named objects")
    formal = Formal(tuple(map(str, stated)), " and ".join(map(str, goal)))
    readers = (_grammar(dataset, context, question),)
    return ProblemLanguage(
        reader_of(dataset), formal, tuple(stated), goal, semantics_of(dataset), {}, readers, frozenset()
    )


def _clauses(found: grammar.Reading | grammar.Refusal, namer: Namer) -> Said:
    if isinstance(found, grammar.Refusal):
        raise Unread(f"{found.word}: {found.why}")
    if TWINS in found.conventions:
        raise Unread("it has two readings, and other sentences decide")
    if found.exclusive != found.formula or re.search(r"\bonly\b", found.text, re.IGNORECASE):
        raise Unread("`either` may mean one or both, and `only` that there are such things too")
    return clauses_of(found.formula, namer)


def _grammar(dataset: str, context: str, question: str) -> SentenceReader:
    """Return a reader by the grammar: what it says is in the words of the translator."""
    # The data set's own reader knows who its pronouns stand for; in other words there must be one antecedent.
    conventions = replace(CONVENTIONS.get(dataset, Conventions()), pronoun="one")
    namer = Namer.of(dataset, f"{context} {question}")

    def read(sentence: str) -> Said:
        if any(indicative(sentence)):
            raise TranslationError(sentence, "it says what would be")
        try:
            # Each sentence has its own count of work.
            found = Statements(context, question, conventions).reading(sentence)
            if found is None:
                raise TranslationError(sentence, "it is not read")
            return _clauses(found, namer)
        except (Refusal, Unread) as error:
            raise TranslationError(sentence, str(error)) from error

    return read


def _translated(dataset: str, context: str, question: str, formal: Formal) -> SentenceReader:
    """Return a reader that has the translator read the context with one more sentence, and keeps what is new."""
    translate, before = TRANSLATORS[dataset], Counter(formal.axioms)
    text = " ".join(context.split())

    def read(sentence: str) -> Said:
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


def _syllogism(context: str) -> SentenceReader:
    """Return a reader of a sentence about two of the three kinds: as if the question asked whether it follows."""
    from critics.text.translators.syllogism import ask

    return lambda sentence: (read_clause(TRANSLATORS["syllogism"](context, ask(sentence)).goal),)


_READERS: dict[str, Callable[[str, str], Callable[[str], list[Statement]]]] = {
    "prontoqa": prontoqa.sentence_reader,
    "proofwriter": regular.sentence_reader,
}
"""Readers of one sentence more that need not read the context again."""


def _own_reader(dataset: str, context: str, question: str, formal: Formal) -> SentenceReader:
    if dataset == "syllogism":
        return _syllogism(context)
    if dataset not in _READERS:
        return _translated(dataset, context, question, formal)
    read = _READERS[dataset](context, question)
    return lambda sentence: tuple(map(clause_of, read(sentence)))


def _remedy(dataset: str, context: str, question: str) -> str:
    """Return a hint for a problem of an unknown data set whose text is in the language of a known one.

    Users must name the data set: `Every impus is not brown.` denies it of each in PrOntoQA, elsewhere perhaps of some.
    """
    for name in () if dataset in TRANSLATORS else possible(TRANSLATORS, context, question):
        try:
            translation(name, context, question)
        except TranslationError:
            continue
        return f'; if it is the English of {name}, say so: dataset="{name}" (--dataset {name})'
    return ""
