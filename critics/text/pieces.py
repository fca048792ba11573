"""Guided text cut into pieces: its blocks, the formulas and sentences between them, and what says nothing.

Cutting needs no problem and judges nothing: `read_outs` says what each piece is worth. What says nothing is a closed
list: blanks, punctuation, item numbers, headings before a block or a line's end, and marks of markdown.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import Literal as Choice

from critics.grammar.inflection import plural
from critics.replay.formula import MAX_TERM_DEPTH
from critics.text.blocks import Block, answer_start, split_blocks
from critics.text.english.passage import TYPOGRAPHY, sentence_end

MAX_REMEMBERED = 300
"""Characters between two blocks whose pieces are kept: they are `` 2- `` again and again."""
_MAX_FORMULA = 2_000
"""Characters of a formula's part; longer ones are not looked through again and again."""
_MAX_DEPTH = MAX_TERM_DEPTH + 4
NAMING = ("object", "prop", "relation")
"""Actions that mark a word of a sentence and state nothing."""
_BREAK = re.compile(r"[\n\d]")
_HEADING = re.compile(
    r"(?:formali[sz]ed (?:context|goal|question|query)|formal solution|context|goal|question|query|reasoning|solution"
    r"|proof|facts|rules|premises|given|conclusion|steps?(?: \d{1,3})?)[*_]{0,3}:[*_]{0,3}"
    r"(?=\s*(?:\[\[|\n|$|\d{1,3}[-.]))"
    r"|(?:formali[sz]ed (?:context|goal)|formal solution|context|reasoning|solution|proof|step \d{1,3}):",
    re.IGNORECASE,
)
# Attack: a falsehood in a comment, or in tags that a browser does not show.
_TAG = r"<!--+|--+>|</?[A-Za-z][A-Za-z0-9]{0,9}(?: ?/)?>"
_SILENT = re.compile(
    r"(?:\s+|(?:\(?\d{1,3}[.):]|\d{1,3}-)(?=\s|\[\[|$)|[.,;:*_`#>-]+(?=\s|\[\[|$|[*_`]*[A-Za-z(])"
    rf"|{_TAG})++"
)
_FORMULA = re.compile(r"\((?:not +\(|[A-Za-z0-9_-]+ +['A-Za-z0-9(])")
_ARROW = re.compile(r"\s*->\s*")
MARK = re.compile(r"\[\[(object|prop|relation):([^\[\]]*)\]\]")
_NAMES = re.compile(
    r"\[\[(?:object|prop|relation):[^\[\]]*\]\](?:[ ,.;]*\[\[(?:object|prop|relation):[^\[\]]*\]\])*(?=[ ,.;]*(?:$|\n))"
)
_CONNECTIVE = re.compile(
    r"(?:(?:so|thus|therefore|hence|then|and|but|by|from|using|since|because|as|given|with|which gives|gives|implies"
    r"|we (?:get|have|infer|know|conclude|obtain)(?: that)?|it follows that|first|next|finally)(?:[ ,:]++|$))++",
    re.IGNORECASE,
)
_CONNECTIVE_STARTS = frozenset("satwhbfugincSATWHBFUGINC")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a guided text; `block` where it is one."""

    start: int
    end: int
    kind: Choice["block", "formula", "sentence", "names", "answer", "break", "filler"]
    """names: marks alone, which say nothing. break: a line's end or an item's number, filler as well."""
    block: Block | None = None

    @property
    def is_step(self) -> bool:
        """True if it says something: a block that states, a formula, a sentence, or the answer."""
        return self.kind in ("block", "formula", "sentence", "answer")


def pieces(text: str, blocks: Sequence[Block] | None = None) -> list[Piece]:
    """Return the pieces in order, which leave nothing out; raises `BlockError`."""
    stating = [block for block in blocks or split_blocks(text) if block.action not in NAMING]
    found: list[Piece] = []
    at = 0
    for block in stating:
        found += _shifted(text[at : block.start], at)
        found.append(Piece(block.start, block.end, "block", block))
        at = block.end
    answer = answer_start(text)
    if answer is None or answer < at:
        return [*found, *_shifted(text[at:], at)]
    start = answer + len(text[answer:]) - len(text[answer:].lstrip())
    return [*found, *_shifted(text[at:start], at), Piece(start, len(text.rstrip()), "answer")]


def _shifted(gap: str, by: int) -> list[Piece]:
    scan = _remembered if len(gap) <= MAX_REMEMBERED else _cut
    return [Piece(one.start + by, one.end + by, one.kind) for one in scan(gap)]


def _cut(gap: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    at = 0
    while at < len(gap):
        piece = _silent(gap, at) or _formula(gap, at) or _sentence(gap, at)
        found.append(piece)
        at = piece.end
    return tuple(found)


_remembered = lru_cache(maxsize=4_096)(_cut)


def _silent(gap: str, at: int) -> Piece | None:
    """Return what says nothing from a place on, as one piece; None where something is said at once."""
    start = at
    while (match := _SILENT.match(gap, at) or _heading(gap, at)) is not None:
        at = match.end()
    return None if at == start else Piece(start, at, "break" if _BREAK.search(gap, start, at) else "filler")


def _heading(gap: str, at: int) -> re.Match[str] | None:
    starts_line = not gap[gap.rfind("\n", 0, at) + 1 : at].strip(" \t*_#>`-.1234567890")
    return _HEADING.match(gap, at) if starts_line and gap[at : at + 1].isalpha() else None


def _formula(gap: str, at: int) -> Piece | None:
    """Return the formula that begins here, with all arrows; one whose parentheses do not pair up ends with its line."""
    if _FORMULA.match(gap, at) is None:
        return None
    end: int | None = at
    while end is not None and gap.startswith("(", end):
        end = _closing(gap, end)
        arrow = None if end is None else _ARROW.match(gap, end)
        if arrow is None:
            break
        end = arrow.end() if gap.startswith("(", arrow.end()) else None
    if end is None:
        end = _line_end(gap, at)
    return Piece(at, end, "formula")


def _closing(gap: str, at: int) -> int | None:
    depth = 0
    for place in range(at, min(len(gap), at + _MAX_FORMULA)):
        depth += (gap[place] == "(") - (gap[place] == ")")
        if depth == 0:
            return place + 1
        if depth > _MAX_DEPTH:
            break
    return None


def _sentence(gap: str, at: int) -> Piece:
    if (names := _NAMES.match(gap, at)) is not None:
        return Piece(at, names.end(), "names")
    line = gap[at : _line_end(gap, at)]
    formula = _FORMULA.search(line, 1) if "(" in line else None
    said = line[: sentence_end(line if formula is None else line[: formula.start()], 0)].rstrip()
    is_silent = said[0] in _CONNECTIVE_STARTS and _CONNECTIVE.fullmatch(said) is not None
    return Piece(at, at + len(said), "filler" if is_silent else "sentence")


def _line_end(gap: str, at: int) -> int:
    end = gap.find("\n", at)
    return len(gap) if end == -1 else end


def readings(said: str) -> Iterator[str]:
    """Yield a sentence in words alone; where marks stand for words, in several ways, one of which is meant.

    `[[prop:cat]] are warm` is said of cats, and `[[prop:painted-lady]]` may be a painted lady.
    """
    said = "".join(TYPOGRAPHY.get(char, char) for char in said)
    said = re.sub(rf"[*_`]{{1,3}}(?!\w)|(?<!\w)[*_`]{{1,3}}|{_TAG}|\[\^?\d{{1,2}}\]", "", said).strip()
    if MARK.search(said) is None:
        yield said
        return
    joints = (" ", "-") if any("-" in mark[2] for mark in MARK.finditer(said)) else (" ",)
    for joint, num_plurals, bare in product(joints, (0, 1, len(said)), (False, True)):
        words = MARK.sub(partial(_word, iter(range(num_plurals)), bare, joint), said)
        yield words[:1].upper() + words[1:]


def _word(plurals: Iterator[int], bare: bool, joint: str, mark: re.Match[str]) -> str:
    """Return the word that a mark stands for; the first properties are plurals, as many as `plurals` has."""
    action, name = mark[1], mark[2].replace("-", joint)
    if action == "object":
        after_article = mark.string[: mark.start()].rstrip().lower().endswith("the")
        return name if after_article else name[:1].upper() + name[1:]
    if action == "relation":
        return name.removesuffix("s") if bare else name
    try:
        return name if next(plurals, None) is None else plural(name)
    except ValueError:
        return name
