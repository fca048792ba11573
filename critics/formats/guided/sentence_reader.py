"""The reader of the sentences beside the blocks of guided attempts, kept for all attempts at one problem."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from critics.problem import Formal, Problem
from critics.replay.clauses import Implication, clause_of, read_clause, statement_of
from critics.replay.formula import BLANKS, Statement, canonical_statement, parse_statement
from critics.text.english import phrases
from critics.text.english.discourse import MAX_SENTENCE
from critics.text.english.language import ProblemLanguage, Unreadable, language_of
from critics.text.english.moves import Promise
from critics.text.english.outline import Claim, Outline, Reasoning, Unit, UnreadSentence
from critics.text.english.passage import Passage, TextSentence
from critics.text.pieces import MARK, readings
from critics.text.reference import theory

_MAX_REMEMBERED = 5_000
_UNREAD = (UnreadSentence(),)
_PLAIN = re.compile(
    r"(?!(?:It|This|That|The|Answer|Yes|No|True|False)\b)[A-Z][a-z]* is (?:not )?(?:an? )?[a-z-]+(?: [a-z-]+)?\.?",
    re.ASCII,
)
"""Sentences that are a claim about one object and nothing else."""
_TAIL = re.compile(
    r"(?:,|[ ,:]+(?:and|so|thus|therefore|hence|then|we (?:get|have|infer|conclude)(?: that)?))[ ,:]*$", re.IGNORECASE
)


@dataclass(slots=True)
class ProseReader:
    """The reader of the sentences about one problem."""

    language: ProblemLanguage
    question: str
    _known: dict[str, tuple[Unit, ...]] = field(default_factory=dict[str, tuple[Unit, ...]])

    def states(self, statement: Statement) -> bool:
        """Say whether the context says a statement."""
        return any(clause_of(statement).canonical() == stated.canonical() for stated in self.language.stated)

    def units(self, said: str) -> tuple[Unit, ...]:
        """Return what a sentence does; if it is not read, without what leads to the block behind it."""
        if said not in self._known:
            if len(self._known) > _MAX_REMEMBERED:
                self._known.clear()
            self._known[said] = self._units(said)
        return self._known[said]

    def _units(self, said: str) -> tuple[Unit, ...]:
        if (stated := self.language.sentences.get(said)) is not None:
            return (Reasoning((), (), (Claim(Passage(said, ()), (stated,)),)),)
        if len(said) > MAX_SENTENCE:
            return _UNREAD
        outline = Outline(self.language, self.question)
        for words in (*readings(said), *_without_leads(said)):
            if _PLAIN.fullmatch(words) is not None and (found := self.language.read(words)) is not None:
                return (Reasoning((), (), (Claim(Passage(words, ()), found),)),)
            passage = Passage(words, tuple(range(len(words))))
            units = outline.units(TextSentence(passage, is_readable=words.isascii()))
            if units != _UNREAD:
                return units
        return _UNREAD


def plainly(units: tuple[Unit, ...]) -> Statement | None:
    """Return the statement of a sentence that is nothing but one plain claim; None for every other one."""
    match units:
        case (Reasoning((), (), (Claim(said=(Implication(conclusions=(_,)) as clause,), promise=Promise.NONE),)),):
            return statement_of(clause)
        case _:
            return None


def are_names(marks: str, names: Callable[[], Collection[str]]) -> bool:
    """Say whether marks that stand alone are names, and not sentences in disguise, such as `[[prop:pip-is-a-newt]]`.

    `names` are those of the problem: a relation, and what has several words, must be one of them.
    """
    return all(
        (mark[1] != "relation" and mark[2].isalnum()) or mark[2].strip(BLANKS) in names()
        for mark in MARK.finditer(marks)
    )


def _without_leads(said: str) -> Iterator[str]:
    """Yield a sentence without `Since` before it, and `so we get` behind it, where a block ends it."""
    since = phrases.REASONS.match(said)
    words = said if since is None else said[since.end() :]
    while (tail := _TAIL.search(words)) is not None and tail.start():
        words = words[: tail.start()]
    if words != said:
        yield words


def sentence_reader(problem: Problem, formal: Formal, *, is_whole: bool = True) -> ProseReader | None:
    """Return the reader of a problem's sentences in the words of `formal`; None where there is none.

    `is_whole`: all that the context says is formalised, and not a part of it.
    """
    return _reader(problem.dataset, problem.context, problem.question, problem.formal, formal, is_whole)


@lru_cache(maxsize=64)
def _reader(
    dataset: str, context: str, question: str, given: Formal | None, formal: Formal, is_whole: bool
) -> ProseReader | None:
    try:
        language = language_of(Problem("", dataset, context, question, formal=given))
    except Unreadable:
        return None
    # The deduction rules have two readers, which need not use the same words.
    told = {clause.canonical() for clause in language.stated}
    if not is_whole:
        own = {canonical_statement(parse_statement(axiom)) for axiom in formal.axioms}
        is_same = own <= told and language.goal == (read_clause(formal.goal),)
    else:
        is_same = language.formal == formal or told <= theory(formal).stated
    return ProseReader(language, question) if is_same else None
