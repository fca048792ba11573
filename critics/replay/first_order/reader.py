"""Reader of canonical formulas, in which every group of two operators has brackets, and of Horn statements as formulas.

The critics' reader of what people and models write is `critics.logic.first_order.parser`; nothing here mends anything.
"""

import re

from critics.replay import formula as horn
from critics.replay.cursor import TokenCursor
from critics.replay.first_order import syntax as fo

MAX_CHARACTERS = 80_000
MAX_DEPTH = 130
_NAME = re.compile(r'"[^"]*"|\w+(?:[-.\'’$]\w+)*\+*')
_TOKEN = re.compile(rf"[ ]+|({_NAME.pattern}|[()¬∧∨⊕→↔∀∃.,=≠])")
_JOINING = {operator.value: operator for operator in fo.Operator}


def read(text: str) -> fo.Formula:
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

    def group(self, bound: frozenset[str], depth: int) -> fo.Formula:
        """Read operands with one sign between them; with none it is the operand."""
        first = self._operand(bound, depth)
        sign = self.peek()
        if sign not in _JOINING:
            return first
        operands = [first]
        while self.takes(sign):
            operands.append(self._operand(bound, depth))
        if _JOINING[sign] not in (fo.Operator.AND, fo.Operator.OR) and len(operands) > 2:
            raise ValueError(f"{sign} joins two")
        return fo.Compound(_JOINING[sign], tuple(operands))

    def _operand(self, bound: frozenset[str], depth: int) -> fo.Formula:
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        if self.takes("¬"):
            return fo.Not(self._operand(bound, depth + 1))
        if self.peek() in ("∀", "∃"):
            sign, variable = self.take(), self._name()
            self.expect(".")
            if variable[0] == '"':
                raise ValueError("a variable in quotes")
            return fo.Quantified(fo.Quantifier(sign), variable, self._operand(bound | {variable}, depth + 1))
        if self.takes("("):
            inner = self.group(bound, depth + 1)
            self.expect(")")
            return inner
        name, terms = self._name(), self._arguments(bound, depth)
        if self.peek() not in ("=", "≠"):
            return fo.Atom(_plain(name), terms)
        is_equal = self.take() == "="
        equality = fo.Equality(_term(name, terms, bound), self._argument(bound, depth))
        return equality if is_equal else fo.Not(equality)

    def _argument(self, bound: frozenset[str], depth: int) -> fo.Term:
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        name = self._name()
        return _term(name, self._arguments(bound, depth), bound)

    def _arguments(self, bound: frozenset[str], depth: int) -> tuple[fo.Term, ...]:
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


def _term(name: str, terms: tuple[fo.Term, ...], bound: frozenset[str]) -> fo.Term:
    if terms:
        return fo.Application(_plain(name), terms)
    return fo.Variable(name) if name in bound else fo.Constant(_plain(name))


def _plain(name: str) -> str:
    plain = name[1:-1] if name[0] == '"' else name
    if plain in ("", "="):
        # Attack: a predicate of the name of equality, which a model or a solver would take for it.
        raise ValueError("a name should stand here")
    return plain


def first_order(statement: horn.Statement) -> fo.Formula:
    """Return a statement of the Horn language in first-order logic, its variables bound in front."""
    if isinstance(statement, horn.Literal):
        return _literal(statement)
    formula = _literal(statement.conclusion)
    for premise in reversed(statement.premises):
        formula = fo.Compound(fo.Operator.IMPLIES, (_literal(premise), formula))
    names = {name for literal in (*statement.premises, statement.conclusion) for name in literal.variables()}
    for name in sorted(names, reverse=True):
        formula = fo.Quantified(fo.Quantifier.ALL, name.lstrip("'"), formula)
    return formula


def _literal(literal: horn.Literal) -> fo.Formula:
    atom = fo.Atom(literal.predicate, tuple(map(_horn_term, literal.arguments)))
    return atom if literal.positive else fo.Not(atom)


def _horn_term(term: horn.Term) -> fo.Term:
    if isinstance(term, horn.Application):
        return fo.Application(term.function, tuple(map(_horn_term, term.arguments)))
    return fo.Variable(term.lstrip("'")) if horn.is_variable(term) else fo.Constant(term)


def folded(formula: fo.Formula) -> fo.Formula:
    """Return the formula with the names of its symbols in lower case, and a → (b → c) as (a ∧ b) → c."""
    match formula:
        case fo.Atom(predicate, arguments):
            return fo.Atom(predicate.lower(), tuple(map(_folded_term, arguments)))
        case fo.Compound(fo.Operator.IMPLIES, (one, fo.Compound(fo.Operator.IMPLIES, (other, conclusion)))):
            both = fo.Compound(fo.Operator.AND, (one, other))
            return folded(fo.Compound(fo.Operator.IMPLIES, (both, conclusion)))
        case _:
            return fo.rebuilt(formula, folded, _folded_term)


def _folded_term(term: fo.Term) -> fo.Term:
    if isinstance(term, fo.Application):
        return fo.Application(term.function.lower(), tuple(map(_folded_term, term.arguments)))
    return fo.with_leaves(term, lambda leaf: fo.Constant(leaf.name.lower()) if isinstance(leaf, fo.Constant) else leaf)
