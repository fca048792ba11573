"""Semantics of each data set, declared once: what follows from a text, and what it means that nothing does.

Critics and replay obey this table, so that no two formats certify two answers to one question.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Semantics:
    """Notion of consequence. In none of them does `All cats are dogs` say that there are cats (existential import)."""

    forward: bool = False
    """Rules are applied as they stand, never backwards and never by cases; what saturation does not reach is unknown.
    Else the logic is classical: whatever holds in all models follows, and `unknown` needs a model either way."""
    closed_world: bool = False
    """Programs answer `false` to what does not follow. That is no proof, so that nothing is certified by it."""

    @property
    def kind(self) -> str:
        """Its name in certificates."""
        return "forward" if self.forward else "classical"


CLASSICAL = Semantics()
"""The semantics of first-order logic, and of everything that the table does not name."""
SEMANTICS = {
    "prontoqa": Semantics(closed_world=True),
    "prontoqa-ood": Semantics(closed_world=True),
    "deontiqa": CLASSICAL,
    "proofwriter": Semantics(forward=True),
    # The calculus has every contraposition that a syllogism needs, so that what it does not reach does not follow.
    "syllogism": Semantics(forward=True),
}
"""By data set, and by the source of a reference, which has a data set's name."""


def is_classical(source: str) -> bool:
    """Say whether the source of a reference is a data set whose logic is classical; of `given` the record tells."""
    return source in SEMANTICS and not SEMANTICS[source].forward


def semantics_of(source: str | None) -> Semantics:
    """Return the semantics of a data set, or of the source of a reference."""
    return SEMANTICS.get(source or "", CLASSICAL)
