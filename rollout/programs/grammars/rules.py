"""`rules` programs: declared predicates with their arguments, and variables that a condition binds before use."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from critics.grammar.inflection import is_plural, plural, singular
from rollout.decoding.guide import PieceLanguage
from rollout.programs.grammars.lark import (
    COMMENT,
    END,
    SectionedLanguage,
    any_case,
    choice,
    literal,
    terminal,
    words_of,
)

MAX_PREDICATES, MAX_STATEMENTS, MAX_PREMISES = 40, 60, 4
_NO_OBJECTS = (
    "true", "false", "bool", "unknown", "value", "not", "and", "nothing", "something", "someone", "somebody",
    "anything", "anyone", "everything", "everyone", "x", "y", "z",
)  # fmt: skip
"""Words that the reader takes for values, signs or variables."""
_OBJECT = terminal("OBJECT", r"[A-Za-z][a-z]{0,14}(_[A-Za-z][a-z]{0,14}){0,2}", no_patterns=[words_of(_NO_OBJECTS)])
_DECLARATION = re.compile(r"(\w+)\((.*?), bool\)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ARGUMENTS = ("($x, bool)", "($x, $y, bool)")


@dataclass(frozen=True, slots=True)
class RulesLanguage(SectionedLanguage):
    """Language of `rules` programs: the pieces that may come next."""

    sections: ClassVar = {
        "start": ("Predicates:", "predicates"),
        "predicates": ("Facts:", "facts"),
        "facts": ("Rules:", "rules"),
        "rules": ("Query:", "query"),
    }
    predicates: tuple[tuple[str, int], ...] = ()
    """Each with the number of its arguments."""

    @property
    def may_end(self) -> bool:
        """Say whether the query is written."""
        return self.section == "end"

    def after(self, piece: str) -> PieceLanguage:
        """Take in a line."""
        if self.section == "query":
            return replace(self, section="end")
        if (headed := self.headed(piece)) is not None:
            return headed
        declared = _DECLARATION.match(piece) if self.section == "predicates" else None
        added = () if declared is None else ((declared[1], declared[2].count("$")),)
        return replace(self, predicates=(*self.predicates, *added), num_lines=self.num_lines + 1)

    def grammar(self) -> str | None:
        """Return the grammar of the next line."""
        match self.section:
            case "start":
                return f"piece: {self.heading()}\n"
            case "predicates":
                line = choice(f"NAME {literal(shape)}" for shape in _ARGUMENTS)
                return self.line_or_heading(f"({line}) {END}", MAX_PREDICATES) + self._name() + COMMENT
            case "rules":
                line = self.line_or_heading(f"(rule) {END}", MAX_STATEMENTS, least=0)
                return line + self._rules() + self._atoms() + COMMENT
            case "facts":
                return self.line_or_heading(f"(of_) {END}", MAX_STATEMENTS) + self._atoms() + COMMENT
            case "query":
                return f"piece: of_ {END}\n{self._atoms()}{COMMENT}"
            case _:
                return None

    def _name(self) -> str:
        """Return a name that the reader does not take for one of those that are declared."""
        taken = {word for name, _ in self.predicates for word in _alike(name)}
        pattern = r"[A-Z][a-z]{1,14}([A-Z][a-z]{1,14}){0,3}"
        return terminal("NAME", pattern, no_patterns=[*map(any_case, sorted(taken)), "Is[A-Z].*", words_of(_RESERVED)])

    def _atoms(self) -> str:
        """Return the atoms by the variables that they speak of: `of_` none, `of_x`, `of_y`, `of_xy` each of these."""
        rules: dict[str, list[str]] = {"of_": [], "of_x": [], "of_y": [], "of_xy": []}
        for name, arity in self.predicates:
            for spoken, arguments in _FILLED[arity]:
                rules[spoken].append(f'{literal(name + "(")} {arguments} ", " VALUE ")"')
        lines = [f"{name}: {choice(parts or [_NEVER])}" for name, parts in rules.items()]
        return "\n".join([*lines, 'VALUE: "True" | "False"', _OBJECT])

    def _rules(self) -> str:
        """Return rules whose conclusion has no variable that no premise has; x comes before y."""
        lines = ["rule: " + choice(_premise(seen, "", MAX_PREMISES) for seen in ("", "x", "xy"))]
        for num in range(1, MAX_PREMISES):
            for before in ("", "x", "xy"):
                ends = f'" >>> " head_{before}'
                goes_on = (f'" && " {_premise(s, before, num)}' for s in ("", "x", "xy") if len(s) >= len(before))
                lines.append(f"then_{before}_{num}: {choice([ends, *goes_on])}")
        lines += [f'then_{seen}_0: " >>> " head_{seen}' for seen in ("", "x", "xy")]
        heads = {"": ["of_"], "x": ["of_", "of_x"], "xy": ["of_", "of_x", "of_y", "of_xy"]}
        return "\n".join([*lines, *(f"head_{seen}: {choice(parts)}" for seen, parts in heads.items()), ""])


_NEVER = "/[^\\s\\S]/"
_RESERVED = ("not", "nothing", "and", "true", "false", "none")
_FILLED: dict[int, tuple[tuple[str, str], ...]] = {
    1: (("of_", "OBJECT"), ("of_x", '"$x"'), ("of_y", '"$y"')),
    2: (
        ("of_", 'OBJECT ", " OBJECT'),
        ("of_x", '(OBJECT ", $x" | "$x, " OBJECT | "$x, $x")'),
        ("of_y", '(OBJECT ", $y" | "$y, " OBJECT | "$y, $y")'),
        ("of_xy", '("$x, $y" | "$y, $x")'),
    ),
}


def _premise(seen: str, before: str, num: int) -> str:
    """Return an atom after which the variables in `seen` are known, where those in `before` were."""
    kinds = {
        ("", ""): ["of_"], ("x", "x"): ["of_", "of_x"], ("xy", "xy"): ["of_", "of_x", "of_y", "of_xy"],
        ("x", ""): ["of_x"], ("xy", ""): ["of_xy"], ("xy", "x"): ["of_y", "of_xy"],
    }[seen, before]  # fmt: skip
    return f"({choice(kinds)}) then_{seen}_{num - 1}"


def _alike(name: str) -> Iterator[str]:
    """Yield names of which the reader makes the same predicate: singulars and plurals of the last word."""
    words = _HUMP.split(name)
    last = words[-1].lower()
    one = singular(last) if is_plural(last) else last
    forms = {last, one, f"{one}s", f"{one}es", f"{one[:-1]}ies", f"{last}s", f"{last}es"}
    with contextlib.suppress(ValueError):
        forms.add(plural(one))
    for form in sorted(forms):
        yield "".join(words[:-1]) + form
