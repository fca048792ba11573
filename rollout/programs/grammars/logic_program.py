"""`logic-program` texts: sorts, members and functions that are declared once, and formulas that have a type.

Once a program's declarations are written, its formulas have a grammar of their own (`typed_formulas`): arguments of
the declared sorts, comparisons within one sort, variables bound where they are used.
"""

import re
from dataclasses import dataclass, replace
from typing import ClassVar

from critics.logic.programs.declarations import MAX_POINTS
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.csp import NO_NAMES
from rollout.programs.grammars.lark import COMMENT, END, SectionedLanguage, choice, literal, literals, terminal
from rollout.programs.grammars.typed_formulas import DeclaredFunction, SortType, formulas

MAX_SORTS, MAX_MEMBERS, MAX_FUNCTIONS, MAX_CONSTRAINTS, MAX_OPTIONS = 4, 14, 4, 30, 10
MAX_ARGUMENTS = 3
_HELPERS = {
    **{name: f'"{name}(" formula ")"' for name in ("is_valid", "is_sat", "is_unsat")},
    **{f"is_exception({name}": f'"is_exception({name}(" formula "))"' for name in ("is_valid", "is_sat", "is_unsat")},
    "is_accurate_list": '"is_accurate_list([" formula (", " formula){0,9} "])"',
}
_HELPER = re.compile(r"is_exception\(is_\w+|is_\w+")
_SORT = re.compile(r"(\w+) = EnumSort\(\[ ?([^\]]*)")
_FUNCTION = re.compile(r"(\w+) = Function\(\[([^\]]*)\] -> \[(\w+)\]\)")


@dataclass(frozen=True, slots=True)
class LogicProgramLanguage(SectionedLanguage):
    """Language of a `logic-program`: the pieces that may come next."""

    sections: ClassVar = {
        "start": ("# Declarations", "declarations"),
        "declarations": ("# Constraints", "constraints"),
        "constraints": ("# Options", "question"),
    }
    num_options: int | None = None
    """None: as many as the policy likes."""
    sorts: tuple[SortType, ...] = ()
    functions: tuple[DeclaredFunction, ...] = ()
    is_listing: bool = False
    """True while the last sort's members are being listed."""
    helper: str = ""
    """Helper that the first option is asked with: all are asked alike."""
    is_commented: bool = False
    """True if a formula is written and the text behind it is due: its own piece, since formulas are many."""

    @property
    def may_end(self) -> bool:
        """Say whether all options are written."""
        return self.section == "options" and not self.is_commented and self.num_lines >= (self.num_options or 2)

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line, or a part of one that lists members."""
        if (headed := self.headed(piece)) is not None:
            return headed
        match self.section:
            case "declarations":
                return self._declared(piece)
            case "question":
                return replace(self, section="options")
            case _ if self.is_commented:
                return replace(self, is_commented=False, num_lines=self.num_lines + 1)
            case "options" if not self.helper:
                found = _HELPER.match(piece)
                assert found is not None
                return replace(self, helper=found[0], is_commented=True)
            case _:
                ended = piece.endswith("\n")
                return replace(self, is_commented=not ended, num_lines=self.num_lines + ended)

    def grammar(self) -> str | None:
        """Return the grammar of the next piece."""
        match self.section:
            case "start":
                return f"piece: {self.heading()}\n"
            case "declarations":
                return self._member() if self.is_listing else self._declaration()
            case "constraints" if self.is_commented:
                return f'piece: " " PROSE "\\n"\n{COMMENT}'
            case "constraints":
                parts = ['formula (" :::" | "\\n")'] if self.num_lines < MAX_CONSTRAINTS else []
                parts += [self.heading()] if self.num_lines else []
                return f"piece: {choice(parts)}\n{formulas(self.sorts, self.functions)}"
            case "question":
                return 'piece: "Question ::: " PROSE "\\n"\n' + COMMENT
            case _ if self.is_commented:
                letter = literal(f" ({chr(ord('A') + self.num_lines)})")
                return f'piece: {letter} (" " PROSE)? "\\n"\n{COMMENT}'
            case _:
                asked = [_HELPERS[self.helper]] if self.helper else list(_HELPERS.values())
                is_over = self.num_lines == (self.num_options or MAX_OPTIONS)
                return None if is_over else f'piece: ({choice(asked)}) " :::"\n{formulas(self.sorts, self.functions)}'

    def _declared(self, piece: str) -> "LogicProgramLanguage":
        if self.is_listing:
            *before, last = self.sorts
            last = replace(last, members=(*last.members, *_members(piece)))
            return replace(self, sorts=(*before, last), is_listing=piece.endswith(","))
        if function := _FUNCTION.match(piece):
            arguments = tuple(name.strip() for name in function[2].split(","))
            return replace(self, functions=(*self.functions, DeclaredFunction(function[1], arguments, function[3])))
        sort = _SORT.match(piece)
        assert sort is not None
        numbers = sort[2].split(",")[0].strip().isdigit()
        members = _members(sort[2])
        is_open = piece.endswith(",")
        return replace(self, sorts=(*self.sorts, SortType(sort[1], members, numbers)), is_listing=is_open)

    def _declaration(self) -> str:
        """Return the grammar of a sort's first piece, of a function, or of the next heading."""
        parts: list[str] = []
        if len(self.sorts) < MAX_SORTS:
            parts += [f'NAME " = EnumSort([" PLACES "])" {END}', 'NAME " = EnumSort([" MEMBER ","']
            parts += [f'NAME " = EnumSort([" MEMBER "])" {END}']
        if self.sorts and len(self.functions) < MAX_FUNCTIONS:
            parts += [f'NAME " = Function([" arguments "] -> [" RESULT "])" {END}']
        if self.functions:
            parts += [self.heading()]
        places = literals(", ".join(map(str, range(1, num + 1))) for num in range(1, MAX_MEMBERS + 1))
        results = literals([*(sort.name for sort in self.sorts), "bool", "int"])
        lines = [
            f"piece: {choice(parts)}",
            f"PLACES: {places}",
            f"RESULT: {results}",
            f"arguments: {self._arguments()}",
        ]
        return "\n".join([*lines, self._names()]) + COMMENT

    def _arguments(self) -> str:
        """Return lists of sorts, as far as a function over them stays within the reader's limit."""
        sizes = {sort.name: max(1, len(sort.members)) for sort in self.sorts}
        lists: list[tuple[tuple[str, ...], int]] = [((), 1)]
        kept: list[str] = []
        for _ in range(MAX_ARGUMENTS):
            lists = [
                ((*names, name), size * sizes[name])
                for names, size in lists
                for name in sizes
                if size * sizes[name] <= MAX_POINTS
            ]
            kept += [", ".join(names) for names, _ in lists]
        return literals(kept) if kept else '"-"'

    def _names(self) -> str:
        """Return the names that are still free, for sorts and functions and for members."""
        taken = {sort.name for sort in self.sorts} | {function.name for function in self.functions}
        taken |= {member for sort in self.sorts if not sort.is_numeric for member in sort.members}
        name = terminal("NAME", "[a-z][a-z0-9_]{0,23}", no_words=taken, no_patterns=NO_NAMES)
        return name + terminal("MEMBER", "[A-Za-z][A-Za-z0-9_]{0,23}", no_words=taken, no_patterns=NO_NAMES)

    def _member(self) -> str:
        """Return the grammar of one more member of the last sort."""
        goes_on = ['" " MEMBER ","'] if len(self.sorts[-1].members) < MAX_MEMBERS - 1 else []
        last = f'" " MEMBER "])" {END}'
        return f"piece: {choice([*goes_on, last])}\n{self._names()}{COMMENT}"


def _members(text: str) -> tuple[str, ...]:
    listed = text.partition("]")[0].split(",")
    return tuple(member.strip() for member in listed if member.strip())
