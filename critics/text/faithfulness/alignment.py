"""Alignment of a formula with the sentence that has all its names and the fewest other words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from critics.replay.first_order.syntax import Formula
from critics.text.faithfulness.english import Sentence
from critics.text.faithfulness.naming import Places, places
from critics.text.faithfulness.signs import SignedAtom

_JOINING = frozenset({"and", "but", "or", "nor", "who", "which", "both"})


@dataclass(frozen=True, slots=True)
class Anchored:
    """An atom and the words that its names stand for; None for an argument that is a variable."""

    atom: SignedAtom
    predicate: Places
    arguments: tuple[Places | None, ...]

    def places(self) -> Places:
        """Return all its positions."""
        return self.predicate.union(*(each for each in self.arguments if each is not None))


@dataclass(frozen=True, slots=True)
class Aligned:
    """A formula beside a sentence; `unsaid` are positions of words with content that no name stands for."""

    formula: Formula
    atoms: tuple[Anchored, ...]
    sentence: Sentence
    unsaid: Places

    def said(self) -> Places:
        """Return the positions of the words that the formula's names stand for."""
        return frozenset[int]().union(*(each.places() for each in self.atoms))

    def is_part(self) -> bool:
        """Say whether the formula may be one of several that a sentence with a joint was split into."""
        return bool(self.unsaid) and bool(_JOINING & set(self.sentence.words))

    def words(self, at: Iterable[int]) -> str:
        """Return the words at these positions, for people."""
        return ", ".join(self.sentence.words[i] for i in sorted(at))


def missing(atoms: Sequence[SignedAtom], sentence: Sentence, vocabulary: frozenset[str]) -> tuple[str, ...]:
    """Return the names that do not occur in a sentence."""
    names = dict.fromkeys(name for atom in atoms for name in atom.names())
    return tuple(name for name in names if places(name, sentence, vocabulary) is None)


def aligned(formula: Formula, atoms: Sequence[SignedAtom], sentence: Sentence, vocabulary: frozenset[str]) -> Aligned:
    """Lay a formula beside a sentence, whether or not that has its names."""
    anchored = tuple(
        Anchored(
            atom,
            _at(atom.predicate, sentence, vocabulary),
            tuple(None if name is None else _at(name, sentence, vocabulary) for name in atom.arguments),
        )
        for atom in atoms
    )
    said: Places = frozenset[int]().union(*(each.places() for each in anchored))
    return Aligned(formula, anchored, sentence, sentence.content() - said)


def _at(name: str, sentence: Sentence, vocabulary: frozenset[str]) -> Places:
    return (places(name, sentence, vocabulary) if name else None) or frozenset()
