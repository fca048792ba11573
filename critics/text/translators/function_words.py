"""English words that name neither a property nor an object: a text that uses one says more than it seems to."""

from pathlib import Path

from critics.replay.formula import RESERVED_NAMES

_FUNCTION, _QUANTIFYING, _EMPTY = (
    frozenset(part.split())
    for part in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n", 1)[1].split("\n\n")
)
FUNCTION_WORDS = RESERVED_NAMES | _FUNCTION
QUANTIFYING_WORDS = _QUANTIFYING
"""Adjectives that quantify: `Numerous cats are dogs` says nothing about every member of a kind."""
EMPTY_WORDS = FUNCTION_WORDS | QUANTIFYING_WORDS | _EMPTY
"""Words that name neither a property nor a relation nor an object: what uses one is outside a regular language."""
