"""A program's text as titled sections of numbered lines, and the one error of everything that reads programs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from critics.errors import ReasonedError

MAX_CHARACTERS = 100_000
"""Longer programs are not read: their cost, not their content, would be the point."""
_FENCE = re.compile(r"\s*(```|~~~)")
_ESCAPED = re.compile(r"(?<=\w)\\_(?=\w)")
"""`assigned\\_to`: a name as models write it where they think of Markdown or LaTeX; no program has a backslash."""
_COMMENT = re.compile(r":::|\s::\s")


class ProgramError(ReasonedError):
    """A program cannot be read."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a section: its number in the program, its text without the comment, and the comment."""

    number: int
    text: str
    comment: str

    def tokens(self, pattern: re.Pattern[str], most: int) -> list[str]:
        """Return the first groups of a pattern's matches, which follow each other up to the end of the line."""
        tokens: list[str] = []
        at = 0
        while self.text[at:].strip():
            match = pattern.match(self.text, at)
            if match is None:
                raise self.error("syntax", f"unexpected character {self.text[at:].strip()[0]!r}")
            tokens.append(match[1])
            at = match.end()
            if len(tokens) > most:
                raise self.error("syntax", f"more than {most} words")
        return tokens

    def error(self, reason: str, why: str) -> ProgramError:
        """Return the error that names this line."""
        return ProgramError(reason, f"line {self.number}: {why}")


class Repairs:
    """The words for what a reader put right, each once, in order of first use."""

    def __init__(self) -> None:
        self._words: dict[str, None] = {}

    def note(self, word: str) -> None:
        """Record one repair."""
        self._words[word] = None

    def words(self) -> list[str]:
        """Return the words recorded so far."""
        return list(self._words)


def split_sections(text: str, titles: Mapping[str, Sequence[str]], repairs: Repairs) -> dict[str, list[Line]]:
    """Return each section's lines that are not blank; `titles` maps a section to the ways in which it is headed.

    A section that is missing is missing from the result, and one that is headed twice has the lines of both.
    Raises `ProgramError` for a text that is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise ProgramError("too_long", f"more than {MAX_CHARACTERS} characters")
    named = {way.lower(): section for section, ways in titles.items() for way in ways}
    heading = re.compile(rf"[ \t#*]*({'|'.join(named)})[ \t*]*(:(?!:)|$)[ \t*]*", re.IGNORECASE)
    sections: dict[str, list[Line]] = {}
    current: list[Line] | None = None
    for number, whole in enumerate(text.split("\n"), start=1):
        if not whole.strip() or _FENCE.match(whole):
            continue
        found = heading.match(whole)
        if found is not None:
            name, whole = named[found[1].lower()], whole[found.end() :]
            if name in sections:
                repairs.note("repeated_section")
            current = sections.setdefault(name, [])
        if whole.strip() and current is None:
            repairs.note("text_before_program")
        elif whole.strip() and current is not None:
            current.append(_line(number, whole, repairs))
    return sections


def _line(number: int, whole: str, repairs: Repairs) -> Line:
    if _ESCAPED.search(whole) is not None:
        repairs.note("escaped_underscore")
        whole = _ESCAPED.sub("_", whole)
    found = _COMMENT.search(whole)
    end = len(whole) if found is None else found.start()
    return Line(number, whole[:end].strip(), whole[end:].strip(" \t\r:"))
