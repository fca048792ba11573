"""Regular expressions over a declared alphabet of digits: their tree, their canonical text, and its reader.

The grammar is AutoEval's (Fig. 2d): letters, juxtaposition, parentheses, and a star that binds to one factor; beyond
it, `|` as union and `()` as the empty word. Reading keeps a stack of its own, so that no nesting exhausts Python's.
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from critics.replay.first_order.syntax import FormulaError

MAX_CHARACTERS = 20_000
MAX_SYMBOLS = 1_000
"""Letters and signs; generated expressions of tree depth 40 have fewer than 150."""
MAX_DEPTH = 120


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter of the alphabet."""

    letter: str


@dataclass(frozen=True, slots=True)
class EmptyWord:
    """The word without letters."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """Two or more expressions after each other."""

    parts: "tuple[Regex, ...]"


@dataclass(frozen=True, slots=True)
class Union:
    """Two or more expressions, any of which may match."""

    parts: "tuple[Regex, ...]"


@dataclass(frozen=True, slots=True)
class Star:
    """An expression any number of times."""

    body: "Regex"


Regex: TypeAlias = Letter | EmptyWord | Sequence | Union | Star


def read_canonical(text: str, alphabet: str) -> Regex:
    """Read canonical text; raises `ValueError`."""
    if len(text) > MAX_CHARACTERS or not alphabet or not alphabet.isdigit():
        raise ValueError("no expression over digits")
    reading = RegexReading(alphabet)
    for position, sign in enumerate(text):
        if sign not in f"{alphabet}()|*":
            raise ValueError("a sign that canonical text does not have")
        reading.take(sign, position)
    return reading.whole(len(text))


def write_regex(regex: Regex) -> str:
    """Return the canonical text, with as few parentheses as the grammar needs; it reads as the same tree."""
    match regex:
        case Letter(letter):
            return letter
        case EmptyWord():
            return "()"
        case Sequence(parts):
            return "".join(f"({write_regex(part)})" if isinstance(part, Sequence | Union) else write_regex(part)
                           for part in parts)  # fmt: skip
        case Union(parts):
            return "|".join(f"({write_regex(part)})" if isinstance(part, Union) else write_regex(part)
                            for part in parts)  # fmt: skip
        case Star(body):
            return f"({write_regex(body)})*" if isinstance(body, Sequence | Union) else f"{write_regex(body)}*"


@dataclass(slots=True)
class _Group:
    """Open group from its parenthesis up to here: finished alternatives, and the parts of the last one."""

    position: int
    alternatives: list[tuple[Regex, int]] = field(default_factory=list[tuple[Regex, int]])
    parts: list[tuple[Regex, int]] = field(default_factory=list[tuple[Regex, int]])
    """Each with its height: a tree that is read can be walked by recursion."""

    def end_alternative(self) -> None:
        self.alternatives.append(_joined(Sequence, self.parts))
        self.parts = []

    def ended(self) -> tuple[Regex, int]:
        self.end_alternative()
        return _joined(Union, self.alternatives)


def _joined(kind: type[Sequence] | type[Union], parts: list[tuple[Regex, int]]) -> tuple[Regex, int]:
    """Make one expression of some, with its height; of a single one, nothing new."""
    if len(parts) == 1:
        return parts[0]
    return kind(tuple(node for node, _ in parts)), 1 + max(height for _, height in parts)


class RegexReading:
    """A reading in progress; `take` it sign by sign."""

    def __init__(self, alphabet: str) -> None:
        self._alphabet = alphabet
        self._groups = [_Group(0)]
        self._num_symbols = 0

    def take(self, sign: str, position: int) -> None:
        """Read one sign: a letter, a bracket, a star, a bar, or `ε`."""
        self._num_symbols += 1
        if self._num_symbols > MAX_SYMBOLS:
            raise FormulaError("too_long", f"more than {MAX_SYMBOLS} symbols", position)
        group = self._groups[-1]
        if sign in self._alphabet:
            group.parts.append((Letter(sign), 1))
        elif sign == "ε":
            group.parts.append((EmptyWord(), 1))
        elif sign == "(":
            self._groups.append(_Group(position))
        elif sign == ")":
            self._close(position)
        elif sign == "*":
            node, height = self._last(position)
            group.parts[-1] = Star(node), height + 1
        elif sign == "|":
            self._last(position)
            group.end_alternative()
        else:
            raise FormulaError("character", f"{sign!r} is no part of the language", position)
        if len(self._groups) > MAX_DEPTH or (group.parts and group.parts[-1][1] > MAX_DEPTH - 2):
            raise FormulaError("too_deep", f"nested more than {MAX_DEPTH} deep", position)

    def whole(self, end: int) -> Regex:
        """Return what was read up to the end."""
        group = self._groups[-1]
        if len(self._groups) > 1:
            raise FormulaError("syntax", "a parenthesis is not closed", group.position)
        self._last(end)
        return group.ended()[0]

    def _close(self, position: int) -> None:
        if len(self._groups) == 1:
            raise FormulaError("syntax", "a parenthesis closes nothing", position)
        group = self._groups.pop()
        if not group.parts and not group.alternatives:
            self._groups[-1].parts.append((EmptyWord(), 1))
            return
        if not group.parts:
            raise FormulaError("syntax", "nothing stands on this side of '|'", position)
        node, height = group.ended()
        if height > MAX_DEPTH - 2:
            raise FormulaError("too_deep", f"nested more than {MAX_DEPTH} deep", position)
        self._groups[-1].parts.append((node, height))

    def _last(self, position: int) -> tuple[Regex, int]:
        """Return what stands before; raises where nothing does."""
        parts = self._groups[-1].parts
        if not parts:
            raise FormulaError("syntax", "an expression should stand before this", position)
        return parts[-1]
