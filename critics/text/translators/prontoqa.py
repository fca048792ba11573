"""PrOntoQA's English (Saparov and He 2023, modus ponens problems) into rules and literals, one per sentence.

    Every cat is (not) an animal.   Each cat is (not) warm.     (cat 'x) -> (warm 'x)
    Cats are (not) animals.         Cats are (not) warm.        (cat 'x) -> (not (warm 'x))
    Alex is (not) a cat.            7 is (not) prime.           (cat alex)

Nothing else is in the language: no other determiner, conjunction, relative clause or second negation.
What must not be guessed is settled by these rules, none of which needs a vocabulary:

* After `a` or `an`, after `Every` or `Each`, and before `are` stands a noun of one or two words.
* A bare complement of `is` is one adjective. A word with the shape of a plural is no adjective.
* A bare complement of `are` is a noun if it has two words or the shape of a plural, else an adjective.
  Ending in s is that shape, except in -ous, -ss, -us and -is (`critics.grammar.inflection.is_plural`).
* A word has one role in a problem: noun, adjective or name. `Every orange is a fruit. Alex is orange.`
  would prove that Alex is a fruit, so it is refused.
* A noun of two words is one property, `real-number`. Where its head also stands alone as a noun, or its modifier as
  an adjective, as in `Cats are big dogs. Dogs are happy.`, it says that word too and is refused, mathematical terms
  apart.
* A plural that belongs to two nouns (`axes`) is refused, and so is a noun that begins with `non-`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal as Choice

from critics.grammar.inflection import is_ambiguous, is_plural, singular
from critics.problem import Formal
from critics.replay.formula import Literal, Rule, Statement
from critics.text.translators.translation import (
    FUNCTION_WORDS,
    QUANTIFYING_WORDS,
    TERM_HEADS,
    WORD,
    Roles,
    TranslationError,
    Unread,
    check_word,
    claim,
    reading,
    sentences,
    understood,
    unnumbered,
)

Role = Choice["noun", "adjective", "name"]

_SENTENCE = re.compile(r"(?P<subject>.+?) (?P<verb>is|are) (?P<negation>not )?(?P<complement>.+)\.")
_UNIVERSAL = re.compile(r"(?:[Ee]very|[Ee]ach) (?P<noun>.+)")
_INDEFINITE = re.compile(r"an? (?P<noun>.+)")
_QUESTION_LEAD = re.compile(
    r"(?:query: ?)?(?:true or false ?[:?] ?|is the following statement true or false ?[?:] ?)?", re.IGNORECASE
)
_NAME = re.compile(r"[A-Z][a-z]*|[0-9]+")
_CAPITAL_WORD = re.compile(r"[A-Za-z][a-z]*(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True)
class _Term:
    """A word, or two, in the role that its place in the sentence gives it."""

    text: str
    role: Role

    @property
    def symbol(self) -> str:
        return self.text.replace(" ", "-")


@dataclass(frozen=True, slots=True)
class _Clause:
    """One sentence read: `subject` is a noun for a rule, a name for a fact."""

    sentence: str
    subject: _Term
    positive: bool
    complement: _Term

    def statement(self) -> Statement:
        if self.subject.role == "name":
            return Literal(self.positive, self.complement.symbol, (self.subject.symbol,))
        premise = Literal(True, self.subject.symbol, ("'x",))
        return Rule((premise,), Literal(self.positive, self.complement.symbol, ("'x",)))


def translate(context: str, question: str) -> Formal:
    """Return one axiom for each sentence of the context, in order, repetitions kept, and the goal.

    The context may number its sentences, `1- Every cat is warm.`; each must end with a full stop, so that
    a cut-off one is not read as a shorter one. The question is the claim about one object, with or without
    `True or false:` or `Is the following statement true or false?`. Raises `TranslationError` for all else.
    """
    *clauses, asked = _understood(context, question)
    _uses(context, question)
    return Formal(tuple(str(clause.statement()) for clause in clauses), str(asked.statement()))


def sentence_reader(context: str, question: str) -> Callable[[str], list[Statement]]:
    """Return a reader of one more sentence, as if the context ended in it, which raises `TranslationError`."""
    known = _uses(context, question)

    def read(sentence: str) -> list[Statement]:
        clause = understood(sentence, _read)
        _check_roles([clause], known)
        return [clause.statement()]

    return read


@lru_cache(maxsize=16)
def _understood(context: str, question: str) -> tuple[_Clause, ...]:
    """Return what the sentences of the context say, and last what is asked."""
    clauses = [understood(sentence, _read) for sentence in unnumbered(sentences(context))]
    asked = understood(claim(question, _QUESTION_LEAD), _read)
    if asked.subject.role != "name":
        raise TranslationError(asked.sentence, "a question must be about one named object")
    return (*clauses, asked)


@lru_cache(maxsize=16)
def _uses(context: str, question: str) -> "_Uses":
    """Return the roles of the words of a problem; raises `TranslationError` where one has two."""
    return _check_roles(_understood(context, question))


def _read(sentence: str) -> _Clause:
    match = _SENTENCE.fullmatch(sentence)
    if match is None:
        raise Unread("it has not the form 'X is (not) Y.' or 'Xs are (not) Ys.'")
    positive = match["negation"] is None
    subject, complement = match["subject"], match["complement"]
    if match["verb"] == "are":
        kind = _plural_noun(subject, starts=True)
        return _Clause(sentence, kind, positive, _plural_complement(complement))
    universal = _UNIVERSAL.fullmatch(subject)
    kind = _name(subject) if universal is None else _singular_noun(universal["noun"])
    return _Clause(sentence, kind, positive, _singular_complement(complement))


def _singular_complement(text: str) -> _Term:
    indefinite = _INDEFINITE.fullmatch(text)
    if indefinite is not None:
        return _singular_noun(indefinite["noun"])
    adjective = _adjective(text)
    if is_plural(text):
        raise Unread(f"{text!r} looks like a noun without 'a' or 'an'")
    return adjective


def _plural_complement(text: str) -> _Term:
    if " " in text:
        return _plural_noun(text, starts=False)
    adjective = _adjective(text)
    return _Term(singular(text), "noun") if is_plural(text) else adjective


def _singular_noun(text: str) -> _Term:
    noun = _noun(text, starts=False)
    if not is_plural(noun) or singular(noun) == noun:
        return _Term(noun, "noun")
    if noun.endswith("s"):
        raise Unread(f"{text!r} looks like a plural where a singular must stand")
    # PrOntoQA's own generator writes "Every bacteria".
    return _Term(singular(noun), "noun")


def _plural_noun(text: str, *, starts: bool) -> _Term:
    noun = _noun(text, starts=starts)
    if not is_plural(noun):
        raise Unread(f"{text!r} has not the shape of a plural noun")
    return _Term(singular(noun), "noun")


def _noun(text: str, *, starts: bool) -> str:
    """Return the noun in lower case; a capital may start a sentence or a term (`Mersenne prime`)."""
    words = text.split(" ")
    if len(words) > 2:
        raise Unread(f"{text!r} is not a noun of one or two words")
    *modifiers, head = words
    for modifier in modifiers:
        check_word(modifier, _CAPITAL_WORD)
        word = modifier.lower()
        # "Cats are probably dogs", "Numerous cats are dogs", "Cats dogs are warm" are not about a kind.
        if word in QUANTIFYING_WORDS or word.endswith("ly") or is_plural(word):
            raise Unread(f"{modifier!r} cannot be part of a noun")
    check_word(head, _CAPITAL_WORD if starts and not modifiers else WORD)
    if is_ambiguous(head):
        raise Unread(f"{head!r} is the plural of two different nouns")
    return text.lower()


def _adjective(text: str) -> _Term:
    check_word(text)
    return _Term(text, "adjective")


def _name(text: str) -> _Term:
    check_word(text, _NAME, FUNCTION_WORDS | QUANTIFYING_WORDS)
    return _Term(text.lower(), "name")


@dataclass(frozen=True, slots=True)
class _Uses:
    """Roles of the words so far, and the nouns of two words."""

    roles: Roles
    compounds: tuple[tuple[str, _Term], ...]


def _check_roles(clauses: Sequence[_Clause], before: _Uses = _Uses(Roles(), ())) -> _Uses:
    """Give each word its one role; raises `TranslationError` where one has two, also after the clauses before."""
    roles = before.roles.copy()
    uses = [(clause.sentence, term) for clause in clauses for term in (clause.subject, clause.complement)]
    for sentence, term in uses:
        with reading(sentence):
            roles.claim_forms(term.symbol, term.role)
    compounds = (*before.compounds, *(use for use in uses if " " in use[1].text))
    for sentence, term in compounds:
        modifier, _, head = term.text.partition(" ")
        if head not in ("", *TERM_HEADS) and roles.known.get(modifier) == "adjective":
            # Attack: cut a noun off from its head, so that nothing follows from being a big dog.
            raise TranslationError(sentence, f"{term.text!r} may mean {modifier!r} and {head!r} at once")
    return _Uses(roles, compounds)
