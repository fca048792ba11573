"""The formal language of LogicGuide: atoms, literals and Horn rules, read from text and printed back.

`(cat tom)` is a literal, `(not (cat tom))` its strong negation, `(cat 'x) -> (warm 'x)` a rule with one
premise. Variables are a quote and a lower-case letter. Negation is a sign on an atom, never a
connective: there is no double negation, no contraposition and no negation as failure (notes on
LogicGuide, section 8).
"""

import re
from dataclasses import dataclass

NAME = re.compile(r"[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*")
"""What the guide accepts as a name of an object, a property or a relation."""
_BLANKS = " \t\r\n"
"""Blanks in Unicode's sense are more, and are look-alikes here."""
_TOKEN = re.compile(rf"[{_BLANKS}]*(\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|{NAME.pattern})")
MAX_NAME_LENGTH = 50
MAX_PREMISES = 32
"""More than any data set's rules have; without a bound one axiom could cost the kernel anything."""
RESERVED_NAMES = frozenset({"not", "nothing"})
MAX_ARITY = 2


class FormulaError(ValueError):
    """The text is not a statement of the formal language; `reason` is the short machine-readable word."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Literal:
    """A signed atom. An argument that starts with a quote is a variable, any other is an object."""

    positive: bool
    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        atom = f"({self.predicate} {' '.join(self.arguments)})"
        return atom if self.positive else f"(not {atom})"

    def negated(self) -> "Literal":
        """Return the strong negation of this literal."""
        return Literal(not self.positive, self.predicate, self.arguments)

    def variables(self) -> tuple[str, ...]:
        """Return the variables in order of occurrence, with repetitions."""
        return tuple(a for a in self.arguments if a[0] == "'")

    def substitute(self, binding: dict[str, str]) -> "Literal":
        """Replace all bound variables at once."""
        return Literal(self.positive, self.predicate, tuple(binding.get(a, a) for a in self.arguments))


@dataclass(frozen=True, slots=True)
class Rule:
    """A Horn rule: if all premises hold then so does the conclusion. Variables are its own binders."""

    premises: tuple[Literal, ...]
    conclusion: Literal

    def __str__(self) -> str:
        return " -> ".join(str(part) for part in (*self.premises, self.conclusion))


Statement = Literal | Rule


def parse_statement(text: str) -> Statement:
    """Read an axiom: a ground literal, or a rule whose conclusion uses no variable of its own.

    Raises `FormulaError` for anything else; blanks between tokens are free.
    """
    reader = _Reader(text)
    parts = [reader.literal()]
    while reader.peek() == "->":
        reader.take()
        parts.append(reader.literal())
        if len(parts) > MAX_PREMISES + 1:
            raise FormulaError("too_many_premises", f"{_shown(text)}: more than {MAX_PREMISES} premises")
    reader.end()
    if len(parts) == 1:
        return _ground(parts[0])
    rule = Rule(tuple(parts[:-1]), parts[-1])
    bound = {v for premise in rule.premises for v in premise.variables()}
    unbound = [v for v in rule.conclusion.variables() if v not in bound]
    if unbound:
        raise FormulaError(
            "unbound_head_var",
            f"{rule}: {unbound[0]} occurs in the conclusion but in no premise, so it would derive everything",
        )
    return rule


def parse_literal(text: str) -> Literal:
    """Read a goal or an inference: one literal without variables."""
    reader = _Reader(text)
    literal = reader.literal()
    reader.end()
    return _ground(literal)


def parse_name(text: str) -> str:
    """Read the name of an object, a property or a relation; raises `FormulaError`."""
    reader = _Reader(text)
    name = reader.argument()
    reader.end()
    if name[0] == "'":
        raise FormulaError("free_variable", f"{name} is a variable, not a name")
    return name


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


def _shape(literal: Literal) -> tuple[str, bool, tuple[str, ...]]:
    return literal.predicate, literal.positive, tuple("'" if a[0] == "'" else a for a in literal.arguments)


def _shown(text: str) -> str:
    """Quote the text, or its start: a message is read by people and by actors."""
    return repr(text) if len(text) <= 80 else f"{text[:77]!r}..."


def _ground(literal: Literal) -> Literal:
    if literal.variables():
        raise FormulaError("free_variable", f"{literal}: a fact or goal must not contain a variable")
    return literal


class _Reader:
    """A recursive-descent reader over the token list; refuses what it does not know."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        self.position = 0
        at = 0
        stripped = text.rstrip(_BLANKS)
        while at < len(stripped):
            match = _TOKEN.match(stripped, at)
            if match is None:
                unknown = stripped[at:].lstrip(_BLANKS)[:1]
                raise FormulaError("syntax", f"{_shown(text)}: unexpected character {unknown!r}")
            self.tokens.append(match.group(1))
            at = match.end()

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise FormulaError("syntax", f"{_shown(self.text)}: expected {token!r}")

    def end(self) -> None:
        if self.peek():
            raise FormulaError("syntax", f"{_shown(self.text)}: unexpected {_shown(self.peek())}")

    def literal(self, *, negated: bool = False) -> Literal:
        self.expect("(")
        head = self.name()
        if head == "not" and self.peek() == "(":
            if negated:
                raise FormulaError("double_negation", f"{_shown(self.text)}: a negation cannot be negated")
            inner = self.literal(negated=True)
            self.expect(")")
            return inner.negated()
        if head in RESERVED_NAMES:
            raise FormulaError("reserved_name", f"{_shown(self.text)}: {head} cannot name a predicate")
        arguments: list[str] = []
        while self.peek() not in (")", ""):
            arguments.append(self.argument())
        self.expect(")")
        if not 1 <= len(arguments) <= MAX_ARITY:
            raise FormulaError(
                "arity", f"{_shown(self.text)}: {head!r} has {len(arguments)} arguments, not 1 to {MAX_ARITY}"
            )
        return Literal(True, head, tuple(arguments))

    def name(self) -> str:
        token = self.take()
        if NAME.fullmatch(token) is None or len(token) > MAX_NAME_LENGTH:
            raise FormulaError("syntax", f"{_shown(self.text)}: {_shown(token)} is not a name")
        return token

    def argument(self) -> str:
        if self.peek().startswith("'"):
            return self.take()
        token = self.name()
        if token in RESERVED_NAMES:
            raise FormulaError("reserved_name", f"{_shown(self.text)}: {token!r} cannot name an object")
        return token
