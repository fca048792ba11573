"""The closed class: the function words that the grammar reads, and those that it refuses with what to write instead."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

Number = Literal["singular", "plural", "either"]
"""Grammatical number of a subject or a verb."""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


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
GENDERS = {
    "his": _listed("he him his himself man men boy father brother son husband uncle nephew king actor gentleman"),
    "her": _listed("she her hers herself woman women girl mother sister daughter wife aunt niece queen actress lady"),
}
"""By `his` and `her` the words that speak of one who may own it."""
REFLEXIVES = _listed("himself herself itself themselves")
OBJECTS = _listed("him them her")
RELATIVE = _listed("who that which")
ARTICLES = _listed("a an the")
PREPOSITIONS = _listed(
    """in on at by for from to with of about into over under during since after before within between among around
    near as against through across above below outside inside along past like upon toward towards throughout
    off onto behind beside via per without"""
)
PLACES = _listed("in on at near under behind inside outside above below over")
BOUNDS = _listed("above below under over")
PARTICLES = _listed("up down off out away back over apart aside along")
"""Words that belong to a verb, also behind its object: turned the offer down."""
TIMES = _listed(
    """day week month year morning night evening afternoon time weekend summer winter spring autumn monday tuesday
    wednesday thursday friday saturday sunday hour semester"""
)
SITUATIONS = _listed(
    """rains snows thunders hails drizzles raining snowing sunny windy cloudy late early dark cold hot warm time
    good bad great awful terrible horrible sad tragic fortunate unfortunate lucky odd strange surprising amazing
    shocking disappointing annoying embarrassing alarming disturbing encouraging regrettable admirable remarkable
    extraordinary incredible ironic understandable natural normal important essential vital crucial necessary advisable
    desirable preferable appropriate inappropriate proper right wrong true false certain clear obvious evident apparent
    likely unlikely possible impossible probable doubtful conceivable fair unfair just unjust legal illegal lawful
    allowed permitted forbidden prohibited required justified acceptable unacceptable useful useless pointless easy hard
    difficult fun dangerous safe enough pity shame crime sin mistake miracle mystery wonder relief nuisance disaster
    tragedy problem surprise coincidence secret fact lie disgrace scandal honour honor pleasure help risk"""
)
"""Words with which `it` may be the weather, the time, or what happens: those before `that ..` or `to ..`."""
CONNECTIVES = _listed("and or but nor")
AUXILIARIES = frozenset(BE) | frozenset(DO) | frozenset(HAVE) | MODALS
OPENERS = _listed("either neither both")
CONDITIONS = _listed("if when whenever")
NUMBERS = _listed(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand "
    "million billion dozen"
)
COUNTS = NUMBERS | _listed("second third fourth fifth sixth few")
KINDS = _listed("person thing individual human-being")
"""Heads of which an adjective before them can be taken off: a kind person is kind."""
POSTPOSED = _listed("available able capable born dependent full aware unaware eligible responsible")
FLEXIBLE_ADVERBS = _listed("also often always regularly frequently currently then too still ever now once already")
DROPPED_ADVERBS = _listed("also then thus therefore hence")
NOT_ADVERBS = _listed(
    "family italy july early only reply daily friendly deadly lonely costly lively likely ugly silly holy elderly fly "
    "apply rely supply multiply lovely cowardly orderly weekly monthly yearly ally belly bully jelly lily rally "
    "butterfly dragonfly firefly housefly"
)
ATTITUDES = _listed(
    "aware unaware know believe think say sure admit claim fact show mean knows believes thinks says admits claims"
)
ALWAYS_ASKING = _listed("wonder wonders wondered ask asks asked doubt doubts doubted inquire inquires inquired")
ASKING = _listed(
    "know knows knew check checks checked see sees saw tell tells told decide decides decided say says said"
)
"""Verbs behind which `if` is `whether`; the latter only where it stands next to them."""
INTENSIONAL = _listed(
    """need want seek require lack owe expect imagine fear desire hope wish demand deserve avoid prevent forbid promise
    order request ask look search wait long yearn pray crave dream think plan believe doubt claim worship resemble
    become remain call consider name seem appear miss mean than like unlike as without except instead not never"""
)
"""Words before an object that may be of no one thing: who wants Rex, a dog, perhaps does not want a dog."""
STATES = _listed(
    """available hungry tired sick ill thirsty asleep awake lost angry late busy ready drunk sleepy absent present
    missing empty open closed broken wet dirty naked pregnant bored nervous"""
)
"""Predicates that hold of an individual at one time: `A tiger is hungry` is no rule about tigers."""
KIND_PREDICATES = _listed(
    "widespread extinct rare common numerous abundant endangered scarce everywhere plentiful ubiquitous diverse "
    "outnumber outnumbers exist existent nonexistent vary varies evolve evolves descend originate derive stem comprise "
    "constitute dominate proliferate dwindle multiply increase decrease decline flourish"
)
"""Predicates that hold of a kind and of none of its members."""
KIND_NOUNS = _listed("kind type sort breed species genus form class")
RECIPROCAL = _listed(
    """friend brother sister sibling partner neighbor neighbour twin colleague rival enemy cousin married similar equal
    different divorced engaged alike related unrelated compatible incompatible equivalent parallel
    perpendicular consecutive disjoint connected linked united unanimous allied interchangeable inseparable dissimilar
    unequal distinct spouse classmate roommate relative acquainted adjacent identical lover ally opposite
    couple pair duo"""
)
COLLECTIVE = _listed("together apart mutually jointly collectively share shares shared meet met")
GATHERING = _listed(
    "gather assemble congregate convene disperse scatter swarm unite surround encircle "
    "form elect outvote collide flock crowd flood"
)
"""Verbs of several together: no soldier surrounds a town."""
TOGETHER = _listed("own rent lease run manage lead fund hold occupy")
"""Verbs that several may do to one thing together: own the house."""
ALONE_RECIPROCAL = _listed(
    "meet marry differ agree disagree argue fight kiss hug collide separate divorce cooperate quarrel match "
    "date embrace chat wrestle compete intersect overlap touch merge"
)
"""Verbs that several do to one another where they have no object."""
PERSON_NOUNS = _listed(
    "person man woman child boy girl friend king queen nurse student parent mother father brother sister son daughter "
    "wife husband uncle aunt guest client patient citizen adult baby human athlete chef spouse celebrity member"
)
THING_NOUNS = _listed(
    """fee tree bee knee coffee degree paper newspaper letter number computer printer order voucher offer dinner supper
    water summer winter river tower flower shower corner border center folder trailer error mirror floor door motor
    power layer answer matter chapter register transfer ladder hammer boiler meter counter poster sticker locker charger
    plant restaurant process access address business dress"""
)
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

QUANTITIES = _listed(
    "enough various certain many several much numerous countless sufficient insufficient plenty dozens hundreds "
    "thousands millions few fewer most little half false"
)
"""Words that no noun phrase may start with: neither all nor some, or a doubt. In an object some are part of a name."""
HOMONYMS = _listed(
    """orange kind cold light fair mean patient sound fine right novel present square round minor major minute principal
    capital content firm flat general grave gross stable tender plain second sage russet violet rose peach cream lemon
    olive salmon coral chestnut lime cherry gold silver ruby amber teal turkey cardinal well live bright cool"""
)
"""Adjectives that a noun is spelled like: an orange is not what is orange."""
MEASURES = _listed(
    "lot number majority minority couple handful bunch variety percentage fraction rest half quarter third"
)
"""Nouns that quantify before `of`: `a lot of cats`."""
OBJECT_QUANTITIES = _listed("enough various certain many several much numerous hundreds thousands millions")

STRUCTURE = _listed("which then unless not no some am be been being cannot never none than else").union(
    BE, DO, MODALS, EVERY, SOMEONE, PRONOUNS, CONNECTIVES, OPENERS, CONDITIONS, RELATIVE
)
"""Words that carry the structure of a sentence: none is part of the name of a predicate by itself."""
FUNCTION = STRUCTURE.union(PREPOSITIONS, ARTICLES, POSSESSIVES, REFLEXIVES, OBJECTS, HAVE, REFUSED)
