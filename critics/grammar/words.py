"""The closed class: the function words that the grammar reads, and those that it refuses with what to write instead."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Number = Literal["singular", "plural", "either"]
"""Grammatical number of a subject or a verb."""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LINES = Path(__file__).with_name("classes.txt").read_text(encoding="utf-8").splitlines()
CLASSES = {name: _listed(words) for name, _, words in (line.partition(": ") for line in _LINES)}
"""By its name each class of more words than a line holds."""
BE: dict[str, Number] = {"is": "singular", "are": "plural", "was": "singular", "were": "plural"}
DO: dict[str, Number] = {"does": "singular", "do": "plural", "did": "either"}
HAVE: dict[str, Number] = {"has": "singular", "have": "plural", "had": "either"}
MODALS = _listed("can could will would must should may might shall")
DENIABLE_MODALS = _listed("can could will would")
"""`Cannot` denies `can`; `must not` forbids, which is not the denial of `must`."""
EVERY: dict[str, Number] = {"every": "singular", "each": "singular", "all": "either", "any": "either"}
PRONOUNS = _listed("he she it they")
SOMEONE: dict[str, tuple[str, str]] = {
    first + second: (first, second) for first in ("every", "some", "any", "no") for second in ("one", "body", "thing")
}
"""By `someone` and its kin the determiner and the noun."""
POSSESSIVES = _listed("his her its their")
GENDERS = {"his": CLASSES["his"], "her": CLASSES["her"]}
"""By `his` and `her` the words that speak of one who may own it."""
REFLEXIVES = _listed("himself herself itself themselves")
OBJECTS = _listed("him them her")
RELATIVE = _listed("who that which")
DAYS = _listed("today tonight tomorrow yesterday now noon midnight")
ARTICLES = _listed("a an the")
PREPOSITIONS = CLASSES["prepositions"]
PLACES = _listed("in on at near under behind inside outside above below over")
BOUNDS = _listed("above below under over")
PARTICLES = _listed("up down off out away back over apart aside along")
"""Words that belong to a verb, also behind its object: turned the offer down."""
TIMES = CLASSES["times"]
DATES = CLASSES["dates"]
"""Months and feasts, of which some are names of persons."""
WEATHER = CLASSES["weather"]
SITUATIONS = WEATHER | CLASSES["situations"]
"""Words with which `it` may be the weather, the time, or what happens: those before `that ..` or `to ..`."""
CONNECTIVES = _listed("and or but nor")
AUXILIARIES = frozenset(BE) | frozenset(DO) | frozenset(HAVE) | MODALS
OPENERS = _listed("either neither both")
CONDITIONS = _listed("if when whenever")
TIMED = (("when", "once", "while", "before", "until"), ("after", "once"))
UNLESS = _listed("unless before until")
LASTING = CLASSES["lasting"]
"""Verbs of what goes on, and `do`: `does not wait until noon` says that the wait ends before noon."""
NUMBERS = CLASSES["numbers"]
COUNTS = NUMBERS | _listed("second third fourth fifth sixth few")
KINDS = _listed("person thing individual human-being")
"""Heads of which an adjective before them can be taken off: a kind person is kind."""
POSTPOSED = _listed("available able capable born dependent full aware unaware eligible responsible worth due")
FLEXIBLE_ADVERBS = _listed("also often always regularly frequently currently then too still ever now once already")
DROPPED_ADVERBS = _listed("also then thus therefore hence")
NOT_ADVERBS = CLASSES["not_adverbs"]
ATTITUDES = CLASSES["attitudes"]
ALWAYS_ASKING = _listed("wonder wonders wondered ask asks asked doubt doubts doubted inquire inquires inquired")
ASKING = CLASSES["asking"]
"""Verbs behind which `if` is `whether`; the latter only where it stands next to them."""
EMBEDDING, OCCASIONS = CLASSES["embedding"], TIMES | CLASSES["occasions"]
"""Words that `when ..` may belong to: decides when, especially when; and the moment when."""
INTENSIONAL = CLASSES["intensional"]
"""Words before an object that may be of no one thing: who wants Rex, a dog, perhaps does not want a dog."""
STATES = CLASSES["states"]
"""Predicates that hold of an individual at one time: `A tiger is hungry` is no rule about tigers."""
KIND_PREDICATES = CLASSES["kind_predicates"]
"""Predicates that hold of a kind and of none of its members."""
KIND_NOUNS = _listed("kind type sort breed species genus form class")
RECIPROCAL = CLASSES["reciprocal"]
COLLECTIVE = _listed("together apart mutually jointly collectively share shares shared meet met")
GATHERING = CLASSES["gathering"]
"""Verbs of several together: no soldier surrounds a town."""
TOGETHER = _listed("own rent lease run manage lead fund hold occupy")
"""Verbs that several may do to one thing together: own the house."""
ALONE_RECIPROCAL = CLASSES["alone_reciprocal"]
"""Verbs that several do to one another where they have no object."""
PERSON_NOUNS = CLASSES["person_nouns"]
THING_NOUNS = CLASSES["thing_nouns"]
"""Nouns with the endings of persons, of whom nobody says `he`."""
PERSON_ENDINGS = ("er", "or", "ist", "ian", "man", "ant", "ess", "ee")


def is_person(noun: str) -> bool:
    """Say whether a noun is of one who is `he` or `she`."""
    return noun in PERSON_NOUNS or (noun.endswith(PERSON_ENDINGS) and noun not in THING_NOUNS)


COORDINATING_NAMES = _listed("de van von del la bin da di le du der")


def _refused() -> Iterator[tuple[str, str]]:
    for line in Path(__file__).with_name("refused.txt").read_text(encoding="utf-8").splitlines():
        why, _, words = line.partition(" | ")
        yield from ((word, why) for word in words.split())


REFUSED = dict(_refused())
"""Words that no reading may hold, unless a rule reads them; by each one what to write instead."""

IDIOMS: defaultdict[str, list[list[str]]] = defaultdict(list)
"""Words that together may say something else than each does, by the first: those of WordNet 3.0, and more of the kind.

Left out are those that are mostly meant word by word. `one's` is any possessive.
"""
for _line in Path(__file__).with_name("idioms.txt").read_text(encoding="utf-8").splitlines():
    IDIOMS[_line.split(" ")[0]].append(_line.split(" "))

QUANTITIES = CLASSES["quantities"]
"""Words that no noun phrase may start with: neither all nor some, or a doubt. In an object some are part of a name."""
HOMONYMS = CLASSES["homonyms"]
"""Adjectives that a noun is spelled like: an orange is not what is orange."""
MEASURES = CLASSES["measures"]
"""Nouns that quantify before `of`: `a lot of cats`."""
OBJECT_QUANTITIES = _listed("enough various certain many several much numerous hundreds thousands millions")

STRUCTURE = _listed("which then unless not no some am be been being cannot never none than else").union(
    BE, DO, MODALS, EVERY, SOMEONE, PRONOUNS, CONNECTIVES, OPENERS, CONDITIONS, RELATIVE
)
"""Words that carry the structure of a sentence: none is part of the name of a predicate by itself."""
FUNCTION = STRUCTURE.union(PREPOSITIONS, ARTICLES, POSSESSIVES, REFLEXIVES, OBJECTS, HAVE, REFUSED)
UNCLEAR = FUNCTION - PREPOSITIONS - ARTICLES - {"been", "have"}
"""Words that may mean something else where they are left out behind another subject."""
MATES = {word: word for word in AUXILIARIES} | {"is": "are", "was": "were", "has": "have", "does": "do"}
"""By each auxiliary the plural of its tense."""
