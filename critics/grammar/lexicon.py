"""The open class: the forms of verbs from a dictionary, the number of nouns, and what one problem says of its words.

`verbs.txt`, `plurals.txt` and `adjectives.txt` are written once by `tools/verbs.py`. A word may be a verb and a noun:
the grammar tries both, and refuses the sentence where both can be read.
"""

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from critics.grammar.inflection import OWN_PLURALS
from critics.grammar.inflection import is_plural as has_plural_shape
from critics.grammar.inflection import singular as singular_by_rule
from critics.grammar.words import (
    CLASSES,
    FLEXIBLE_ADVERBS,
    FUNCTION,
    GENDERS,
    MODALS,
    NOT_ADVERBS,
    POSTPOSED,
    PREPOSITIONS,
    TIMES,
    is_person,
)

_NO_PLURALS = CLASSES["no_plurals"]
_OWN_PLURALS = OWN_PLURALS | CLASSES["own_plurals"]
"""Plurals with a meaning of their own: they keep their form, and nothing is said of an `arm`."""
_NO_PARTICIPLES = CLASSES["no_participles"]


def regular_forms(verb: str) -> tuple[str, str, str]:
    """Return the past, the participle and the -ing of a regular verb."""
    if verb.endswith("e"):
        past, gerund = f"{verb}d", f"{verb}ing" if verb.endswith(("ee", "oe", "ye")) else f"{verb[:-1]}ing"
    elif re.search(r"[^aeiou]y$", verb):
        past, gerund = f"{verb[:-1]}ied", f"{verb}ing"
    else:
        past, gerund = f"{verb}ed", f"{verb}ing"
    return past, past, gerund


def third_person(verb: str) -> str:
    """Return a verb's third person singular."""
    if verb == "have":
        return "has"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", verb) else "s")


@dataclass(frozen=True, slots=True)
class VerbForms:
    """The dictionary's verbs, by each of their forms."""

    bases: frozenset[str]
    third: dict[str, str]
    past: dict[str, str]
    participle: dict[str, str]
    gerund: dict[str, str]
    nouns: frozenset[str]
    """Verbs that are nouns too."""
    rare: frozenset[str]
    """Verbs that are mostly something else: tried where nothing else can be read."""
    adjectives: frozenset[str]


@lru_cache(maxsize=1)
def verb_forms() -> VerbForms:
    """Return all verbs, read from the data file once."""
    flags = _verb_flags()
    nouns, rare = (frozenset(verb for verb, text in flags.items() if flag in text) for flag in "nr")
    adjectives = Path(__file__).with_name("adjectives.txt").read_text(encoding="utf-8").split()
    found = VerbForms(frozenset(_verb_lines()), {}, {}, {}, {}, nouns, rare, frozenset(adjectives))
    for verb, (past, participle, gerund) in _verb_lines().items():
        found.third.setdefault(third_person(verb), verb)
        for texts, forms in ((past, found.past), (participle, found.participle), (gerund, found.gerund)):
            for form in texts.split("/"):
                forms.setdefault(form, verb)
    for forms in (found.past, found.participle):
        forms.pop("-", None)
        for form in [form for form, verb in forms.items() if form in found.bases and verb in rare]:
            # `Feed` is no past of `fee`.
            del forms[form]
    # A form that is the base of another verb is that verb first: `found` is of `find` as well.
    for form, verb in (("found", "find"), ("saw", "see"), ("felt", "feel"), ("lay", "lie"), ("left", "leave")):
        found.past[form] = verb
    return found


def _lines() -> Iterator[list[str]]:
    text = Path(__file__).with_name("verbs.txt").read_text(encoding="utf-8")
    return (line.split(" ") for line in text.splitlines())


@lru_cache(maxsize=1)
def _verb_lines() -> dict[str, tuple[str, str, str]]:
    pairs = ((head.partition(":")[0], forms) for head, *forms in _lines())
    return {verb: (forms[0], forms[1], forms[2]) if forms else regular_forms(verb) for verb, forms in pairs}


def _verb_flags() -> dict[str, str]:
    return {verb: flags for head, *_ in _lines() for verb, _, flags in [head.partition(":")]}


@lru_cache(maxsize=1)
def _doubtful_plurals() -> dict[str, tuple[str, ...]]:
    text = Path(__file__).with_name("plurals.txt").read_text(encoding="utf-8")
    return {form: tuple(singulars) for form, *singulars in (line.split(" ") for line in text.splitlines())}


def is_plural(word: str) -> bool:
    """Say whether a word is a plural noun: by its shape, where it is not a verb alone."""
    verb = verb_forms().third.get(word)
    if verb is not None and verb not in verb_forms().nouns:
        return False
    return _one_of(word) != word or word in _OWN_PLURALS or (word in _SAME_PLURALS)


_SAME_PLURALS = frozenset("fish sheep deer species series aircraft carp goldfish police cattle data".split())  # noqa: SIM905


@lru_cache(maxsize=8_192)
def _one_of(word: str) -> str:
    """Return the singular of a noun by rule and dictionary; the word itself where it is none."""
    parts = word.split("-")
    if word in _NO_PLURALS or len(word) < 3 or not all(map(str.isalpha, parts)) or not has_plural_shape(word):
        return word
    try:
        return singular_by_rule(word)
    except ValueError:
        return word


def is_adverb(word: str) -> bool:
    """Say whether a word stands beside a verb: by its ending, or from a list."""
    return word in FLEXIBLE_ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in NOT_ADVERBS)


def third(word: str) -> str | None:
    """Return the verb of a third person singular, `has` and `does` among them."""
    return verb_forms().third.get(word)


def past(word: str) -> str | None:
    """Return the verb of a past tense."""
    return verb_forms().past.get(word)


def is_finite_alone(word: str) -> bool:
    """Say whether a word is a finite verb and nothing else: `ate`, `accumulates`, but not `cooks` or `cooked`."""
    if (verb := third(word)) is not None:
        return not is_plural(word) and word not in _OWN_PLURALS and _one_of(word) in (word, verb)
    return past(word) is not None and not (is_participle(word) or is_base(word) or is_adj(word))


def gerund(word: str) -> str | None:
    """Return the verb of a form in -ing."""
    return None if word in _NO_PARTICIPLES else verb_forms().gerund.get(word)


def is_rare(word: str) -> bool:
    """Say whether a word that can be a verb in the present is mostly something else."""
    return (third(word) or word) in verb_forms().rare


def is_noun_too(verb: str) -> bool:
    """Say whether a verb's base, or its third person's, is a noun or an adjective as well."""
    return (third(verb) or verb) in verb_forms().nouns or is_adj(third(verb) or verb)


def is_adj(word: str) -> bool:
    """Say whether a word is an adjective and no noun: none is the head of a noun phrase."""
    return word in verb_forms().adjectives


def is_base(word: str) -> bool:
    """Say whether a word is a verb's base form."""
    return word in verb_forms().bases


def is_participle(word: str) -> bool:
    """Say whether a word after a noun can open what restricts it: `sold`, `working`, `available`."""
    if word in _NO_PARTICIPLES:
        return False
    return word in POSTPOSED or word in verb_forms().participle or word in verb_forms().gerund


_NO_NAMES = CLASSES["no_names"]
_FINITE = frozenset("is was has had does did can may must will should could would".split())  # noqa: SIM905
_ID = r"(?P<id>\d+[A-Za-z]?|[A-Z]-?\d+|[A-Z])"
_NUMBERED = re.compile(rf"(?P<noun>[A-Z][a-z]+) {_ID} (?P<verb>[a-z]+)")
_ASKED = re.compile(rf"(?:Is|Was|Does|Did|Has|Can|May|Must|Will) (?P<noun>[a-z]+) {_ID} (?=[a-z])")
_TITLE = re.compile(
    r"(?<![\w'-])[A-Z]\w*(?: [A-Z]\w*)* (?:(?:at|as|in|on|of|the|a|am|for|to|with|from|under|over) ){1,2}"
    r"[A-Z]\w*(?: [A-Z]\w*)*"
)


INITIAL = re.compile(r"\b(?:[A-Z][\w'-]* )+(?:(?:[A-Z]|St|Jr|Sr|No)\. )+[A-Z][\w-]*")
"""A name with an initial, or a heading before a sentence: Ann J. Land, Hall B. Ann."""


def _is_title(title: str, text: str) -> bool:
    """Say whether a run of words is a name: inside a sentence too, and its ends never without the rest."""
    first, *_, last = title.split(" ")
    num = text.count(title)
    inside = re.search(rf"[a-z,] {re.escape(title)}\b", text) is not None
    ends = {len(re.findall(rf"\b{end}\b", text)) for end in (first, last)}
    return num > 1 and inside and ends == {num} and first.lower() not in FUNCTION


@dataclass(slots=True)
class Vocabulary:
    """Words of one problem's texts: which are names, and which stand in lower case."""

    lower: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    first: set[str] = field(default_factory=set[str])
    """Words that a sentence begins with, before a verb in the singular: names as a rule."""
    counted: set[str] = field(default_factory=set[str])
    """Nouns that stand behind `a`, `an`, `every` or `each`."""

    definites: set[str] = field(default_factory=set[str])
    """Nouns and names of which one is spoken of: `the dog`, `James` with a verb in the singular."""

    numbered: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """A noun and the number of one that begin a sentence: `Ticket 4471 is open`, `Is room 214 free?`."""

    titles: tuple[str, ...] = ()
    """Names with initials that stand at several places; with small words, if no part of them stands alone."""

    @classmethod
    def of(cls, sentences: Iterable[str]) -> "Vocabulary":
        """Collect the words of sentences; the first word of each tells nothing by its capital."""
        found, told = cls(), list(sentences)
        for sentence in told:
            found.add(sentence)
        text = "\n".join(told)
        titles = {title[0] for title in _TITLE.finditer(text)}
        titles = {title for title in titles if _is_title(title, text)}
        titles |= {name for name in INITIAL.findall(text) if text.count(name) > 1}
        found.titles = tuple(sorted(titles, key=len, reverse=True))
        return found

    def add(self, sentence: str) -> None:
        """Collect the words of one more sentence."""
        for noun in re.findall(
            r"\b(?:[Aa]n?|[Ee]very|[Ee]ach|[Nn]o) ([a-z]+)(?= (?:is|are|has|that|who|does|can)\b|[.,?]|$)", sentence
        ):
            self.counted.add(noun)
        for noun in re.findall(r"\b[Tt]he ([a-z]+(?: [a-z]+)?)(?= (?:is|does|has|can|[a-z]+s)\b)", sentence):
            self.definites |= set() if is_plural(noun.split(" ")[-1]) else {noun}
        # The Olympic games was in Tokyo: one thing, also where they were.
        for noun in re.findall(r"^[Tt]he ([\w -]+?) (?:is|was|has)\b", sentence):
            is_named = noun != noun.lower() and is_plural(noun.split(" ")[-1])
            self.definites |= {noun.lower()} if is_named else set()
        self.first |= {word.lower() for word in re.findall(r"\A([A-Z][a-z]+) [a-z]*s\b", sentence)}
        # James is warm: a name, also where James can swim.
        named = re.match(r"([A-Z][a-z]+s) (?:is|was|has|does)\b", sentence)
        one = {named[1].lower()} - FUNCTION - _NO_NAMES if named else set[str]()
        self.names, self.definites = self.names | one, self.definites | one
        told = _NUMBERED.match(sentence)
        if told is not None and (told["verb"] in _FINITE or third(told["verb"]) or past(told["verb"])):
            noun = told["noun"].lower()
            self.numbered |= set() if noun in FUNCTION or is_plural(noun) else {(noun, told["id"].lower())}
        elif (asked := _ASKED.match(sentence)) is not None:
            self.numbered |= set() if is_plural(asked["noun"]) else {(asked["noun"], asked["id"].lower())}
        # The actor Jakub: not the actor Jakub knows.
        named = re.findall(r"\bthe ([a-z]+) ([A-Z][a-z]+)(?=[.,?]|$)", sentence)
        self.numbered |= {(noun, name.lower()) for noun, name in named if is_person(noun)}
        self.counted |= {noun for noun, _ in self.numbered} | {*re.findall(r"^\d+(?= [a-z])", sentence)}
        for at, word in enumerate(re.findall(r"[\w'’+#./-]+", sentence)):
            plain = re.sub(r"['’]s$", "", word.strip("./'’"))
            if plain[:1].islower() and plain == plain.lower():
                self.lower.add(plain)
            elif at and plain and (plain[0].isupper() or any(map(str.isdigit, plain))):
                self.names.add(plain.lower())

    def bearing(self, words: set[str]) -> object:
        """Return what the reading of these words rests on beside them: with the same they are read alike."""
        definites = {noun for noun in self.definites if words.issuperset(noun.split(" "))}
        doubtful = {self.singular(word) for word in words & _doubtful_plurals().keys()}
        owners = [
            self.has_other_owner(word, own) for word in sorted(words & GENDERS.keys()) for own in (words, set[str]())
        ]
        parts = {*words, *(part for word in words for part in word.split(" "))}
        parts |= {self.singular(part) for part in parts}
        known = (self.counted & words, definites, doubtful, self.lower & parts, self.names & parts)
        return tuple(map(frozenset, known)), tuple(owners)

    def has_other_owner(self, word: str, own: Set[str]) -> bool:
        """Say whether `his` may be of another than these names: of another name, or where the problem has women."""
        other = next(words for pronoun, words in GENDERS.items() if pronoun != word)
        named = {name for name in self.names | self.first - FUNCTION - self.lower if name.isalpha()}
        return not other.isdisjoint(self.lower) or any(name.removesuffix("s") not in TIMES for name in named - own)

    def singular(self, word: str) -> str:
        """Return the singular of a noun; a plural of two nouns is of the one that the problem uses."""
        if word in _OWN_PLURALS:
            return word
        several = _doubtful_plurals().get(word, ())
        used = [one for one in several if one in self.lower]
        if len(used) > 1:
            return word
        return used[0] if used else _one_of(word)

    def starts_as_name(self, word: str, after: str) -> bool:
        """Say whether the capitalised first word of a sentence is a name, judged by the problem and the next word."""
        low = word.lower()
        if low not in self.names and (low in _NO_NAMES or (is_base(low) and low not in verb_forms().nouns)):
            return False
        if gerund(low) and is_plural(after):
            # Reading books is fun.
            return False
        stem = low[:-2]
        told = (
            len(stem) > 3
            and low.endswith("ly")
            and (is_adj(stem) or is_base(stem) or stem.endswith(("ful", "al", "ous", "ive", "ent")))
        )
        if low in FLEXIBLE_ADVERBS or low == "soon" or (is_adverb(low) and told and low not in self.names):
            # Legally Tom is a judge.
            return False
        if low in self.names or (after[:1].isupper() and after.lower() not in FUNCTION):
            return True
        after = after.lower()
        if low in self.lower or _one_of(low) in self.lower or third_person(low) in self.lower or after == "that":
            return False
        opens_plural = after in (*PREPOSITIONS, *MODALS, "are", "have", "do", "were", "that", "who")
        return not (is_plural(low) and (opens_plural or is_base(after) or past(after) is not None or is_adverb(after)))


def is_content(word: str) -> bool:
    """Say whether a word can be part of the name of a predicate."""
    return word.removesuffix("'s") not in FUNCTION and word not in (",", ";")
