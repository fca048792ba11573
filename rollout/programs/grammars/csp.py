"""`csp` programs: declared variables, as many options as the problem has."""

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal

from critics.logic.programs.declarations import RESERVED
from critics.problem import Problem
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.lark import COMMENT, END, choice, literal, literals, spelled_with, terminal

MAX_LABELS, MAX_VARIABLES, MAX_CONSTRAINTS, MAX_PLACES = 10, 20, 30, 20
NO_NAMES = ["_*[Ii][Ss]_.*", *(spelled_with(word, "_") for word in sorted(RESERVED))]
"""Patterns of what `critics.logic.programs.declarations.is_reserved` keeps for the language."""
Section = Literal["start", "domain", "variables", "constraints", "query"]
_HEADINGS: dict[Section, str] = {
    "start": "Domain:", "domain": "Variables:", "variables": "Constraints:", "constraints": "Query:",
}  # fmt: skip
_NEXT: dict[Section, Section] = {
    "start": "domain", "domain": "variables", "variables": "constraints", "constraints": "query",
}  # fmt: skip
_MOST = {"domain": MAX_LABELS, "variables": MAX_VARIABLES, "constraints": MAX_CONSTRAINTS}
_FORMULA = r"""
formula: comparison | "And(" formulas ")" | "Or(" formulas ")" | "Not(" comparison ")" | different
formulas: comparison (", " comparison){1,5}
comparison: sum RELATION sum
sum: term | variable SIGN NUMBER | variable SIGN variable
term: variable | NUMBER
different: "AllDifferentConstraint([" variable (", " variable){1,19} "])"
RELATION: " == " | " != " | " < " | " <= " | " > " | " >= "
SIGN: " + " | " - "
NUMBER: /[0-9]{1,3}/
"""


@dataclass(frozen=True, slots=True)
class CspLanguage:
    """Language of `csp` programs: the pieces that may come next."""

    num_options: int | None
    """None: as many as the policy likes."""
    section: Section = "start"
    variables: tuple[str, ...] = ()
    num_lines: int = 0

    @property
    def key(self) -> Hashable:
        """Return the state itself."""
        return self

    @property
    def may_end(self) -> bool:
        """Say whether all options are written."""
        return self.section == "query" and self.num_lines >= (self.num_options or 1)

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line."""
        if self.section != "query" and piece == f"{_HEADINGS[self.section]}\n":
            return replace(self, section=_NEXT[self.section], num_lines=0)
        declared = re.match(r"\w+", piece) if self.section == "variables" else None
        added = () if declared is None else (declared[0],)
        return replace(self, variables=(*self.variables, *added), num_lines=self.num_lines + 1)

    def grammar(self) -> str | None:
        """Return the grammar of the next line."""
        match self.section:
            case "start":
                return f"piece: {literal(_HEADINGS['start'] + chr(10))}\n"
            case "query":
                if self.num_lines == (self.num_options or 26):
                    return None
                letter = literal(f"{chr(ord('A') + self.num_lines)}) ")
                return f"piece: {letter} formula {END}\n{self._formulas()}"
            case "domain":
                label = 'NUMBER ": " LABEL "\\n"\nNUMBER: /[0-9]{1,2}/\nLABEL: /[a-z]{1,16}([ -][a-z]{1,16}){0,3}/\n'
                return self._piece(label)
            case "variables":
                name = terminal("NAME", "[A-Za-z][a-z0-9_]{0,23}", no_words=self.variables, no_patterns=NO_NAMES)
                places = literals(f"{list(range(1, num + 1))}" for num in range(2, MAX_PLACES + 1))
                return self._piece(f'NAME " [IN] " PLACES {END}\nPLACES: {places}\n') + name + COMMENT
            case "constraints":
                return self._piece(f"formula {END}\n") + self._formulas()

    def _piece(self, line: str) -> str:
        """Return a choice between another line of the section and the heading of the next one."""
        parts = [
            *(["statement"] if self.num_lines < _MOST[self.section] else []),
            *([literal(_HEADINGS[self.section] + "\n")] if self.num_lines else []),
        ]
        return f"piece: {choice(parts)}\nstatement: {line}"

    def _formulas(self) -> str:
        return f"{_FORMULA}variable: {literals(self.variables)}\n{COMMENT}"


def csp_language(problem: Problem) -> PieceLanguage:
    """Return the language of `csp` programs for a problem's options."""
    return CspLanguage(None if problem.options is None else len(problem.options))
