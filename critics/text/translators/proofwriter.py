"""ProofWriter's English (Tafjord et al. 2021, open world) into facts and Horn rules, one axiom per sentence.

    Bob is (not) kind.   The bald eagle is (not) kind.              (kind bald-eagle)
    The cat likes the dog.   Bob does not like the dog.             (not (likes bob dog))
    All kind, rough people are (not) big.   Kind things are big.    (kind 'x) -> (big 'x)
    If someone is kind and not big then they like the dog.          (kind 'x) -> (not (big 'x)) -> (likes 'x dog)
    If something likes the dog and it is big then the dog is kind.  (likes 'x dog) -> (big 'x) -> (kind dog)
    If Bob is kind and the cat likes Bob then the cat is kind.      (kind bob) -> (likes cat bob) -> (kind cat)

"Not" is strong negation wherever it stands: never negation as failure. What must not be guessed is settled by
these rules, none of which needs a vocabulary:

* Objects have a capitalised name or follow `the`; `the bald eagle` is one object. A word has one role in a
  problem, so that `the big cat` is refused where something is big, or where there is `the cat`.
* `They` is the `someone` and `it` is the `something` that opens the condition, as the data set has it, also where
  another object was named since. Where nothing opens it, `it` is the one object named so far; where there
  are two, or where the other pronoun is used, the sentence is refused.
* `People` and `things` both range over everything, as in the data set, which never mixes them; one problem may
  mix them only where all its objects have names of their own, for of a stone `people` says nothing.
* After `is not A and` an adjective needs its own `not`: `is not kind and rough` may mean two things.
* A verb's one symbol is its third person, `likes`; a form that is not regular is refused, because its other
  forms could not be recognised as the same relation.
"""

import re
from dataclasses import dataclass, field
from typing import Literal as Choice

from critics.problem import Formal
from critics.replay.formula import MAX_PREMISES, Literal, Rule, Statement
from critics.text.inflection import is_plural, singular
from critics.text.translators.function_words import FUNCTION_WORDS, QUANTIFYING_WORDS
from critics.text.translators.translation import (
    WORD,
    Roles,
    TranslationError,
    Unread,
    check_word,
    claim,
    sentences,
    understood,
    unnumbered,
)

_Number = Choice["singular", "plural"]

_PLAIN = re.compile(r"[ -~\t\r\n]*")
"""Look-alike letters and blanks of Unicode, and control characters, are no part of this English."""
_QUESTION_LEAD = re.compile(
    r"(?:query: ?)?"
    r"(?:(?:based on the above information, )?is the following statement true(?:, false,? or unknown| or false) ?[?:] ?"
    r"|true(?:, false,? or unknown| or false) ?[?:] ?)?",
    re.IGNORECASE,
)
_OBJECT = r"the [a-z]+(?: [a-z]+)?|[A-Z][a-z]*"
_PREDICATE = rf"(?:is|are) (?:not )?[^ ]+|(?:(?:does|do) not )?[^ ]+ (?:{_OBJECT})"
_CLAUSE = re.compile(rf"(?P<subject>{_OBJECT}|something|someone|it|they) (?P<predicate>{_PREDICATE})")
_ATTRIBUTE = re.compile(r"(?P<verb>is|are) (?P<negation>not )?(?P<adjective>[^ ]+)")
_RELATION = re.compile(rf"(?P<verb>[^ ]+) (?P<object>{_OBJECT})")
_DENIED_RELATION = re.compile(rf"(?P<auxiliary>does|do) not (?P<verb>[^ ]+) (?P<object>{_OBJECT})")
_CONTINUED = re.compile(r"(?P<negation>not )?(?P<adjective>[^ ]+)")
_UNIVERSAL = re.compile(r"(?P<all>All )?(?P<adjectives>[^ ]+(?:, [^ ]+)*) (?P<kind>people|things) (?P<predicate>.+)")
_CONDITIONAL = re.compile(r"If (?P<conditions>.+?),? then (?P<conclusion>.+)")
_CONJUNCTION = re.compile(r"(, and | and |, )")
_WORD = re.compile(r"[a-z]+")

_VARIABLE = "'x"
_PRONOUNS = {"it": "something", "they": "someone"}
_DOMAINS = {"people": "people", "someone": "people", "things": "things", "something": "things"}
_MORE_FUNCTION_WORDS = frozenset(
    """
    people person thing things since although though whereas whenever whether otherwise hence thus therefore
    however instead rarely usually frequently even already now today tomorrow yesterday soon later once twice
    everywhere nowhere ever forever anymore thrice sometime somewhat indeed nevertheless nonetheless meanwhile
    afterwards beforehand well better best worse worst alone together altogether enough non am having doing done
    ought used me him her us them my your our their itself himself herself themselves why how onto near like
    unlike under over above below behind before after between beside besides beyond against among across along
    around through during within inside outside off up down out zero twenty thirty forty fifty million dozens
    hundreds thousands true false unknown impossible possible likely unlikely
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
_FUNCTION_WORDS = FUNCTION_WORDS | QUANTIFYING_WORDS | _MORE_FUNCTION_WORDS
"""Words that name neither a property nor a relation nor an object: what uses one is outside the language."""
_ALSO_VERBS = frozenset({"like", "have", "has"})
"""Function words that are verbs as well."""


def translate(context: str, question: str) -> Formal:
    """Return one axiom for each sentence of the context, in order, repetitions kept, and the goal.

    The context may number its sentences, `1- Bob is kind. 2- ..`, all of them and from 1 on; each must end with a full
    stop, so that a cut-off one is not read as a shorter one. The question is the claim about named objects, alone
    or after `Based on the above information, is the following statement true, false, or unknown?` or
    `True or false:`. Raises `TranslationError` for all else.
    """
    lexicon = _Lexicon()
    said = unnumbered(sentences(_plain(context)))
    axioms = tuple(str(understood(s, lambda sentence: _SentenceReader(sentence, lexicon).statement())) for s in said)
    asked = claim(_plain(question), _QUESTION_LEAD)
    goal = str(understood(asked, lambda sentence: _SentenceReader(sentence, lexicon).fact()))
    lexicon.check_domains()
    return Formal(axioms, goal)


def third_person(base: str) -> str:
    """Return a verb's third person singular: `like` -> `likes`, `carry` -> `carries`, `have` -> `has`."""
    if base == "have":
        return "has"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", base) else "s")


def _plain(text: str) -> str:
    if _PLAIN.fullmatch(text) is None:
        unknown = next(char for char in text if _PLAIN.fullmatch(char) is None)
        raise TranslationError(text, f"the character {unknown!r} is outside the language")
    return text


@dataclass(slots=True)
class _Lexicon:
    """The words of one problem, their roles, and what its sentences range over."""

    roles: Roles = field(default_factory=Roles)
    bases: dict[str, str] = field(default_factory=dict[str, str])
    """By a verb's third person the base form that was met for it."""
    domains: dict[str, str] = field(default_factory=dict[str, str])
    """By `people` and `things` a sentence about them."""

    def adjective(self, word: str) -> str:
        """Return the predicate of an adjective."""
        _check_word(word, WORD)
        if is_plural(word) and singular(word) != word:
            raise Unread(f"{word!r} looks like a plural noun where an adjective must stand")
        return self.roles.claim(word, "adjective")

    def verb(self, word: str, *, inflected: bool) -> str:
        """Return the predicate of a verb, whether it stands in the third person singular or in its base form."""
        if word not in _ALSO_VERBS:
            _check_word(word, _WORD)
        bases = _base_forms(word) if inflected else [word]
        if not bases or not all(map(_is_base, bases)):
            form = "the third person singular" if inflected else "the base form"
            raise Unread(f"{word!r} is not {form} of a regular verb")
        symbol = third_person(bases[0])
        if not inflected and self.bases.setdefault(symbol, word) != word:
            raise Unread(f"{word!r} and {self.bases[symbol]!r} have the same third person")
        for form in bases:
            self.roles.claim(form, "verb")
        return self.roles.claim(symbol, "verb")

    def object(self, text: str) -> str:
        """Return the symbol of an object: `Bob` -> `bob`, `the bald eagle` -> `bald-eagle`."""
        article, _, noun = text.partition(" ")
        if not noun:
            name = article.lower()
            _check_word(name, _WORD)
            return self.roles.claim(name, "name")
        words = noun.split(" ")
        for word in words:
            _check_word(word, _WORD)
            if is_plural(word) and singular(word) != word:
                raise Unread(f"{word!r} has the shape of a plural or of a verb; one object is needed")
        if len(words) > 1:
            self._compound(*words)
        return self.roles.claim("-".join(words), "object")

    def domain(self, sentence: str, word: str) -> None:
        """Note what a sentence ranges over."""
        self.domains.setdefault(_DOMAINS[word], sentence)

    def check_domains(self) -> None:
        """Refuse a problem in which `people` may be others than `things`."""
        nouns = [word for word, role in self.roles.known.items() if role == "object"]
        if len(self.domains) > 1 and nouns:
            last = list(self.domains.values())[-1]
            raise TranslationError(last, f"the {nouns[0]} may be no one of the people, and both kinds are spoken of")

    def _compound(self, modifier: str, head: str) -> None:
        if modifier.endswith("ly") or head.endswith("ly"):
            # "The cat secretly likes the dog" has no object called the cat secretly.
            raise Unread(f"'{modifier} {head}' looks like a noun and an adverb")
        self.roles.claim(modifier, "part of a longer name")
        self.roles.claim(head, "head of a longer name")


@dataclass(slots=True)
class _SentenceReader:
    """Reads one sentence; knows which objects it has named so far, and what its pronouns stand for."""

    sentence: str
    lexicon: _Lexicon
    bound: str | None = None
    """The word that introduced the variable: something or someone."""
    opens: bool = False
    """True if that word came before any object, so that a pronoun can only go back to it."""
    named: dict[str, bool] = field(default_factory=dict[str, bool])
    """The objects named so far, in order, and whether `it` can go back to them: not to a person's name."""

    def statement(self) -> Statement:
        """Read a fact or a rule."""
        text = self.sentence.removesuffix(".")
        conditional = _CONDITIONAL.fullmatch(text)
        if conditional is not None:
            return self._conditional(conditional["conditions"], conditional["conclusion"])
        universal = _UNIVERSAL.fullmatch(text)
        if universal is not None:
            return self._universal(universal)
        return self.fact()

    def fact(self) -> Literal:
        """Read a claim about named objects."""
        text = self.sentence.removesuffix(".")
        if text.startswith("the "):
            raise Unread("it does not start with a capital")
        literal = self._clause(re.sub(r"^The ", "the ", text))
        if literal.variables():
            raise Unread("a fact or a question must be about named objects")
        return literal

    def _universal(self, match: re.Match[str]) -> Rule:
        adjectives = match["adjectives"].split(", ")
        if not match["all"]:
            if not adjectives[0][:1].isupper() or adjectives[0].endswith("ly"):
                # "Mostly people are kind" says nothing about people who are mostly.
                raise Unread(f"{adjectives[0]!r} does not start a sentence about all people or things of a kind")
            adjectives[0] = adjectives[0][0].lower() + adjectives[0][1:]
        premises = [Literal(True, self.lexicon.adjective(a), (_VARIABLE,)) for a in adjectives]
        self.lexicon.domain(self.sentence, match["kind"])
        return self._rule(premises, self._predicate(_VARIABLE, "plural", match["predicate"]))

    def _conditional(self, conditions: str, conclusion: str) -> Rule:
        parts = _CONJUNCTION.split(conditions)
        if len(parts) > 1 and "and" not in parts[-2]:
            raise Unread("the last of several conditions must follow 'and'")
        premises: list[Literal] = []
        for part in parts[::2]:
            continued = _CONTINUED.fullmatch(part)
            premises.append(self._clause(part) if continued is None else self._continuation(premises, continued))
        if conclusion.startswith(("something ", "someone ")):
            raise Unread("a conclusion must be about what the condition speaks of")
        return self._rule(premises, self._clause(conclusion))

    def _rule(self, premises: list[Literal], conclusion: Literal) -> Rule:
        if len(premises) > MAX_PREMISES:
            raise Unread(f"more than {MAX_PREMISES} conditions")
        return Rule(tuple(premises), conclusion)

    def _continuation(self, premises: list[Literal], match: re.Match[str]) -> Literal:
        """Read the `not big` of `Bob is kind and not big`."""
        last = premises[-1] if premises else None
        if last is None or len(last.arguments) != 1:
            raise Unread(f"{match[0]!r} does not continue a list of adjectives")
        positive = match["negation"] is None
        if positive and not last.positive:
            raise Unread(f"the 'not' before {last.predicate!r} may or may not reach {match['adjective']!r}")
        return Literal(positive, self.lexicon.adjective(match["adjective"]), last.arguments)

    def _clause(self, text: str) -> Literal:
        match = _CLAUSE.fullmatch(text)
        if match is None:
            raise Unread(f"{text!r} has not the form 'X is (not) Y' or 'X likes Y' or 'X does not like Y'")
        subject, predicate = match["subject"], match["predicate"]
        return self._predicate(self._subject(subject), "plural" if subject == "they" else "singular", predicate)

    def _subject(self, text: str) -> str:
        if text in _PRONOUNS:
            return self._antecedent(text)
        if text not in _PRONOUNS.values():
            # In "If someone is kind and Bob is kind then they .." both may be meant.
            self.opens = self.opens and text.startswith("the ")
            return self._object(text)
        if self.bound is not None:
            raise Unread(f"whether this {text!r} is the same one is not said")
        self.lexicon.domain(self.sentence, text)
        self.bound, self.opens = text, not self.named
        return _VARIABLE

    def _antecedent(self, pronoun: str) -> str:
        if self.opens and self.bound == _PRONOUNS[pronoun]:
            return _VARIABLE
        if self.bound is None and pronoun == "it" and list(self.named.values()) == [True]:
            return next(iter(self.named))
        raise Unread(f"what {pronoun!r} stands for is not certain")

    def _object(self, text: str) -> str:
        symbol = self.lexicon.object(text)
        self.named[symbol] = text.startswith("the ")
        return symbol

    def _predicate(self, subject: str, number: _Number, text: str) -> Literal:
        """Read what stands after the subject, `is not kind` or `likes the dog`, in the subject's number."""
        if (match := _ATTRIBUTE.fullmatch(text)) is not None:
            self._agrees(match["verb"], {"singular": "is", "plural": "are"}[number])
            adjective = self.lexicon.adjective(match["adjective"])
            return Literal(match["negation"] is None, adjective, (subject,))
        if (match := _DENIED_RELATION.fullmatch(text)) is not None:
            self._agrees(match["auxiliary"], {"singular": "does", "plural": "do"}[number])
            verb = self.lexicon.verb(match["verb"], inflected=False)
            return Literal(False, verb, (subject, self._object(match["object"])))
        if (match := _RELATION.fullmatch(text)) is not None:
            verb = self.lexicon.verb(match["verb"], inflected=number == "singular")
            return Literal(True, verb, (subject, self._object(match["object"])))
        raise Unread(f"{text!r} is neither 'is (not) Y' nor 'likes Y' nor 'does not like Y'")

    def _agrees(self, verb: str, wanted: str) -> None:
        if verb != wanted:
            raise Unread(f"{verb!r} stands where {wanted!r} must")


def _check_word(word: str, pattern: re.Pattern[str]) -> None:
    for part in (word, *word.split("-")):
        check_word(part, pattern, _FUNCTION_WORDS)


def _base_forms(word: str) -> list[str]:
    """Return the verbs that have this third person singular, the likeliest first."""
    candidates = ["have"] if word == "has" else [word[:-1], word[:-2], word[:-3] + "y"]
    return [base for base in candidates if _is_base(base) and third_person(base) == word]


def _is_base(word: str) -> bool:
    """Say whether a word can be a base form whose third person follows by rule.

    Not a past tense (`liked`; `need` is none), not a third person (`likes`; `kiss` is none), nor a verb such as
    `quiz`, which doubles its last letter.
    """
    if re.search(r"[^e]ed$|[^s]s$|[aeiou]z$", word):
        return False
    return len(word) > 1
