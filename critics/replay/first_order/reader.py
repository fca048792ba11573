"""Reader of formulas, apart from the critic's and for canonical text only: every group of two operators has brackets.

A formula is `("@", predicate, terms)`, `("¬", formula)`, `("∀" or "∃", variable, formula)` or `(sign, formulas)` for
∧, ∨, ⊕, → and ↔. A term is `("var", name)` or `("of", function, terms)`, a constant being a function of nothing. The
predicate of an equality is `=`. No quantifier binds a name in quotes.
"""

import re
from typing import Any

from critics.replay.cursor import TokenCursor

MAX_CHARACTERS = 80_000
MAX_DEPTH = 130
_NAME = re.compile(r'"[^"]*"|\w+(?:[-.\'’$]\w+)*\+*')
_TOKEN = re.compile(rf"[ ]+|({_NAME.pattern}|[()¬∧∨⊕→↔∀∃.,=≠])")
_JOINING = ("∧", "∨", "⊕", "→", "↔")
Formula = Any
Term = Any
ATOM = "@"
"""Head of an atom: no sign of the language."""


def read(text: str) -> Formula:
    """Read canonical text; raises `ValueError`."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError("too long")
    tokens = [token for token in _TOKEN.findall(text) if token]
    if "".join(tokens).replace(" ", "") != text.replace(" ", ""):
        raise ValueError("a character that is no part of the language")
    reader = CanonicalReader(tokens)
    formula = reader.group(frozenset(), 0)
    if reader.peek():
        raise ValueError("something stands after the end")
    return formula


class CanonicalReader(TokenCursor):
    """Reader of canonical text; `bound` are the variables of the quantifiers around a part."""

    def group(self, bound: frozenset[str], depth: int) -> Formula:
        """Read operands with one sign between them; with none it is the operand."""
        first = self._operand(bound, depth)
        sign = self.peek()
        if sign not in _JOINING:
            return first
        operands = [first]
        while self.takes(sign):
            operands.append(self._operand(bound, depth))
        if sign not in ("∧", "∨") and len(operands) > 2:
            raise ValueError(f"{sign} joins two")
        return sign, tuple(operands)

    def _operand(self, bound: frozenset[str], depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        if self.takes("¬"):
            return "¬", self._operand(bound, depth + 1)
        if self.peek() in ("∀", "∃"):
            sign, variable = self.take(), self._name()
            self.expect(".")
            if variable[0] == '"':
                raise ValueError("a variable in quotes")
            return sign, variable, self._operand(bound | {variable}, depth + 1)
        if self.takes("("):
            inner = self.group(bound, depth + 1)
            self.expect(")")
            return inner
        name, terms = self._name(), self._arguments(bound, depth)
        if self.peek() not in ("=", "≠"):
            return ATOM, _plain(name), terms
        is_equal = self.take() == "="
        equality = (ATOM, "=", (_term(name, terms, bound), self._argument(bound, depth)))
        return equality if is_equal else ("¬", equality)

    def _argument(self, bound: frozenset[str], depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        name = self._name()
        return _term(name, self._arguments(bound, depth), bound)

    def _arguments(self, bound: frozenset[str], depth: int) -> tuple[Term, ...]:
        """Read the terms in brackets behind a name, if there are any."""
        if not self.takes("("):
            return ()
        terms = [self._argument(bound, depth + 1)]
        while self.takes(","):
            terms.append(self._argument(bound, depth + 1))
        self.expect(")")
        return tuple(terms)

    def _name(self) -> str:
        token = self.take()
        if _NAME.fullmatch(token) is None:
            raise ValueError("a name should stand here")
        return token


def _term(name: str, terms: tuple[Term, ...], bound: frozenset[str]) -> Term:
    return ("var", name) if name in bound and not terms else ("of", _plain(name), terms)


def _plain(name: str) -> str:
    plain = name[1:-1] if name[0] == '"' else name
    if plain in ("", "="):
        # Attack: a predicate of the name of equality, which a model or a solver would take for it.
        raise ValueError("a name should stand here")
    return plain
