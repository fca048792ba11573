"""`fol` programs: declared predicates with their arguments, and formulas without free variables."""

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from critics.logic.first_order.tokens import RESERVED
from critics.problem import Problem
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.lark import COMMENT, END, choice, literal, terminal, words_of

MAX_PREDICATES, MAX_PREMISES, MAX_CHARACTERS = 40, 40, 12_000
"""Characters after which the conclusion is due: the reader takes 20,000."""
MAX_DEPTH = 3
"""Most brackets and quantifiers within each other."""
Section = Literal["start", "predicates", "premises", "conclusion", "end"]
_VARIABLES = ("x", "y", "z")
_SHAPES = {1: "(x)", 2: "(x, y)", 3: "(x, y, z)"}
_DECLARATION = re.compile(r"(\w+)\((.*?)\)")
_NO_NAMES = [words_of({*RESERVED, "for", "there", "v"})]
"""Patterns of words that the reader may take for signs."""
_CONSTANT = terminal("CONSTANT", "[a-z][a-z0-9_]{1,23}|[0-9]{1,4}", no_patterns=[*_NO_NAMES, "[a-z][0-9]*"])


@dataclass(frozen=True, slots=True)
class FolLanguage:
    """Language of `fol` programs: the pieces that may come next."""

    section: Section = "start"
    predicates: tuple[tuple[str, int], ...] = ()
    num_lines: int = 0
    num_characters: int = 0

    @property
    def key(self) -> Hashable:
        """Return the state, but for the exact length."""
        return replace(self, num_characters=0), self._is_full

    @property
    def _is_full(self) -> bool:
        return self.num_characters > MAX_CHARACTERS

    @property
    def may_end(self) -> bool:
        """Say whether the conclusion is written."""
        return self.section == "end"

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line."""
        grown = replace(self, num_characters=self.num_characters + len(piece))
        match self.section, piece:
            case "start", _:
                return replace(grown, section="predicates")
            case "predicates", "Premises:\n":
                return replace(grown, section="premises", num_lines=0)
            case "premises", "Conclusion:\n":
                return replace(grown, section="conclusion", num_lines=0)
            case "conclusion", _:
                return replace(grown, section="end")
            case "predicates", _:
                declared = _DECLARATION.match(piece)
                assert declared is not None
                added = declared[1], declared[2].count(",") + 1
                return replace(grown, predicates=(*self.predicates, added), num_lines=self.num_lines + 1)
            case _:
                return replace(grown, num_lines=self.num_lines + 1)

    def grammar(self) -> str | None:
        """Return the grammar of the next line."""
        match self.section:
            case "end":
                return None
            case "start":
                return 'piece: "Predicates:\\n"\n'
            case "predicates":
                shapes = choice(f"NAME {literal(shape)}" for shape in _SHAPES.values())
                return self._piece(f"({shapes})", "Premises:", MAX_PREDICATES) + self._name() + COMMENT
            case "premises":
                return self._piece("formula_0_0", "Conclusion:", MAX_PREMISES) + self._formulas() + COMMENT
            case "conclusion":
                return f"piece: formula_0_0 {END}\n{self._formulas()}{COMMENT}"

    def _piece(self, line: str, heading: str, most: int) -> str:
        """Return a choice between another line of the section and the heading of the next one."""
        goes_on = self.num_lines == 0 or (self.num_lines < most and not self._is_full)
        parts = [*(["statement"] if goes_on else []), *([literal(f"{heading}\n")] if self.num_lines else [])]
        return f"piece: {choice(parts)}\nstatement: {line} {END}\n"

    def _name(self) -> str:
        taken = [name for name, _ in self.predicates]
        return terminal("NAME", "[A-Z][A-Za-z0-9_]{0,31}", no_words=taken, no_patterns=_NO_NAMES)

    def _formulas(self) -> str:
        """Return formulas by depth and by how many variables are bound around them."""
        lines = [
            line
            for depth in range(MAX_DEPTH + 1)
            for bound in range(len(_VARIABLES) + 1)
            for line in self._level(depth, bound)
        ]
        return "\n".join([*lines, *self._atoms(), _CONSTANT])

    def _level(self, depth: int, bound: int) -> Iterator[str]:
        at = f"{depth}_{bound}"
        yield f'formula_{at}: side_{at} | side_{at} (" → " | " ↔ ") side_{at}'
        joined = (f'unary_{at} ("{sign}" unary_{at}){{1,{most}}}' for sign, most in _SIGNS)
        yield f"side_{at}: {choice([f'unary_{at}', *joined])}"
        parts = [f"atom_{bound}", f'"¬" atom_{bound}']
        if depth < MAX_DEPTH:
            within = f'"(" formula_{depth + 1}_{bound} ")"'
            parts += [within, f'"¬" {within}']
            if bound < len(_VARIABLES):
                quantified = f'("∀" | "∃") "{_VARIABLES[bound]} " unary_{depth + 1}_{bound + 1}'
                parts += [quantified, f'"¬" {quantified}']
        yield f"unary_{at}: {choice(parts)}"

    def _atoms(self) -> Iterator[str]:
        for bound in range(len(_VARIABLES) + 1):
            term = f"term_{bound}"
            equality = f'{term} (" = " | " ≠ ") {term}'
            yield f"atom_{bound}: {choice([*(_applied(*each, term) for each in self.predicates), equality])}"
            yield f"{term}: {choice([*map(literal, _VARIABLES[:bound]), 'CONSTANT'])}"


def _applied(name: str, arity: int, term: str) -> str:
    arguments = ' ", " '.join([term] * arity)
    return f'{literal(name + "(")} {arguments} ")"'


_SIGNS = ((" ∧ ", 4), (" ∨ ", 4), (" ⊕ ", 1))


def fol_language(problem: Problem) -> PieceLanguage:
    """Return the language of `fol` programs; it is the same for all problems."""
    return FolLanguage()
