"""`csp` programs: declared variables, as many options as the problem has."""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from critics.logic.programs.declarations import RESERVED
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.lark import COMMENT, END, SectionedLanguage, any_case, literal, literals, terminal

MAX_LABELS, MAX_VARIABLES, MAX_CONSTRAINTS, MAX_PLACES = 10, 20, 30, 20
NO_NAMES = ["_*[Ii][Ss]_.*", *("_*" + "".join(f"{any_case(c)}_*" for c in word) for word in sorted(RESERVED))]
"""Patterns of what `critics.logic.programs.declarations.is_reserved` keeps for the language."""
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
class CspLanguage(SectionedLanguage):
    """Language of `csp` programs: the pieces that may come next."""

    sections: ClassVar = {
        "start": ("Domain:", "domain"),
        "domain": ("Variables:", "variables"),
        "variables": ("Constraints:", "constraints"),
        "constraints": ("Query:", "query"),
    }
    num_options: int | None = None
    """None: as many as the policy likes."""
    variables: tuple[str, ...] = ()

    @property
    def may_end(self) -> bool:
        """Say whether all options are written."""
        return self.section == "query" and self.num_lines >= (self.num_options or 1)

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line."""
        if (headed := self.headed(piece)) is not None:
            return headed
        declared = re.match(r"\w+", piece) if self.section == "variables" else None
        added = () if declared is None else (declared[0],)
        return replace(self, variables=(*self.variables, *added), num_lines=self.num_lines + 1)

    def grammar(self) -> str | None:
        """Return the grammar of the next line."""
        formulas = f"{_FORMULA}variable: {literals(self.variables)}\n{COMMENT}"
        match self.section:
            case "start":
                return f"piece: {self.heading()}\n"
            case "domain":
                label = 'NUMBER ": " LABEL "\\n"\nNUMBER: /[0-9]{1,2}/\nLABEL: /[a-z]{1,16}([ -][a-z]{1,16}){0,3}/'
                return self.line_or_heading(label, MAX_LABELS)
            case "variables":
                name = terminal("NAME", "[A-Za-z][a-z0-9_]{0,23}", no_words=self.variables, no_patterns=NO_NAMES)
                places = literals(f"{list(range(1, num + 1))}" for num in range(2, MAX_PLACES + 1))
                line = f'NAME " [IN] " PLACES {END}\nPLACES: {places}'
                return self.line_or_heading(line, MAX_VARIABLES) + name + COMMENT
            case "constraints":
                return self.line_or_heading(f"formula {END}", MAX_CONSTRAINTS) + formulas
            case _:
                letter = literal(f"{chr(ord('A') + self.num_lines)}) ")
                is_over = self.num_lines == (self.num_options or 26)
                return None if is_over else f"piece: {letter} formula {END}\n{formulas}"
