"""Alignment of a formula with the sentence that has all its names and the fewest other words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from critics.faithfulness.english import Sentence, name_stems, squashed
from critics.faithfulness.signs import SignedAtom

MIN_SQUASHED = 4
"""Letters from which a name may be found across words (`diamondmine`); shorter ones would be found anywhere."""
_JOINING = frozenset({"and", "but", "or", "nor", "who", "which", "both"})


@dataclass(frozen=True, slots=True)
class Aligned:
    """A formula's atoms beside a sentence; `unsaid` are the stems in the sentence that the formula does not have."""

    atoms: tuple[SignedAtom, ...]
    sentence: Sentence
    unsaid: tuple[str, ...]

    def is_part(self) -> bool:
        """Say whether the formula may be one of several that a sentence with a joint was split into."""
        return bool(self.unsaid) and bool(_JOINING & set(self.sentence.words))


def missing(atoms: Sequence[SignedAtom], sentence: Sentence) -> tuple[str, ...]:
    """Return the names that do not occur in a sentence."""
    return tuple(dict.fromkeys(name for atom in atoms for name in atom.names() if not _occurs(name, sentence)))


def _occurs(name: str, sentence: Sentence) -> bool:
    if set(name_stems(name)) <= set(sentence.stems):
        return True
    letters = squashed(name)
    return len(letters) >= MIN_SQUASHED and letters in sentence.squashed


def align(atoms: tuple[SignedAtom, ...], text: Sequence[Sentence]) -> tuple[Aligned, ...]:
    """Return the formula beside each sentence that it may stand for: those with the least unsaid."""
    found = [Aligned(atoms, each, unsaid(atoms, each)) for each in text if not missing(atoms, each)]
    least = min((len(each.unsaid) for each in found), default=0)
    return tuple(each for each in found if len(each.unsaid) == least)


def unsaid(atoms: Sequence[SignedAtom], sentence: Sentence) -> tuple[str, ...]:
    """Return the stems in a sentence, as often as they stand there, that no name accounts for."""
    names = [name for atom in atoms for name in atom.names()]
    left = Counter(each for each in sentence.stems if each)
    left -= Counter(each for name in names for each in name_stems(name))
    written = [squashed(name) for name in names]
    return tuple(each for each in left.elements() if not any(each in name for name in written if name not in left))


def rendered(atoms: Sequence[SignedAtom]) -> tuple[str, ...]:
    """Return the stems of atoms as English has them: subject, predicate, objects."""
    found: list[str] = []
    for atom in atoms:
        first, *others = atom.arguments or (None,)
        for name in (first, atom.predicate, *others):
            found += name_stems(name) if name else ()
    return tuple(found)
