"""Vocabularies and guides made up for measuring, of any size and without a download."""

import random
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from rollout.decoding.automaton import Words
from rollout.decoding.guide import CLOSE
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Row as GuidedRow

SET_SIZE = 50
"""Strings of a block's finite set, as many as a ProofWriter problem's inferences."""
NUM_FREE = 10
"""Tokens of free text before each block."""
_OPEN = b" [["

ENTITIES = ("cow", "tiger", "mouse", "bald_eagle", "rabbit", "squirrel", "lion", "bear", "dog", "cat", "erin", "gary")
RELATIONS = ("visits", "chases", "likes", "needs", "eats", "sees")
PROPERTIES = ("rough", "young", "kind", "green", "furry", "quiet", "smart", "cold", "big", "nice", "round", "blue")
STRADDLERS = (
    "[[", " [[", "]]", ")]]", "))]]", ")]].", "]].", "]]\n", ")]\n", ")]] [[", "] [[infer: (", "[[infer:", "[[[",
    " [[[", "[infer", "].", ")]", "))",
    "((", " (", ": (", "infer", " infer", ": (not (", "(not", "not", "]]]", "[]", "[[]",
)  # fmt: skip
"""Tokens across the markers, as byte-pair encodings trained on code have them."""
_ONSETS = ("b", "c", "ch", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "qu", "r", "s", "st", "t", "tr", "v", "w")
_RIMES = ("a", "e", "i", "o", "u", "ar", "en", "ing", "ion", "er", "al", "ous", "at", "it", "ow", "ea", "y", "ect")
NUM_SPECIAL = 2
PADDING, END = 0, 1


def vocabulary(size: int) -> list[bytes | None]:
    """Return `size` tokens: two special ones, all bytes, straddlers, the words of the sets and their beginnings, noise.

    The noise is made of syllables, with and without a blank before them, as most of a real vocabulary is.
    """
    tokens = dict.fromkeys(bytes([byte]) for byte in range(256))
    tokens |= dict.fromkeys(text.encode() for text in STRADDLERS)
    for word in (*ENTITIES, *RELATIONS, *PROPERTIES):
        for length in (2, 3, len(word)):
            tokens |= dict.fromkeys((word[:length].encode(), b" " + word[:length].encode()))
    noise = _noise(random.Random(0))
    while len(tokens) < size - NUM_SPECIAL:
        tokens[next(noise)] = None
    return [None] * NUM_SPECIAL + list(tokens)[: size - NUM_SPECIAL]


def _noise(rng: random.Random) -> Iterator[bytes]:
    syllables = ["".join(pair) for pair in product(_ONSETS, _RIMES)]
    while True:
        word = "".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 2, 3))))
        word = rng.choice((word, word, word, word.capitalize(), word.upper(), word + rng.choice(("_", ".", "(", "'s"))))
        yield (rng.choice(("", " ")) + word).encode()


def offers(num: int, rng: random.Random) -> list[bytes]:
    """Return `num` different blocks like the inferences of a ProofWriter problem."""
    found: dict[bytes, None] = {}
    while len(found) < num:
        subject, other = rng.choice(ENTITIES), rng.choice(ENTITIES)
        fact = rng.choice((f"({rng.choice(PROPERTIES)} {subject})", f"({rng.choice(RELATIONS)} {subject} {other})"))
        text = fact if rng.random() < 0.7 else f"(not {fact})"
        found[f"infer: {text}".encode() + CLOSE] = None
    return list(found)


class FreshOffers:
    """A guide that offers another finite set after every block; working the sets out costs nothing.

    Guides of one engine that share a name must share their sets.
    """

    def __init__(self, name: str, sets: Sequence[list[bytes]]) -> None:
        self._name = name
        self._sets = sets
        self._number = 0
        self._allowed: Words | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Name the set."""
        return self._name, self._number

    def allowed(self) -> Words:
        """Return the set in force."""
        if self._allowed is None:
            self._allowed = Words(self._sets[self._number % len(self._sets)])
        return self._allowed

    def close(self, block: bytes) -> None:
        """Go on to the next set."""
        self._number += 1
        self._allowed = None

    def clone(self) -> "FreshOffers":
        """Return a guide at the same set."""
        copy = FreshOffers(self._name, self._sets)
        copy._number, copy._allowed = self._number, self._allowed
        return copy


def offer_sets(num_sets: int, size: int, *, seed: int) -> list[list[bytes]]:
    """Return finite sets for one attempt's blocks."""
    rng = random.Random(seed)
    return [offers(size, rng) for _ in range(num_sets)]


class OpeningRow(GuidedRow):
    """A row that counts the tokens of its free text."""

    num_free = 0

    def push(self, token: bytes) -> None:
        """Advance, and count."""
        was_inside = self.block is not None
        super().push(token)
        self.num_free = 0 if was_inside or self.block is not None else self.num_free + 1

    @property
    def opens(self) -> bool:
        """Return True where a block must be opened now."""
        return self.block is None and self.num_free >= NUM_FREE


class OpeningEngine(MaskEngine):
    """Masks that open a block where the row says so."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        super().__init__(tokens, [])
        self._opening = [list(tokens).index(_OPEN)]
        self.only_opening = Mask(np.array(self._opening, dtype=np.int64))

    def mask(self, row: GuidedRow) -> Mask:
        """Return the opening token alone, or what the guide allows."""
        return self.only_opening if isinstance(row, OpeningRow) and row.opens else super().mask(row)

    def forced(self, row: GuidedRow) -> list[int]:
        """Return the opening token, or what the guide forces."""
        return self._opening if isinstance(row, OpeningRow) and row.opens else super().forced(row)
