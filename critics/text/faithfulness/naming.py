"""Names of formulas found in sentences: which words does a symbol stand for?

A word of a name stands for the words of the sentence that have its lemma. Only where the whole problem has none may it
stand for another one: abbreviated, mistyped, or derived. A name that the problem writes is never taken for another.
"""

from functools import lru_cache

from critics.text.faithfulness.english import Sentence, name_stems, name_words, squashed

MODALS = frozenset("can could will would shall should may might must".split())  # noqa: SIM905
MIN_SQUASHED = 4
"""Letters from which a name may be found across words (`diamondmine`); shorter ones would be found anywhere."""
MIN_LOOSE = 4
"""Letters of a word that may be abbreviated or derived."""
MIN_MISTYPED = 7
_SUFFIXES = frozenset(
    "s er r or ion ation ment ness al ity ing ist ian ic ical ive ship hood ish ous ful able an n".split()  # noqa: SIM905
)

Places = frozenset[int]


@lru_cache(maxsize=65536)
def places(name: str, sentence: Sentence, vocabulary: frozenset[str]) -> Places | None:
    """Return the positions of the words that a name stands for; None where the sentence does not have them all.

    `vocabulary` are the stems of the whole problem. A name without content (`In`) is found by its words.
    """
    found: set[int] = set()
    if not MODALS.intersection(name_words(name)) <= set(sentence.words):
        # Attack: `CanWin` for `wins`.
        return None
    for stem in name_stems(name):
        at = _found(stem, sentence, vocabulary)
        if not at:
            return _across(name, sentence)
        found |= at
    return frozenset(found)


def _found(stem: str, sentence: Sentence, vocabulary: frozenset[str]) -> Places:
    exact = frozenset(i for i, each in enumerate(sentence.stems) if each == stem)
    if exact or stem in vocabulary:
        return exact
    loosely = [each for each in vocabulary if is_loosely(stem, each)]
    if len(loosely) == 1:
        return frozenset(i for i, each in enumerate(sentence.stems) if each == loosely[0])
    return _initials(stem, sentence) or frozenset(i for i, word in enumerate(sentence.words) if word == stem)


def is_loosely(stem: str, other: str) -> bool:
    """Say whether a stem abbreviates another one (`dept`), is derived from it, or mistypes it by a letter."""
    short, long = sorted((stem, other), key=len)
    if len(short) >= MIN_LOOSE and long.startswith(short) and (short == stem or long[len(short) :] in _SUFFIXES):
        return True
    if len(stem) >= MIN_LOOSE and len(stem) < len(other) and stem[:2] == other[:2] and stem[-1] == other[-1]:
        letters = iter(other)
        if all(letter in letters for letter in stem):
            return True
    return len(short) >= MIN_MISTYPED and short[0] == long[0] and _differs_by_one(short, long)


def _differs_by_one(short: str, long: str) -> bool:
    if len(long) - len(short) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at + 1 :] == long[at + 1 :] if len(short) == len(long) else short[at:] == long[at + 1 :]


def _initials(stem: str, sentence: Sentence) -> Places:
    """Return words side by side whose first letters the stem is made of: `cs` of `computer science`."""
    if not 2 <= len(stem) <= MIN_LOOSE:
        return frozenset()
    letters = "".join(word[0] for word in sentence.words)
    at = letters.find(stem)
    return frozenset(range(at, at + len(stem))) if at >= 0 else frozenset()


def _across(name: str, sentence: Sentence) -> Places | None:
    """Return words side by side that make up a name without its humps; None if there are none."""
    letters = squashed(name)
    if len(letters) < MIN_SQUASHED:
        return None
    for start in range(len(sentence.words)):
        said = ""
        for end in range(start, len(sentence.words)):
            said += sentence.words[end]
            if said == letters:
                return frozenset(range(start, end + 1))
            if not letters.startswith(said):
                break
    return None


def begin_alike(one: str, other: str) -> bool:
    """Say whether two words begin alike: `perform` and `performance`."""
    shorter = min(len(one), len(other))
    length = max(3, shorter - 2)
    return one == other or (shorter >= 3 and one[:length] == other[:length])


def names_word(name: str, words: frozenset[str]) -> bool:
    """Say whether one of the words is in a name."""
    return bool(words & set(name_words(name)))
