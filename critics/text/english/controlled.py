"""The controlled English of problems that no translator reads, PrOntoQA's deduction rules among them.

    Tom is (not) a cat.   Tom is kind.   Tom is a kind cat.        (cat tom)   (kind tom)
    Tom is a cat and not kind.   Tom is a cat, a pet, and kind.    each of them
    Tom is a cat or kind.   Tom is either a cat or a dog.          (cat tom) or (dog tom)
    Either Tom is kind or Ann is not kind(, but not both).         one of them (and not both)
    Every|Each|Any cat is C.   All cats are C.   Cats are C.       (cat 'x) -> ..
    No cat is C.   No cats are C.   Nobody who is kind is C.       (cat 'x) -> (not ..)
    Every|Any|Some-thing|one|body that|who is D is C.              D is one thing, A and B, or A or B
    If something|someone is D(,) then it|they is|are C.
    If Tom is D(,) then Ann is C.   Ann is C if Tom is D.

    All kind, rough people are C.   Kind things are C.             (kind 'x) -> (rough 'x) -> ..

C and D are properties (`a cat`, `kind`, `a kind cat`, `not a cat`) joined by `and` or by `or`, never both. `Or` is
inclusive without `but not both`. Every sentence ends with a full stop. A question is a claim about named objects,
alone or after `Prove:`, `True or false:`, `Is it true that .. ?` or `Is the following statement true .. ?`, or it asks
`Is Tom a cat?`

What must not be guessed is settled as by the translators: a word is noun, adjective or name in a whole problem; no
function word, quantifier or adverb names a property; an adjective before a noun is a second property only where it
is one of PrOntoQA's; `Every cat is not warm` is read in PrOntoQA's problems alone; whatever remains is refused.
"""

import re
from itertools import chain, product

from critics.grammar.inflection import is_ambiguous, is_plural, singular
from critics.replay.clauses import Implication
from critics.replay.formula import MAX_NAME_LENGTH, MAX_PREMISES, Literal
from critics.text.translators.function_words import FUNCTION_WORDS, QUANTIFYING_WORDS
from critics.text.translators.regular import ATTRIBUTES
from critics.text.translators.translation import TranslationError, Unread

_X = "'x"
_PLAIN = re.compile(r"[ -~\t\r\n]*")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_NAME = re.compile(r"[A-Z][a-z]*")
_BOUNDARY = re.compile(r"(?<=\.)\s+")
_QUESTION = re.compile(
    r"(?:query: ?|question: ?)?(?:(?:prove|true or false|true, false,? or unknown) ?[:?]? ?"
    r"|(?:based on the above information, )?is the following statement true(?:, false,? or unknown| or false)? ?[?:] ?"
    r"|is it true that )?",
    re.IGNORECASE,
)
_NOUN = r"[a-z-]+(?: [a-z-]+)?"
_ASKED = re.compile(r"Is (?P<name>[A-Z][a-z]*) (?P<said>.+)\?")
_BEARERS = r"(?:every|any|some)(?:thing|one|body)"
_UNIVERSAL = re.compile(rf"(?P<every>Every|Each|Any|No) (?P<kind>{_NOUN}) is (?P<said>.+)")
_PLURAL = re.compile(r"(?P<all>All |No )?(?P<kind>[A-Za-z-]+(?: [a-z-]+)?) are (?P<said>.+)")
_PEOPLE = re.compile(r"(?P<all>All |No )?(?P<kinds>[A-Za-z-]+(?:, [a-z-]+)*) (?:people|things) are (?P<said>.+)")
_WHOEVER = re.compile(
    rf"(?P<who>(?:{_BEARERS}|nobody|nothing|no one) (?:that|who)) is (?P<if>.+?),? is (?P<said>.+)", re.I
)
_IF_ANY = re.compile(
    r"If (?:some|any)(?:thing|one|body) is (?P<if>.+?),? then (?:it is|they are|he is|she is) (?P<said>.+)"
)
_IF_NAMED = re.compile(r"If (?P<if>[A-Z][a-z]* is .+?),? then (?P<said>[A-Z][a-z]* is .+)")
_ONLY_IF = re.compile(r"(?P<said>[A-Z][a-z]* is .+?),? if (?P<if>[A-Z][a-z]* is .+)")
_EITHER = re.compile(
    r"Either (?P<one>[A-Z][a-z]* is .+?) or (?P<other>[A-Z][a-z]* is .+?)(?P<exclusive>, but not both)?"
)
_FACT = re.compile(r"(?P<name>[^ ]+) is (?P<said>.+)")
_NO_PROPERTIES = FUNCTION_WORDS | QUANTIFYING_WORDS | frozenset(
    """
    thing things people person fake former alleged supposed possible impossible likely unlikely true false unknown
    valid invalid zero twenty thirty forty fifty million noone nought nil minus sure certainly surely able unable same
    different
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)  # fmt: skip

_All = tuple[Literal, ...]
_Some = tuple[_All, ...]
"""Alternatives, of which at least one holds, each with everything that it says."""


class ControlledReader:
    """Reads one problem; the words of its context and question keep their roles in every later sentence."""

    def __init__(self, *, every_not_is_none: bool = False) -> None:
        self._roles: dict[str, str] = {}
        self._every_not_is_none = every_not_is_none
        """`Every cat is not warm` denies it of each, as PrOntoQA has it; elsewhere it may deny it of some."""
        self._is_open = True

    def context(self, text: str) -> tuple[Implication, ...]:
        """Read all sentences of the context; raises `TranslationError`."""
        sentences = _BOUNDARY.split(text.strip())
        return tuple(chain.from_iterable(map(self.sentence, sentences)))

    def question(self, text: str) -> tuple[Implication, ...]:
        """Read the claim that a question asks about, the last text whose words are learnt.

        Raises `TranslationError`.
        """
        words = " ".join(text.split())
        lead = _QUESTION.match(words)
        claim = words[lead.end() :] if lead is not None else words
        if (asked := _ASKED.fullmatch(claim)) is not None:
            if asked["said"].startswith("not "):
                # `Yes` and `no` may both mean that it is so, and both that it is not.
                raise TranslationError(text, "a question that denies has no safe answer: ask without `not`")
            claim = f"{asked['name']} is {asked['said']}"
        elif not claim or (claim.endswith("?") and (lead is None or "is it true" not in lead[0].lower())):
            raise TranslationError(text, "the question is no claim")
        said = self.sentence(f"{claim.rstrip('?.')}.")
        if any(clause.variables() for clause in said):
            raise TranslationError(text, "a question must be about named objects")
        self._is_open = False
        return said

    def sentence(self, sentence: str) -> tuple[Implication, ...]:
        """Read one sentence with capital and full stop; raises `TranslationError`."""
        before = dict(self._roles)
        try:
            said = tuple(self._clauses(sentence))
        except Unread as error:
            self._roles = before
            raise TranslationError(sentence, str(error)) from error
        if not self._is_open:
            # A chain of thought must not settle what the words of the next one mean.
            self._roles = before
        return said

    def _clauses(self, sentence: str) -> list[Implication]:
        if not sentence.endswith(".") or _PLAIN.fullmatch(sentence) is None or ". " in sentence:
            raise Unread("a sentence is plain text that ends with a full stop")
        text = " ".join(sentence[:-1].split())
        if (match := _EITHER.fullmatch(text)) is not None:
            one, other = (self._unit(match[key]) for key in ("one", "other"))
            both = [Implication((), (one.negated(), other.negated()))] if match["exclusive"] else []
            return [Implication((), (one, other)), *both]
        if (match := _IF_ANY.fullmatch(text)) is not None:
            return _implied(self._phrase(match["if"], _X), self._phrase(match["said"], _X, "mixed"))
        if (match := _IF_NAMED.fullmatch(text) or _ONLY_IF.fullmatch(text)) is not None:
            return _implied(self._claim(match["if"]), self._claim(match["said"]))
        if (match := _WHOEVER.fullmatch(text)) is not None:
            said = self._phrase(match["said"], _X)
            denies = match["who"].lower().startswith("no")
            return _implied(self._phrase(match["if"], _X), _none(said) if denies else said)
        if (match := _UNIVERSAL.fullmatch(text)) is not None:
            self._check_scope(match["every"] != "No", match["said"])
            kind, said = self._modified(match["kind"], _X, "singular"), self._phrase(match["said"], _X)
            return _implied((kind,), _none(said) if match["every"] == "No" else said)
        if (match := _PEOPLE.fullmatch(text)) is not None:
            self._check_scope(match["all"] == "All ", match["said"])
            first, *others = match["kinds"].split(", ")
            kinds = [first if match["all"] else first.lower(), *others]
            premises = tuple(self._property(kind, "adjective", _X) for kind in kinds)
            said = self._phrase(match["said"], _X, "plural")
            return _implied((premises,), _none(said) if match["all"] == "No " else said)
        if (match := _PLURAL.fullmatch(text)) is not None:
            self._check_scope(match["all"] == "All ", match["said"])
            kind = match["kind"] if match["all"] else match["kind"][0].lower() + match["kind"][1:]
            said = self._phrase(match["said"], _X, "plural")
            return _implied((self._modified(kind, _X, "plural"),), _none(said) if match["all"] == "No " else said)
        return _implied(((),), self._claim(text))

    def _check_scope(self, of_all: bool, said: str) -> None:
        if of_all and said.startswith("not ") and not self._every_not_is_none:
            raise Unread("'not' after 'every' or 'all' may deny it of all or of some")

    def _claim(self, text: str) -> _Some:
        """Read what is said of named objects, also `Tom is a cat and Tom is not kind`."""
        parts, connective = _coordinated(text)
        if len(parts) > 1 and all(re.match(r"[A-Z][a-z]* is ", part) for part in parts):
            claims = [self._claim(part) for part in parts]
            if any(len(claim) != 1 for claim in claims):
                raise Unread("'and' and 'or' in one sentence may be grouped in two ways")
            said = [claim[0] for claim in claims]
            return tuple(said) if connective == "or" else (tuple(chain(*said)),)
        match = _FACT.fullmatch(text)
        if match is None:
            raise Unread("it has none of the forms of this English")
        return self._phrase(match["said"], self._name(match["name"]))

    def _unit(self, text: str) -> Literal:
        claim = self._claim(text)
        if len(claim) != 1 or len(claim[0]) != 1:
            raise Unread("one property of one object is needed here")
        return claim[0][0]

    def _phrase(self, text: str, subject: str, number: str = "singular") -> _Some:
        text = re.sub(r"^(?:either|both) (?=.* (?:or|and) )", "", text)
        parts, connective = _coordinated(text)
        items: list[_All] = []
        for at, part in enumerate(parts):
            denies = part.startswith("not ")
            if at and not denies and parts[at - 1].startswith("not "):
                raise Unread("'not' before what is joined may deny one part or all")
            item = self._modified_or_adjective(part.removeprefix("not "), subject, number)
            if denies and len(item) != 1:
                raise Unread("to deny two properties at once is a disjunction")
            items.append(tuple(one.negated() for one in item) if denies else item)
        if number == "plural" and len(parts) > 1 and any(len(item) > 1 for item in items):
            raise Unread("the adjective may belong to more than one of the nouns")
        return tuple(items) if connective == "or" else (tuple(chain(*items)),)

    def _modified_or_adjective(self, text: str, subject: str, number: str) -> _All:
        indefinite = re.fullmatch(r"an? (.+)", text)
        if indefinite is not None:
            return self._modified(indefinite[1], subject, "singular")
        if number != "singular" and (" " in text or is_plural(text)):
            return self._modified(text, subject, "plural")
        return (self._property(text, "adjective", subject),)

    def _modified(self, text: str, subject: str, number: str) -> _All:
        adjective, _, head = text.rpartition(" ")
        if number == "plural":
            if not is_plural(head):
                raise Unread(f"{head!r} has not the shape of a plural noun")
            if is_ambiguous(head):
                raise Unread(f"{head!r} is the plural of two nouns")
            head = singular(head)
        elif is_plural(head) and singular(head) != head:
            raise Unread(f"{head!r} looks like a plural where a singular must stand")
        noun = self._property(head, "noun", subject)
        if not adjective:
            return (noun,)
        if adjective not in ATTRIBUTES:
            raise Unread(f"whether {text!r} has two properties is not known")
        return self._property(adjective, "adjective", subject), noun

    def _property(self, word: str, role: str, subject: str) -> Literal:
        wrong = _WORD.fullmatch(word) is None or len(word) > MAX_NAME_LENGTH or word in _NO_PROPERTIES
        if wrong or word.startswith("non-") or word.endswith("ly") or not _NO_PROPERTIES.isdisjoint(word.split("-")):
            raise Unread(f"{word!r} does not name a property")
        if role == "adjective" and is_plural(word):
            raise Unread(f"{word!r} looks like a noun without 'a' or 'an'")
        self._claimed(word, role)
        return Literal(True, word, (subject,))

    def _name(self, word: str) -> str:
        symbol = word.lower()
        if _NAME.fullmatch(word) is None or symbol in _NO_PROPERTIES or len(word) > MAX_NAME_LENGTH:
            raise Unread(f"{word!r} is not a name")
        self._claimed(symbol, "name")
        if is_plural(symbol):
            self._claimed(singular(symbol), "name")
        return symbol

    def _claimed(self, word: str, role: str) -> None:
        if self._roles.setdefault(word, role) != role:
            raise Unread(f"{word!r} is {self._roles[word]} and {role} in one problem")


def _coordinated(text: str) -> tuple[list[str], str | None]:
    """Split `A`, `A and B`, `A, B, and C`, or the same with `or`; a comma may stand before the connective."""
    connectives = [word for word in ("and", "or") if f" {word} " in text]
    if len(connectives) > 1:
        raise Unread("'and' and 'or' in one phrase may be grouped in two ways")
    if not connectives:
        if "," in text:
            raise Unread("a list needs its 'and' or 'or'")
        return [text], None
    parts = re.split(rf",? {connectives[0]} |, ", text)
    if not all(parts):
        raise Unread("a list has an empty part")
    return parts, connectives[0]


def _none(said: _Some) -> _Some:
    """Return the denial of each alternative; of two properties at once it would be a disjunction."""
    if any(len(every) != 1 for every in said):
        raise Unread("to deny two properties at once is a disjunction")
    return (tuple(every[0].negated() for every in said),)


def _implied(condition: _Some, said: _Some) -> list[Implication]:
    """Return the clauses of a condition and what it implies: one for each alternative and each conjunct."""
    clauses: list[Implication] = []
    if len(said) > 4 or any(len(every) > MAX_PREMISES for every in (*condition, *said)):
        raise Unread("too many properties are joined")
    for premises in condition:
        clauses += [Implication(premises, tuple(dict.fromkeys(chosen))) for chosen in product(*said)]
    return clauses
