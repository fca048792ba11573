"""A program's text as titled sections of numbered lines, and the one error of everything that reads programs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from critics.replay.cursor import ReasonedError
from critics.replay.replies import Place, answer_place, program_place

MAX_OPTIONS = 26
"""The letters that answer with them."""
MAX_CHARACTERS = 100_000
"""Longer programs are not read: their cost, not their content, would be the point."""
_FENCE = re.compile(r"\s*(```|~~~)")
_ESCAPED = re.compile(r"(?<=\w)\\_(?=\w)")
"""`assigned\\_to`: a name as models write it where they think of Markdown or LaTeX; no program has a backslash."""
_LISTED = re.compile(r"\s*[-*•]\s+")
COMMENT = re.compile(r":::|\s::\s")
"""It begins the comment of a line."""


class ProgramError(ReasonedError):
    """A program cannot be read."""


@dataclass(frozen=True, slots=True)
class ProgramLine:
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


@dataclass(frozen=True, slots=True)
class ProgramRow:
    """A line as it is written, and where it stands."""

    number: int
    start: int
    """Its place in the program, in characters."""
    whole: str
    section: str
    """Empty before the first heading."""
    begin: int
    """Number of characters that are the heading, or the fence."""
    is_fence: bool


def heading_of(titles: Mapping[str, Sequence[str]]) -> re.Pattern[str]:
    """Return what a section's heading is; `titles` maps a section to the ways in which it is headed."""
    ways = "|".join(way.lower() for ways in titles.values() for way in ways)
    return re.compile(rf"[ \t#*]*({ways})[ \t*]*(:(?!:)|$)[ \t*]*", re.IGNORECASE)


def place_of_program(completion: str, titles: Mapping[str, Sequence[str]]) -> Place:
    """Return where a program in sections stands in a reply."""
    heading = heading_of(titles)
    return program_place(completion, answer_place(completion), lambda line: heading.match(line) is not None)


def rows(text: str, titles: Mapping[str, Sequence[str]]) -> Iterator[ProgramRow]:
    """Yield the lines of a program; `titles` maps a section to the ways in which it is headed.

    Whoever asks what a reader passes over asks this as well, so that both see the same headings and fences.
    """
    named = {way.lower(): section for section, ways in titles.items() for way in ways}
    heading = heading_of(titles)
    section, start = "", 0
    for number, whole in enumerate(text.split("\n"), start=1):
        fence, found = _FENCE.match(whole), heading.match(whole)
        if fence is not None:
            yield ProgramRow(number, start, whole, section, fence.end(), True)
        else:
            section = section if found is None else named[found[1].lower()]
            yield ProgramRow(number, start, whole, section, 0 if found is None else found.end(), False)
        start += len(whole) + 1


def split_sections(text: str, titles: Mapping[str, Sequence[str]], repairs: Repairs) -> dict[str, list[ProgramLine]]:
    """Return each section's lines that are not blank.

    A section that is missing is missing from the result, and one that is headed twice has the lines of both.
    Raises `ProgramError` for a text that is too long.
    """
    if len(text) > MAX_CHARACTERS:
        raise ProgramError("too_long", f"more than {MAX_CHARACTERS} characters")
    sections: dict[str, list[ProgramLine]] = {}
    for row in rows(text, titles):
        if row.is_fence:
            continue
        if row.begin:
            if row.section in sections:
                repairs.note("repeated_section")
            sections.setdefault(row.section, [])
        written = row.whole[row.begin :]
        if written.strip() and not row.section:
            repairs.note("text_before_program")
        elif written.strip():
            sections[row.section].append(_line(row.number, written, repairs))
    return sections


def _line(number: int, whole: str, repairs: Repairs) -> ProgramLine:
    if _ESCAPED.search(whole) is not None:
        repairs.note("escaped_underscore")
        whole = _ESCAPED.sub("_", whole)
    if (mark := _LISTED.match(whole)) is not None:
        repairs.note("list_mark")
        whole = whole[mark.end() :]
    found = COMMENT.search(whole)
    end = len(whole) if found is None else found.start()
    return ProgramLine(number, whole[:end].strip(), whole[end:].strip(" \t\r:"))
