"""Singular, plural and article of English nouns: by rule, and by a dictionary where the rules fail.

Standard library only, because the independent checker of certificates reads contexts with it. `nouns.txt` has the
plurals of lemminflect's dictionary that the rules miss (`tools/plurals.py`). A noun of several words inflects in its
last word. Nothing is lost: `singular(plural(noun)) == noun`, and `plural` refuses the noun for which it would be.
"""

import re
from functools import lru_cache
from pathlib import Path

_VOWELS = frozenset("aeiou")
_HEAD = re.compile(r"(?P<modifiers>.*[ -])?(?P<head>[^ -]+)")
_PROPER_MODIFIERS = frozenset({"Fermat", "Fibonacci", "Gaussian", "Mersenne"})
"""First words that stay capitals inside a sentence."""
_UNCHANGED = ("aircraft", "deer", "moose", "series", "sheep", "species")
_ADD_S = (
    "ache", "cache", "headache", "moustache",  # not "-ch" with "-es"
    "calorie", "cookie", "genie", "lie", "magpie", "movie", "pie", "prairie", "tie", "zombie",  # not "-y"
    "alibi", "emu", "flu", "gnu", "kiwi", "menu", "okapi", "ski", "taxi", "tiramisu",  # "-is", "-us"
    "excuse", "fuse", "hypotenuse", "muse", "recluse", "ruse", "use",  # not "-us" with "-es"
)  # fmt: skip
_ADD_ES = (
    "buffalo", "echo", "hero", "mosquito", "potato", "tomato", "torpedo", "volcano",
    "atlas", "biceps", "canvas", "cosmos", "gas", "iris", "lens", "mantis", "pancreas", "rhinoceros",
)  # fmt: skip
_IRREGULAR = """
    alga algae, analysis analyses, axis axes, bacterium bacteria, basis bases, calf calves, child children,
    elf elves, foot feet, fungus fungi, goose geese, half halves, hypothesis hypotheses, knife knives,
    larva larvae, leaf leaves, life lives, loaf loaves, louse lice, man men, matrix matrices, mouse mice,
    ox oxen, person people, quiz quizzes, shelf shelves, thief thieves, tooth teeth, vertex vertices,
    wife wives, wolf wolves, woman women
"""
_PLURALS = {
    **{noun: noun for noun in _UNCHANGED},
    **{noun: f"{noun}s" for noun in _ADD_S},
    **{noun: f"{noun}es" for noun in _ADD_ES},
    **dict[str, str](re.findall(r"(\w+) (\w+)", _IRREGULAR)),
}
_SINGULARS = {many: one for one, many in _PLURALS.items()}
OWN_PLURALS = frozenset(
    """
    arms glasses customs pants spirits goods means manners minutes forces grounds quarters savings scales spectacles
    airs brains contents damages dues effects funds greens guts looks pains premises remains riches sands shorts slacks
    waters woods odds blues briefs boxers irons spurs cards darts drafts letters works gallows crossroads
    """.split()  # noqa: SIM905 (a list of quoted words is harder to read)
)
"""Plurals with a meaning that their singular has not: weapons, and what one has two of."""
_DIFFERENT = OWN_PLURALS | {"axes", "bases", "caddies", "ellipses", "leaves"}
"""Plurals with two meanings, of an axe and of an axis too."""
NOT_PLURAL = ("ss", "us", "is", "ous")
"""Ends in s, yet is a singular noun (class, wumpus, iris) or an adjective (nervous, careless)."""
_CONSONANT_AN = ("heir", "honest", "honour", "honor", "hour")
_VOWEL_A = ("eu", "ewe", "once", "one", "unic", "unif", "unio", "uniq", "unit", "univ", "ura", "use", "usu")


def plural(noun: str) -> str:
    """Return the plural of a noun as written inside a sentence: `Mersenne prime` -> `Mersenne primes`.

    Raises `ValueError` for a noun whose plural `singular` would not bring back.
    """
    modifiers, head = _split(noun)
    many = modifiers + _plural_word(head)
    if not is_plural(many) or singular(many) != noun:
        raise ValueError(f"{noun!r} has no plural by rule that leads back to it: list it in grammar/inflection.py")
    return many


def singular(noun: str) -> str:
    """Return the singular of a plural, also of one that starts a sentence: `Prime numbers` -> `prime number`.

    Raises `ValueError` for a word that has not the shape of a plural (`cat`, `nervous`, `wumpus`).
    """
    if not is_plural(noun):
        raise ValueError(f"{noun!r} is not a plural: add it to critics/grammar/inflection.py if it is an irregular one")
    modifiers, head = _split(noun)
    first = modifiers.split(" ")[0]
    if first and first not in _PROPER_MODIFIERS:
        modifiers = modifiers[0].lower() + modifiers[1:]
    if not modifiers:
        head = head[0].lower() + head[1:]
    return modifiers + _singular_word(head)


@lru_cache(maxsize=4_096)
def is_plural(noun: str) -> bool:
    """Say whether the noun's last word has the shape of a plural; `sheep` is plural and singular at once."""
    head = _split(noun)[1].lower()
    if head in _dictionary() or head.endswith("fish"):
        return True
    return len(head) > 2 and head not in _PLURALS and head.endswith("s") and not head.endswith(NOT_PLURAL)


def is_ambiguous(noun: str) -> bool:
    """Say whether the noun's last word is the plural of two different nouns (`axes`)."""
    return _split(noun)[1].lower() in _DIFFERENT


_ENDINGS = {
    **{"y": "ies", "f": "ves", "fe": "ves", "man": "men", "ie": "ice"},
    **{"um": "a", "on": "a", "us": "i", "is": "es", "ex": "ices", "ix": "ices", "a": "ae", "en": "ina"},
}
"""Endings of singulars, with those of plurals, rare ones too."""


@lru_cache(maxsize=2_000)
def forms(noun: str) -> frozenset[str]:
    """Return a noun and everything that may be its plural; two nouns that share one could be taken for each other."""
    modifiers, head = _split(noun)
    ends = [head, f"{head}s", f"{head}es", *_plurals_of().get(head, ())]
    ends += [head.removesuffix(one) + many for one, many in _ENDINGS.items() if head.endswith(one)]
    return frozenset(modifiers + end for end in ends)


@lru_cache(maxsize=1)
def _plurals_of() -> dict[str, list[str]]:
    """Return the plurals of the dictionary by each of their singulars."""
    found: dict[str, list[str]] = {}
    for many, *singulars in _lines():
        for one in singulars:
            found.setdefault(one, []).append(many)
    for many, one in _SINGULARS.items():
        found.setdefault(one, []).append(many)
    return found


def _lines() -> list[list[str]]:
    text = Path(__file__).with_name("nouns.txt").read_text(encoding="utf-8")
    return [line.split(" ") for line in text.splitlines()]


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str]:
    """Return singulars by plurals, the first where spellings vary; our own list has the last word."""
    return {many: singulars[0] for many, *singulars in _lines()} | _SINGULARS


def article(noun: str) -> str:
    """Return `a` or `an`, by the sound that the noun starts with as far as its letters tell."""
    word = noun.lower()
    if word.startswith(_CONSONANT_AN):
        return "an"
    return "an" if word[:1] in _VOWELS and not word.startswith(_VOWEL_A) else "a"


def _split(noun: str) -> tuple[str, str]:
    match = _HEAD.fullmatch(noun)
    if match is None:
        raise ValueError(f"{noun!r} is not a noun: words joined by single blanks or hyphens are needed")
    return match["modifiers"] or "", match["head"]


def _plural_word(word: str) -> str:
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("fish"):
        return word
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _singular_word(word: str) -> str:
    known = _dictionary().get(word)
    if known is not None:
        return known
    return word if word.endswith("fish") else singular_by_rule(word)


def singular_by_rule(word: str) -> str:
    """Return what the endings alone make of a plural."""
    if len(word) > 4 and word.endswith("ies") and word[-4] not in _VOWELS:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "tzes")):
        return word[:-2]
    # "wumpuses", "viruses" drop "es"; "houses", "causes", "queues" do not.
    if word.endswith("uses") and word[-5:-4] not in ("a", "e", "o", ""):
        return word[:-2]
    return word[:-1]
