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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from critics.grammar.inflection import is_ambiguous, is_plural, singular
from critics.problem import Formal
from critics.replay.formula import Literal, Rule, Statement
from critics.text.translators import translation

_SENTENCE = re.compile(r"(?P<subject>.+?) (?P<verb>is|are) (?P<negation>not )?(?P<complement>.+)\.")
_UNIVERSAL = re.compile(r"(?:[Ee]very|[Ee]ach) (?P<noun>.+)")
_INDEFINITE = re.compile(r"an? (?P<noun>.+)")
_NAME = re.compile(r"[A-Z][a-z]*|[0-9]+")
_CAPITAL_WORD = re.compile(r"[A-Za-z][a-z]*(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True)
class _Term:
    """A word, or two joined, in the role that its place in the sentence gives it: noun, adjective or name."""

    symbol: str
    role: str


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
    (*clauses, asked), _ = _understood(context, question)
    return Formal(tuple(str(clause.statement()) for clause in clauses), str(asked.statement()))


def sentence_reader(context: str, question: str) -> Callable[[str], list[Statement]]:
    """Return a reader of one more sentence, as if the context ended in it, which raises `TranslationError`."""
    _, known = _understood(context, question)

    def read(sentence: str) -> list[Statement]:
        clause = translation.understood(sentence, _read)
        _claim_roles([clause], known.copy())
        return [clause.statement()]

    return read


@lru_cache(maxsize=16)
def _understood(context: str, question: str) -> tuple[tuple[_Clause, ...], translation.Roles]:
    """Return what the sentences of the context say, and last what is asked, and the roles of the words."""
    clauses = [
        translation.understood(sentence, _read) for sentence in translation.unnumbered(translation.sentences(context))
    ]
    asked = translation.understood(translation.claim(question), _read)
    if asked.subject.role != "name":
        raise translation.TranslationError(asked.sentence, "a question must be about one named object")
    roles = translation.Roles()
    _claim_roles([*clauses, asked], roles)
    return (*clauses, asked), roles


def _claim_roles(clauses: Iterable[_Clause], roles: translation.Roles) -> None:
    """Give each word its one role; raises `TranslationError` where one has two."""
    for clause in clauses:
        with translation.reading(clause.sentence):
            for term in (clause.subject, clause.complement):
                roles.claim_forms(term.symbol, term.role)


def _read(sentence: str) -> _Clause:
    match = _SENTENCE.fullmatch(sentence)
    if match is None:
        raise translation.Unread("it has not the form 'X is (not) Y.' or 'Xs are (not) Ys.'")
    subject, is_many = match["subject"], match["verb"] == "are"
    universal = None if is_many else _UNIVERSAL.fullmatch(subject)
    if is_many or universal is not None:
        about = _noun(subject if universal is None else universal["noun"], is_many=is_many, starts=is_many)
    else:
        translation.check_word(subject, _NAME, translation.FUNCTION_WORDS | translation.QUANTIFYING_WORDS)
        about = _Term(subject.lower(), "name")
    return _Clause(sentence, about, match["negation"] is None, _complement(match["complement"], is_many=is_many))


def _complement(text: str, *, is_many: bool) -> _Term:
    indefinite = None if is_many else _INDEFINITE.fullmatch(text)
    if indefinite is not None:
        return _noun(indefinite["noun"], is_many=False)
    if is_many and (" " in text or is_plural(text)):
        return _noun(text, is_many=True)
    translation.check_word(text)
    if is_plural(text):
        raise translation.Unread(f"{text!r} looks like a noun without 'a' or 'an'")
    return _Term(text, "adjective")


def _noun(text: str, *, is_many: bool, starts: bool = False) -> _Term:
    """Return a noun in the singular; a capital may start a sentence or a term (`Mersenne prime`)."""
    *modifiers, head = text.split(" ")
    if len(modifiers) > 1:
        raise translation.Unread(f"{text!r} is not a noun of one or two words")
    for modifier in modifiers:
        translation.check_word(modifier, _CAPITAL_WORD)
        word = modifier.lower()
        # "Cats are probably dogs", "Numerous cats are dogs", "Cats dogs are warm" are not about a kind.
        if word in translation.QUANTIFYING_WORDS or word.endswith("ly") or is_plural(word):
            raise translation.Unread(f"{modifier!r} cannot be part of a noun")
    translation.check_word(head, _CAPITAL_WORD if starts and not modifiers else translation.WORD)
    if is_ambiguous(head):
        raise translation.Unread(f"{head!r} is the plural of two different nouns")
    noun = text.lower()
    one = singular(noun) if is_plural(noun) else None
    # PrOntoQA's own generator writes "Every bacteria".
    if (is_many and one is None) or (not is_many and one not in (None, noun) and noun.endswith("s")):
        raise translation.Unread(f"{text!r} has not the number that must stand here")
    return _Term((one or noun).replace(" ", "-"), "noun")
