"""Outcomes of deciding an equivalence: a proof, a difference that can be shown, or neither."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Both mean the same, and this is how the checker can see it."""

    method: str
    """`propositional`, `prefix`, `solver` or `automaton`."""
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Evidence of the method, in JSON."""


@dataclass(frozen=True, slots=True)
class Different:
    """Here they differ, and a separate evaluator has seen it."""

    witness: Mapping[str, Any]
    """In JSON: truth values of propositions, a finite model, or a word."""
    left_holds: bool
    """The left one holds there, or matches."""


@dataclass(frozen=True, slots=True)
class UndecidedPair:
    """The budget ran out; nothing is known."""


Outcome: TypeAlias = Equivalent | Different | UndecidedPair
