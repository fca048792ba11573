"""`fol` programs: declared predicates with their arguments, and formulas without free variables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from critics.replay.first_order.tokens import RESERVED
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.lark import COMMENT, END, SectionedLanguage, choice, literal, terminal, words_of

MAX_PREDICATES, MAX_PREMISES, MAX_CHARACTERS = 40, 40, 12_000
"""Characters after which the conclusion is due: the reader takes 20,000."""
MAX_DEPTH = 3
"""Most brackets and quantifiers within each other."""
_VARIABLES = ("x", "y", "z")
_SHAPES = ("(x)", "(x, y)", "(x, y, z)")
_SIGNS = ((" ∧ ", 4), (" ∨ ", 4), (" ⊕ ", 1))
_DECLARATION = re.compile(r"(\w+)\((.*?)\)")
_NO_NAMES = [words_of({*RESERVED, "for", "there", "v"})]
"""Patterns of words that the reader may take for signs."""
_CONSTANT = terminal("CONSTANT", "[a-z][a-z0-9_]{1,23}|[0-9]{1,4}", no_patterns=[*_NO_NAMES, "[a-z][0-9]*"])


@dataclass(frozen=True, slots=True)
class FolLanguage(SectionedLanguage):
    """Language of `fol` programs: the pieces that may come next."""

    sections: ClassVar = {
        "start": ("Predicates:", "predicates"),
        "predicates": ("Premises:", "premises"),
        "premises": ("Conclusion:", "conclusion"),
    }
    predicates: tuple[tuple[str, int], ...] = ()
    num_characters: int = field(default=0, compare=False)
    is_full: bool = False

    @property
    def may_end(self) -> bool:
        """Say whether the conclusion is written."""
        return self.section == "end"

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line."""
        length = self.num_characters + len(piece)
        grown = replace(self.headed(piece) or self, num_characters=length, is_full=length > MAX_CHARACTERS)
        if grown.section != self.section:
            return grown
        if self.section == "conclusion":
            return replace(grown, section="end")
        declared = _DECLARATION.match(piece) if self.section == "predicates" else None
        added = () if declared is None else ((declared[1], declared[2].count(",") + 1),)
        return replace(grown, predicates=(*self.predicates, *added), num_lines=self.num_lines + 1)

    def grammar(self) -> str | None:
        """Return the grammar of the next line."""
        match self.section:
            case "start":
                return f"piece: {self.heading()}\n"
            case "predicates":
                shapes = choice(f"NAME {literal(shape)}" for shape in _SHAPES)
                taken = [name for name, _ in self.predicates]
                name = terminal("NAME", "[A-Z][A-Za-z0-9_]{0,31}", no_words=taken, no_patterns=_NO_NAMES)
                line = self.line_or_heading(f"({shapes}) {END}", MAX_PREDICATES, full=self.is_full)
                return line + name + COMMENT
            case "premises":
                line = self.line_or_heading(f"formula_0_0 {END}", MAX_PREMISES, full=self.is_full)
                return line + self._formulas() + COMMENT
            case "conclusion":
                return f"piece: formula_0_0 {END}\n{self._formulas()}{COMMENT}"
            case _:
                return None

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
            arguments = {arity: ' ", " '.join([term] * arity) for _, arity in self.predicates}
            applied = [f'{literal(name + "(")} {arguments[arity]} ")"' for name, arity in self.predicates]
            equality = f'{term} (" = " | " ≠ ") {term}'
            yield f"atom_{bound}: {choice([*applied, equality])}"
            yield f"{term}: {choice([*map(literal, _VARIABLES[:bound]), 'CONSTANT'])}"
