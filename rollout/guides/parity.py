"""The parity guide (LogicGuide's paper, section 3.4 and appendix A): the policy copies bits, the guide counts them.

    block = "parity:" bits "=" bit
    bits  = any number of "0" and "1", none included

The bit after the marker is forced: the number of ones modulo 2. A policy that can only copy thereby answers
what no fixed-size hard-attention network can answer alone. The paper marks the end of the bits by `$`. The language is
regular, so nothing is computed when a block closes.
"""

from collections.abc import Hashable
from functools import lru_cache

from rollout.decoding.automaton import Pattern, RegularLanguage, chars, choice, literal, repeat, sequence
from rollout.decoding.guide import CLOSE


class ParityGuide:
    """Offers every bit string with its parity; there is no state."""

    key: Hashable = "parity"

    def allowed(self) -> RegularLanguage:
        """Return the bit strings with their parities."""
        return _counted_bits()

    def close(self, block: bytes) -> None:
        """Learn nothing: every block is judged by its own bits."""

    def clone(self) -> "ParityGuide":
        """Return the guide itself, for it never changes."""
        return self


@lru_cache(maxsize=1)
def _counted_bits() -> RegularLanguage:
    """Return `parity:BITS=`, and the parity of the bits."""

    def some(part: Pattern) -> Pattern:
        return choice(literal(""), repeat(part))

    zeros = some(chars("0"))
    even = sequence(zeros, some(sequence(literal("1"), zeros, literal("1"), zeros)))
    odd = sequence(zeros, literal("1"), even)
    counted = choice(sequence(even, literal("=0")), sequence(odd, literal("=1")))
    return RegularLanguage("parity", sequence(literal("parity:"), counted, literal(CLOSE.decode())))
