"""Regular expressions over a declared alphabet of digits: their tree, and a reader of what models write.

The grammar is AutoEval's (Fig. 2d): letters, juxtaposition, parentheses, and a star that binds to one factor. What
has one meaning beyond it is read as well: `|` as union, `ε` and `()` as the empty word, LaTeX's `^{*}` as a star, and
wrappers (labels, fences, quotes, slashes, anchors, a final stop). `+ ? { } [ ] .` and everything else is refused:
`0+1` may be a union or a repetition.

Reading keeps a stack of its own, so that no nesting exhausts Python's.
"""

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from critics.formats.fol.wrapping import PAIRS, stripped, unwrapped
from critics.logic.first_order.syntax import FormulaError

ALPHABET = "01"
"""The letters where a problem declares no others: the paper's RE(2)."""
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

_BLANK = r"[ \t\u00a0\u200b-\u200d\u2060\ufeff]"
_BLANKS = re.compile(f"{_BLANK}+")
_LABEL = re.compile(
    r"[\[*_#\s]*(?:(?:the|final|resulting|equivalent)\s+)*"
    r"(?:answer|output|result|formula|regular expression|regexp?|pattern)\b"
    r"(?:\]|\*\*|__|\s)*(?::(?:\*\*|__|\s)*|(?<=\])\s*|\n\s*)",
    re.IGNORECASE,
)
"""A label; of what follows its colon only a pair of stars is its own, so that `Answer: *01` stays wrong."""
_PAIRS = (*PAIRS, ("/", "/"))
_SIGNS = re.compile(r"\^\{\s*\*\s*\}|\^\*|\\(?:var)?epsilon(?![a-zA-Z])|\\[*()|]|.", re.DOTALL)
_MEANING = {"∗": "*", r"\epsilon": "ε", r"\varepsilon": "ε"}


def read_regex(text: str, alphabet: str = ALPHABET) -> Regex:
    """Read one expression; raises `FormulaError` with a reason and a position."""
    if len(text) > MAX_CHARACTERS:
        raise FormulaError("too_long", f"more than {MAX_CHARACTERS} characters")
    inner, start = _unwrapped(text)
    if not inner:
        raise FormulaError("empty", "there is no expression", start)
    reading = _Reading(alphabet)
    for match in _SIGNS.finditer(inner):
        if not _BLANKS.fullmatch(match[0]):
            reading.take(_meaning(match[0]), start + match.start())
    return reading.whole(start + len(inner))


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


def _unwrapped(text: str) -> tuple[str, int]:
    """Return what is inside all wrappers, and where it begins."""
    inner, start = unwrapped(text, label=_LABEL, pairs=_PAIRS)
    if inner.endswith(".") and not inner.endswith(".."):
        inner, start = unwrapped(inner[:-1], start, label=_LABEL, pairs=_PAIRS)
    bare = inner.removesuffix("$")
    return stripped(bare.removeprefix("^"), start + bare.startswith("^"))


def _meaning(sign: str) -> str:
    """Return what a sign stands for: itself, or what LaTeX and escapes spell otherwise."""
    if sign in _MEANING:
        return _MEANING[sign]
    if sign.startswith("^") and len(sign) > 1:
        return "*"
    return sign[1] if len(sign) == 2 and sign[0] == "\\" else sign


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


class _Reading:
    """A reading in progress; `take` it sign by sign."""

    def __init__(self, alphabet: str) -> None:
        self._alphabet = alphabet
        self._groups = [_Group(0)]
        self._num_symbols = 0

    def take(self, sign: str, position: int) -> None:
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
