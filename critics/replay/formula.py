"""The formal language of LogicGuide: terms, literals and Horn rules, read from text and printed back.

    (cat tom)                                         a literal
    (not (cat tom))                                   its strong negation
    (cat 'x) -> (warm 'x)                             a rule with one premise
    (low 'p 'e) -> (obligatory (cancel 'e))           a function term
    (cold 'x)                                         a universal fact: a rule without premises

Variables are a quote and a lower-case letter, and are bound by their statement; they are never constants.
Predicates, functions and objects are three namespaces: `public` may be a predicate here and an object there.
Negation is a sign on an atom, never a connective: there is no double negation, no contraposition and no
negation as failure (notes on LogicGuide, section 8).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from critics.replay.cursor import ReasonedError, TokenCursor
from critics.replay.terms import Application

NAME = re.compile(r"[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*")
"""A name of an object, a property or a relation, as the guide accepts it."""
BLANKS = " \t\r\n"
"""Blanks in Unicode's sense are more, and are look-alikes here."""
_TOKEN = re.compile(rf"[{BLANKS}]*(\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|{NAME.pattern})")
MAX_NAME_LENGTH = 50
MAX_PREMISES = 32
"""More than any data set's rules have; without a bound one axiom could cost the kernel anything."""
RESERVED_NAMES = frozenset({"not", "nothing"})
MAX_ARITY = 2
"""Arity of predicates, as in LogicGuide."""
MAX_FUNCTION_ARITY = 4
MAX_TERM_DEPTH = 16
MAX_TERM_SIZE = 1024
"""Symbols in one term. A rule such as `(p 'x) -> (p (f 'x 'x))` doubles them at every step."""

MAX_REMEMBERED = 400
"""Characters of a statement whose reading is kept."""


class FormulaError(ReasonedError):
    """The text is not a statement of the formal language."""


Term: TypeAlias = str | Application["Term"]
"""A text is a variable where it starts with a quote, else an object."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A signed atom."""

    positive: bool
    predicate: str
    arguments: tuple[Term, ...]

    def __str__(self) -> str:
        atom = f"({self.predicate} {' '.join(map(str, self.arguments))})"
        return atom if self.positive else f"(not {atom})"

    def negated(self) -> "Literal":
        """Return the strong negation of this literal."""
        return Literal(not self.positive, self.predicate, self.arguments)

    def variables(self) -> tuple[str, ...]:
        """Return the variables in order of occurrence, with repetitions."""
        return tuple(part for part in subterms(self) if is_variable(part))

    def substitute(self, binding: Mapping[str, Term]) -> "Literal":
        """Replace all bound variables at once."""
        return Literal(self.positive, self.predicate, tuple(replaced(a, binding) for a in self.arguments))


def is_variable(term: Term) -> TypeGuard[str]:
    """Say whether a term is a variable."""
    return term.__class__ is str and term[0] == "'"  # type: ignore[index]


def replaced(term: Term, binding: Mapping[str, Term]) -> Term:
    """Return the term with all bound variables replaced at once."""
    if isinstance(term, str):
        return binding.get(term, term)
    return Application(term.function, tuple(replaced(a, binding) for a in term.arguments))


def subterms(whole: Literal | Application[Term]) -> Iterator[Term]:
    """Yield every term within, each before its own parts, from left to right."""
    for argument in whole.arguments:
        yield argument
        if isinstance(argument, Application):
            yield from subterms(argument)


def is_within_bounds(term: Term) -> bool:
    """Say whether a term is as shallow and small as the language allows; at most `MAX_TERM_SIZE` symbols are read."""
    # Attack: terms that share their parts, and take seconds to walk through.
    return isinstance(term, str) or _symbols_left(term, MAX_TERM_SIZE, MAX_TERM_DEPTH) >= 0


def _symbols_left(term: Term, symbols: int, depth: int) -> int:
    """Return how many of the symbols allowed are left after a term; -1 where it has more, or nests deeper."""
    if isinstance(term, str):
        return symbols - 1
    if depth == 0 or symbols == 0:
        return -1
    symbols -= 1
    for argument in term.arguments:
        symbols = _symbols_left(argument, symbols, depth - 1)
        if symbols < 0:
            return -1
    return symbols


@dataclass(frozen=True, slots=True)
class Rule:
    """A Horn rule: if all premises hold then so does the conclusion, whatever its variables stand for.

    Without premises it is a universal fact, and its conclusion has a variable.
    """

    premises: tuple[Literal, ...]
    conclusion: Literal

    def __str__(self) -> str:
        return " -> ".join(str(part) for part in (*self.premises, self.conclusion))


Statement = Literal | Rule


def parse_statement(text: str) -> Statement:
    """Read an axiom: a fact, a universal fact, or a rule whose conclusion uses no variable of its own.

    Raises `FormulaError` for anything else; blanks between tokens are free. A problem's statements are read again for
    its reference and for each attempt, so that short ones are remembered.
    """
    return _read_again(text) if len(text) <= MAX_REMEMBERED else _read_statement(text)


def _read_statement(text: str) -> Statement:
    reader = _Reader(text)
    parts = [reader.literal()]
    while reader.takes("->"):
        parts.append(reader.literal())
        if len(parts) > MAX_PREMISES + 1:
            raise reader.fault(f"more than {MAX_PREMISES} premises", "too_many_premises")
    reader.end()
    if len(parts) == 1:
        return Rule((), parts[0]) if parts[0].variables() else parts[0]
    rule = Rule(tuple(parts[:-1]), parts[-1])
    bound = {v for premise in rule.premises for v in premise.variables()}
    unbound = [v for v in rule.conclusion.variables() if v not in bound]
    if unbound:
        raise FormulaError(
            "unbound_head_var",
            f"{rule}: {unbound[0]} occurs in the conclusion but in no premise, so it would derive everything",
        )
    return rule


_read_again = lru_cache(maxsize=4096)(_read_statement)


def parse_literal(text: str) -> Literal:
    """Read a goal or an inference: one literal without variables."""
    reader = _Reader(text)
    literal = reader.literal()
    reader.end()
    if literal.variables():
        raise FormulaError("free_variable", f"{literal}: a goal or an inference must not contain a variable")
    return literal


def parse_name(text: str) -> str:
    """Read the name of an object, a property or a relation; raises `FormulaError`."""
    reader = _Reader(text)
    if reader.peek().startswith("'"):
        raise FormulaError("free_variable", f"{reader.peek()} is a variable, not a name")
    name = reader.symbol("anything")
    reader.end()
    return name


@lru_cache(maxsize=4096)
def canonical_statement(statement: Statement) -> str:
    """Return one text for all statements that differ only in blanks, variable names or premise order.

    Only used to compare an attempt's axioms with the reference. Premises are sorted by what does not depend
    on the names of variables; those that this cannot tell apart, as in `(r 'x 'y) -> (r 'y 'z) -> ..`, stay
    in their order, so that swapping them gives another text, which errs on the side of refusing.
    """
    if isinstance(statement, Literal):
        return str(statement)
    ordered = sorted(statement.premises, key=_shape)
    names: dict[str, str] = {}
    for literal in (*ordered, statement.conclusion):
        for variable in literal.variables():
            names.setdefault(variable, f"'v{len(names)}")
    parts = [literal.substitute(names) for literal in (*ordered, statement.conclusion)]
    return " -> ".join(str(part) for part in parts)


def _shape(literal: Literal) -> str:
    return str(literal.substitute(dict.fromkeys(literal.variables(), "'")))


def _shown(text: str) -> str:
    """Quote the text, or its start: a message is read by people and by actors."""
    return repr(text) if len(text) <= 80 else f"{text[:77]!r}..."


class _Reader(TokenCursor):
    """A recursive-descent reader over the token list; refuses what it does not know."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens: list[str] = []
        at, stripped, match_token = 0, text.rstrip(BLANKS), _TOKEN.match
        while at < len(stripped):
            match = match_token(stripped, at)
            if match is None:
                raise self.fault(f"unexpected character {stripped[at:].lstrip(BLANKS)[:1]!r}")
            tokens.append(match[1])
            at = match.end()
        super().__init__(tokens)

    def fault(self, why: str, reason: str = "syntax") -> FormulaError:
        """Return the error that names the text."""
        return FormulaError(reason, f"{_shown(self.text)}: {why}")

    def expect(self, wanted: str) -> None:
        if self.take() != wanted:
            raise self.fault(f"expected {wanted!r}")

    def literal(self, *, negated: bool = False) -> Literal:
        self.expect("(")
        head = self.name()
        if head == "not" and self.peek() == "(":
            if negated:
                raise self.fault("a negation cannot be negated", "double_negation")
            inner = self.literal(negated=True)
            self.expect(")")
            return inner.negated()
        if head in RESERVED_NAMES:
            raise self.fault(f"{head} cannot name a predicate", "reserved_name")
        arguments = self.arguments()
        if not 1 <= len(arguments) <= MAX_ARITY:
            raise self.fault(f"{head!r} has {len(arguments)} arguments, not 1 to {MAX_ARITY}", "arity")
        return Literal(True, head, arguments)

    def arguments(self, depth: int = 0) -> tuple[Term, ...]:
        """Read terms up to the closing parenthesis."""
        terms: list[Term] = []
        while (token := self.peek()) not in (")", ""):
            if token == "(":
                terms.append(self.application(depth + 1))
            else:
                terms.append(self.take() if token[0] == "'" else self.symbol("an object"))
        self.expect(")")
        return tuple(terms)

    def name(self) -> str:
        token = self.take()
        if NAME.fullmatch(token) is None or len(token) > MAX_NAME_LENGTH:
            raise self.fault(f"{_shown(token)} is not a name")
        return token

    def application(self, depth: int) -> Application[Term]:
        if depth > MAX_TERM_DEPTH:
            raise self.fault(f"terms nest deeper than {MAX_TERM_DEPTH}", "depth")
        self.expect("(")
        function = self.symbol("a function")
        arguments = self.arguments(depth)
        if not 1 <= len(arguments) <= MAX_FUNCTION_ARITY:
            raise self.fault(f"{function!r} has {len(arguments)} arguments, not 1 to {MAX_FUNCTION_ARITY}", "arity")
        term = Application(function, arguments)
        if not is_within_bounds(term):
            raise self.fault(f"a term has more than {MAX_TERM_SIZE} symbols", "depth")
        return term

    def symbol(self, role: str) -> str:
        token = self.name()
        if token in RESERVED_NAMES:
            raise self.fault(f"{token!r} cannot name {role}", "reserved_name")
        return token
