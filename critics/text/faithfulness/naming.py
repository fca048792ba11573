"""Names of formulas beside the words of sentences: a bar, and never a proof of what a text says.

A word of a name stands for the words of the sentence that have its lemma. Only where the whole problem has none may it
stand for another one: abbreviated, mistyped, or derived. A name that the problem writes is never taken for another.
"""

from functools import lru_cache
from itertools import accumulate

from critics.problem import Problem
from critics.replay.first_order.syntax import Formula
from critics.text.faithfulness.english import Sentence, asked, name_stems, name_words, sentence, sentences, squashed
from critics.text.faithfulness.formalisation import Formalisation
from critics.text.faithfulness.signs import SignedAtom, atoms_of

MODALS = frozenset("can could will would shall should may might must".split())  # noqa: SIM905
MIN_SQUASHED = 4
"""Letters from which a name may be found across words (`diamondmine`); shorter ones would be found anywhere."""
MIN_LOOSE = 4
"""Letters of a word that may be abbreviated or derived."""
MIN_MISTYPED = 7
_SUFFIXES = frozenset(
    "s er r or ion ation ment ness al ity ing ist ian ic ical ive ship hood ish ous ful able an n".split()  # noqa: SIM905
)
_ADDING = frozenset({"and", "or", "but", "nor", "who", "which"})
MAX_PREMISES = 400
"""More are not compared: each is laid beside every sentence."""


def is_about_another_text(problem: Problem, formalised: Formalisation) -> bool:
    """Say whether the goal names what the question does not, or a premise what no one sentence puts together.

    So it is where the question or a formula's signs cannot be read.
    """
    question, goal = asked(problem.question), atoms_of(formalised.goal)
    premises = [atoms_of(premise) for premise in formalised.premises[: MAX_PREMISES + 1]]
    if question is None or goal is None or len(premises) > MAX_PREMISES:
        return True
    context = sentences(problem.context)
    vocabulary = frozenset(stem for each in (*context, question) for stem in each.stems if stem)
    # Attack: state more premises than the text can hold.
    room = sum(1 + len(s.commas) + sum(word in _ADDING for word in s.words) for s in context)
    if len(premises) > room or not _names_all(goal, question, vocabulary):
        return True
    return any(atoms is None or not any(_names_all(atoms, s, vocabulary) for s in context) for atoms in premises)


def unspoken(formula: Formula, text: str) -> tuple[str, ...]:
    """Return the names of a formula that a sentence has no words for; all of them where its signs cannot be read."""
    told, atoms = sentence(text), atoms_of(formula)
    if atoms is None:
        return ("a formula whose signs have no one reading",)
    names = dict.fromkeys(name for atom in atoms for name in atom.names())
    return tuple(name for name in names if not is_named(name, told, frozenset(told.stems)))


def _names_all(atoms: tuple[SignedAtom, ...], sentence: Sentence, vocabulary: frozenset[str]) -> bool:
    return all(is_named(name, sentence, vocabulary) for atom in atoms for name in atom.names())


@lru_cache(maxsize=65536)
def is_named(name: str, sentence: Sentence, vocabulary: frozenset[str]) -> bool:
    """Say whether a sentence has the words that a name stands for; `vocabulary` are the stems of the whole problem.

    A name without content (`In`) is found by its words.
    """
    if not MODALS.intersection(name_words(name)) <= set(sentence.words):
        # Attack: `CanWin` for `wins`.
        return False
    return all(_is_found(stem, sentence, vocabulary) for stem in name_stems(name)) or _is_across(name, sentence)


def _is_found(stem: str, sentence: Sentence, vocabulary: frozenset[str]) -> bool:
    if stem in sentence.stems or stem in vocabulary:
        return stem in sentence.stems
    loosely = [each for each in vocabulary if is_loosely(stem, each)]
    if len(loosely) == 1:
        return loosely[0] in sentence.stems
    initials = "".join(word[0] for word in sentence.words)
    # `cs` for `computer science`.
    return (2 <= len(stem) <= MIN_LOOSE and stem in initials) or stem in sentence.words


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


def _is_across(name: str, sentence: Sentence) -> bool:
    """Say whether words side by side make up a name without its humps."""
    letters, said = squashed(name), "".join(sentence.words)
    starts = list(accumulate(map(len, sentence.words), initial=0))
    is_long = len(letters) >= MIN_SQUASHED
    return is_long and any(said.startswith(letters, at) and at + len(letters) in starts for at in starts)


def begin_alike(one: str, other: str) -> bool:
    """Say whether two words begin alike: `perform` and `performance`."""
    shorter = min(len(one), len(other))
    length = max(3, shorter - 2)
    return one == other or (shorter >= 3 and one[:length] == other[:length])
