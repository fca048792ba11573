"""PrOntoQA's out-of-distribution deduction rules (Saparov et al. 2023) as far as Horn rules can express them.

    Each fruity numpus is a vumpus.                    (fruity 'x) -> (numpus 'x) -> (vumpus 'x)
    Everything that is cold or a rompus is a zumpus.   (cold 'x) -> (zumpus 'x)   (rompus 'x) -> (zumpus 'x)
    Every dumpus is a vumpus and a yumpus.             (dumpus 'x) -> (vumpus 'x)   (dumpus 'x) -> (yumpus 'x)
    Sam is a cat, Sam is not a dog, and Sam is a cow.  (cat sam)   (not (dog sam))   (cow sam)
    Prove: Sam is a brown numpus.                      (brown_and_numpus sam), a property defined by
                                                       (brown 'x) -> (numpus 'x) -> (brown_and_numpus 'x)

A condition is read as alternatives, each a conjunction: one rule for each alternative and each conjunct of the
conclusion. A compound question becomes a property of its own; its name has underscores, which no word has.

Two rules of deduction have no counterpart in the kernel, and a problem that needs one is refused, never
weakened: case analysis, where a disjunction is stated or concluded; proof by contradiction, where the question
denies something and forward chaining does not reach it. For all else forward chaining is complete, because
what is left are Horn clauses.

What must not be guessed is settled as in `prontoqa`: a word has one role in a problem, a bare complement of `are`
is a noun if it has the shape of a plural. An adjective before a noun is read as a second property, but only one
of those that the data set uses: a fake cat is no cat.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal as Choice
from typing import TypeAlias

from critics.problem import Formal
from critics.replay.formula import MAX_NAME_LENGTH, MAX_PREMISES, Literal, Rule, Statement, parse_statement
from critics.replay.kernel import Kernel, WorkLimitExceeded
from critics.text.inflection import is_ambiguous, is_plural, singular
from critics.text.translators.function_words import FUNCTION_WORDS, QUANTIFYING_WORDS
from critics.text.translators.translation import (
    Roles,
    TranslationError,
    Unread,
    check_word,
    reading,
    sentences,
    understood,
)

Role = Choice["noun", "adjective", "name"]

_LEAD = "Prove: "
_NAME = re.compile(r"[A-Z][a-z]*")
_CLAUSE = re.compile(r"(?P<name>[^ ]+) is (?P<negation>not )?(?P<item>.+)")
_UNIVERSAL = re.compile(r"(?:Every|Each) (?P<kind>[^,]+?) is (?P<rest>.+)")
_EVERYTHING = re.compile(r"Everything that is (?P<condition>.+?) is (?P<rest>.+)")
_PLURAL = re.compile(r"(?P<kind>[^,]+?) are (?P<rest>.+)")
_INDEFINITE = re.compile(r"an? (?P<noun>.+)")
ATTRIBUTES = frozenset(
    """
    blue red brown orange small large metallic wooden luminous liquid transparent opaque nervous happy feisty shy
    bright dull sweet sour spicy bitter floral fruity earthy hot cold temperate kind mean angry amenable aggressive
    melodic muffled discordant loud slow moderate fast windy sunny overcast rainy snowy
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
"""The adjectives of the data set's generator; its proofs take each before a noun for a property by itself."""


@dataclass(frozen=True, slots=True)
class _Property:
    """A noun or an adjective, asserted or denied."""

    word: str
    role: Role
    positive: bool = True

    def of(self, subject: str) -> Literal:
        return Literal(self.positive, self.word, (subject,))


_Conjunction: TypeAlias = tuple[_Property, ...]
_Alternatives: TypeAlias = tuple[_Conjunction, ...]
"""At least one of these holds, and all of its properties."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """Claim about a named object."""

    sentence: str
    name: str
    said: _Alternatives

    def statements(self) -> Iterator[Statement]:
        return (stated.of(self.name) for stated in self.said[0])

    def properties(self) -> Iterator[_Property]:
        yield _Property(self.name, "name")
        yield from chain(*self.said)


@dataclass(frozen=True, slots=True)
class _Universal:
    """Claim about everything that meets a condition."""

    sentence: str
    condition: _Alternatives
    said: _Alternatives

    def statements(self) -> Iterator[Statement]:
        for alternative in self.condition:
            premises = tuple(needed.of("'x") for needed in alternative)
            yield from (Rule(premises, concluded.of("'x")) for concluded in self.said[0])

    def properties(self) -> Iterator[_Property]:
        yield from chain(*self.condition, *self.said)


_Sentence: TypeAlias = _Fact | _Universal


def translate(context: str, question: str) -> Formal:
    """Return the axioms of each sentence of the context, in order, then the definition of a compound goal.

    Every sentence must end with a full stop; the question is `Prove: ` and a claim about one named object.
    Raises `TranslationError` for whatever is not understood, and for what the kernel cannot express.
    """
    stated = [understood(sentence, _statement) for sentence in sentences(context)]
    asked = understood(question, _question)
    _check_roles([*stated, asked])
    for sentence in stated:
        _check_horn(sentence)
    formal = _with_goal([str(statement) for sentence in stated for statement in sentence.statements()], asked)
    _check_forward(formal, asked)
    return formal


def _question(question: str) -> _Fact:
    text = " ".join(question.split())
    if not text.startswith(_LEAD):
        raise Unread(f"a question must start with '{_LEAD.strip()}'")
    return _fact(question, text.removeprefix(_LEAD).removesuffix("."))


def _statement(sentence: str) -> _Sentence:
    text = sentence.removesuffix(".")
    if (everything := _EVERYTHING.fullmatch(text)) is not None:
        condition = _phrase(everything["condition"], _singular_item)
        return _Universal(sentence, condition, _complement(everything["rest"], _singular_item))
    if (universal := _UNIVERSAL.fullmatch(text)) is not None:
        kind = _modified(universal["kind"], _singular_noun)
        return _Universal(sentence, (kind,), _complement(universal["rest"], _singular_item))
    if (plural := _PLURAL.fullmatch(text)) is not None:
        kind = _modified(plural["kind"][0].lower() + plural["kind"][1:], _plural_noun)
        return _Universal(sentence, (kind,), _complement(plural["rest"], _plural_item))
    return _fact(sentence, text)


def _fact(sentence: str, text: str) -> _Fact:
    """Read one clause, whole clauses joined, or one clause whose complements are joined."""
    connective, parts = _coordinated(text)
    clauses = [_CLAUSE.fullmatch(part) for part in parts]
    if (first := clauses[0]) is None:
        raise Unread("it has not the form 'X is ..', 'Every X is ..', 'Everything that is X is ..' or 'Xs are ..'")
    name = _name(first["name"])
    if len(clauses) == 1 or any(clauses[1:]):
        found = [clause for clause in clauses if clause is not None and clause["name"] == first["name"]]
        if len(found) != len(clauses):
            raise Unread("what is joined are not clauses about one object")
        return _Fact(sentence, name, _joined(connective, [_clause(clause) for clause in found]))
    if first["negation"]:
        raise Unread("'not' before what is joined may deny one part or all")
    return _Fact(sentence, name, _joined(connective, [_singular_item(i) for i in (first["item"], *parts[1:])]))


def _clause(clause: re.Match[str]) -> _Conjunction:
    properties = _singular_item(clause["item"])
    return _denied(properties) if clause["negation"] else properties


def _denied(properties: _Conjunction) -> _Conjunction:
    if len(properties) != 1:
        raise Unread("to deny two properties at once is a disjunction")
    return (_Property(properties[0].word, properties[0].role, positive=False),)


def _complement(text: str, item: Callable[[str], _Conjunction]) -> _Alternatives:
    if text.startswith("not "):
        return (_denied(item(text.removeprefix("not "))),)
    return _phrase(text, item)


def _phrase(text: str, item: Callable[[str], _Conjunction]) -> _Alternatives:
    connective, parts = _coordinated(text)
    items = [item(part) for part in parts]
    if item is _plural_item and len(parts) > 1 and any(len(properties) > 1 for properties in items):
        raise Unread("the adjective may belong to more than one of the nouns")
    return _joined(connective, items)


def _coordinated(text: str) -> tuple[str | None, list[str]]:
    """Split `A`, `A and B`, `A and B and C` or `A, B, and C`, or the same with `or`; nothing else has a comma."""
    connectives = [word for word in ("and", "or") if f" {word} " in text]
    if len(connectives) > 1:
        raise Unread("'and' and 'or' in one phrase may be grouped in two ways")
    connective = connectives[0] if connectives else None
    if "," not in text:
        return connective, text.split(f" {connective} ") if connective else [text]
    *parts, last = text.split(", ")
    if connective is None or len(parts) < 2 or text.count(f" {connective} ") != 1:
        raise Unread("a list must have the form 'A, B, and C' or 'A, B, or C'")
    if not last.startswith(f"{connective} "):
        raise Unread("a list must have its 'and' or 'or' before its last part")
    return connective, [*parts, last.removeprefix(f"{connective} ")]


def _joined(connective: str | None, items: list[_Conjunction]) -> _Alternatives:
    alternatives = tuple(items) if connective == "or" else (tuple(chain(*items)),)
    if max(map(len, alternatives)) > MAX_PREMISES:
        raise Unread(f"more than {MAX_PREMISES} properties are joined")
    return alternatives


def _singular_item(text: str) -> _Conjunction:
    indefinite = _INDEFINITE.fullmatch(text)
    return (_adjective(text),) if indefinite is None else _modified(indefinite["noun"], _singular_noun)


def _plural_item(text: str) -> _Conjunction:
    return _modified(text, _plural_noun) if " " in text or is_plural(text) else (_adjective(text),)


def _modified(text: str, noun: Callable[[str], _Property]) -> _Conjunction:
    adjective, _, head = text.rpartition(" ")
    if not adjective:
        return (noun(head),)
    if adjective not in ATTRIBUTES:
        raise Unread(
            f"whether {text!r} has two properties is not known: {adjective!r} is none of PrOntoQA's adjectives"
        )
    return _Property(adjective, "adjective"), noun(head)


def _singular_noun(text: str) -> _Property:
    check_word(text)
    if is_plural(text) and singular(text) != text:
        raise Unread(f"{text!r} looks like a plural where a singular must stand")
    return _Property(text, "noun")


def _plural_noun(text: str) -> _Property:
    check_word(text)
    if not is_plural(text):
        raise Unread(f"{text!r} has not the shape of a plural noun")
    if is_ambiguous(text):
        raise Unread(f"{text!r} is the plural of two different nouns")
    return _Property(singular(text), "noun")


def _adjective(text: str) -> _Property:
    check_word(text)
    if is_plural(text):
        raise Unread(f"{text!r} looks like a noun without 'a' or 'an'")
    return _Property(text, "adjective")


def _name(text: str) -> str:
    if (
        _NAME.fullmatch(text) is None
        or text.lower() in FUNCTION_WORDS | QUANTIFYING_WORDS
        or len(text) > MAX_NAME_LENGTH
    ):
        raise Unread(f"{text!r} is not a name")
    return text.lower()


def _check_roles(said: list[_Sentence]) -> None:
    roles = Roles()
    for sentence in said:
        with reading(sentence.sentence):
            for used in sentence.properties():
                roles.claim_forms(used.word, used.role)


def _check_horn(sentence: _Sentence) -> None:
    if len(sentence.said) > 1:
        raise TranslationError(sentence.sentence, "to use it would need case analysis (or-elimination)")


def _with_goal(stated: list[str], asked: _Fact) -> Formal:
    if len(asked.said) == 1 and len(asked.said[0]) == 1:
        return Formal(tuple(stated), str(asked.said[0][0].of(asked.name)))
    spelled = "_or_".join("_and_".join(_spelled(p) for p in alternative) for alternative in asked.said)
    if len(spelled) > MAX_NAME_LENGTH:
        raise TranslationError(asked.sentence, f"{spelled!r} is longer than {MAX_NAME_LENGTH} letters")
    meant = (_Property(spelled, "noun"),)
    definition = _Universal(asked.sentence, asked.said, (meant,))
    return Formal((*stated, *map(str, definition.statements())), str(meant[0].of(asked.name)))


def _spelled(named: _Property) -> str:
    return named.word if named.positive else f"not_{named.word}"


def _check_forward(formal: Formal, asked: _Fact) -> None:
    """Refuse a denial that forward chaining does not reach: by contradiction it may be provable all the same."""
    if all(wanted.positive for wanted in chain(*asked.said)):
        return
    kernel = Kernel()
    try:
        for axiom in formal.axioms:
            kernel.add_axiom(parse_statement(axiom))
        kernel.saturate()
    except WorkLimitExceeded as error:
        raise TranslationError(asked.sentence, f"whether it is reached is not known: {error}") from error
    if formal.goal not in map(str, kernel.known):
        raise TranslationError(asked.sentence, "it would need proof by contradiction")
