"""ProofWriter's English and that of PrOntoQA's deduction rules, read by the grammar as facts and Horn rules.

    Bob is (not) kind.   The bald eagle likes Bob.                  (likes bald-eagle bob)
    All kind, rough people are (not) big.   Kind things are big.    (kind 'x) -> (big 'x)
    If something likes the dog and it is big then the dog is kind.  (likes 'x dog) -> (big 'x) -> (kind dog)
    Everything that is cold or a rompus is a zumpus.   (cold 'x) -> (zumpus 'x)   (rompus 'x) -> (zumpus 'x)
    Sam is a cat, Sam is not a dog, and Sam is a cow.  (cat sam)   (not (dog sam))   (cow sam)
    Prove: Sam is a brown numpus.                      (brown_and_numpus sam), a property with a definition

A reading is kept only where it is made of facts and Horn rules over single words: an opaque phrase hides what would
decide a question, and nothing would follow of it. "Not" is strong negation, never negation as failure. A word has one
role in a problem: `The orange is big. Bob is orange.` is refused. A noun behind an adjective of the deduction rules'
generator is two properties; a fake cat is no cat. What needs case analysis or contradiction is refused, never weakened.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain

from critics.grammar.chart import Conventions
from critics.grammar.inflection import is_ambiguous
from critics.grammar.lexicon import Vocabulary, is_base, is_plural, third, third_person
from critics.grammar.nouns import EVERYONE
from critics.grammar.reader import Reader, Refusal
from critics.problem import Formal
from critics.replay.clauses import statement_of
from critics.replay.first_order.syntax import Atom, Constant, Formula, Not, subformulas
from critics.replay.formula import MAX_NAME_LENGTH, Literal, Rule, Statement, parse_statement
from critics.replay.kernel import WorkLimitExceeded, saturated
from critics.text.english.statements import CONVENTIONS
from critics.text.translators.clausal import ATTRIBUTES, Namer, alternatives, clauses_of
from critics.text.translators.translation import (
    EMPTY_WORDS,
    WORD,
    Roles,
    TranslationError,
    Unread,
    check_word,
    claim,
    reading,
    sentences,
    unnumbered,
)

_X = "'x"
_MAX_JOINED = 9
"""More are read in too many ways; the data sets join five."""
_PLAIN = re.compile(r"[ -~\t\r\n]*")
_SENTENCE = re.compile(r"[A-Z][a-z]*(?:-[a-z]+)*(?:,? [A-Z]?[a-z]+(?:-[a-z]+)*)+\.")
"""Quotes and contractions are no part of this English."""
_SAME_SUBJECT = re.compile(r"(?P<name>[A-Z][a-z]*) is [^,]+(?:, (?P=name) is [^,]+)+,? and (?P=name) is [^,]+\.")
_OPENS_ANY = re.compile(r"If (?:(?:some|any)(?P<noun>one|thing)|people|things) ")
_PRONOUN = re.compile(r"\b(?:it|they|he|she)\b")
_OTHER_SUBJECT = re.compile(r" and [A-Z].*\bthey\b")
_PASSED_OVER = re.compile(
    r"\b(?:also|thus|therefore|hence|both|either)\b|\b(?:is|are|not) some(?:one|thing)\b|\b(?:do|does) (?!not\b)"
    r"|^(?!If ).*\bthen\b|\bthen\b.*\bthen\b"
    r"|\b(?!(?:[Aa]ll|[Ee]very|[Ee]ach|[Nn]o|[Oo]nly|[Aa]ny|are|is|not|and|or|an?)\b)[A-Za-z-]+ [a-z-]+ "
    r"(?:people|things?|person)\b"
)
"""Words that the grammar passes over, or that change what the next one says: `former kind people`."""
_ALSO_VERBS = ("like", "have", "has")
_NOUN_BEFORE = ("a", "an", "every", "each", "no")
Alternatives = tuple[tuple[Literal, ...], ...]
"""At least one of these holds, with all that it says."""


_NO_WORDS = Vocabulary()


@dataclass(frozen=True, slots=True)
class Language:
    """A data set's conventions, and the adjectives that can be taken off a noun."""

    conventions: Conventions
    attributes: frozenset[str] = frozenset()


PROOFWRITER = Language(CONVENTIONS["proofwriter"])
DEDUCTIONS = Language(CONVENTIONS["prontoqa-ood"], ATTRIBUTES)


@dataclass(slots=True)
class _Problem:
    """One problem being read: its reader, the roles of its words, and what its sentences range over."""

    language: Language
    reader: Reader
    roles: Roles = field(default_factory=Roles)
    domains: dict[str, str] = field(default_factory=dict[str, str])

    def formulas(self, sentence: str) -> Iterator[Formula]:
        """Yield what a sentence says, each of its words in its one role; raises `TranslationError`."""
        listed = _SAME_SUBJECT.fullmatch(sentence)
        parts = [sentence] if listed is None else re.split(r",? and |, ", sentence)
        with reading(sentence):
            if _SENTENCE.fullmatch(sentence) is None:
                raise Unread("a sentence begins with a capital, ends with a full stop, and has words and commas alone")
            for part in parts:
                yield self._formula(part)

    def _formula(self, sentence: str) -> Formula:
        if len(re.findall(r",? (?:and|or) |, ", sentence)) > _MAX_JOINED:
            raise Unread(f"more than {_MAX_JOINED} conditions or properties are joined")
        if (passed := _PASSED_OVER.search(sentence)) is not None:
            raise Unread(f"{passed[0]!r} may say more than the sentence without it")
        if sentence.startswith(("A ", "An ")):
            raise Unread("it may be said of one or of all: say `every`")
        read = self.reader.read(sentence)
        if isinstance(read, Refusal):
            raise Unread(f"{read.word!r}: {read.why}" if read.word else read.why)
        _check_pronouns(sentence)
        ranges = [EVERYONE in read.conventions, re.search(r"\b(?:some|every)?things?\b", sentence) is not None]
        self.domains |= {kind: sentence for kind, found in zip(("people", "things"), ranges, strict=True) if found}
        written = re.sub(r"[,.]", "", sentence).split(" ")
        uses = _Words(self.roles, self.language.attributes, [written[0].lower(), *written[1:]], set(written))
        for part in subformulas(read.formula):
            if isinstance(part, Atom):
                uses.claim(part)
            elif isinstance(part, Not) and not isinstance(part.body, Atom):
                raise Unread("'not' before what is joined may deny one part or all")
        return read.formula

    def _namer(self, formula: Formula) -> Namer:
        atoms = [part.predicate.split(" ") for part in subformulas(formula) if isinstance(part, Atom)]
        return Namer("proofwriter", frozenset(words[-1] for words in atoms if len(words) > 1 and words[-1] != "_"))

    def statements(self, sentence: str) -> list[Statement]:
        """Return the facts or the rules that a sentence states; raises `TranslationError`."""
        found: list[Statement] = []
        for formula in self.formulas(sentence):
            with reading(sentence):
                clauses = clauses_of(formula, self._namer(formula))
            for clause in clauses:
                said = statement_of(clause)
                if said is None:
                    raise TranslationError(sentence, "to use it would need case analysis (or-elimination)")
                if isinstance(said, Rule) and not said.premises:
                    raise TranslationError(sentence, "it says something of everything there is")
                found.append(said)
        return found

    def asked(self, question: str) -> Alternatives:
        """Return what is asked about named objects; raises `TranslationError`."""
        try:
            said = claim(question)
            (formula,) = self.formulas(said)
            with reading(said):
                denials = alternatives(formula, {}, self._namer(formula), holds=False)
        except TranslationError as error:
            raise TranslationError(question, error.why) from error
        except ValueError as error:
            raise TranslationError(question, "a question must be one claim about named objects") from error
        return tuple(tuple(one.negated() for one in each) for each in denials)

    def check_domains(self) -> None:
        """Refuse a problem in which `people` may be others than `things`."""
        nouns = [word for word, role in self.roles.known.items() if role == "object"]
        if len(self.domains) > 1 and nouns:
            last = list(self.domains.values())[-1]
            raise TranslationError(last, f"the {nouns[0]} may be no one of the people, and both kinds are spoken of")


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one sentence, each of which is given its role."""

    roles: Roles
    attributes: frozenset[str]
    words: list[str]
    capitals: set[str]

    def claim(self, atom: Atom) -> None:
        """Give the words of an atom their roles; raises `Unread`."""
        for term in atom.arguments:
            if isinstance(term, Constant):
                self._object(term.name)
        first, _, rest = atom.predicate.partition(" ")
        if rest == "_":
            self._verb(first)
        elif rest and first in self.attributes:
            if "are" in self.words and {"and", "or"} & set(self.words):
                raise Unread("the adjective may belong to more than one of the nouns")
            self.roles.claim(first, "adjective")
            self._property(rest)
        else:
            self._property(atom.predicate)

    def _property(self, name: str) -> None:
        """Tell nouns and adjectives apart by their places in the sentence."""
        _check(name)
        seen = [at for at, word in enumerate(self.words) if name in (word, _NO_WORDS.singular(word))]
        if not seen:
            raise Unread(f"{name!r} is no word of the sentence")
        for at in seen:
            if is_ambiguous(self.words[at]):
                raise Unread(f"{self.words[at]!r} is the plural of two different nouns")
            before = self.words[at - 1] if at else ""
            if before in self.attributes:
                before = self.words[at - 2] if at > 1 else ""
            is_noun = before in _NOUN_BEFORE or is_plural(self.words[at])
            if third(self.words[at]) == name and "are" not in self.words:
                raise Unread(f"{self.words[at]!r} says what is done, and to nobody")
            self.roles.claim_forms(name, "noun" if is_noun else "adjective")

    def _verb(self, base: str) -> None:
        symbol = third_person(base)
        if not is_base(base) or not {base, symbol} & set(self.words):
            raise Unread(f"{base!r} is no verb in the present")
        if re.search(rf"\b(?:is|are) (?:not )?(?:{base}|{symbol})\b", " ".join(self.words)) is not None:
            raise Unread(f"{base!r} stands behind a verb")
        for form in (base, symbol):
            if form not in _ALSO_VERBS:
                _check(form)
            self.roles.claim(form, "verb")

    def _object(self, name: str) -> None:
        article, _, noun = name.partition(" ")
        if not noun:
            if name.capitalize() not in self.capitals:
                raise Unread(f"{name!r} is not a name")
            _check(name)
            self.roles.claim_forms(name, "name")
            return
        parts = noun.split(" ")
        if article != "the" or len(parts) > 2 or any(part.endswith("ly") for part in parts):
            raise Unread(f"{name!r} is not one object")
        for part, role in zip(parts, ("part of a longer name", "head of a longer name"), strict=False):
            _check(part)
            if len(parts) > 1:
                self.roles.claim(part, role)
        self.roles.claim("-".join(parts), "object")


def _check_pronouns(sentence: str) -> None:
    """Refuse a pronoun that may stand for another one than the data set's: `someone .. they`, `something .. it`."""
    opening = _OPENS_ANY.match(sentence)
    pronouns = set(_PRONOUN.findall(sentence))
    if opening is not None:
        # In "If someone is kind and Bob is kind then they .." both may be meant.
        is_clear = pronouns <= {"it" if opening["noun"] == "thing" else "they"} and not _OTHER_SUBJECT.search(sentence)
    else:
        is_clear = pronouns <= {"it"} and re.search(r"[^.] [A-Z]|\bthe\b.*\bthe\b.*\bit\b", sentence) is None
    if pronouns and not is_clear:
        raise Unread("what the pronoun stands for is not certain")


def _check(word: str) -> None:
    for part in (word, *word.split("-")):
        check_word(part, WORD, EMPTY_WORDS)


@lru_cache(maxsize=32)
def _read(language: Language, context: str, question: str) -> tuple[_Problem, Formal]:
    """Return a problem with its formalisation; the definition of a compound goal is the last of the axioms."""
    for text in (context, claim(question)):
        if _PLAIN.fullmatch(text) is None:
            raise TranslationError(text, "letters, marks or blanks in it are outside the language")
    said = unnumbered(sentences(context))
    problem = _Problem(language, Reader([*said, claim(question)], language.conventions))
    stated = [str(one) for sentence in said for one in problem.statements(sentence)]
    asked = problem.asked(question)
    problem.check_domains()
    formal = _with_goal(stated, asked, question)
    if language is DEDUCTIONS:
        _check_forward(formal, asked, question)
    elif [len(way) for way in asked] != [1]:
        raise TranslationError(question, "a question must be one claim")
    return problem, formal


def translate_proofwriter(context: str, question: str) -> Formal:
    """Return the axioms of each sentence of the context, in order, repetitions kept, and the goal.

    The context may number its sentences, all of them and from 1 on; each must end with a full stop, so that a cut-off
    one is not read as a shorter one. Raises `TranslationError` for whatever is not understood.
    """
    return _read(PROOFWRITER, context, question)[1]


def translate_deductions(context: str, question: str) -> Formal:
    """Return the axioms of each sentence, in order, then the definition of a compound goal.

    The question is `Prove: ` and a claim about one named object. Raises `TranslationError` for whatever is not
    understood, and for what the kernel cannot express.
    """
    if not " ".join(question.split()).startswith("Prove: "):
        raise TranslationError(question, "a question must start with 'Prove:'")
    return _read(DEDUCTIONS, context, question)[1]


def sentence_reader(context: str, question: str) -> Callable[[str], list[Statement]]:
    """Return a reader of one more sentence of ProofWriter's, as if its context ended in it.

    Both raise `TranslationError`.
    """
    problem, _ = _read(PROOFWRITER, context, question)

    def read(sentence: str) -> list[Statement]:
        more = replace(problem, roles=problem.roles.copy(), domains=problem.domains.copy())
        found = more.statements(sentence)
        more.check_domains()
        return found

    return read


def _with_goal(stated: list[str], asked: Alternatives, question: str) -> Formal:
    """Return axioms and goal; what is asked of several properties at once becomes a property with a definition."""
    if len(asked) == 1 and len(asked[0]) == 1:
        formal = Formal(tuple(stated), str(asked[0][0]))
    else:
        subjects = {one.arguments for one in chain(*asked)}
        if len(subjects) > 1 or len(min(subjects)) > 1:
            raise TranslationError(question, "a question must be about one named object")
        spelled = "_or_".join(
            "_and_".join(f"{'' if o.positive else 'not_'}{o.predicate}" for o in way) for way in asked
        )
        if len(spelled) > MAX_NAME_LENGTH:
            raise TranslationError(question, f"{spelled!r} is longer than {MAX_NAME_LENGTH} letters")
        of_any = [tuple(replace(one, arguments=(_X,)) for one in way) for way in asked]
        definitions = [str(Rule(way, Literal(True, spelled, (_X,)))) for way in of_any]
        formal = Formal((*stated, *definitions), str(Literal(True, spelled, min(subjects))))
    return formal


def _check_forward(formal: Formal, asked: Alternatives, question: str) -> None:
    """Refuse a denial that forward chaining does not reach: by contradiction it may be provable all the same."""
    if all(wanted.positive for wanted in chain(*asked)):
        return
    try:
        kernel = saturated(map(parse_statement, formal.axioms))
    except WorkLimitExceeded as error:
        raise TranslationError(question, f"whether it is reached is not known: {error}") from error
    if formal.goal not in map(str, kernel.known):
        raise TranslationError(question, "it would need proof by contradiction")
