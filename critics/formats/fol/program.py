"""Programs of the `fol` format: sections `Predicates`, `Premises`, `Conclusion`, or LINC's `TEXT:` and `FOL:` lines.

A line of a section is a formula, with a comment after `:::` if any. `Predicates` is for the reader: it may be empty
or missing, and nothing is taken from it. In LINC's layout the notation is NLTK's and the last formula the conclusion.
"""

import re
from dataclasses import dataclass, replace

from critics.replay.first_order.parser import parse
from critics.replay.first_order.reader import FolTheory, folded
from critics.replay.first_order.syntax import Formula, FormulaError, signature
from critics.replay.first_order.tokens import ANNOTATED, NLTK, Notation

MAX_CHARACTERS = 20_000
"""Longer programs are not read; the longest published one has 5,000."""
MAX_MENDED_LINES = 4
"""Lines in which brackets are mended, which takes a hundred readings each."""
_HEADING = re.compile(r"[#*_\s]*(predicates|premises|conclusion)[*_\s]*(?::[*_]*\s*(.*)|)", re.IGNORECASE)
_OTHER_BREAK = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]|\r(?!\n)")
_LINC = re.compile(r"\s*(TEXT|FOL):(.*)")
_MARK, _BULLET = re.compile(r"\s*(?:\d{1,3}[.)]|[•*])\s+"), re.compile(r"\s*(?:\d{1,3}[.)]|[•*-])\s+")
_RULE = re.compile(r"[-=_*#\s]*|\s*```[a-z]*\s*")


@dataclass(frozen=True, slots=True)
class Program:
    """Premises, a conclusion, and what was mended to read them."""

    premises: tuple[Formula, ...]
    conclusion: Formula
    repairs: tuple[str, ...] = ()

    def formulas(self) -> tuple[Formula, ...]:
        """Return premises and conclusion."""
        return (*self.premises, self.conclusion)


def read_program(text: str) -> Program:
    """Read a program; raises `FormulaError`, which names line and character of what cannot be read."""
    if len(text) > MAX_CHARACTERS:
        raise FormulaError("too_long", f"more than {MAX_CHARACTERS} characters")
    if (found := _OTHER_BREAK.search(text)) is not None:
        # Attack: hide a premise behind a line break that only some readers see.
        raise FormulaError("line_break", f"{found[0]!r} breaks a line at {found.start()}; use newlines alone")
    is_linc = any(_LINC.match(line) for line in text.splitlines())
    formulas, conclusions = _split_linc(text) if is_linc else _split_sections(text)
    if len(conclusions) != 1:
        raise FormulaError("conclusion", f"there must be one conclusion, not {len(conclusions)}")
    if not formulas:
        raise FormulaError("no_premises", "there are no premises")
    repairs: list[str] = []
    notation = NLTK if is_linc else ANNOTATED
    # A dash before one premise denies it, and before each of them it lists them.
    is_list = not is_linc and all(line.startswith("- ") for _, line in formulas)
    is_list = is_list and (len(formulas) > 1 or conclusions[0][1].startswith("- "))
    mark = _BULLET if is_list else _MARK
    parsed = [_parse_line(number, line, notation, mark, repairs) for number, line in [*formulas, *conclusions]]
    program = Program(tuple(parsed[:-1]), parsed[-1], tuple(repairs))
    signature(program.formulas())
    return program


def is_part(line: str) -> bool:
    """Say whether a line can only be a program's: a heading, a formula or its text."""
    if _HEADING.fullmatch(line) or _LINC.match(line):
        return True
    try:
        parse(line.partition(":::")[0], ANNOTATED)
    except FormulaError:
        return False
    return True


Line = tuple[int, str]
"""A line's number, from 1, and its formula."""


def _split_linc(text: str) -> tuple[list[Line], list[Line]]:
    matches = ((number, _LINC.match(line)) for number, line in enumerate(text.splitlines(), 1))
    found = [(number, match[2].strip()) for number, match in matches if match is not None and match[1] == "FOL"]
    return found[:-1], found[-1:]


def _split_sections(text: str) -> tuple[list[Line], list[Line]]:
    sections: dict[str, list[Line]] = {}
    current: list[Line] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        heading = _HEADING.fullmatch(line)
        formula = (line if heading is None else heading[2] or "").partition(":::")[0].strip()
        if heading is None and _RULE.fullmatch(formula):
            continue
        if heading is not None:
            name = heading[1].lower()
            if name in sections:
                # Attack: a second conclusion that is easier than the first.
                raise FormulaError("sections", f"line {number}: a second section {name!r}")
            current = sections[name] = []
        elif current is None:
            raise FormulaError("sections", f"line {number}: text before the first section")
        if formula:
            current.append((number, formula))
    if "premises" not in sections or "conclusion" not in sections:
        raise FormulaError("sections", "the sections 'Premises:' and 'Conclusion:' are needed")
    return sections["premises"], sections["conclusion"]


def _parse_line(number: int, line: str, notation: Notation, list_mark: re.Pattern[str], repairs: list[str]) -> Formula:
    """Read the formula of a line, and add what was mended to `repairs` with the line's number."""
    mark = list_mark.match(line)
    mended = sum(repair.endswith("bracket") for repair in repairs)
    try:
        parsed = parse(line[mark.end() if mark else 0 :], replace(notation, repair=mended < MAX_MENDED_LINES))
    except FormulaError as error:
        raise FormulaError(error.reason, f"line {number}: {error}") from None
    words = (*parsed.repairs, "list_mark") if mark else parsed.repairs
    repairs += [f"line {number}: {word}" for word in words]
    return parsed.formula


def in_terms_of_theory(program: Program, theory: FolTheory) -> Program:
    """Return the program with its names as the reference has them."""
    if not theory.folded:
        return program
    premises = tuple(map(folded, program.premises))
    return Program(premises, folded(program.conclusion), (*program.repairs, "names_folded"))
