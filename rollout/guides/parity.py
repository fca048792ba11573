"""The parity guide (LogicGuide's paper, section 3.4 and appendix A): the policy copies bits, the guide counts them.

    block = "parity:" bits marker bit
    bits  = any number of "0" and "1", none included

The bit after the marker is forced: the number of ones modulo 2. A policy that can only copy thereby answers
what no fixed-size hard-attention network can answer alone. The paper marks the end of the bits by `$`; here
it is `=` unless told otherwise. The language is regular, so nothing is computed when a block closes.
"""

from collections.abc import Hashable
from functools import lru_cache

from critics.errors import InputError
from rollout.decoding.automaton import Pattern, RegularLanguage, chars, choice, literal, repeat, sequence
from rollout.decoding.guide import CLOSE

_MARKERS = "=#$"


class ParityGuide:
    """Offers every bit string with its parity; there is no state. `marker` is one of `=`, `#` and `$`."""

    def __init__(self, *, marker: str = "=") -> None:
        if len(marker) != 1 or marker not in _MARKERS:
            raise InputError(f"parity: the marker {marker!r} is none of {' '.join(_MARKERS)}")
        self.marker = marker

    @property
    def key(self) -> Hashable:
        """The marker decides what is allowed."""
        return self.allowed().key

    def allowed(self) -> RegularLanguage:
        """Return the bit strings with their parities."""
        return _counted_bits(self.marker)

    def close(self, block: bytes) -> None:
        """Learn nothing: every block is judged by its own bits."""

    def clone(self) -> "ParityGuide":
        """Return the guide itself, for it never changes."""
        return self


@lru_cache(maxsize=len(_MARKERS))
def _counted_bits(marker: str) -> RegularLanguage:
    """Return `parity:BITS`, the marker, and the parity of the bits."""

    def some(part: Pattern) -> Pattern:
        return choice(literal(""), repeat(part))

    zeros = some(chars("0"))
    even = sequence(zeros, some(sequence(literal("1"), zeros, literal("1"), zeros)))
    odd = sequence(zeros, literal("1"), even)
    counted = choice(sequence(even, literal(f"{marker}0")), sequence(odd, literal(f"{marker}1")))
    return RegularLanguage(f"parity {marker}", sequence(literal("parity:"), counted, literal(CLOSE.decode())))
